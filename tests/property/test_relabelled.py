"""Replicas are interchangeable: a renamed placement has the same counts and as few moves as can be."""

from collections import Counter
from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.model import UNPLACED, Placement, ints, relabelled


@st.composite
def renamings(draw, most=5):
    """(workload, after, before, fixed) of a few containers."""
    workload = sorted(draw(st.lists(st.integers(0, 2), max_size=most)))
    n = len(workload)
    machines = st.lists(st.integers(UNPLACED, 2), min_size=n, max_size=n)
    fixed = draw(st.one_of(st.none(), st.lists(st.booleans(), min_size=n, max_size=n)))
    after, before = (Placement(machine_of=ints(draw(machines))) for _ in range(2))
    return ints(workload), after, before, None if fixed is None else np.array(fixed, dtype=np.bool_)


def _cost(after, before):
    return sum(a != b for a, b in zip(after, before, strict=True))


def _fewest_changes(workload, after, before, fixed):
    """The best of all ways to hand the free seats of each workload to its free containers."""
    total = 0
    for w in set(workload.tolist()):
        own = [c for c in range(len(workload)) if workload[c] == w and not (fixed is not None and fixed[c])]
        ran = [before.machine_of[c] for c in own]
        total += min(_cost(seats, ran) for seats in permutations([after.machine_of[c] for c in own]))
    kept = [] if fixed is None else np.flatnonzero(fixed)
    return total + sum(after.machine_of[c] != before.machine_of[c] for c in kept)


@settings(max_examples=50, deadline=None)
@given(renamings())
def test_keeps_the_counts_and_changes_as_few_as_possible(drawn):
    workload, after, before, fixed = drawn
    renamed = relabelled(after, before, workload, fixed)
    pairs = [Counter(zip(workload.tolist(), p.machine_of.tolist(), strict=True)) for p in (after, renamed)]
    assert pairs[0] == pairs[1]
    assert _cost(renamed.machine_of, before.machine_of) == _fewest_changes(workload, after, before, fixed)


@settings(max_examples=30, deadline=None)
@given(renamings(most=20))
def test_what_is_fixed_stays_where_it_is_put(drawn):
    workload, after, before, fixed = drawn
    if fixed is not None:
        renamed = relabelled(after, before, workload, fixed)
        assert (renamed.machine_of[fixed] == after.machine_of[fixed]).all()


def test_a_swap_of_two_replicas_is_no_move():
    before, after = Placement(machine_of=ints([0, 1])), Placement(machine_of=ints([1, 0]))
    assert relabelled(after, before, ints([0, 0])).machine_of.tolist() == [0, 1]


def test_no_containers_are_no_trouble():
    assert relabelled(Placement.empty(0), Placement.empty(0), ints([])).machine_of.size == 0
