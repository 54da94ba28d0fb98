"""Loads of equal machines are exchanged so that few containers move."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tuned
from hypothesis import strategies as st
from tests.builders.collocations import pairs_apart
from tests.builders.strategies import valid_snapshots

from bayplan.check import check
from bayplan.decide.collocate.permute_equal_machines import equal_machines, permute_equal_machines
from bayplan.model import Placement, ints
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity
from bayplan.score.gmrp import moves


@given(seed=st.integers(0, 999))
@tuned(max_examples=30)
def test_no_exchange_of_equal_machines_moves_fewer(seed):
    snapshot = pairs_apart(4)
    rng = np.random.default_rng(seed)
    other = Placement(machine_of=ints(rng.integers(0, 4, len(snapshot.placement.machine_of))))
    found = permute_equal_machines(Problem.of(snapshot), other)
    least = min(
        moves(snapshot.cluster, Placement(machine_of=ints(np.array(order)[other.machine_of])), snapshot.placement)
        for order in permutations(range(4))
    )
    assert moves(snapshot.cluster, found, snapshot.placement) == least
    assert gained_affinity(snapshot.cluster, found) == pytest.approx(gained_affinity(snapshot.cluster, other))


@given(snapshot=valid_snapshots())
@tuned(max_examples=30)
def test_no_rule_is_broken_by_an_exchange(snapshot):
    problem = Problem.of(snapshot)
    found = permute_equal_machines(problem, snapshot.placement)
    assert moves(snapshot.cluster, found, snapshot.placement) == 0
    assert not check(snapshot.cluster, found, snapshot.placement)


def test_machines_on_which_something_stays_are_not_exchanged():
    snapshot = pairs_apart(4)
    frozen = np.zeros(len(snapshot.placement.machine_of), dtype=np.bool_)
    frozen[0] = True
    machines = equal_machines(Problem.of(snapshot, frozen=frozen))
    assert [some.tolist() for some in machines] == [[1, 2, 3]]
