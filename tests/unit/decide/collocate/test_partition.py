"""Stages of the partition, one by one, on graphs small enough to know the answer."""

import sys

import numpy as np
import pytest
from tests.builders.affinity_graphs import graph_of, ring

from bayplan.decide.collocate.partition import PARTITIONERS, Partition, affinity_graph
from bayplan.decide.collocate.partition.multi_stage import (
    balanced_split,
    compatibility_classes,
    master_count,
    master_workloads,
    part_count,
    workloads_with_affinity,
)
from bayplan.errors import ModelError, UsageError
from bayplan.formats import read
from bayplan.generate import GENERATORS
from bayplan.model import ints


def lists(sets):
    return [some.tolist() for some in sets]


# ---- the graph -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    return GENERATORS["boutique"].make(seed=1).cluster


def test_weights_add_up_to_one(cluster):
    graph = affinity_graph(cluster)
    assert graph.weight.sum() == pytest.approx(1.0)
    assert graph.affinity.sum() == pytest.approx(2.0)


# ---- stages 1 to 3 -------------------------------------------------------------------------------------------------------------


def test_workloads_without_edges_or_containers_are_not_affine():
    graph = graph_of([0, 2], [1, 3], [1, 1], replicas=[1, 1, 1, 0, 1])
    assert workloads_with_affinity(graph).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("workloads", "count"), [(0, 0), (1, 0), (2, 35), (547, 151), (5_904, 187), (10_180, 195), (10_682, 195)]
)
def test_master_count_is_the_formula_of_the_paper(workloads, count):
    assert master_count(workloads) == count


def test_masters_have_the_largest_total_affinity():
    graph = graph_of([0, 1, 3], [1, 2, 4], [1, 5, 3], replicas=np.ones(5, dtype=np.int64))
    assert master_workloads(graph, workloads_with_affinity(graph), 2).tolist() == [1, 2]  # T = 1, 6, 5, 3, 3
    assert master_workloads(graph, workloads_with_affinity(graph), 3).tolist() == [1, 2, 3]  # of equals, the first
    assert master_workloads(graph, workloads_with_affinity(graph)).tolist() == [0, 1, 2, 3, 4]  # never more than there are
    with pytest.raises(UsageError, match="-1 master workloads"):
        master_workloads(graph, workloads_with_affinity(graph), -1)


def test_workloads_that_share_no_machine_even_by_a_chain_are_told_apart():
    allow = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=np.bool_)
    graph = graph_of([0], [1], [1], replicas=np.ones(5, dtype=np.int64), row_of=[2, 0, 1, 3, 0], allow=allow)
    blocks = compatibility_classes(graph, np.arange(5))
    assert lists(blocks.sets) == [[0], [1, 2, 4]]  # row 4, which would link all, belongs to nobody
    assert blocks.nowhere.tolist() == [3]
    assert compatibility_classes(graph, ints([])) == ((), pytest.approx([]))


# ---- stage 4 -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("workloads", "parts"), [(0, 1), (179, 1), (180, 2), (359, 2), (360, 3)])
def test_sets_are_large_from_180_workloads(workloads, parts):
    assert part_count(workloads) == parts


def test_two_cliques_with_a_bridge_are_cut_at_the_bridge():
    low, high = np.array(np.triu_indices(6, 1)), np.array(np.triu_indices(6, 1)) + 6
    a, b = np.concatenate([low, high, [[0], [6]]], axis=1)
    graph = graph_of(a, b, np.ones(len(a)), replicas=np.ones(12, dtype=np.int64))
    split = balanced_split(graph, np.arange(12), seed=1, parts=2)
    assert sorted(lists(split.parts)) == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    assert split.balanced


def test_a_large_ring_is_cut_into_arcs():
    graph = ring(400)
    split = balanced_split(graph, np.arange(400), seed=3)
    assert split.balanced
    assert len(split.parts) == 3
    outside = sum(len(set(range(400)) & {(s + 1) % 400 for s in part.tolist()} - set(part.tolist())) for part in split.parts)
    assert outside == 3  # each arc ends once


def test_a_star_of_stars_that_no_round_balances_says_so():
    """The hub is a seed in few rounds; else one part is walled in behind its leaf."""
    graph = graph_of(np.zeros(29, dtype=np.int64), np.arange(1, 30), np.ones(29), replicas=np.ones(30, dtype=np.int64))
    split = balanced_split(graph, np.arange(30), seed=0, parts=2)
    assert not split.balanced
    assert split.note == "no balanced split of 30 workloads into 2 parts in 29 rounds"


def test_little_components_get_no_seed_and_fill_up_the_smallest_part():
    pairs = 20 + np.arange(0, 20, 2)
    graph = graph_of(np.r_[np.arange(19), pairs], np.r_[np.arange(1, 20), pairs + 1], np.ones(29), replicas=np.ones(40, int))
    split = balanced_split(graph, np.arange(40), seed=0, parts=2)
    assert split.balanced
    owner = {s: k for k, part in enumerate(split.parts) for s in part.tolist()}
    assert all(owner[int(a)] == owner[int(a) + 1] for a in pairs)  # nothing of theirs is lost
    assert [len(part) for part in split.parts] == [20, 20]


def test_fewer_rounds_than_edges_are_said(monkeypatch):
    monkeypatch.setattr(sys.modules[balanced_split.__module__], "WORK", 5_000)
    split = balanced_split(ring(200, 50), np.arange(200), seed=0)
    assert "4 rounds instead of " in split.note


# ---- the whole -----------------------------------------------------------------------------------------------------------------


def test_a_partition_has_every_workload_once():
    with pytest.raises(ModelError, match="twice or leaves one out"):
        Partition(sets=(ints([0, 1]),), trivial=ints([1]), lost=0.0)
    with pytest.raises(ModelError, match="twice or leaves one out"):
        Partition(sets=(ints([0, 1]),), trivial=ints([3]), lost=0.0)


def test_workloads_that_may_run_nowhere_are_trivial_and_said():
    allow = np.array([[True], [False]])
    graph = graph_of([0, 2], [1, 3], [1, 1], replicas=np.ones(4, dtype=np.int64), row_of=[0, 0, 0, 1], allow=allow)
    partition = PARTITIONERS["multi-stage"](graph, masters=None, seed=0)
    assert (lists(partition.sets), partition.trivial.tolist()) == ([[0, 1, 2]], [3])
    assert partition.notes == ("1 workloads with affinity may run on no machine: trivial",)


def test_sets_that_cannot_gain_are_trivial():
    allow = np.array([[True, False], [False, True]])
    graph = graph_of([0, 0], [1, 2], [1, 1], replicas=np.ones(3, dtype=np.int64), row_of=[0, 0, 1], allow=allow)
    partition = PARTITIONERS["multi-stage"](graph, masters=None, seed=0)
    assert (lists(partition.sets), partition.trivial.tolist(), partition.lost) == ([[0, 1]], [2], 0.5)


def test_min_cut_loses_less_than_a_random_partition():
    graph = ring(400)
    cut, chance = (PARTITIONERS[name](graph, masters=None, seed=2) for name in ("min-cut", "random"))
    assert cut.balanced
    assert len(cut.sets) == len(chance.sets) == 3
    assert cut.lost <= 6 / 400 < 0.5 < chance.lost


def test_random_sets_are_of_equal_size():
    partition = PARTITIONERS["random"](ring(400), masters=None, seed=2)
    assert [len(some) for some in partition.sets] == [134, 133, 133]


def test_min_cut_without_kahip_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "kahip", None)
    with pytest.raises(UsageError, match=r"needs kahip: pip install 'bayplan\[graph\]'"):
        PARTITIONERS["min-cut"](ring(10), masters=None, seed=0)


def test_a_generated_cluster_is_split_in_balance():
    graph = affinity_graph(GENERATORS["rasa-m1"].make(seed=7).cluster)
    partition = PARTITIONERS["multi-stage"](graph, masters=None, seed=1)
    assert partition.balanced
    assert sum(map(len, partition.sets)) == 187
    assert 0.01 < partition.lost < 0.10


@pytest.mark.data
def test_m3_is_one_set_of_its_151_masters(data_folder):
    graph = affinity_graph(read(data_folder / "rasa" / "M3.json").cluster)
    partition = PARTITIONERS["multi-stage"](graph, masters=None, seed=0)
    assert [len(some) for some in partition.sets] == [151]
    assert partition.lost < 1e-5
