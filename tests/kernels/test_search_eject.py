"""Which items an ejection lifts, against the slow twin; and which of several pairs it begins with, against all pairs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.search_eject import NaiveEjection
from tests.stress.search_walks import problems, standing

from bayplan.kernels.random import below
from bayplan.kernels.search.delta_cost import machine_cost
from bayplan.kernels.search.eject import choose_victims, new_lifted_set
from bayplan.kernels.search.feasible import fits_if_emptied
from bayplan.kernels.search.reach import random_reachable
from bayplan.kernels.search.state import NOWHERE
from bayplan.kernels.search.unlifted import shift_floor
from bayplan.kernels.search.walk import cheapest_pair
from bayplan.search.state import new_search_state
from bayplan.search.verify_state import block

FEW = settings(max_examples=30)
seeds = st.integers(1, 2**63)
MANY = 400  # pairs: enough that every one of a small cluster is drawn


def in_order(state, m, seed):
    """The items of a machine, from the one on that the seed draws first."""
    slots, size = int(state.arrays.at["slots"][0]), int(block(state.arrays, "items_on_size")[m])
    on = block(state.arrays, "items_on")[m * slots : m * slots + size].tolist()
    first = below(np.array([seed], dtype=np.uint64), size) if size else 0
    return on[first:] + on[:first]


@FEW
@given(problem=problems(), seed=seeds, most=st.integers(1, 5))
def test_victims_are_those_of_the_slow_twin(problem, seed, most):
    state = new_search_state(problem)
    lifted = new_lifted_set(len(problem.cluster.resources))
    for i in standing(state).tolist()[:6]:
        for m in range(len(problem.cluster.machines.name)):
            on = in_order(state, m, seed)
            if m == state.machine_of[i] or not on:
                continue
            n = choose_victims(state.arrays, np.array([seed], dtype=np.uint64), i, m, len(on), most, lifted)
            assert lifted.item[1:n].tolist() == NaiveEjection(state, i, m).victims(on, most)


@FEW
@given(problem=problems(), seed=seeds)
def test_the_pair_costs_least_of_those_drawn(problem, seed):
    state = new_search_state(problem)
    items, empty = standing(state), int(state.arrays.at["empty_kind"][0])
    if not len(items):
        return

    def floor(i, m):
        return shift_floor(state.arrays, i, m, machine_cost(state.arrays, state.machine_of[i], empty, state.items.kind_of[i]))

    rng, again = np.array([seed], dtype=np.uint64), np.array([seed], dtype=np.uint64)
    i, m = cheapest_pair(state.arrays, items, MANY, rng, new_lifted_set(len(problem.cluster.resources)))
    below(again, len(items))
    drawn = [(j, random_reachable(state.arrays, j, again)) for j in (items[below(again, len(items))] for _ in range(MANY))]
    changes = [floor(j, there) for j, there in drawn if there != NOWHERE]
    assert m != NOWHERE or not changes
    if m != NOWHERE:
        assert m != state.machine_of[i]
        assert fits_if_emptied(state.arrays, i, m)
        assert floor(i, m) == min(changes)
