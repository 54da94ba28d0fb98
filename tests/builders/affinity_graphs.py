"""Random affinity graphs: isolated services, little components, equal weights, services without containers or machines."""

import numpy as np

from bayplan.decide.collocate.partition import AffinityGraph


def drawn_graph(seed: int, *, most: int = 30) -> AffinityGraph:
    """A graph of up to `most` services."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    pairs = np.array(np.triu_indices(n, 1)).T
    chosen = pairs[np.sort(rng.permutation(len(pairs))[: int(rng.integers(0, 2 * n))])]
    weight = rng.choice([1.0, 2.0, 5.0], len(chosen)) if rng.random() < 0.5 else rng.pareto(1.2, len(chosen)) + 0.01
    allow = np.vstack([np.ones(6, dtype=np.bool_), rng.random((4, 6)) < 0.3])
    return graph_of(
        chosen[:, 0],
        chosen[:, 1],
        weight,
        replicas=rng.integers(0 if rng.random() < 0.3 else 1, 4, n),
        row_of=rng.integers(int(rng.random() < 0.5), 5, n),
        allow=allow,
    )


def graph_of(a, b, weight, *, replicas, row_of=None, allow=None) -> AffinityGraph:
    """A graph of these edges; every service may run on the only machine unless told otherwise."""
    weight = np.asarray(weight, dtype=np.float64)
    n = len(replicas)
    return AffinityGraph(
        a=np.asarray(a, dtype=np.int64),
        b=np.asarray(b, dtype=np.int64),
        weight=weight / weight.sum() if len(weight) else weight,
        replicas=np.asarray(replicas),
        share=np.full((n, 2), 1.0 / n),
        row_of=np.zeros(n, dtype=np.int64) if row_of is None else np.asarray(row_of),
        allow=np.ones((1, 1), dtype=np.bool_) if allow is None else allow,
    )


def ring(n: int, chords: int = 0, seed: int = 0) -> AffinityGraph:
    """Services in a circle, each with affinity to the next; and chords across."""
    rng = np.random.default_rng(seed)
    a, b = np.arange(n), (np.arange(n) + 1) % n
    far = np.array([rng.choice(n, 2, replace=False) for _ in range(chords)]).reshape(chords, 2)
    pair = np.unique(np.sort(np.concatenate([np.column_stack([a, b]), far]), axis=1), axis=0)
    return graph_of(pair[:, 0], pair[:, 1], np.ones(len(pair)), replicas=np.ones(n, dtype=np.int64))


def edges_of(graph: AffinityGraph) -> list[tuple[int, int, float]]:
    """(a, b, weight) one after the other."""
    return list(zip(graph.a.tolist(), graph.b.tolist(), graph.weight.tolist(), strict=True))
