"""Theorems of the partition: what masters leave out (Lemma 1 of [RASA]), the balance rule, machines shared out by need."""

from math import ceil, log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from scipy.special import zeta
from tests.builders.affinity_graphs import drawn_graph, graph_of, ring
from tests.builders.tiny_clusters import tiny

from bayplan.decide.collocate import COLLOCATORS, CollocateOptions
from bayplan.decide.collocate.partition import UNOWNED, divide_machines
from bayplan.decide.collocate.partition.multi_stage import balanced_split, compatibility_classes, multi_stage
from bayplan.errors import ModelError
from bayplan.model import Budget, Capacity, Objective, Placement, Snapshot, ints, silent
from bayplan.model.problem import Problem

graphs = st.integers(0, 10**6).map(drawn_graph)


# ---- Lemma 1 of [RASA] ---------------------------------------------------------------------------------------------------------


def power_law_graph(n, beta, seed):
    """Services with T(s) proportional to s^-beta, in random order; None if no graph has these.

    A point on a line of length sum T, on which each service has a piece of length T, is joined to the point half the length on.
    """
    affinity = np.random.default_rng(seed).permutation(np.arange(1.0, n + 1) ** -beta)
    half = affinity.sum() / 2
    if affinity.max() > half:
        return None
    end = np.cumsum(affinity)
    cut = np.unique(np.concatenate([[0.0], end[end < half], end[end >= half] - half]))
    middle = (cut[:-1] + cut[1:]) / 2
    a, b = np.searchsorted(end, middle), np.minimum(np.searchsorted(end, middle + half), n - 1)
    inside = (cut[1:] - cut[:-1] > 1e-12) & (middle < half)
    return graph_of(a[inside], b[inside], np.diff(cut)[inside], replicas=np.ones(n, dtype=np.int64))


@given(n=st.integers(5, 400), beta=st.floats(1.05, 1.72), epsilon=st.floats(0.0, 1.0, exclude_min=True), seed=st.integers(0, 99))
def test_lemma_1_under_a_power_law_few_masters_have_most_of_the_affinity(n, beta, epsilon, seed):
    """With k = ceil(ln^(1-epsilon) N) masters the others have at most T(1) / ((beta - 1) ln^gamma N)."""
    graph = power_law_graph(n, beta, seed)
    assume(graph is not None)
    sorted_affinity, k = np.sort(graph.affinity)[::-1], ceil(log(n) ** (1 - epsilon))
    assert sorted_affinity == pytest.approx(sorted_affinity[0] * np.arange(1.0, n + 1) ** -beta, rel=1e-6)
    others = sorted_affinity[k:].sum()
    assert multi_stage(graph, masters=k, seed=0).lost <= others * (1 + 1e-9)
    assert others <= sorted_affinity[0] / ((beta - 1) * log(n) ** ((beta - 1) * (1 - epsilon)))


@given(n=st.integers(5, 100), seed=st.integers(0, 99))
def test_lemma_1_says_nothing_with_epsilon_1_where_the_only_master_has_no_partner(n, seed):
    graph = power_law_graph(n, 1.1, seed)
    assert multi_stage(graph, masters=ceil(log(n) ** 0), seed=0).lost == pytest.approx(1.0)


@given(graph=graphs)
def test_assumption_4_1_holds_for_no_graph_if_beta_is_above_1_73(graph):
    """The first service has no more affinity than all others have; a power law gives it more, however many there are."""
    assert graph.affinity.max() <= graph.affinity.sum() / 2 * (1 + 1e-9)
    assert zeta(1.73) < 2 < zeta(1.72)  # sum of s^-beta over all s, of which the first is 1


def test_lemma_1_does_not_bound_what_pinning_the_other_services_loses():
    """Two masters, each on a full machine beside a service that hardly matters: pinned, those keep the masters apart."""
    edges = [(0, 1, 0.96), (0, 2, 0.02), (1, 3, 0.02)]
    cluster = tiny([[2], [2]], [[1]] * 4, [1] * 4, edges=edges, rules=(Capacity(resources=(0,)),))
    start = Placement(machine_of=ints([0, 1, 1, 0]))
    problem = Problem.of(Snapshot(cluster=cluster, placement=start, objective=Objective.default(cluster)))

    def gained(trivial):
        options = CollocateOptions(masters=2, select="mip", engine="here", trivial=trivial)
        return COLLOCATORS["rasa"](problem, options, budget=Budget(seconds=5), seed=0, progress=silent).score["affinity"]

    assert gained("refit") == pytest.approx(0.96)
    assert gained("pinned") <= 0.04  # all that the others have: the masters can only change places


# ---- splits --------------------------------------------------------------------------------------------------------------------


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
