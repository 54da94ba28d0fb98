"""Theorems of the partition: the balance rule, and machines shared out by need."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.builders.affinity_graphs import drawn_graph, ring

from bayplan.decide.collocate.partition import UNOWNED, divide_machines
from bayplan.decide.collocate.partition.multi_stage import balanced_split, compatibility_classes
from bayplan.errors import ModelError

graphs = st.integers(0, 10**6).map(drawn_graph)


@given(graph=graphs, parts=st.integers(1, 5), seed=st.integers(0, 9))
def test_a_split_is_balanced_or_says_that_it_is_not(graph, parts, seed):
    services = np.arange(graph.n)
    split = balanced_split(graph, services, seed=seed, parts=parts)
    sizes = [len(part) for part in split.parts]
    assert sorted(s for part in split.parts for s in part.tolist()) == services.tolist()
    assert len(sizes) == min(parts, graph.n)
    assert split.balanced == (len(sizes) == 1 or (max(sizes) < 2 * min(sizes) and max(sizes) < graph.n / len(sizes) + 50))
    assert split.balanced == (split.note == "")


@pytest.mark.parametrize("seed", range(10))
def test_a_large_set_is_split_by_the_rule_of_sizes(seed):
    n = 150 + 60 * seed
    split = balanced_split(ring(n, n // 4, seed), np.arange(n), seed=seed)
    sizes, h = [len(part) for part in split.parts], n // 180 + 1 if n >= 180 else 1
    assert len(sizes) == h
    assert split.balanced == (h == 1 or (max(sizes) < n / h + 50 and max(sizes) < 2 * min(sizes)))


@given(graph=graphs)
def test_blocks_share_no_machine_and_cannot_be_split_further(graph):
    blocks = compatibility_classes(graph, np.arange(graph.n))
    assert sorted(s for some in (*blocks.sets, blocks.nowhere) for s in some.tolist()) == list(range(graph.n))
    reach = [graph.allow[graph.row_of[some]].any(axis=0) for some in blocks.sets]
    assert all(not (reach[i] & reach[j]).any() for i in range(len(reach)) for j in range(i))
    for some in blocks.sets:
        seen = graph.allow[graph.row_of[some[0]]]
        for _ in some:
            rows = graph.allow[graph.row_of[some]]
            seen = rows[(rows & seen).any(axis=1)].any(axis=0)
        assert (graph.allow[graph.row_of[some]] & seen).any(axis=1).all()
    assert not graph.allow[graph.row_of[blocks.nowhere]].any()


# ---- machines ------------------------------------------------------------------------------------------------------------------


@st.composite
def shares(draw: DrawFn, *, open_to_all: bool = False):
    """demand, usable, kind, here, size"""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_s, n_m = draw(st.integers(1, 5)), draw(st.integers(1, 40))
    demand = rng.random((n_s, 2)) * (rng.random((n_s, 1)) < 0.9)
    usable = np.ones((n_s, n_m), dtype=np.bool_) if open_to_all else rng.random((n_s, n_m)) < draw(st.sampled_from([0.3, 0.8]))
    kind = rng.integers(0, draw(st.sampled_from([1, 3, n_m])), n_m)
    here = rng.integers(0, 5, (n_s, n_m)) * (rng.random((n_s, n_m)) < 0.4)
    return demand, usable, kind, here, rng.choice([0.0, 1.0, 2.0], kind.max() + 1)[kind]


@given(case=shares())
def test_every_machine_goes_to_one_set_that_may_use_it(case):
    _, usable, *_ = case
    owner = divide_machines(*case)
    taken = owner != UNOWNED
    assert (taken == usable.any(axis=0)).all()
    assert usable[owner[taken], np.flatnonzero(taken)].all()


@given(case=shares(open_to_all=True))
def test_every_set_gets_its_proportion_of_all_machines_to_less_than_two(case):
    demand, usable, kind, here, _ = case
    assume(demand.any())
    most = demand.max(axis=1)
    count = np.bincount(divide_machines(demand, usable, kind, here), minlength=len(demand))
    assert count.sum() == len(kind)
    assert (abs(count - most / most.sum() * len(kind)) < 2).all()


@given(case=shares(open_to_all=True))
def test_one_type_is_divided_by_largest_remainder(case):
    demand, usable, kind, here, _ = case
    assume(demand.any())
    n, quota = len(kind), demand.max(axis=1) / demand.max(axis=1).sum() * len(kind)
    expected = np.floor(quota + 1e-9).astype(int)
    rest = np.argsort(-(quota - expected), kind="stable")[: n - expected.sum()]
    expected[rest] += 1
    count = np.bincount(divide_machines(demand, usable, np.zeros(n, dtype=np.int64), here), minlength=len(demand))
    assert count.tolist() == expected.tolist()


@given(case=shares(open_to_all=True))
def test_each_type_is_divided_as_the_demand_to_less_than_two(case):
    demand, usable, kind, here, _ = case
    assume(demand.any())
    quota, owner = demand.max(axis=1) / demand.max(axis=1).sum(), divide_machines(demand, usable, kind, here)
    for number in np.unique(kind):
        some = owner[kind == number]
        count = np.bincount(some, minlength=len(demand))
        assert (abs(count - quota * len(some)) < 2).all()


def test_machines_that_are_all_different_do_not_all_go_to_the_largest_set():
    demand, usable = np.array([[0.6], [0.4]]), np.ones((2, 10), dtype=np.bool_)
    owner = divide_machines(demand, usable, np.arange(10), np.zeros((2, 10), dtype=np.int64))
    assert np.bincount(owner).tolist() == [6, 4]
    assert set(owner[:5].tolist()) == {0, 1}  # mixed, not one after the other


def test_a_set_with_few_machines_gets_more_of_those():
    demand, usable = np.array([[0.5], [0.5]]), np.ones((2, 10), dtype=np.bool_)
    usable[0, 5:] = False
    owner = divide_machines(demand, usable, np.zeros(10, dtype=np.int64), np.zeros((2, 10), dtype=np.int64))
    assert owner.tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]


def test_large_machines_weigh_more():
    demand, usable = np.array([[0.5], [0.5]]), np.ones((2, 4), dtype=np.bool_)
    size = np.array([3.0, 1.0, 1.0, 1.0])
    owner = divide_machines(demand, usable, np.array([0, 1, 2, 3]), np.zeros((2, 4), dtype=np.int64), size)
    assert owner.tolist() == [0, 1, 1, 1]


def test_sets_keep_the_machines_where_they_run():
    rng = np.random.default_rng(4)
    mine = rng.permutation(np.repeat([0, 1], 8))
    here = np.where(mine == np.arange(2)[:, None], 3, 1)
    owner = divide_machines(np.ones((2, 1)), np.ones((2, 16), dtype=np.bool_), np.zeros(16, dtype=np.int64), here)
    assert owner.tolist() == mine.tolist()


def test_without_sets_machines_belong_to_nobody():
    none = np.zeros((0, 3), dtype=np.bool_)
    assert divide_machines(np.zeros((0, 2)), none, np.zeros(3, dtype=np.int64), none.astype(int)).tolist() == [UNOWNED] * 3
    with pytest.raises(ModelError, match="different numbers of sets or machines"):
        divide_machines(np.zeros((1, 2)), none, np.zeros(3, dtype=np.int64), none.astype(int))
