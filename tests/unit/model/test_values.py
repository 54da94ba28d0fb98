"""The small values: objective, placement, plan, requests, zones, result, budget, snapshot."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.hand_made_clusters import at, cluster

from bayplan.errors import ModelError
from bayplan.model import (
    Action,
    AntiAffinity,
    BalanceTarget,
    Budget,
    ClusterRequest,
    ClusterRequests,
    Confidence,
    Interference,
    MoveCosts,
    Objective,
    Placement,
    Plan,
    Reason,
    Resource,
    Result,
    Snapshot,
    Spread,
    Status,
    Step,
    Term,
    Tick,
    TimedRequests,
    Zones,
    floats,
    ints,
    silent,
)

CPU = (Resource(name="cpu"),)


def test_the_default_objective_is_that_of_000():
    objective = Objective.default(cluster())
    assert objective.weight == {Term.UTILISATION: 1.0, Term.BALANCE: 1 / 4, Term.COMMUNICATION: 1 / 36}
    assert objective.hop.tolist() == [1.0, 0.0]
    assert not objective.explicit
    assert objective.with_weights({Term.MOVES: 2.0}).explicit


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_weights_are_finite_and_not_negative(weight):
    with pytest.raises(ModelError, match="objective weights"):
        Objective.default(cluster()).with_weights({Term.MOVES: weight})


@pytest.mark.parametrize("ratio", [[[1.0, 2.0], [2.0, 1.0]], [[1.0, -1.0], [-1.0, 1.0]]])
def test_target_ratios_are_reciprocal_and_positive(ratio):
    with pytest.raises(ModelError, match="target ratios"):
        replace(Objective.default(cluster()), ratio=floats(ratio))


def test_an_unknown_term_is_refused():
    with pytest.raises(ValueError, match="beauty"):
        Objective.default(cluster()).with_weights({"beauty": 1.0})


def test_a_placement_knows_what_is_placed_and_what_moved():
    before, after = at(0, 1, -1, 2, -1, 3), at(0, 2, 1, -1, -1, 3)
    assert after.placed.tolist() == [0, 1, 2, 5]
    assert after.unplaced.tolist() == [3, 4]
    assert after.moved_from(before).tolist() == [1, 3]  # a new container has not moved, a lost one has
    assert Placement.empty(3).unplaced.tolist() == [0, 1, 2]


@pytest.mark.parametrize("machine_of", [[-2], [[0]]])
def test_a_placement_is_one_machine_or_none_each(machine_of):
    with pytest.raises(ModelError, match="one machine index or -1"):
        Placement(machine_of=np.array(machine_of))


def test_a_snapshot_has_a_placement_of_its_cluster():
    Snapshot(cluster=cluster(), placement=at(0, 1, 2, 3, -1, 0), objective=Objective.default(cluster()))
    for wrong in (at(0, 1), at(0, 1, 2, 3, 4, 0)):
        with pytest.raises(ModelError, match="does not fit 6 containers and 4 machines"):
            Snapshot(cluster=cluster(), placement=wrong, objective=Objective.default(cluster()))


def test_a_plan_is_walked_batch_by_batch():
    steps = [Step(Action.DELETE, 0, 1), Step(Action.CREATE, 0, 2), Step(Action.CREATE, 1, 1)]
    plan = Plan(batches=((steps[0],), (steps[1], steps[2])))
    assert list(plan.steps()) == steps
    assert len(plan) == 3
    assert str(steps[0].action) == "delete"


@pytest.mark.parametrize("status", Status)
def test_there_is_a_solution_exactly_when_the_status_says_so(status):
    right, wrong = (at(0), None) if status.has_solution else (None, at(0))
    assert Result(status=status, solution=right).bound is None
    with pytest.raises(ModelError, match=f"status {status} with"):
        Result(status=status, solution=wrong)


def test_a_reason_is_a_sentence_about_its_subject():
    assert str(Reason("web", "0/12 machines fit (12 short of cpu)")) == "web: 0/12 machines fit (12 short of cpu)"


def test_a_budget_runs_out_by_time_or_by_iterations():
    assert not Budget().clock().expired(10**9)
    assert Budget(iterations=5).clock().expired(5)
    assert not Budget(iterations=5).clock().expired(4)
    assert Budget(seconds=0).clock().expired()
    assert Budget(seconds=60).clock().seconds < 60
    assert silent(Tick(stage="searching", done=0.5)) is None


@pytest.mark.parametrize("wrong", [{"seconds": -1.0}, {"seconds": float("nan")}, {"iterations": -1}, {"threads": 0}])
def test_a_budget_is_not_negative(wrong):
    with pytest.raises(ModelError, match="a budget"):
        Budget(**wrong)


def timed(**parts):
    values = {"capacity": [4], "start": [0.0], "end": [1.0], "demand": [[1]], "value": [1.0]}
    return TimedRequests(name=("q",), resources=CPU, **{**values, **parts})


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"demand": [[1, 1]]}, "arrays of shapes"),
        ({"end": [0.0]}, "an interval is empty"),
        ({"start": [-np.inf]}, "not finite"),
        ({"demand": [[-1]]}, "a demand or value is negative"),
        ({"value": [np.nan]}, "a demand or value is negative or not finite"),
        ({"capacity": [-1]}, "a capacity is negative"),
    ],
)
def test_timed_requests_that_make_no_sense_are_refused(parts, sentence):
    assert timed().end.tolist() == [1.0]
    with pytest.raises(ModelError, match=sentence):
        timed(**parts)


def request(name="q", **parts):
    values = {"members": ("a",), "demand": [[1]], "traffic": [[0.0]], "arrival": 0.0, "start": 0.0, "end": 1.0, "value": 1.0}
    return ClusterRequest(name=name, **{**values, **parts})


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"members": ()}, "for 0 members"),
        ({"traffic": [[0.0, 0.0]]}, "for 1 members"),
        ({"arrival": 0.5}, "are not in order"),
        ({"end": 0.0}, "are not in order"),
        ({"value": -1.0}, "an amount is negative"),
        ({"traffic": [[np.nan]]}, "an amount is negative or not finite"),
    ],
)
def test_cluster_requests_that_make_no_sense_are_refused(parts, sentence):
    with pytest.raises(ModelError, match=sentence):
        request(**parts)


def test_requests_come_in_order_of_arrival_to_zones_that_fit_together():
    zones = Zones(name=("z",), resources=CPU, capacity=[[1]], request_cap=[[1]], bandwidth=[[0]])
    late = request("late", arrival=1.0, start=1.0, end=2.0)
    assert ClusterRequests(zones=zones, requests=(request(), late)).requests[1] is late
    with pytest.raises(ModelError, match="not in order of arrival"):
        ClusterRequests(zones=zones, requests=(late, request()))
    with pytest.raises(ModelError, match="zones: arrays of shapes"):
        replace(zones, bandwidth=ints([[0, 0]]))
    with pytest.raises(ModelError, match="zones: an amount is negative"):
        replace(zones, capacity=ints([[-1]]))


def result(score, bound, goal="total", status=Status.FEASIBLE):
    return Result(status=status, solution=1, score={goal: score}, goal=goal, bound=bound)


def test_the_gap_is_relative_to_the_score():
    assert result(2.0, 1.5).gap == pytest.approx(0.25)
    assert result(0.5, 0.6, "affinity").gap == pytest.approx(0.2)
    assert result(0.0, 0.0).gap == 0.0
    assert result(0.0, -1.0).gap is None
    assert result(2.0, None).gap is None


@pytest.mark.parametrize(("score", "bound", "goal"), [(1.0, 1.5, "gmrp"), (0.7, 0.6, "affinity"), (12.0, 11.0, "value")])
def test_a_bound_that_the_solution_passes_is_refused(score, bound, goal):
    with pytest.raises(ModelError, match="no bound"):
        result(score, bound, goal)


def test_amounts_are_whole_numbers():
    assert ints([1.0, 2.0]).tolist() == [1, 2]
    for fraction in ([0.9, 1.7], [float("nan")], [1e30]):
        with pytest.raises(ModelError, match="whole number"):
            ints(fraction)


@pytest.mark.parametrize(
    "change",
    [
        {"hop": [1.0]},
        {"overload_weight": [1.0]},
        {"ratio": [[1.0]]},
        {"targets": (BalanceTarget(r1=5, r2=0, target=1, weight=1),)},
        {"move_costs": MoveCosts(container=[1], machine=np.zeros((0, 0)))},
        {"move_costs": MoveCosts(container=[1, 1, 1], machine=np.zeros((2, 2)))},
    ],
)
def test_a_snapshot_refuses_an_objective_of_another_cluster(change):
    objective = replace(Objective.default(cluster()), **change)
    with pytest.raises(ModelError, match="objective does not fit"):
        Snapshot(cluster=cluster(), placement=at(0, 0, 0, 0, 0, 0), objective=objective)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Confidence(resource=0, alpha=1.5),
        lambda: AntiAffinity(workloads=(0,), limit=-1),
        lambda: Interference(a=0, b=0, limit=-1),
        lambda: Spread(service=0, minimum=-1),
        lambda: Resource(name="cpu", scale=0),
        lambda: replace(Objective.default(cluster()), hop=[-1.0, 0.0]),
        lambda: replace(Objective.default(cluster()), overload_weight=[-1.0, 0.0]),
    ],
)
def test_small_values_refuse_what_makes_no_sense(build):
    with pytest.raises(ModelError):
        build()


@pytest.mark.parametrize(
    "fields",
    [
        {"bound": float("nan")},
        {"bound": float("-inf")},
        {"bound": 1.0, "goal": "machines"},
        {"bound": 1.0, "score": {"total": float("nan")}},
        {"bound": 1.0, "status": Status.OPTIMAL},
    ],
)
def test_a_bound_proves_something_or_is_refused(fields):
    with pytest.raises(ModelError):
        Result(**{"status": Status.FEASIBLE, "solution": 1, "score": {"total": 2.0}, **fields})


@pytest.mark.parametrize("part", [np.s_[:], np.s_[:, 1:], np.s_[:, :0], np.s_[0]])
def test_writing_to_what_was_given_changes_no_value_of_the_model(part):
    for freeze, dtype in ((ints, np.int64), (floats, np.float64), (ints, np.float64)):
        given = np.arange(6, dtype=dtype).reshape(2, 3)
        expected = given[part].tolist()
        kept = freeze(given[part])
        given[:] = -1
        assert given[part].flags.writeable
        assert kept.tolist() == expected
        assert not kept.flags.writeable
