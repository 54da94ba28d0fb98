"""The rights that are shipped: enough for everything that bayplan does, and for nothing else."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kubernetes.cleaning import cluster_wide_objects
from tests.kubernetes.controllers import QUICK
from tests.kubernetes.objects import Json, container, deployment
from tests.kubernetes.renderers import CHART, apply, chart_objects
from tests.kubernetes.rights import Right, granted, may, recorded
from tests.kubernetes.waiting import wait_until

from bayplan.cli.main import main
from bayplan.kubernetes.client import Client, RefusedError
from bayplan.kubernetes.extender import ClusterWatch
from bayplan.kubernetes.marks import CONTAINER

pytestmark = pytest.mark.kubernetes
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
LEASE = {Right(verb, "coordination.k8s.io", "leases") for verb in ("create", "get", "update")}
EVERYONE = {
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "selfsubjectreviews",
}  # what every identity may ask about itself
ROLES = {path.stem: granted(yaml.safe_load(path.read_text(encoding="utf-8"))) for path in (CHART / "rules").glob("*.yaml")}
RIGHTS = sorted((name, right) for name, rights in ROLES.items() for right in rights)


class Installed:
    """The rights of the chart in the test's namespace, and connections as its service accounts."""

    def __init__(self, plane: Any, client: Client, namespace: str, folder: Path) -> None:
        self._plane, self._client, self.namespace, self._folder = plane, client, namespace, folder

    def install(self, *values: str) -> None:
        """Put everything of the chart on the cluster but what runs."""
        objects = chart_objects(*values, namespace=self.namespace)
        apply(self._client, [each for each in objects if each["kind"] not in ("Deployment", "Service", "PodDisruptionBudget")])

    def kubeconfig(self, account: str = "bayplan") -> Path:
        """A kubeconfig as a service account."""
        return self._plane.service_account_kubeconfig(self._folder / f"{account}.kubeconfig", self.namespace, account)

    def client(self, account: str = "bayplan") -> Client:
        """A connection as a service account."""
        return Client.connect(kubeconfig=str(self.kubeconfig(account)))


@pytest.fixture
def installed(control_plane: Any, client: Client, namespace: str, tmp_path: Path) -> Installed:
    return Installed(control_plane, client, namespace, tmp_path)


@pytest.fixture
def pod(client: Client, make: Callable[[Json], Json]) -> Json:
    labels = {"app": "one"}
    about = {"name": "one", "labels": labels, "annotations": {"theirs": "yes"}}
    return make({"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": {"containers": [container()]}})


def reviewed(client: Client, namespace: str) -> set[Right]:
    """Everything that the API server itself says that an identity may do in a namespace."""
    answer = client.create(
        REVIEW, {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": namespace}}
    )
    return {right for right in granted(answer["status"]["resourceRules"]) if right.resource not in EVERYONE}


def test_in_mode_manual_it_may_read_write_events_and_keep_its_lease_and_nothing_else(installed: Installed) -> None:
    installed.install()
    allowed = reviewed(installed.client(), installed.namespace)
    assert allowed == ROLES["reader"] | ROLES["reporter"] | LEASE
    assert {right.resource for right in allowed if right.changes} == {"events", "leases"}


def test_in_mode_auto_it_may_do_what_is_on_the_list_and_nothing_else(installed: Installed) -> None:
    installed.install("mode=auto", "prometheus=discover")
    everything = set().union(*(ROLES[name] for name in ("reader", "reporter", "prometheus", "mover", "gate")))
    assert reviewed(installed.client(), installed.namespace) == everything | LEASE


def test_with_a_webhook_it_may_write_webhooks_instead_of_policies(installed: Installed) -> None:
    installed.install("mode=auto", "webhook.enabled=true")
    everything = set().union(*(ROLES[name] for name in ("reader", "reporter", "mover", "webhook")))
    assert reviewed(installed.client(), installed.namespace) == everything | LEASE


def test_the_extender_may_follow_nodes_and_pods_and_nothing_else(installed: Installed) -> None:
    installed.install("extender.enabled=true")
    client = installed.client("bayplan-extender")
    assert reviewed(client, installed.namespace) == ROLES["extender"]
    watch = ClusterWatch(client=client)
    assert [next(watch.changes(kind)) for kind in ("nodes", "pods")] == ["listed", "listed"]


def test_every_right_works_with_its_role_and_is_denied_without(installed: Installed, make: Callable[[Json], Json]) -> None:
    """By real requests, not by what the server says about them."""
    installed.install("mode=auto", "surge=true", "prometheus=discover", "extender.enabled=true")
    make({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "nothing"}})
    clients = {name: installed.client(name) for name in ("bayplan", "bayplan-extender", "nothing")}
    for role, right in RIGHTS:
        if role == "webhook":
            installed.install("mode=auto", "webhook.enabled=true")
        holder = clients["bayplan-extender" if role == "extender" else "bayplan"]
        assert wait_until(
            lambda holder=holder, right=right: may(holder, right, installed.namespace), f"{role}: {right}", seconds=10
        )
        assert not may(clients["nothing"], right, installed.namespace), f"{right} needs no role"


def test_the_reader_cannot_change_anything(installed: Installed, pod: Json) -> None:
    installed.install()
    client = installed.client()
    client.list(f"/api/v1/namespaces/{installed.namespace}/pods")
    changes = {right for rights in ROLES.values() for right in rights if right.changes and right.resource != "events"}
    assert [right for right in sorted(changes) if may(client, right, installed.namespace)] == []


BEYOND = [
    *(Right(verb, "", "pods") for verb in ("create", "update", "delete")),
    *(
        Right(verb, "", resource)
        for verb in ("get", "list", "create")
        for resource in ("secrets", "configmaps", "serviceaccounts")
    ),
    *(Right(verb, "", resource) for verb in ("create", "get") for resource in ("pods/exec", "pods/log", "pods/binding")),
    *(Right(verb, "", "nodes") for verb in ("create", "update", "patch", "delete")),
    *(Right(verb, "apps", "deployments") for verb in ("create", "update", "delete", "get")),
    *(Right(verb, "apps", "deployments/scale") for verb in ("update", "patch")),
    *(Right(verb, "policy", "poddisruptionbudgets") for verb in ("create", "update", "patch", "delete")),
    *(Right(verb, "rbac.authorization.k8s.io", "roles") for verb in ("create", "patch")),
    *(Right(verb, "coordination.k8s.io", "leases") for verb in ("list", "delete", "get")),  # of other names
    Right("patch", "admissionregistration.k8s.io", "mutatingadmissionpolicies"),
]


def test_the_mover_can_do_nothing_beyond_its_list(installed: Installed, pod: Json) -> None:
    installed.install("mode=auto")
    client = installed.client()
    assert wait_until(lambda: may(client, Right("patch", "", "pods"), installed.namespace), "the rights to act")
    assert [right for right in BEYOND if may(client, right, installed.namespace)] == []


def test_the_mover_of_one_namespace_can_change_nothing_in_another(installed: Installed, client: Client, pod: Json) -> None:
    client.create("/api/v1/namespaces", {"metadata": {"name": "elsewhere"}})
    installed.install("mode=auto", f"namespace={installed.namespace}")
    mover = installed.client()
    changes = [right for right in ROLES["mover"] | ROLES["reporter"] if right.changes]
    assert wait_until(lambda: all(may(mover, right, installed.namespace) for right in changes), "the rights to act")
    assert [right for right in changes if may(mover, right, "elsewhere")] == []


def refused(change: Callable[[], Any]) -> str:
    """Why the API server refuses a change; nothing if it does not."""
    try:
        change()
    except RefusedError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"metadata": {"annotations": {CONTAINER: "x"}}}, ""),
        ({"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-1"}}}, ""),
        ({"spec": {"containers": [{"name": "main", "image": "theirs/other"}]}}, "bayplan may not change the containers of a pod"),
        ({"metadata": {"labels": {"app": "other"}}}, "bayplan may not change the labels of a pod"),
        ({"metadata": {"annotations": {"theirs": "no"}}}, "bayplan may only change annotations of its own"),
        ({"metadata": {"annotations": {"theirs": None}}}, "bayplan may only change annotations of its own"),
        ({"metadata": {"annotations": {"new": "one"}}}, "bayplan may only change annotations of its own"),
    ],
    ids=["our annotation", "deletion cost", "image", "label", "their annotation", "their annotation gone", "a new annotation"],
)
def test_the_guard_lets_pods_be_marked_and_nothing_else(
    installed: Installed, client: Client, pod: Json, body: Json, words: str
) -> None:
    installed.install("mode=auto")
    mover, path = installed.client(), f"/api/v1/namespaces/{installed.namespace}/pods/one"
    _await_guard(mover, path)
    answer = refused(lambda: mover.patch(path, body, kind="strategic"))
    assert (words in answer and answer) if words else answer == ""
    assert refused(lambda: client.patch(path, body, kind="strategic")) == ""  # others are not kept from anything


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"metadata": {"annotations": {"bayplan.io/hold-until": "2030-01-01T00:00:00Z"}}}, ""),
        ({"spec": {"replicas": 0}}, "bayplan may not change the specification of an owner"),
        ({"metadata": {"labels": {"app": "other"}}}, "bayplan may not change the labels of an owner"),
        ({"metadata": {"annotations": {"theirs": "no"}}}, "bayplan may only change annotations of its own"),
    ],
    ids=["a hold", "replicas", "label", "their annotation"],
)
def test_the_guard_lets_owners_be_held_and_nothing_else(
    installed: Installed, make: Callable[[Json], Json], body: Json, words: str
) -> None:
    make(deployment("web", 1))
    installed.install("mode=auto")
    mover = installed.client()
    path = f"/apis/apps/v1/namespaces/{installed.namespace}/deployments/web"
    _await_guard(mover, path)
    answer = refused(lambda: mover.patch(path, body))
    assert (words in answer and answer) if words else answer == ""


def _await_guard(mover: Client, path: str) -> None:
    """A new policy takes the API server a moment to notice."""
    label = {"metadata": {"labels": {"tried": "yes"}}}
    wait_until(lambda: "bayplan may not" in refused(lambda: mover.patch(path, label, dryRun="All")), "the guard to act")


@pytest.fixture
def uneven(client: Client, namespace: str, fake_nodes: Callable[..., list[str]], make: Callable[[Json], Json]) -> Iterator[str]:
    """Two Deployments on two of three nodes: a plan that balances moves something to the third."""
    fake_nodes(3)
    client.patch("/api/v1/nodes/node-2", {"spec": {"unschedulable": True}})
    for name in ("web", "api"):
        make(deployment(name, 4, cpu="700m"))
    wait_until(lambda: _settled(client, namespace) == 8, "two Deployments that have settled")
    client.patch("/api/v1/nodes/node-2", {"spec": {"unschedulable": None}})
    yield namespace


def _settled(client: Client, namespace: str) -> int:
    """Replicas of Deployments whose rollout has come to its end."""
    settled = [
        each
        for each in client.list(f"/apis/apps/v1/namespaces/{namespace}/deployments").items
        if any(one.get("reason") == "NewReplicaSetAvailable" for one in each["status"].get("conditions", ()))
    ]
    return sum(each["status"].get("readyReplicas", 0) for each in settled)


def _running(client: Client, namespace: str) -> int:
    return sum(one["status"].get("phase") == "Running" for one in client.list(f"/api/v1/namespaces/{namespace}/pods").items)


def run(kubeconfig: Path, folder: Path, *more: str) -> int:
    """`bayplan run` in this process, one turn."""
    options = ["--goal", "balance", "--turns", "1", "--listen", "none", "--store", str(folder / "record.db"), "--log", "text"]
    return main(["run", "--kubeconfig", str(kubeconfig), *options, *QUICK, "--seconds", "10", *more])


ELSEWHERE = {  # rights that one turn with moves does not need -> what does
    Right("patch", "apps", "daemonsets"): "a hold",
    Right("patch", "apps", "deployments"): "a hold",
    Right("patch", "apps", "replicasets"): "a hold",
    Right("patch", "apps", "statefulsets"): "a hold",
    Right("patch", "", "replicationcontrollers"): "a hold",
    Right("patch", "batch", "jobs"): "a hold",
    Right("patch", "events.k8s.io", "events"): "an event that happens again",
    Right("get", "", "pods"): "a step whose pod was not seen any more",
    Right("watch", "", "nodes"): "the extender",
}


def test_one_turn_with_moves_asks_for_what_the_roles_grant_and_for_all_of_it(
    installed: Installed, client: Client, uneven: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installed.install("mode=auto", f"namespace={uneven}")
    kubeconfig = installed.kubeconfig()
    before = cluster_wide_objects(client)
    with recorded() as asked:
        assert run(kubeconfig, tmp_path, "--mode", "auto", "--namespace", uneven) == 0, capsys.readouterr()
    moved = sum(one["spec"].get("nodeName") == "node-2" for one in client.list(f"/api/v1/namespaces/{uneven}/pods").items)
    assert moved >= 2 and _running(client, uneven) == 8
    roles = set().union(*(ROLES[name] for name in ("reader", "reporter", "mover", "gate"))) | LEASE
    assert asked - roles == set()
    assert roles - asked - ELSEWHERE.keys() == set()
    assert cluster_wide_objects(client) == before


def test_with_the_rights_to_read_alone_planning_works_and_moving_changes_nothing(
    installed: Installed, client: Client, uneven: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installed.install()
    kubeconfig, before = installed.kubeconfig(), _places(client, uneven)
    with recorded() as asked:
        assert run(kubeconfig, tmp_path, "--mode", "manual", "--namespace", uneven) == 0
    assert {right.resource for right in asked if right.changes} <= {"events", "leases"}
    said = capsys.readouterr().out
    assert "proposed" in said or "plan" in said
    run(kubeconfig, tmp_path, "--mode", "auto", "--namespace", uneven)
    assert _places(client, uneven) == before
    assert "bayplan-steer" not in str(cluster_wide_objects(client))


def _places(client: Client, namespace: str) -> dict[str, str]:
    return {
        one["metadata"]["uid"]: one["spec"].get("nodeName", "")
        for one in client.list(f"/api/v1/namespaces/{namespace}/pods").items
    }
