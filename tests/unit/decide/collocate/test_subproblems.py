"""Tasks say what a problem says, and their counts become placements again."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import valid_snapshots
from tests.builders.three_services import problem_of

from bayplan.check import check
from bayplan.decide.collocate.finish import assemble
from bayplan.decide.collocate.subproblem import (
    expect_known_rules,
    gained,
    movable,
    subproblems_of,
    violations,
    whole_cluster,
    workloads_with_traffic,
)
from bayplan.errors import ModelError, UsageError
from bayplan.model import (
    Allow,
    AntiAffinity,
    Capacity,
    CoLocate,
    Confidence,
    Dependency,
    Interference,
    Pinned,
    Placement,
    Spread,
    Transient,
    ints,
)
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity


def test_free_capacity_of_a_subproblem_is_what_containers_that_stay_leave():
    problem = problem_of(rules=(Capacity(resources=(0,)),))
    subproblem = whole_cluster(problem, workloads=ints([0]))
    assert subproblem.free[:, 0].tolist() == [10 - 2, 10 - 2 - 2 - 3, 10 - 3]
    assert subproblem.request.tolist() == [[1, 0]]  # no rule counts the second resource
    assert not subproblem.free[:, 1].any()


def test_free_workloads_take_no_room():
    problem = problem_of(rules=(Capacity(resources=(0,)),))
    assert whole_cluster(problem, workloads=ints([0]), free=ints([2])).free[:, 0].tolist() == [8, 6, 10]


def test_an_overfull_machine_has_no_room_rather_than_less():
    problem = problem_of(rules=(Capacity(resources=(0,)),), capacity=2)
    assert whole_cluster(problem, workloads=ints([0])).free[:, 0].tolist() == [0, 0, 0]


def test_a_set_counts_those_that_stand():
    problem = problem_of(rules=(AntiAffinity(workloads=(0, 1), limit=2),))
    subproblem = whole_cluster(problem, workloads=ints([0]))
    assert subproblem.member.tolist() == [[True]]
    assert subproblem.set_free.tolist() == [[1, 0, 2]]


def test_a_set_that_cannot_become_too_many_is_dropped():
    problem = problem_of(rules=(AntiAffinity(workloads=(0,), limit=4),))
    assert not len(whole_cluster(problem, workloads=ints([0])).member)


def test_allow_lists_become_rows():
    problem = problem_of(rules=(Allow(workloads=(0,), machines="two"),))
    subproblem = whole_cluster(problem)
    assert subproblem.allow[subproblem.row_of].tolist() == [[True, True, False], [True, True, True]]


@pytest.mark.parametrize(
    "rule",
    [
        Spread(service=0, minimum=2),
        Dependency(service=0, on=1),
        Dependency(service=1, on=0),
        Interference(a=0, b=2, limit=1),
        Interference(a=2, b=0, limit=1),
        AntiAffinity(workloads=(0,), limit=3, level=1),
        CoLocate(containers=(0, 1, 2, 3)),
        Pinned(containers=(0, 1, 2, 3)),
    ],
    ids=lambda rule: rule.kind,
)
def test_what_other_rules_name_stays(rule):
    problem = problem_of(rules=(rule,))
    assert not movable(problem)[:4].any()
    subproblem = whole_cluster(problem)
    assert subproblem.demand[0] == 0
    assert subproblem.fixed[0].tolist() == [2, 2, 0]


def test_frozen_containers_stay_and_count():
    problem = replace(problem_of(), frozen=np.arange(9) == 0)
    subproblem = whole_cluster(problem)
    assert subproblem.demand[0] == 3
    assert subproblem.fixed[0].tolist() == [1, 0, 0]
    assert gained(subproblem, subproblem.now) == pytest.approx(gained_affinity(problem.cluster, problem.start))


@pytest.mark.parametrize("rule", [Transient(resource=0), Confidence(resource=0, alpha=0.9)], ids=lambda rule: rule.kind)
def test_rules_that_count_for_every_move_are_refused(rule):
    with pytest.raises(UsageError, match=f"method 'rasa' does not know {rule.kind} rules; expected 'best'"):
        expect_known_rules(problem_of(rules=(rule,)).cluster, "rasa")


def test_subproblems_lift_their_workloads_off_the_machines_of_others():
    problem = problem_of(rules=(Capacity(resources=(0,)),))
    first, second = subproblems_of(problem, [ints([0]), ints([1])], ints([0, 1, 1]), trivial="pinned")
    assert (first.machine.tolist(), second.machine.tolist()) == ([0], [1, 2])
    assert first.demand.tolist() == [4]
    assert first.now.tolist() == [[2]]  # two more stand on a machine of the other set
    assert first.free[:, 0].tolist() == [10]
    assert second.free[:, 0].tolist() == [7, 7]  # the trivial service stands there
    assert subproblems_of(problem, [ints([0])], ints([0, 0, 0]), trivial="refit")[0].free[:, 0].tolist() == [10, 10, 10]


def test_another_value_for_trivial_workloads_is_refused():
    with pytest.raises(ModelError, match="'moved'"):
        subproblems_of(problem_of(), [], ints([]), trivial="moved")


def test_workloads_without_containers_are_dropped():
    problem = problem_of(replicas=(4, 0, 2))
    assert whole_cluster(problem).workload.tolist() == [0]


def test_counts_become_a_placement_with_few_moves():
    problem = problem_of()
    subproblem = whole_cluster(problem)
    counts = np.array([[3, 1, 0], [0, 2, 0]])
    placement, waiting = assemble(problem, [subproblem], [counts])
    assert placement.machine_of.tolist() == [0, 0, 1, 0, -1, 1, 1, 1, 2]
    assert waiting.tolist() == [4]


def test_free_containers_wait_for_a_machine():
    problem = problem_of()
    subproblem = whole_cluster(problem)
    placement, waiting = assemble(problem, [subproblem], [subproblem.now], free=ints([2]))
    assert waiting.tolist() == [7, 8]
    assert placement.machine_of[:7].tolist() == problem.start.machine_of[:7].tolist()


def test_more_seats_than_containers_are_a_fault():
    problem = problem_of()
    subproblem = whole_cluster(problem)
    with pytest.raises(ModelError, match="10 containers"):
        assemble(problem, [subproblem], [subproblem.now + np.array([[1, 1, 1], [0, 0, 0]])])


@settings(max_examples=30)
@given(snapshot=valid_snapshots(), data=st.data())
def test_what_a_subproblem_calls_free_of_violations_the_referee_does_too(snapshot, data):
    problem = Problem.of(snapshot)
    subproblem = whole_cluster(problem)
    n_w, n_m = subproblem.shape
    counts = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n_w * n_m, max_size=n_w * n_m)), dtype=np.int64)
    counts = counts.reshape(n_w, n_m) * (np.cumsum(counts.reshape(n_w, n_m), axis=1) <= subproblem.demand[:, None])
    placement, waiting = assemble(problem, [subproblem], [counts])
    assert gained(subproblem, counts) == pytest.approx(gained_affinity(problem.cluster, placement))
    known = [v for v in check(problem.cluster, placement) if v.rule not in ("transient", "confidence")]
    assert bool(violations(subproblem, counts)) == bool(known)
    assert len(waiting) == (subproblem.demand - counts.sum(axis=1)).sum()


@settings(max_examples=30)
@given(snapshot=valid_snapshots())
def test_nothing_moves_if_the_counts_are_those_of_now(snapshot):
    problem = Problem.of(snapshot)
    subproblem = whole_cluster(problem)
    assert not violations(subproblem, subproblem.now)
    assert assemble(problem, [subproblem], [subproblem.now])[0].machine_of.tolist() == problem.start.machine_of.tolist()


def test_affine_workloads_have_traffic():
    assert workloads_with_traffic(problem_of().cluster).tolist() == [0, 1]


def test_a_placement_that_starts_elsewhere_is_renamed_after_where_things_run():
    problem = problem_of()
    start = Placement(machine_of=ints([1, 1, 0, 0, 0, 1, 1, 1, 2]))
    subproblem = whole_cluster(replace(problem, start=start))
    assert assemble(problem, [subproblem], [subproblem.now])[0].machine_of[:4].tolist() == [0, 0, 1, 1]
