"""A fleet planned on a real Ray cluster: the same plans as in this process, whatever happens to a node or to one cluster."""

import re
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from tests.builders.ray_cluster import RayCluster
from tests.on_ray.test_lost_nodes import killed_when_busy

import bayplan as bp
from bayplan.formats import ClusterFleet
from bayplan.generate.fleet import fleet as generated_fleet

pytestmark = pytest.mark.ray
CLUSTERS = 6


def planned(fleet: ClusterFleet, engine, iterations=30_000):
    return bp.plan_fleet(fleet, max_moves="3%", budget=bp.Budget(iterations=iterations), engine=engine, threads=2, seed=5)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory) -> ClusterFleet:
    """Six clusters of 15 to 45 machines, in files that all nodes on this machine can read."""
    return bp.read_fleet(generated_fleet(folder=str(tmp_path_factory.mktemp("fleet")), clusters=CLUSTERS, machines=30, seed=2))


@pytest.fixture(scope="module")
def undisturbed(fleet):
    return planned(fleet, "here")


def plan_texts(answer):
    return [plan.plan_text for plan in answer.plans]


def test_the_plans_are_those_of_this_process(fleet, ray_engine, undisturbed):
    answer = planned(fleet, ray_engine)
    assert undisturbed.moved > 0 and answer.complete
    assert answer.moves == undisturbed.moves
    assert answer.division == undisturbed.division
    assert plan_texts(answer) == plan_texts(undisturbed)
    assert answer.score == undisturbed.score


def test_a_node_killed_in_the_middle_changes_no_plan_and_is_named(fleet, ray_nodes: RayCluster, ray_engine, undisturbed):
    killed: list[str] = []
    node = ray_nodes.nodes[-1]
    thread = Thread(target=killed_when_busy, args=(node, killed))
    thread.start()
    answer = planned(fleet, ray_engine)
    thread.join()
    ray_nodes.replace(node, ray_engine)
    assert killed == [node.name]
    assert answer.moves == undisturbed.moves
    lost = re.compile(
        rf"job '(front|plan) of cluster cluster-\d' was lost: its (node|worker on) {re.escape(node.ip)} died; "
        r"it is repeated elsewhere \(attempt 2 of 3\)"
    )
    assert any(lost.search(note) for note in answer.result.notes), answer.result.notes


def test_a_broken_cluster_is_named_and_the_others_are_planned(fleet, ray_engine, tmp_path: Path):
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    first, *others = fleet.clusters
    wrong = replace(fleet, clusters=(replace(first, file=str(broken)), *others))
    here, answer = planned(wrong, "here", 5_000), planned(wrong, ray_engine, 5_000)
    assert [reason.subject for reason in answer.left_out] == [first.name]
    assert "E1006" in answer.failures()[0] and str(broken) in answer.failures()[0]
    assert answer.moves == here.moves and not answer.complete
    assert all(row.status.has_plan for row in answer.rows[1:])
