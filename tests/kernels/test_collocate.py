"""Annealing in counts keeps its books right, breaks nothing, and never ends below the start."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tuned
from hypothesis import strategies as st
from tests.builders.collocations import pairs_apart
from tests.builders.strategies import valid_snapshots
from tests.naive.collocate_hold import expect_consistent

from bayplan.check import check
from bayplan.decide.collocate.annealing.count_state import copied, count_state, placement_of
from bayplan.decide.collocate.annealing.walker import CountWalker
from bayplan.kernels.collocate.anneal import EjectionSettings, new_ejected_set, walk
from bayplan.kernels.collocate.count_state import MAX_MOVES, MOVES, PRICE
from bayplan.model import Allow, AntiAffinity, Capacity, Snapshot
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity

KNOWN = (Capacity, AntiAffinity, Allow)


def plain(snapshot: Snapshot) -> Snapshot:
    """With the rules that all containers may move under."""
    from dataclasses import replace

    rules = tuple(rule for rule in snapshot.cluster.rules if isinstance(rule, KNOWN) and not getattr(rule, "level", 0))
    return replace(snapshot, cluster=replace(snapshot.cluster, rules=rules))


@given(snapshot=valid_snapshots(complete=True).map(plain), heat=st.sampled_from([0.0, 0.01, 1.0]), seed=st.integers(0, 99))
@tuned(max_examples=30)
def test_books_are_right_after_a_walk_and_no_rule_is_broken(snapshot, heat, seed):
    problem = Problem.of(snapshot)
    hold, who = count_state(problem, snapshot.placement, max_moves=None)
    hold.worth[PRICE] = 0.01
    if not len(who):
        return
    style = EjectionSettings(near=0.4, back=0.2, max_ejected=3, samples=2, tries=4, finds=2)
    walk(hold, np.arange(len(who)), style, np.array([seed + 1], dtype=np.uint64), heat, 200, new_ejected_set())
    after = placement_of(snapshot.placement, who, hold.machine_of)
    expect_consistent(hold, snapshot.cluster, after, snapshot.placement)
    assert not check(snapshot.cluster, after)


@given(snapshot=valid_snapshots(complete=True).map(plain), most=st.integers(0, 4), seed=st.integers(0, 99))
@tuned(max_examples=30)
def test_a_cap_on_moves_holds_at_every_temperature(snapshot, most, seed):
    hold, who = count_state(Problem.of(snapshot), snapshot.placement, max_moves=most)
    if len(who):
        style = EjectionSettings(near=0.4, back=0.2, max_ejected=3, samples=1, tries=4, finds=1)
        walk(hold, np.arange(len(who)), style, np.array([seed + 1], dtype=np.uint64), 1.0, 200, new_ejected_set())
    assert hold.tally[MOVES] <= hold.tally[MAX_MOVES] == most


@given(snapshot=valid_snapshots(complete=True).map(plain), seed=st.integers(0, 99))
@tuned(max_examples=30)
def test_without_heat_nothing_gets_worse(snapshot, seed):
    hold, who = count_state(Problem.of(snapshot), snapshot.placement, max_moves=None)
    if not len(who):
        return
    style = EjectionSettings(near=0.4, back=0.0, max_ejected=3, samples=1, tries=4, finds=1)
    walk(hold, np.arange(len(who)), style, np.array([seed + 1], dtype=np.uint64), 0.0, 200, new_ejected_set())
    after = placement_of(snapshot.placement, who, hold.machine_of)
    before = gained_affinity(snapshot.cluster, snapshot.placement)
    assert gained_affinity(snapshot.cluster, after) >= before - 1e-12


def test_a_copy_walks_alone(together):
    hold, _ = count_state(Problem.of(together), together.placement, max_moves=None)
    walker = CountWalker(copied(hold), seed=1)
    walker.walk(1.0, 0.1, 500)
    assert (walker.state.machine_of != hold.machine_of).any()
    assert hold.worth[0] == pytest.approx(gained_affinity(together.cluster, together.placement))


def test_the_best_of_a_walk_is_what_it_says(together):
    hold, who = count_state(Problem.of(together), together.placement, max_moves=None)
    walker = CountWalker(hold, seed=1)
    for heat in (1.0, 0.1, 0.0):
        walker.walk(heat, 0.01, 2_000)
    best = placement_of(together.placement, who, walker.incumbent_of)
    assert gained_affinity(together.cluster, best) == pytest.approx(walker.incumbent)
    assert walker.incumbent == pytest.approx(1.0)


@pytest.fixture
def together() -> Snapshot:
    """Two pairs of services that talk, each pair apart on two machines."""
    return pairs_apart()


def test_what_a_round_begins_with_is_not_forgotten():
    snapshot = pairs_apart(3)
    hold, who = count_state(Problem.of(snapshot), snapshot.placement, max_moves=None)
    walker = CountWalker(hold, seed=1)
    together = np.repeat(np.arange(3), 4).astype(np.int32)  # both services of each pair on one machine
    walker.begin(together)
    walker.begin_round()
    for _ in range(5):
        walker.walk(50.0, 0.01, 100)  # far too hot to come back
    best = placement_of(snapshot.placement, who, walker.incumbent_of)
    assert walker.incumbent == walker.best == pytest.approx(1.0)
    assert gained_affinity(snapshot.cluster, best) == pytest.approx(1.0)
