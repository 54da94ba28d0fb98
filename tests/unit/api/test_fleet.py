"""A fleet of clusters: plans for each, moves shared, faults of one that leave the others alone."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bayplan as bp
from bayplan.api.fleet import plan as fleet_plan
from bayplan.api.fleet.cluster_jobs import ClusterFault, ClusterTask, cluster_front
from bayplan.api.fleet.free_capacity import fleet_zones, on_fleet
from bayplan.check import violations
from bayplan.engine import EngineLostError
from bayplan.engine.here import InProcess
from bayplan.errors import UsageError
from bayplan.formats import read_plan
from bayplan.formats.clusters import ClusterFleet, FleetCluster
from bayplan.model.goal import GOALS
from bayplan.model.interrupt import listening
from bayplan.report.fleet.tables import ClusterStatus
from bayplan.score.counts import loads

EXAMPLES = Path(__file__).parents[3] / "examples"
ITERATIONS = bp.Budget(iterations=300)


@pytest.fixture(scope="module")
def fleet():
    return bp.read_fleet(EXAMPLES / "clusters.yaml")


@pytest.fixture(scope="module")
def answer(fleet):
    return bp.plan_fleet(fleet, budget=ITERATIONS, engine="here")


def test_moves_of_all_clusters_stay_within_the_fleets_limit_and_within_each_ones_share(answer):
    running = sum(row.running for row in answer.rows)
    assert 0 < answer.moved <= int(0.06 * running) == answer.division.total
    assert all(row.moves <= row.limit for row in answer.rows)
    assert [row.limit for row in answer.rows] == list(answer.division.chosen.values())


def test_the_division_gains_no_less_than_the_same_share_for_each(answer):
    chosen, even = (tuple(gains.values()) for gains in (answer.division.gain, answer.division.even_gain))
    assert chosen >= even


def test_a_cluster_gains_no_less_than_its_front_promised(fleet, answer):
    """The plan of a cluster starts from what its front found for as many moves."""
    for number, (cluster, row) in enumerate(zip(fleet.clusters, answer.rows, strict=True)):
        task = ClusterTask(
            cluster=cluster, goal=GOALS[cluster.goal or "steady"], seed=number, budget=replace(ITERATIONS, threads=1)
        )
        front = cluster_front(task, None, None)
        promised = max(point.gain[2:] for point in front.points if point.moves <= row.limit)
        reached = (row.before.overload - row.after.overload, row.gain)
        assert reached[0] >= promised[0] - 1e-9
        assert reached[0] > promised[0] + 1e-9 or reached[1] >= promised[1] - 1e-9


def test_plans_can_be_read_for_their_clusters_and_lead_to_what_the_table_says(answer, fleet, tmp_path):
    answer.save(tmp_path / "plans")
    written = {path.name for path in (tmp_path / "plans").iterdir()}
    acting = [plan for plan in answer.plans if plan.row.status is ClusterStatus.PLANNED]
    assert written == {f"{plan.row.name}.plan.json" for plan in acting} and acting
    for plan in acting:
        path = tmp_path / "plans" / f"{plan.row.name}.plan.json"
        snapshot = bp.read(plan.row.file)
        assert len(read_plan(path, snapshot.cluster).batches) == plan.row.batches
        assert len(json.loads(path.read_text())["moves"]) >= plan.row.moves > 0


def test_processes_and_any_number_of_workers_give_the_same_plans(fleet, answer):
    other = bp.plan_fleet(fleet, budget=ITERATIONS, engine="pool", threads=2)
    assert other.moves == answer.moves and other.division == answer.division
    assert [plan.plan_text for plan in other.plans] == [plan.plan_text for plan in answer.plans]


@pytest.mark.ray
def test_ray_gives_the_same_plans(fleet, answer, ray_engine):
    other = bp.plan_fleet(fleet, budget=ITERATIONS, engine=ray_engine)
    assert other.moves == answer.moves and other.division == answer.division


def test_a_frozen_workload_stays(answer):
    assert not any(move.container.startswith("cart-redis") for move in answer["paris"].moves)


def test_without_a_limit_of_the_fleet_each_cluster_has_its_own(fleet):
    free = bp.plan_fleet(replace(fleet, max_moves=None), budget=ITERATIONS, engine="here")
    assert free.division is None and free["paris"].row.moves <= 10
    assert all(row.limit is None for row in free.rows)


def test_a_bad_cluster_is_named_with_its_error_and_the_others_are_planned(fleet, tmp_path):
    (tmp_path / "broken.json").write_text('{"bayplan": 1, "machines": 3}', encoding="utf-8")
    bad = (
        FleetCluster(name="gone", file=str(tmp_path / "gone.json")),
        FleetCluster(name="broken", file=str(tmp_path / "broken.json")),
        replace(fleet.clusters[0], name="frozen", freeze=("no-such",)),
    )
    answer = bp.plan_fleet(ClusterFleet(clusters=(*bad, fleet.clusters[0])), max_moves=4, budget=ITERATIONS, engine="here")
    assert [row.status for row in answer.rows[:3]] == [ClusterStatus.FAILED] * 3
    assert answer["berlin"].row.moves > 0 and not answer.complete
    said = {reason.subject: reason.text for reason in answer.left_out}
    assert "E1001" in said["gone"] and str(tmp_path / "gone.json") in said["gone"]
    assert "E1101" in said["broken"] and "no-such" in said["frozen"]
    assert "gone" in answer.summary() and "3 clusters not planned" in answer.headline


def test_if_no_cluster_can_be_planned_there_is_no_solution(tmp_path):
    lost = ClusterFleet(clusters=(FleetCluster(name="gone", file=str(tmp_path / "gone.json")),))
    answer = bp.plan_fleet(lost, max_moves="5%", budget=ITERATIONS, engine="here")
    assert answer.result.solution is None and not answer.complete and answer.moved == 0
    assert "none of 1 cluster was planned" in answer.headline


class Stopped(InProcess):
    """As if the user pressed Ctrl-C after some answers."""

    def __init__(self, answers):
        self.left = answers

    def stream(self, jobs, **options):
        for numbered in super().stream(jobs, **options):
            yield numbered
            self.left -= 1
            if self.left == 0:
                listening().requested = True


def test_after_an_interruption_between_plans_those_that_are_done_are_kept_and_the_others_named(fleet):
    answer = bp.plan_fleet(fleet, budget=ITERATIONS, engine=Stopped(len(fleet.clusters) + 1))
    assert answer.interrupted
    assert [row.status is ClusterStatus.NOT_REACHED for row in answer.rows] == [False, True, True]
    assert {reason.subject for reason in answer.left_out} == {"paris", "oslo"}


def test_after_an_interruption_between_fronts_those_that_are_known_become_plans(fleet):
    answer = bp.plan_fleet(fleet, budget=ITERATIONS, engine=Stopped(1))
    assert answer.interrupted and answer["berlin"].row.moves > 0
    assert [row.status is ClusterStatus.NOT_REACHED for row in answer.rows] == [False, True, True]


def test_clusters_that_the_time_does_not_reach_are_named(fleet, monkeypatch):
    monkeypatch.setattr(fleet_plan, "GRACE", (0.0, 0.0))
    answer = bp.plan_fleet(fleet, seconds=1, engine="here")
    assert [row.status for row in answer.rows] == [ClusterStatus.NOT_REACHED] * 3
    assert not answer.interrupted and {reason.subject for reason in answer.left_out} == {"berlin", "paris", "oslo"}


class Lost(InProcess):
    """An engine that is gone after the first answer of each stream."""

    def stream(self, jobs, **options):
        yield next(super().stream(jobs, **options))
        raise EngineLostError("all of it is gone")


def test_what_came_before_the_engine_was_lost_is_kept(fleet):
    answer = bp.plan_fleet(replace(fleet, max_moves=None), budget=ITERATIONS, engine=Lost())
    assert answer["berlin"].row.status.has_plan and not answer.complete
    assert any("all of it is gone" in note for note in answer.notes)


def test_a_goal_without_a_front_is_refused_where_moves_are_shared(fleet):
    with pytest.raises(UsageError, match="fewer-machines"):
        bp.plan_fleet(fleet, goal="fewer-machines", max_moves=3)


def test_seconds_are_divided_by_what_is_left_over_the_rounds_to_come():
    class At:
        def left(self, share):
            return 12.0 * share

    stage = fleet_plan.Stage(label="", share=1.0, numbers=range(5), job=lambda number, seconds: (number, seconds))
    assert [seconds for _, seconds in stage.jobs(At(), 2)] == [4.0, 6.0, 6.0, 12.0, 12.0]


def test_a_fault_names_the_cluster_and_its_file():
    fault = ClusterFault(name="oslo", file="oslo.json", text="no")
    assert str(fault) == "cluster 'oslo' ('oslo.json'): no"


# ---- what is free ----------------------------------------------------------------------------------------------------------


def test_zones_have_what_is_free_in_each_cluster_and_the_links(fleet):
    zones = fleet_zones(fleet).zones
    assert zones.name == ("berlin", "paris", "oslo")
    berlin = bp.read(fleet.clusters[0].file)
    free = np.maximum(0, berlin.cluster.machines.capacity - loads(berlin.cluster, berlin.placement)).sum(axis=0)
    assert zones.capacity[0].tolist() == free.tolist()
    assert zones.bandwidth.tolist() == [[0, 100, 0], [100, 0, 0], [0, 0, 0]]


def test_what_is_new_is_packed_onto_free_machines_of_all_clusters(fleet):
    web = on_fleet(bp.read(EXAMPLES / "web.yaml"), fleet)
    assert web.cluster.levels[1].name == "cluster" and web.cluster.levels[1].group == ("berlin", "paris", "oslo")
    assert len(web.placement.unplaced) == len(web.cluster.containers.name)
    assert all("/" in name for name in web.cluster.machines.name)
    packed = bp.pack(web, method="bf-ucac", confidence=0.99)
    assert packed.placed == len(web.cluster.containers.name)
    assert not list(violations(web.cluster, packed.placement))


def test_a_snapshot_with_rules_about_its_own_machines_is_refused(fleet):
    with pytest.raises(UsageError, match="about machines"):
        on_fleet(bp.read(EXAMPLES / "rules.yaml"), fleet)
