"""`plan` and `rebalance` on a Ray cluster: the same answers as in this process, also when a node is lost on the way."""

import re
from threading import Thread

import pytest
from tests.builders.ray_cluster import RayCluster, killed_when_busy
from tests.builders.report_clusters import cluster_of

import bayplan as bp
from bayplan.generate import GENERATORS

pytestmark = pytest.mark.ray
FEW_STEPS = bp.Budget(iterations=2_000)
LONG_WALKS = bp.Budget(iterations=600_000)  # of some seconds each: time to kill a node


@pytest.fixture(scope="module")
def shop() -> bp.Snapshot:
    return cluster_of(machines=12, services=6, replicas=6)


def machines(answer) -> list[int]:
    return answer.placement.machine_of.tolist()


def points(answer) -> list[tuple[int, float, bool]]:
    return [(point.moved, point.gain, point.chosen) for point in answer.front]


def test_the_front_of_a_plan_is_the_same_as_in_this_process(shop, ray_engine):
    here, there = (bp.plan(shop, front=True, max_moves=6, budget=FEW_STEPS, engine=each) for each in ("here", ray_engine))
    assert len(points(here)) > 2
    assert points(there) == points(here)
    assert machines(there) == machines(here)


def test_a_plan_in_parts_is_the_same_as_in_this_process(shop, ray_engine):
    here, there = (bp.plan(shop, parts=4, budget=FEW_STEPS, engine=each) for each in ("here", ray_engine))
    assert any(note.startswith("in 4 parts") for note in there.notes)
    assert machines(there) == machines(here)


@pytest.mark.parametrize("verb", [bp.plan, bp.rebalance], ids=["plan", "rebalance"])
def test_several_starts_give_the_same_answer_as_in_this_process(verb, shop, ray_engine):
    here, there = (verb(shop, starts=5, max_moves=9, budget=FEW_STEPS, engine=each) for each in ("here", ray_engine))
    assert machines(there) == machines(here)
    assert there.score == here.score
    assert there.notes == here.notes


def test_a_node_killed_in_the_middle_of_a_plan_changes_nothing_and_is_named(ray_nodes: RayCluster, ray_engine, caplog):
    generated = GENERATORS["rasa-m3"].make(seed=1)
    options = {"starts": 4, "max_moves": 40, "budget": LONG_WALKS, "performance": False}
    undisturbed = bp.plan(generated, engine="here", **options)
    killed: list[str] = []
    node = ray_nodes.nodes[-1]
    thread = Thread(target=killed_when_busy, args=(node, killed))
    thread.start()
    answer = bp.plan(generated, engine=ray_engine, **options)
    thread.join()
    ray_nodes.replace(node, ray_engine)
    assert killed == [node.name]
    assert answer.moved
    assert machines(answer) == machines(undisturbed)
    lost = re.compile(
        rf"job 'walk \d of 4, epoch \d of 2' was lost: its (node|worker on) {re.escape(node.ip)} died; "
        r"it is repeated elsewhere \(attempt 2 of 3\)"
    )
    assert any(lost.search(record.getMessage()) for record in caplog.records), caplog.text
    assert any(lost.search(note) for note in answer.notes), answer.notes
