"""Single steps on a real control plane: made once or never, by this process or the next one, and nothing is left behind."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.kubernetes.cleaning import cluster_wide_objects
from tests.kubernetes.moves import Bench
from tests.kubernetes.objects import Json, deployment, disruption_budget
from tests.kubernetes.shops import Shop
from tests.kubernetes.watcher import Watcher

from bayplan.kubernetes.client import Client
from bayplan.kubernetes.execute import Uninstalled, uninstall
from bayplan.operate.orchestrator import PermanentError, Phase, StepState, TemporaryError

pytestmark = pytest.mark.kubernetes
REPLICAS = 4


@pytest.fixture
def bench(client: Client, namespace: str, fake_nodes: Callable[..., list[str]], make: Callable[[Json], Json]) -> Bench:
    """Four replicas of `web` on five nodes; at most one may be missing."""
    names = fake_nodes(5)
    make(deployment("web", REPLICAS))
    make(disruption_budget("web", app="web", maxUnavailable=1))
    shop = Shop(client=client, namespace=namespace, traffic={})
    shop.wait_ready(REPLICAS)
    nodes = {node["metadata"]["name"]: node["metadata"]["uid"] for node in client.list("/api/v1/nodes").items}
    bench = Bench(shop=shop, orchestrator=shop.orchestrator(), nodes={name: nodes[name] for name in names})
    bench.orchestrator.observe()
    return bench


def test_a_replica_moves_to_the_node_that_was_planned(bench):
    pod = bench.first()
    node = bench.elsewhere(pod)
    delete, create = bench.delete(pod), bench.create(pod, node)
    bench.prepare(delete, replace(create, token=""))
    assert bench.made(delete).state is StepState.DONE
    observation = bench.orchestrator.observe()
    waiting = next(state for state in observation.containers if state.replaces)
    assert (waiting.replaces, waiting.phase) == (delete.uid, Phase.PENDING)
    bench.prepare(create)
    report = bench.made(create)
    assert report.state is StepState.DONE
    seen = bench.orchestrator.observe().by_token[create.token]
    assert (seen.uid, seen.machine, seen.phase) == (report.uid, node, Phase.READY)
    assert seen.name == f"{bench.shop.namespace}/{pod['metadata']['name']}"
    bench.orchestrator.release("1-abc")
    assert not bench.gated()


def test_a_step_that_is_sent_twice_is_made_once(bench):
    pod = bench.first()
    delete, create = bench.delete(pod), bench.create(pod, bench.elsewhere(pod))
    bench.prepare(delete, create)
    bench.made(delete)
    bench.orchestrator.execute(delete)
    assert len(bench.gated()) == 1
    first = bench.made(create)
    assert bench.orchestrator.execute(create).uid == first.uid
    with pytest.raises(PermanentError, match="no replica of 'web' waits"):
        bench.another_process().execute(replace(create, token="p/other"))


def test_only_new_pods_of_the_owner_that_is_moved_wait(bench, make):
    pod = bench.first()
    bench.prepare(bench.delete(pod))
    make(deployment("other", 2))
    bench.shop.wait_ready(REPLICAS + 2)
    assert not bench.gated()


def test_a_pod_on_another_node_or_with_another_uid_is_not_evicted(bench):
    pod = bench.first()
    with pytest.raises(PermanentError, match="is on node"):
        bench.orchestrator.execute(bench.delete(pod, machine=bench.elsewhere(pod)))
    with pytest.raises(PermanentError, match="there is no pod with uid 'gone'"):
        bench.orchestrator.execute(bench.delete(pod, uid="gone"))
    assert bench.pod(pod["metadata"]["uid"]) is not None


def test_an_eviction_that_a_budget_forbids_is_to_be_tried_again(bench):
    first, second = (pod for pod in bench.shop.pods()[:2])
    deletes = bench.delete(first), bench.delete(second)
    bench.prepare(*deletes)
    bench.made(deletes[0])
    with pytest.raises(TemporaryError, match="429") as error:
        bench.orchestrator.execute(deletes[1])
    assert error.value.causes == ("DisruptionBudget",)
    assert bench.orchestrator.cancel(deletes[1].token).state is StepState.FAILED
    assert bench.pod(second["metadata"]["uid"]) is not None


def test_a_cancelled_delete_is_refused_for_good_also_by_another_process(bench):
    delete = bench.delete(bench.first())
    bench.prepare(delete)
    assert bench.orchestrator.cancel(delete.token).state is StepState.FAILED
    with pytest.raises(PermanentError, match="cancelled"):
        bench.orchestrator.execute(delete)
    with pytest.raises(PermanentError, match="cancelled before it was begun"):
        bench.another_process().execute(delete)
    assert bench.pod(delete.uid) is not None


def test_an_eviction_on_its_way_when_it_is_cancelled_is_refused(bench, client):
    from bayplan.kubernetes.client import RefusedError
    from bayplan.kubernetes.execute.live_pod import LivePod
    from bayplan.kubernetes.marks import EVICTS

    delete = bench.delete(bench.first())
    bench.prepare(delete)
    pod = bench.orchestrator.live.known(delete.uid)
    on_its_way = LivePod(client.patch(pod.path, pod.change({EVICTS: delete.token}))).eviction()
    bench.another_process().cancel(delete.token)
    with pytest.raises(RefusedError, match="409"):
        client.create(f"{pod.path}/eviction", on_its_way)
    assert bench.pod(delete.uid) is not None


def test_a_cancelled_create_leaves_its_pod_waiting_for_another_step(bench):
    pod = bench.first()
    delete, create = bench.delete(pod), bench.create(pod, bench.elsewhere(pod))
    bench.prepare(delete, create)
    bench.made(delete)
    assert bench.orchestrator.cancel(create.token).state is StepState.FAILED
    other = bench.another_process()
    with pytest.raises(PermanentError, match="cancelled"):
        other.execute(create)
    assert bench.made(replace(create, token="p/again"), other).state is StepState.DONE


def test_a_create_that_is_cancelled_when_it_is_done_stays_done(bench):
    pod = bench.first()
    delete, create = bench.delete(pod), bench.create(pod, bench.elsewhere(pod))
    bench.prepare(delete, create)
    bench.made(delete)
    report = bench.made(create)
    assert bench.another_process().cancel(create.token) == report


def test_a_replica_that_the_scheduler_brought_elsewhere_is_missed(bench, make):
    pod = bench.first()
    node = bench.elsewhere(pod)
    make(deployment("filler", 1, cpu="3900m", nodeSelector={"kubernetes.io/hostname": node}))
    bench.shop.wait_ready(REPLICAS + 1)
    delete, create = bench.delete(pod), bench.create(pod, node)
    bench.prepare(delete, create)
    bench.made(delete)
    report = bench.made(create)
    assert report.state is StepState.FAILED
    assert report.reason.startswith("missed: bound to node")
    assert bench.orchestrator.cancel(create.token).state is StepState.FAILED
    assert create.token not in bench.orchestrator.observe().by_token


@pytest.mark.parametrize("gone", ["cordoned", "deleted"])
def test_a_node_that_takes_no_pods_any_more_is_refused(bench, client, gone):
    pod = bench.first()
    node = bench.elsewhere(pod)
    delete, create = bench.delete(pod), bench.create(pod, node)
    bench.prepare(delete, create)
    bench.made(delete)
    if gone == "cordoned":
        client.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    else:
        client.delete(f"/api/v1/nodes/{node}")
    with pytest.raises(PermanentError, match="is cordoned" if gone == "cordoned" else "there is no node"):
        bench.orchestrator.execute(create)
    assert len(bench.gated()) == 1


def test_what_waits_in_excess_because_somebody_scaled_up_goes_to_the_scheduler(bench, client):
    delete = bench.delete(bench.first())
    bench.prepare(delete)
    bench.made(delete)
    path = f"/apis/apps/v1/namespaces/{bench.shop.namespace}/deployments/web"
    client.patch(path, {"spec": {"replicas": REPLICAS + 2}})
    bench.wait_for(lambda: len(bench.shop.pods()) == REPLICAS + 2, "two pods more")
    bench.wait_for(lambda: bench.orchestrator.watch(["unknown"], 0.2) and len(bench.gated()) == 1, "one that waits")
    bench.orchestrator.release("1-abc")
    bench.shop.wait_ready(REPLICAS + 2)


def test_a_rollout_has_pods_that_do_not_wait(bench, client):
    bench.prepare(bench.delete(bench.first()))
    path = f"/apis/apps/v1/namespaces/{bench.shop.namespace}/deployments/web"
    client.patch(path, {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}})
    bench.wait_for(
        lambda: all("version" in pod["metadata"].get("annotations", {}) for pod in bench.shop.pods()), "the end of the rollout"
    )
    assert not bench.gated()


def test_a_process_that_comes_after_a_crash_goes_on_with_what_waits(bench):
    pod = bench.first()
    delete = bench.delete(pod)
    bench.prepare(delete)
    bench.orchestrator.execute(delete)
    other = bench.another_process()
    bench.wait_for(lambda: bench.pod(delete.uid) is None, "the end of the pod")
    assert other.cancel(delete.token).state is StepState.DONE
    bench.wait_for(lambda: [state for state in other.observe().containers if state.replaces == delete.uid], "a replacement")
    create = bench.create(pod, bench.elsewhere(pod))
    other.prepare("1-abc", [create], other.now() + 600)
    assert bench.made(create, other).state is StepState.DONE


def test_a_reservation_that_is_overdue_is_ended_by_whoever_looks_next(bench, client):
    delete = bench.delete(bench.first())
    bench.prepare(delete, seconds=1.0 + bench.orchestrator.settings.arming)
    bench.orchestrator.execute(delete)
    bench.wait_for(bench.gated, "a pod that waits")
    other = bench.shop.orchestrator()
    ended = bench.wait_for(other.end_overdue, "the end of the reservation")
    assert ended == ["1-abc"]
    bench.shop.wait_ready(REPLICAS)
    assert not other.gates.reservations()


def test_a_reservation_of_another_process_is_left_alone_until_its_time_is_over(bench):
    delete = bench.delete(bench.first())
    bench.prepare(delete)
    bench.made(delete)
    assert bench.another_process().end_overdue() == []
    assert len(bench.gated()) == 1


def test_release_opens_every_gate_and_leaves_no_policy(bench, client):
    before = cluster_wide_objects(client)
    pod = bench.first()
    bench.prepare(bench.delete(pod))
    bench.made(bench.delete(pod))
    bench.orchestrator.release("1-abc")
    bench.shop.wait_ready(REPLICAS)
    bench.orchestrator.release("1-abc")  # it has ended already
    assert cluster_wide_objects(client) == before


def test_a_delete_that_is_not_steered_is_replaced_by_the_scheduler(bench):
    delete = bench.delete(bench.first(), steered=False)
    assert bench.made(delete).state is StepState.DONE
    bench.shop.wait_ready(REPLICAS)


def test_a_replica_of_a_stateful_set_moves_under_its_own_name(bench, make, namespace):
    stateful = {**deployment("db", 2), "kind": "StatefulSet"}
    stateful["spec"]["serviceName"] = "db"
    make(stateful)
    bench.shop.wait_ready(REPLICAS + 2)
    bench.orchestrator.observe()
    pod = bench.first("db")
    delete, create = bench.delete(pod), bench.create(pod, bench.elsewhere(pod))
    bench.prepare(delete, create)
    bench.made(delete)
    assert bench.made(create).state is StepState.DONE
    moved = next(each for each in bench.shop.pods() if each["metadata"]["name"] == pod["metadata"]["name"])
    assert moved["spec"]["nodeName"] == create.machine


def test_a_watch_that_is_too_old_begins_anew(bench):
    pod = bench.first()
    delete = bench.delete(pod)
    bench.prepare(delete)
    bench.orchestrator.execute(delete)
    bench.orchestrator.live.version = "1"
    assert bench.ended(delete).state is StepState.DONE


def test_a_pod_with_two_budgets_is_refused_before_anything_is_done(bench, make):
    make(disruption_budget("more", app="web", maxUnavailable=1))
    with pytest.raises(PermanentError, match="more than one PodDisruptionBudget"):
        bench.wait_for(lambda: bench.prepare(bench.delete(bench.first())), "a refusal")
    assert not bench.orchestrator.gates.reservations()


def test_uninstall_leaves_nothing_behind(bench, client):
    before = cluster_wide_objects(client)
    pod = bench.first()
    delete, create = bench.delete(pod), bench.create(pod, bench.elsewhere(pod))
    bench.prepare(delete, create)
    bench.made(delete)
    bench.made(create)
    other = next(each for each in bench.shop.pods() if each["metadata"]["uid"] != bench.orchestrator.live.replacement[delete.uid])
    bench.prepare(bench.delete(other), name="2-abc")
    bench.made(bench.delete(other))
    found = uninstall(client)
    assert (found.policies, found.gates) == (4, 1)
    bench.shop.wait_ready(REPLICAS)
    marks = [key for each in bench.shop.pods() for key in each["metadata"].get("annotations") or {}]
    assert not [key for key in marks if key.startswith("bayplan.io/")]
    assert cluster_wide_objects(client) == before
    assert uninstall(client) == Uninstalled(policies=0, leases=0, gates=0, pods=0, holds=0)


@pytest.fixture
def surging(bench: Bench) -> Bench:
    """The same, where a Deployment may be scaled up for a while."""
    bench.orchestrator = bench.another_process(surge=True)
    return bench


def replicas(bench: Bench) -> int:
    path = f"/apis/apps/v1/namespaces/{bench.shop.namespace}/deployments/web"
    return bench.shop.client.get(path)["spec"]["replicas"]


def test_a_surge_brings_the_new_replica_before_the_old_one_goes(surging, control_plane):
    pod = surging.first()
    create, delete = surging.create(pod, surging.elsewhere(pod), surge=True), surging.delete(pod, surge=True)
    with Watcher(control_plane.kubeconfig) as watcher:
        surging.prepare(create, replace(delete, token=""))
        assert surging.made(create).state is StepState.DONE
        observation = surging.orchestrator.observe()
        name = f"{surging.shop.namespace}/{pod['metadata']['name']}"
        assert observation.second[name].machine == create.machine
        assert not observation.incomplete
        assert not observation.changing
        surging.prepare(delete)
        assert surging.made(delete).state is StepState.DONE
        surging.orchestrator.release("1-abc")
        surging.shop.wait_ready(REPLICAS)
    assert surging.shop.where()[name] == create.machine
    assert replicas(surging) == REPLICAS
    assert (watcher.violations, watcher.evicted) == ([], 1)


def test_a_surge_that_was_not_asked_for_is_refused(bench):
    pod = bench.first()
    with pytest.raises(PermanentError, match="it was not asked for"):
        bench.prepare(bench.create(pod, bench.elsewhere(pod), surge=True))


def test_a_deployment_that_an_autoscaler_scales_does_not_surge(surging, make):
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 9}
    make({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"}, "spec": spec})
    pod = surging.first()
    create = surging.create(pod, surging.elsewhere(pod), surge=True)
    surging.prepare(create)
    with pytest.raises(PermanentError, match="is scaled by 'web': it cannot surge"):
        surging.orchestrator.execute(create)
    assert replicas(surging) == REPLICAS


def test_a_surge_that_a_crash_cut_off_is_scaled_back(surging):
    pod = surging.first()
    create = surging.create(pod, surging.elsewhere(pod), surge=True)
    surging.prepare(create)
    surging.made(create)
    assert replicas(surging) == REPLICAS + 1
    other = surging.another_process()
    other.release("1-abc")
    assert replicas(surging) == REPLICAS
    surging.shop.wait_ready(REPLICAS)


def test_a_number_of_replicas_that_somebody_set_during_a_surge_counts(surging):
    pod = surging.first()
    create = surging.create(pod, surging.elsewhere(pod), surge=True)
    surging.prepare(create)
    surging.made(create)
    path = f"/apis/apps/v1/namespaces/{surging.shop.namespace}/deployments/web"
    surging.shop.client.patch(path, {"spec": {"replicas": REPLICAS + 3}})
    surging.orchestrator.release("1-abc")
    surging.shop.wait_ready(REPLICAS + 3)
