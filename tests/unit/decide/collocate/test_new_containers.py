"""Containers without a machine get one within all rules, or are left out and named; none of that costs affinity."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.check import check
from bayplan.decide.collocate import COLLOCATORS, CollocateOptions
from bayplan.decide.collocate.bound import affinity_bound
from bayplan.decide.collocate.place_by_rules import place_by_rules
from bayplan.model import (
    UNPLACED,
    AntiAffinity,
    Budget,
    Capacity,
    CoLocate,
    Confidence,
    Dependency,
    Interference,
    Machines,
    Objective,
    Pinned,
    Spread,
    Term,
    Transient,
    TransientMode,
    machine_level,
    silent,
)
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity

CAPACITY = Capacity(resources=(0,))
movers = pytest.mark.parametrize("name", [name for name in COLLOCATORS if name != "original"])


def problem_at(cluster, start):
    objective = Objective.default(cluster).with_weights({Term.AFFINITY: 1.0})
    return Problem(cluster=cluster, objective=objective, before=start, start=start)


def answer(name, problem, seed=0):
    options, budget = CollocateOptions(engine="here"), Budget(iterations=200)
    return COLLOCATORS[name](problem, options, budget=budget, seed=seed, progress=silent)


def two_machines(rule, **parts):
    """Workload 0 runs on machine 0; workload 1 talks to it and has no machine yet."""
    cluster = tiny([[8], [8]], [[1], [1]], [1, 1], edges=[(0, 1, 1.0)], rules=(CAPACITY, rule), **parts)
    return problem_at(cluster, on(0, UNPLACED))


@pytest.mark.parametrize("seed", range(3))
def test_a_confidence_rule_leaves_out_what_does_not_fit(seed):
    cluster = tiny([[4]], [[1]], [2], mean=[[3.0]], rules=(Confidence(resource=0, alpha=0.9),))
    result = answer("best", problem_at(cluster, on(UNPLACED, UNPLACED)), seed)
    assert len(result.solution.placed) == 1
    (reason,) = result.left_out
    assert reason.text == "1 of 2 containers have no machine: 0/1 machines fit (1 confidence)"


def test_a_transient_rule_leaves_out_what_may_not_come_to_an_overfull_machine():
    cluster = tiny([[4]], [[0], [5]], [1, 1], rules=(Transient(resource=0, mode=TransientMode.JOINT),))
    result = answer("best", problem_at(cluster, on(UNPLACED, 0)))
    assert result.solution.machine_of.tolist() == [UNPLACED, 0]
    assert [reason.subject for reason in result.left_out] == ["w0"]


@movers
@pytest.mark.parametrize(
    "rule",
    [
        Pinned(containers=(1,)),
        Spread(service=0, minimum=1, level=0),
        Dependency(service=1, on=0, level=0),
        Interference(a=0, b=1, limit=1, level=0),
        AntiAffinity(workloads=(0, 1), limit=2, level=1),
        CoLocate(containers=(0, 1)),
    ],
    ids=lambda rule: rule.kind,
)
def test_a_new_container_that_a_rule_names_is_placed_where_it_gains_most(name, rule):
    problem = two_machines(rule, racks=[0, 1])
    result = answer(name, problem)
    assert result.solution.machine_of.tolist() == [0, 0]
    assert not check(problem.cluster, result.solution, problem.before)
    assert (result.score["affinity"], result.left_out) == (1.0, ())


@movers
@pytest.mark.parametrize(
    "rule",
    [Interference(a=0, b=1, limit=0, level=0), AntiAffinity(workloads=(0, 1), limit=1, level=1)],
    ids=lambda rule: rule.kind,
)
def test_a_rule_that_keeps_it_from_its_neighbour_is_kept(name, rule):
    problem = two_machines(rule, racks=[0, 1])
    solution = answer(name, problem).solution
    assert not check(problem.cluster, solution, problem.before)
    assert len(solution.unplaced) == 0


@movers
@pytest.mark.parametrize(
    ("minimum", "start", "placed"),
    [
        (2, (0, 0, UNPLACED), 1),  # too few racks already; one more container does not make it worse
        (3, (0, 0, UNPLACED), 1),  # three containers in two racks are as short of racks as two in one
        (3, (0, UNPLACED, UNPLACED), 1),  # the third container would need a third rack
        (4, (UNPLACED, UNPLACED, UNPLACED), 2),
    ],
)
def test_a_shortage_of_groups_does_not_grow(name, minimum, start, placed):
    rules = (CAPACITY, Spread(service=0, minimum=minimum, level=1))
    cluster = tiny([[9], [9], [9]], [[1]], [3], racks=[0, 0, 1], rules=rules)
    problem = problem_at(cluster, on(*start))
    solution = answer(name, problem).solution
    assert len(solution.placed) - len(problem.start.placed) == placed
    then, now = (sum(v.excess for v in check(cluster, each, problem.before)) for each in (problem.before, solution))
    assert now <= then


@movers
def test_two_new_services_may_depend_on_each_other_in_turn(name):
    rules = (CAPACITY, Dependency(service=0, on=1, level=0), Dependency(service=1, on=2, level=0))
    cluster = tiny([[8], [8]], [[1], [1], [1]], [1, 1, 1], rules=rules)
    solution = answer(name, problem_at(cluster, on(UNPLACED, UNPLACED, UNPLACED))).solution
    assert len(solution.unplaced) == 0
    assert not check(cluster, solution)


@movers
@pytest.mark.parametrize("seed", range(6))
def test_more_containers_with_a_machine_cost_no_affinity(name, seed):
    """Six workloads on three machines that cannot hold all of them: random parts, or a random order, separate the pair."""
    cluster = tiny(
        [[4, 20], [20, 19], [13, 10]],
        [[0, 0], [0, 0], [4, 0], [2, 1], [1, 5], [2, 4]],
        [1, 1, 4, 5, 6, 3],
        edges=[(0, 5, 7.5)],
        rules=(Capacity(resources=(0, 1)),),
    )
    start = on(1, 2, 1, 2, -1, 2, -1, -1, -1, 1, 1, -1, -1, -1, -1, 0, -1, 1, -1, -1)
    result = answer(name, problem_at(cluster, start), seed)
    assert result.score["affinity"] >= gained_affinity(cluster, start)


def without_machines(*rules):
    """Three containers, and nowhere to run."""
    none = np.zeros((0, 1), dtype=np.int64)
    cluster = tiny([[1]], [[1], [1]], [1, 2], edges=[(0, 1, 1.0)], rules=(CAPACITY, *rules))
    cluster = replace(cluster, machines=Machines(name=(), capacity=none, safety=none), levels=(machine_level(()),))
    return problem_at(cluster, on(UNPLACED, UNPLACED, UNPLACED))


@pytest.mark.parametrize("name", COLLOCATORS)
def test_without_machines_all_is_left_out(name):
    result = answer(name, without_machines(Pinned(containers=(0,))))
    assert [reason.subject for reason in result.left_out] == ["w0", "w1"]


def test_without_machines_rules_about_moves_change_nothing():
    result = answer("best", without_machines(Confidence(resource=0, alpha=0.9)))
    assert len(result.solution.unplaced) == 3


def test_without_machines_there_is_nothing_to_gain():
    assert affinity_bound(without_machines(), seconds=1.0, progress=silent) == 0.0


def test_a_machine_takes_more_new_containers_than_any_had_before():
    """The state of the search begins with short lists of containers per machine; that is no rule."""
    cluster = tiny([[100], [1000]], [[1]], [200], rules=(CAPACITY, Pinned(containers=tuple(range(200)))))
    placement = place_by_rules(problem_at(cluster, on(*[UNPLACED] * 200)), on(*[UNPLACED] * 200))
    assert np.bincount(placement.machine_of).sum() == 200
