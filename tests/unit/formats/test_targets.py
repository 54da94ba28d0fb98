"""Targets name containers that are gone or new, and the snapshot grows to hold them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bayplan.check import check
from bayplan.errors import InputError
from bayplan.formats import ClusterBuilder, read, write, write_plan
from bayplan.formats.new_containers import grown, joined
from bayplan.formats.targets import new_containers, read_plan_of, read_target, replicas_by_name, target_in
from bayplan.model import UNPLACED, Action, AntiAffinity, CoLocate, Pinned, Plan, Step

EXAMPLES = Path(__file__).parents[3] / "examples"
TINY = """
bayplan: 1
resources: {cpu: {scale: 1000}}
machines: [{name: m, capacity: {cpu: 4}}, {name: n, capacity: {cpu: 4}}]
workloads:
  - {name: web, request: {cpu: 1}, containers: 2, on: [m, n]}
  - {name: web-api, request: {cpu: 1}, containers: 2, on: [m, n]}
rules:
  - {rule: co-locate, containers: [web-0, web-api-0]}
  - {rule: pinned, containers: [web-api-1]}
"""


@pytest.fixture
def tiny(tmp_path):
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY, encoding="utf-8")
    return read(file)


def written(tmp_path, text) -> Path:
    file = tmp_path / "target.json"
    file.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return file


def machines(target) -> dict[str, str | None]:
    """Name -> machine."""
    cluster = target.snapshot.cluster
    names = [*cluster.machines.name, None]
    return dict(zip(cluster.containers.name, (names[m] for m in target.placement.machine_of.tolist()), strict=True))


def test_who_is_not_named_has_no_machine_in_the_target(tiny, tmp_path):
    target = read_target(written(tmp_path, {"placement": {"web-0": "n"}}), tiny)
    assert machines(target) == {"web-0": "n", "web-1": None, "web-api-0": None, "web-api-1": None}
    assert target.snapshot is tiny and target.notes == ()


def test_a_new_name_is_a_replica_of_the_longest_workload_it_begins_with(tiny, tmp_path):
    target = read_target(written(tmp_path, {"placement": {"web-api-7f": "n", "web-x": "m"}}), tiny)
    cluster = target.snapshot.cluster
    assert cluster.containers.name == ("web-0", "web-1", "web-x", "web-api-0", "web-api-1", "web-api-7f")
    assert cluster.containers.workload.tolist() == [0, 0, 0, 1, 1, 1]
    assert target.snapshot.placement.machine_of.tolist() == [0, 1, UNPLACED, 0, 1, UNPLACED]
    assert "2 containers unknown here, taken by name as new replicas of web-api, web: web-api-7f, web-x" in target.notes


def test_rules_that_name_containers_follow_them_when_others_come_between(tiny):
    together, pinned = grown(tiny, {"web-2": 0}).cluster.rules[-2:]
    assert isinstance(together, CoLocate) and together.containers == (0, 3)
    assert isinstance(pinned, Pinned) and pinned.containers == (4,)


def test_a_name_of_no_workload_is_a_numbered_fault(tiny, tmp_path):
    with pytest.raises(InputError, match=r"E1402 column 16, container 'cart-0'"):
        read_target(written(tmp_path, {"placement": {"cart-0": "m"}}), tiny)


def test_a_rasa_solution_may_name_new_replicas_too(tiny, tmp_path):
    target = read_target(written(tmp_path, {"m": ["web-0", "web-9"], "n": ["web-1"]}), tiny)
    assert machines(target)["web-9"] == "m"


def test_a_whole_rasa_cluster_is_a_target(tmp_path):
    snapshot = read(EXAMPLES / "rasa.json")
    target = read_target(EXAMPLES / "rasa.json", snapshot)
    assert target.placement.machine_of.tolist() == snapshot.placement.machine_of.tolist()
    assert len(new_containers(snapshot, target.snapshot)) == 0


def test_the_workloads_of_a_target_snapshot_come_with_their_requests_and_rules(tiny, tmp_path):
    file = tmp_path / "later.yaml"
    file.write_text(
        """
bayplan: 1
resources: {disk: {}, cpu: {scale: 10}}
machines: [{name: n, capacity: {cpu: 4, disk: 1}}, {name: m, capacity: {cpu: 4, disk: 1}}]
machine_sets: {here: [m]}
workloads:
  - {name: mail, service: post, request: {cpu: 1.5}, containers: 2, on: [m, null]}
  - {name: web, request: {cpu: 1}, containers: [web-1, web-5], on: [m, n]}
rules:
  - {rule: anti-affinity, workloads: [mail, web], limit: 1}
  - {rule: allow, workloads: [mail, web], machines: here}
  - {rule: anti-affinity, workloads: [web], limit: 1}
""",
        encoding="utf-8",
    )
    target = read_target(file, tiny)
    cluster = target.snapshot.cluster
    assert cluster.workloads.name == ("web", "web-api", "mail") and cluster.services.name[-1] == "post"
    assert cluster.workloads.request.tolist() == [[1000], [1000], [1500]]
    assert machines(target) == {
        "web-0": None, "web-1": "m", "web-5": "n", "web-api-0": None, "web-api-1": None, "mail-0": "m", "mail-1": None,
    }  # fmt: skip
    assert [rule.kind for rule in cluster.rules[-2:]] == ["anti-affinity", "allow"]
    assert sum(isinstance(rule, AntiAffinity) for rule in cluster.rules) == 1  # that of web alone is the file's business
    sentences = [str(broken) for broken in check(cluster, target.placement)]
    assert any("anti-affinity" in sentence or "web" in sentence for sentence in sentences)
    assert "3 containers of the target are new: web-5, mail-0, mail-1" in target.notes


def test_skew_of_a_new_workload_comes_with_its_machines(tmp_path):
    path, other = tmp_path / "tiny.yaml", tmp_path / "other.yaml"
    path.write_text(TINY, encoding="utf-8")
    more = TINY.replace("rules:", "  - {name: mail, request: {cpu: 1}, containers: 2}\nrules:") + (
        "  - {rule: skew, workload: mail, counted: [web, mail], machines: left, limit: 2}\n"
        "  - {rule: skew, workload: web, counted: [web, mail]}\n"
        "machine_sets: {left: [m]}\n"
    )
    other.write_text(more, encoding="utf-8")
    cluster = joined(read(path), read(other)).cluster
    (rule,) = (rule for rule in cluster.rules if rule.kind == "skew")
    assert [cluster.workloads.name[w] for w in (rule.workload, *rule.counted)] == ["mail", "web", "mail"]
    assert cluster.machine_sets[rule.machines].tolist() == [0] and rule.limit == 2


def test_a_snapshot_joined_with_itself_stays_as_it_is():
    shop = read(EXAMPLES / "shop.yaml")
    same = joined(shop, shop)
    assert same.cluster.rules == shop.cluster.rules
    assert same.cluster.containers.name == shop.cluster.containers.name


def test_a_plan_brings_the_containers_that_it_creates(tmp_path):
    snapshot = read(EXAMPLES / "rasa.json")
    workload = snapshot.cluster.workloads.name[0]
    larger = grown(snapshot, {"odd name": 0})
    plan = Plan(batches=((Step(Action.CREATE, larger.cluster.containers.name.index("odd name"), 0),),))
    file = tmp_path / "plan.json"
    write_plan(file, plan, larger.cluster, new_containers(snapshot, larger))
    assert json.loads(file.read_text())["new"] == {"odd name": workload}
    again, read_back = read_plan_of(file, snapshot)
    assert read_back == plan and again.cluster.containers.name == larger.cluster.containers.name


def test_a_plan_for_other_machines_is_refused_with_its_number(tiny, tmp_path):
    steps = [[{"action": "create", "container": "web-9", "machine": "x"}]]
    with pytest.raises(InputError, match="E1515"):
        read_plan_of(written(tmp_path, {"batches": steps}), tiny)


@pytest.mark.parametrize("text", ["[]", "{}", '{"batches": 3}', '{"batches": [3]}', '{"batches": [], "new": 3}'])
def test_a_document_of_another_shape_is_refused_not_stumbled_over(text, tiny, tmp_path):
    file = written(tmp_path, text)
    with pytest.raises(InputError):
        read_plan_of(file, tiny)
    with pytest.raises(InputError):
        read_target(file, tiny)


def test_names_that_only_look_like_replicas_are_none(tiny):
    assert replicas_by_name(tiny.cluster, ["web", "web-", "-web", "webber-1", "web-0"]) == {}


def test_a_snapshot_on_disk_is_a_target_as_it_is_a_start(tiny, tmp_path):
    file = tmp_path / "same.json"
    write(replace(tiny), file)
    assert read_target(file, tiny).placement.machine_of.tolist() == tiny.placement.machine_of.tolist()


def test_a_container_of_a_cluster_that_has_none_is_a_fault():
    empty = ClusterBuilder("empty").machine("m", cpu=4).workload("web", replicas=0, cpu=1).build()
    with pytest.raises(InputError) as raised:
        target_in({"placement": {"other": None}}, empty, "target")
    assert [fault.code for fault in raised.value.faults] == ["E1402"]
