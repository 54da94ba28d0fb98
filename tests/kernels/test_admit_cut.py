"""The search for the least traffic between groups finds what trying every grouping finds."""

import numpy as np
import pytest
from tests.naive.admit_cut import least_cut as naive

from bayplan.kernels.admit.least_cut import least_cut


def cut(demand, room, traffic, groups, nodes=10**6):
    members, resources = demand.shape
    work = np.zeros((groups, resources), dtype=np.int64)
    return least_cut(demand, room, traffic, groups, nodes, work, np.zeros(members, dtype=np.int64), np.zeros(members + 1))


@pytest.mark.parametrize("seed", range(60))
def test_the_same_as_trying_every_grouping(seed):
    rng = np.random.default_rng(seed)
    members, resources, groups = rng.integers(1, 6), rng.integers(1, 3), rng.integers(1, 5)
    demand = rng.integers(0, 6, size=(members, resources))
    room = rng.integers(4, 10, size=resources)
    one_way = rng.integers(0, 5, size=(members, members)) * (1.0 - np.eye(members))
    traffic = one_way + one_way.T
    assert cut(demand, room, traffic, groups) == naive(demand, room, traffic, groups)


def test_a_member_larger_than_the_room_has_no_grouping():
    assert cut(np.array([[5]]), np.array([4]), np.zeros((1, 1)), 3) == np.inf


def test_without_nodes_it_says_so():
    assert cut(np.array([[2], [2]]), np.array([3]), np.ones((2, 2)), 2, nodes=1) < 0
