"""Fast breadth-first search from several seeds against deques and lists."""

import numpy as np
import pytest
from tests.builders.affinity_graphs import drawn_graph, edges_of
from tests.naive import collocate_bfs as naive

from bayplan.decide.collocate.partition.multi_stage import _web
from bayplan.kernels.collocate.bfs import Queues, evaluate_seeds, grow

SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_grow_as_with_deques(seed):
    graph = drawn_graph(seed)
    rng, edges = np.random.default_rng(seed), edges_of(graph)
    web = _web(graph, np.arange(graph.n))
    parts, part = int(rng.integers(1, min(graph.n, 5) + 1)), np.empty(graph.n, dtype=np.int64)
    queues = Queues.of(graph.n, parts, len(web.size))
    for _ in range(3):  # the room to work in is used again
        seeds = rng.choice(graph.n, parts, replace=False)
        grow(web, seeds, queues, part)
        assert part.tolist() == naive.grow(graph.n, edges, seeds.tolist())
        assert queues.part_size.tolist() == np.bincount(part, minlength=parts).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_rounds_are_judged_by_their_sizes_and_their_loss(seed):
    graph = drawn_graph(seed)
    rng, edges, n = np.random.default_rng(seed), edges_of(graph), graph.n
    web = _web(graph, np.arange(n))
    parts = int(rng.integers(1, min(n, 4) + 1))
    seeds = np.array([rng.choice(n, parts, replace=False) for _ in range(4)])
    largest, smallest, lost = np.empty(4, np.int64), np.empty(4, np.int64), np.empty(4)
    evaluate_seeds(web, seeds, Queues.of(n, parts, len(web.size)), np.empty(n, np.int64), largest, smallest, lost)
    for i in range(4):
        part = naive.grow(n, edges, seeds[i].tolist())
        sizes = np.bincount(part, minlength=parts)
        assert (largest[i], smallest[i]) == (sizes.max(), sizes.min())
        assert lost[i] == pytest.approx(naive.lost(edges, part), abs=1e-12)
