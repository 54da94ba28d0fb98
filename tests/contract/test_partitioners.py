"""Every partitioner keeps every service once, says what it loses, and does the same again with the same seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.affinity_graphs import drawn_graph, edges_of, graph_of
from tests.builders.strategies import clusters
from tests.naive import collocate_bfs as naive

from bayplan.decide.collocate.partition import PARTITIONERS, affinity_graph, demand_of_sets

every_partitioner = pytest.mark.parametrize("name", PARTITIONERS)
graphs = st.integers(0, 10**6).map(drawn_graph)
masters_given = st.none() | st.integers(0, 40)


@every_partitioner
@given(graph=graphs, masters=masters_given, seed=st.integers(0, 3))
def test_every_workload_is_in_one_set_or_trivial(name, graph, masters, seed):
    partition = PARTITIONERS[name](graph, masters=masters, seed=seed)
    members = [s for some in (*partition.sets, partition.trivial) for s in some.tolist()]
    assert sorted(members) == list(range(graph.n))
    assert all(len(some) for some in partition.sets)


@every_partitioner
@given(graph=graphs, masters=masters_given)
def test_lost_is_the_affinity_that_no_set_has_inside(name, graph, masters):
    partition = PARTITIONERS[name](graph, masters=masters, seed=1)
    alone = -2 - np.arange(graph.n)  # a trivial service is with nobody
    part = np.where(partition.set_of < 0, alone, partition.set_of)
    assert partition.lost == pytest.approx(naive.lost(edges_of(graph), part.tolist()), abs=1e-12)


@every_partitioner
@given(graph=graphs)
def test_the_same_seed_gives_the_same_partition(name, graph):
    once, again = (PARTITIONERS[name](graph, masters=None, seed=5) for _ in range(2))
    assert [some.tolist() for some in once.sets] == [some.tolist() for some in again.sets]


@every_partitioner
@settings(max_examples=30)
@given(cluster=clusters())
def test_any_cluster_can_be_partitioned(name, cluster):
    graph = affinity_graph(cluster)
    partition = PARTITIONERS[name](graph, masters=None, seed=0)
    assert len(partition.set_of) == len(cluster.workloads.name)
    assert demand_of_sets(graph, partition.sets).shape == (len(partition.sets), len(cluster.resources))


@every_partitioner
def test_without_affinity_nothing_is_lost(name):
    graph = graph_of([], [], [], replicas=np.ones(3, dtype=np.int64))
    partition = PARTITIONERS[name](graph, masters=None, seed=0)
    assert partition.lost == 0.0
    assert len(partition.trivial) == (0 if name == "none" else 3)
    assert partition.notes == ()
