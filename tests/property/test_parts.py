"""What parts do by themselves never violates a rule of the whole cluster further, nor moves too many containers."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import snapshots, valid_snapshots

from bayplan.api.planning.target import best_target
from bayplan.check import check
from bayplan.engine import engine_of
from bayplan.model import UNPLACED, Budget, Pinned, Placement, Snapshot, ints
from bayplan.model.problem import Problem
from bayplan.search.anneal import search
from bayplan.search.parts import PartSettings, solve_in_parts
from bayplan.search.parts.divide import divide
from bayplan.search.parts.part import part_of
from bayplan.search.parts.part_rules import RuleIndex

BUDGET = Budget(iterations=2_000)
some = settings(max_examples=75, deadline=None)
few = settings(max_examples=25, deadline=None)


def excess(problem: Problem, placement: Placement) -> dict[object, float]:
    return {violation.place: violation.excess for violation in check(problem.cluster, placement, problem.before)}


def no_worse(problem: Problem, placement: Placement, than: Placement) -> bool:
    known = excess(problem, than)
    return all(value <= known.get(place, 0.0) * (1 + 1e-9) for place, value in excess(problem, placement).items())


def wandered(problem: Problem, seed: int, tries: int = 40) -> Placement:
    """Single moves at random, each kept if no rule of the problem is violated further by it."""
    random, here = np.random.default_rng(seed), problem.start
    for _ in range(tries if len(here.machine_of) else 0):
        c = int(random.integers(len(here.machine_of)))
        if problem.frozen[c]:
            continue
        machine_of = here.machine_of.copy()
        machine_of[c] = random.integers(len(problem.cluster.machines.name))
        there = Placement(machine_of=ints(machine_of))
        here = there if no_worse(problem, there, here) else here
    return here


@settings(max_examples=75, deadline=None)
@given(st.one_of(snapshots(), valid_snapshots(complete=True)), st.integers(2, 3), st.integers(0, 99))
def test_whatever_keeps_the_rules_of_the_parts_keeps_those_of_the_cluster(snapshot: Snapshot, parts: int, seed: int):
    problem = Problem.of(snapshot)
    index = RuleIndex.of(problem.cluster, problem.start)
    machine_of = problem.start.machine_of.copy()
    part_number = np.random.default_rng(seed).integers(parts, size=len(problem.cluster.machines.name))  # any parts, good or bad
    for n in np.unique(part_number).tolist():
        part = part_of(problem, index, ints(np.flatnonzero(part_number == n)))
        part.merge_into(machine_of, wandered(part.problem, seed + n).machine_of)
    assert no_worse(problem, Placement(machine_of=ints(machine_of)), problem.start)


@some
@given(snapshots(), st.integers(1, 5))
def test_every_machine_is_in_one_part_and_every_container_runs_in_one(snapshot: Snapshot, parts: int):
    problem = Problem.of(snapshot)
    sets = divide(problem.cluster, problem.start, parts)
    assert sorted(m for machines in sets for m in machines.tolist()) == list(range(len(snapshot.cluster.machines.name)))
    index = RuleIndex.of(problem.cluster, problem.start)
    containers = [c for machines in sets for c in part_of(problem, index, machines).containers.tolist()]
    assert sorted(containers) == problem.start.placed.tolist()


@few
@given(snapshots(), st.integers(2, 3), st.integers(0, 6))
def test_no_rule_is_violated_further_and_no_more_containers_move_than_may(snapshot: Snapshot, parts: int, limit: int):
    problem = Problem.of(snapshot, max_moves=limit)
    solved = solve_in_parts(problem, search, PartSettings(parts=parts, engine=engine_of("here")), budget=BUDGET, seed=1)
    assert no_worse(problem, solved.placement, problem.start)
    assert not any("violates" in note for note in solved.notes)  # the parts themselves keep the rules
    assert len(solved.placement.moved_from(problem.before)) <= limit
    pinned = [c for rule in snapshot.cluster.rules if isinstance(rule, Pinned) for c in rule.containers]
    ran = [c for c in pinned if problem.before.machine_of[c] != UNPLACED]
    assert (solved.placement.machine_of[ran] == problem.before.machine_of[ran]).all()


@few
@given(valid_snapshots(complete=True), st.integers(0, 4))
def test_the_method_of_plan_keeps_rules_and_limits_in_parts(snapshot: Snapshot, limit: int):
    problem = replace(Problem.of(snapshot, max_moves=limit))
    settings_ = PartSettings(parts=2, engine=engine_of("here"))
    solved = solve_in_parts(problem, best_target, settings_, budget=BUDGET, seed=2)
    assert not check(problem.cluster, solved.placement, problem.before)
    assert len(solved.placement.moved_from(problem.before)) <= limit


@few
@given(snapshots(), st.data())
def test_a_container_gains_in_a_part_what_it_gains_in_the_cluster(snapshot: Snapshot, data: st.DataObject):
    from bayplan.model import Term
    from bayplan.score.terms import TERMS, TermInputs

    weights = {Term.AFFINITY: 1.0, Term.OVERLOAD: 1.0, Term.MOVES: 0.5}
    problem = replace(Problem.of(snapshot), objective=snapshot.objective.with_weights(weights))
    sets = divide(problem.cluster, problem.start, 2)
    machines = data.draw(st.sampled_from(sets))
    part = part_of(problem, RuleIndex.of(problem.cluster, problem.start), machines)
    moved = wandered(part.problem, 3)
    machine_of = problem.start.machine_of.copy()
    part.merge_into(machine_of, moved.machine_of)
    whole = Placement(machine_of=ints(machine_of))

    def changes(at: Problem, after: Placement) -> list[float]:
        values = [
            [at.objective.weight[term] * TERMS[term](TermInputs(at.cluster, each, at.objective, at.before)) for term in weights]
            for each in (at.start, after)
        ]
        return list(np.subtract(values[1], values[0]))

    assert np.allclose(changes(part.problem, moved), changes(problem, whole), atol=1e-9)
