"""Skew rules on the state of the search against the referee: many rules on few containers, with units and broken starts."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.builders.strategies import bare_clusters, every_term_objectives, placements, skew_rules, skews
from tests.naive.search import allowed_move
from tests.stress.search_walks import expect_sound, standing, walked

from bayplan.check import check
from bayplan.kernels.search.evaluate_all import evaluate_all, new_evaluation
from bayplan.kernels.search.feasible import fits, others_kept
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.unlifted import may_enter
from bayplan.model import UNPLACED, CoLocate, Placement, Snapshot, Term, ints
from bayplan.model.problem import Problem
from bayplan.search.state import SearchState, new_search_state
from bayplan.search.verify_state import verify_state

FEW = settings(max_examples=30)
seeds = st.integers(1, 2**63)


@st.composite
def skewed_problems(draw: DrawFn, *, broken: bool | None = None, complete: bool | None = None) -> Problem:
    """Several skew rules, sometimes a unit; the start keeps every rule unless `broken`."""
    cluster = draw(bare_clusters(min_replicas=1))
    placement = draw(placements(cluster, complete))
    rules = draw(st.lists(skew_rules(cluster), min_size=1, max_size=4))
    if not (draw(st.booleans()) if broken is None else broken):
        rules = [replace(rule, limit=max([rule.limit, *skews(cluster, placement, rule)])) for rule in rules]
    if len(cluster.containers.name) > 2 and draw(st.booleans()):
        pair = (0, len(cluster.containers.name) - 1)
        machine_of = placement.machine_of.copy()
        machine_of[pair[1]] = machine_of[pair[0]]
        if broken is None or broken:
            rules, placement = [*rules, CoLocate(containers=pair)], Placement(machine_of=ints(machine_of))
    cluster = replace(cluster, rules=tuple(rules))
    objective = draw(every_term_objectives(cluster))
    objective = objective.with_weights({**objective.weight, Term.MOVES: 0.0})
    return Problem.of(Snapshot(cluster=cluster, placement=placement, objective=objective))


def excess(problem: Problem, placement: Placement) -> float:
    return sum(violation.excess for violation in check(problem.cluster, placement) if violation.rule == "skew")


def members(state: SearchState, i: int) -> list[int]:
    return state.items.container[state.items.start[i] : state.items.start[i + 1]].tolist()


def machines(state: SearchState) -> range:
    return range(len(state.cluster.machines.name))


@FEW
@given(problem=skewed_problems(), data=st.data())
def test_the_state_knows_the_excess_of_every_placement(problem, data):
    state = new_search_state(problem)
    assert state.skewed == excess(problem, problem.start)
    anywhere = st.integers(UNPLACED, len(machines(state)) - 1)
    state.move_to(np.array(data.draw(st.lists(anywhere, min_size=len(state.machine_of), max_size=len(state.machine_of)))))
    assert state.skewed == excess(problem, state.placement())
    verify_state(state, problem)


@FEW
@given(problem=skewed_problems())
def test_what_may_be_dropped_is_within_the_limit_and_leaves_no_group_further_beyond_it(problem):
    state = new_search_state(problem)
    for i in standing(state).tolist():
        before, origin = state.skewed, lift(state.arrays, i)
        for m in machines(state):
            if m != origin and fits(state.arrays, i, m) and others_kept(state.arrays, i, origin, m):
                assert allowed_move(problem.cluster, problem.before, problem.start, members(state, i), m)
                drop(state.arrays, i, m)
                assert state.skewed <= before
                lift(state.arrays, i)
        drop(state.arrays, i, origin)


@FEW
@given(problem=skewed_problems())
def test_what_leaves_no_group_further_beyond_the_limit_may_be_dropped(problem):
    """But for containers that their own rule does not count: they may come to a group beyond the limit in no case."""
    cluster = problem.cluster
    assume(all(rule.workload in rule.counts for rule in cluster.rules if rule.kind == "skew"))
    state = new_search_state(problem)
    for i in standing(state).tolist():
        origin = lift(state.arrays, i)
        for m in machines(state):
            same = any(level.group_of[m] == level.group_of[origin] for level in cluster.levels)
            if not same and allowed_move(cluster, problem.before, problem.start, members(state, i), m):
                assert fits(state.arrays, i, m)
                assert others_kept(state.arrays, i, origin, m)
        drop(state.arrays, i, origin)


@FEW
@given(problem=skewed_problems())
def test_all_machines_at_once_are_judged_as_one_by_one(problem):
    state = new_search_state(problem)
    evaluation = new_evaluation(len(machines(state)), len(problem.cluster.resources))
    for i in standing(state).tolist():
        entered = [m for m in machines(state) if m != state.machine_of[i] and may_enter(state.arrays, i, m)]
        origin = lift(state.arrays, i)
        together = evaluation.machine[: evaluate_all(state.arrays, i, evaluation)].tolist()
        single = [m for m in machines(state) if fits(state.arrays, i, m)]
        assert together == single
        assert {*single} <= {*entered, origin}, "a test before lifting is never stricter"
        drop(state.arrays, i, origin)


@FEW
@given(problem=skewed_problems(), seed=seeds)
def test_walks_keep_the_rule(problem, seed):
    expect_sound(problem, walked(problem, seed=seed, heat=100.0))
