"""The partitioner of [RASA] §IV-B, in four stages that can be used alone.

1. Workloads without affinity are trivial (IV-B1). 2. Of the others, the *masters* matter: those with the largest total affinity
(IV-B2). 3. Masters that no machine may host together are told apart (IV-B3). 4. A large set is split into parts of about equal
size that lose little affinity (IV-B4).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bayplan.decide.collocate.partition.graph import AffinityGraph, Partition, partition_of
from bayplan.errors import UsageError
from bayplan.kernels.collocate.bfs import PartitionGraph, Queues, evaluate_seeds, grow
from bayplan.model import BoolArray, FloatArray, IntArray, ints

LARGE = 180  # workloads from which on a set is split (the authors' code; the paper does not say)
SLACK = 50  # workloads that the largest part may have above the mean (the authors' code)
TINY = 5  # components of at most this many workloads get no seed (the authors' code merges them)
WORK = 500_000_000  # visits of vertices and edges, a few seconds: above it there are fewer than |E| rounds, and a note


class BalancedSplit(NamedTuple):
    """Parts of one set, largest first."""

    parts: tuple[IntArray, ...]  # workloads, ascending
    balanced: bool  # does the split satisfy the balance rule?
    note: str = ""  # what the user should know


def part_count(workloads: int) -> int:
    """h: into how many parts a set is split; 1 if it is not large."""
    return workloads // LARGE + 1 if workloads >= LARGE else 1


def balanced_split(
    graph: AffinityGraph, workloads: IntArray, *, seed: int | list[int], parts: int | None = None
) -> BalancedSplit:
    """The best of |E| splits by breadth-first search from h random workloads each (IV-B4).

    A split is accepted if its largest part is below size / h + 50 and below twice the smallest: the authors' code,
    which implies the paper's "does not exceed twice". Of the accepted ones the one that loses least wins, of equals
    the first. If none is accepted, the least unbalanced one (largest over smallest part) is taken, and a note says so.

    What the paper leaves open: neighbours are visited by falling weight; seeds are in components of more than 5
    workloads if there are enough of those; components without a seed go as a whole to the smallest part, largest first.
    """
    h = min(part_count(len(workloads)) if parts is None else parts, len(workloads))
    if h <= 1:
        return BalancedSplit(parts=(ints(workloads),) if len(workloads) else (), balanced=True)
    web = _web(graph, workloads)
    rounds = min(max(len(web.a), 1), max(WORK // (len(workloads) + 4 * len(web.a)), 1))
    seeds = _seeds(web.size[web.component] > TINY, h, rounds, np.random.default_rng(seed))
    queues, part = Queues.of(len(workloads), h, len(web.size)), np.empty(len(workloads), dtype=np.int64)
    largest, smallest, lost = np.empty(rounds, np.int64), np.empty(rounds, np.int64), np.empty(rounds)
    evaluate_seeds(web, seeds, queues, part, largest, smallest, lost)
    fair = accepted(largest, smallest, len(workloads), h)
    grow(web, seeds[_best(fair, largest, smallest, lost)], queues, part)
    members = sorted((workloads[part == k] for k in range(h)), key=len, reverse=True)
    is_balanced, cut_short = bool(fair.any()), rounds < len(web.a)
    tried = f"{rounds} rounds" + (f" instead of {len(web.a)}, to save time" if cut_short else "")
    note = f"{'a' if is_balanced else 'no'} balanced split of {len(workloads)} workloads into {h} parts in {tried}"
    return BalancedSplit(
        parts=tuple(ints(part) for part in members), balanced=is_balanced, note="" if is_balanced and not cut_short else note
    )


def accepted(largest: IntArray, smallest: IntArray, size: int, h: int) -> BoolArray:
    """(round,) is the split of `size` workloads into h parts balanced?"""
    return (largest < size / h + SLACK) & (largest < 2 * smallest)


def _best(fair: BoolArray, largest: IntArray, smallest: IntArray, lost: FloatArray) -> int:
    """The round to take."""
    if fair.any():
        return int(np.argmin(np.where(fair, lost, np.inf)))
    return int(np.lexsort((lost, largest / smallest))[0])


def _seeds(preferred: BoolArray, h: int, rounds: int, rng: np.random.Generator) -> IntArray:
    """(round, part) h different vertices a round, preferred ones if there are enough."""
    candidates = np.flatnonzero(preferred) if preferred.sum() >= h else np.arange(len(preferred))
    return np.array([rng.choice(candidates, h, replace=False) for _ in range(rounds)], dtype=np.int64)


def _web(graph: AffinityGraph, workloads: IntArray) -> PartitionGraph:
    """The graph of these workloads alone, as the kernel takes it: heavy neighbours and large components first."""
    n = len(workloads)
    number = np.full(graph.n, -1, dtype=np.int64)
    number[workloads] = np.arange(n)
    inside = (number[graph.a] >= 0) & (number[graph.b] >= 0) & (graph.weight > 0)
    a, b, weight = number[graph.a[inside]], number[graph.b[inside]], graph.weight[inside]
    here, there = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.lexsort((there, -np.tile(weight, 2), here))
    links = csr_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n, n))
    _, component = connected_components(links, directed=False)
    size = np.bincount(component)
    rank = np.argsort(np.argsort(-size, kind="stable"))
    start = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=n))])
    return PartitionGraph(
        start=start.astype(np.int64),
        neighbour=there[order],
        a=a,
        b=b,
        weight=weight,
        component=rank[component].astype(np.int64),
        size=np.sort(size)[::-1].astype(np.int64),
    )


class CompatibilityClasses(NamedTuple):
    """Workloads grouped by the machines that they may use."""

    sets: tuple[IntArray, ...]  # no machine may host workloads of two of them; by their first workload
    nowhere: IntArray  # workloads that no machine may host


def workloads_with_affinity(graph: AffinityGraph) -> IntArray:
    """Workloads that have affinity to another one (IV-B1), ascending. Traffic of a workload without containers is none."""
    counts = (graph.weight > 0) & (graph.replicas[graph.a] > 0) & (graph.replicas[graph.b] > 0)
    return ints(np.unique(np.concatenate([graph.a[counts], graph.b[counts]])))


def master_count(workloads: int) -> int:
    """floor(45 ln^0.66 N) (V-B): how many of all N workloads are masters by default."""
    return math.floor(45.0 * math.log(workloads) ** 0.66) if workloads > 1 else 0


def master_workloads(graph: AffinityGraph, workloads: IntArray, n: int | None = None) -> IntArray:
    """The n of these workloads with the largest total affinity T(w) (IV-B2), ascending; of equals, the first."""
    most = master_count(graph.n) if n is None else n
    if most < 0:
        raise UsageError(f"{most} master workloads; expected zero or more")
    order = np.argsort(-graph.affinity[workloads], kind="stable")
    return ints(np.sort(workloads[order[:most]]))


def compatibility_classes(graph: AffinityGraph, workloads: IntArray) -> CompatibilityClasses:
    """The blocks of the compatibility matrix (IV-B3): workloads are in one if a chain of shared machines connects them."""
    row_of = graph.row_of[workloads]
    n_rows = len(graph.allow)
    used = np.zeros(n_rows, dtype=np.bool_)
    used[row_of] = True
    row, machine = np.nonzero(graph.allow & used[:, None])
    n = n_rows + graph.allow.shape[1]
    links = csr_array((np.ones(len(row), dtype=np.int8), (row, n_rows + machine)), shape=(n, n))
    _, block = connected_components(links, directed=False)
    hosted = np.isin(row_of, row)
    placed = workloads[hosted]
    _, first, number = np.unique(block[row_of[hosted]], return_index=True, return_inverse=True)
    sets = [placed[number == k] for k in np.argsort(first)]
    return CompatibilityClasses(sets=tuple(ints(members) for members in sets), nowhere=ints(workloads[~hosted]))


def multi_stage(graph: AffinityGraph, *, masters: int | None, seed: int) -> Partition:
    """Non-affinity, master-affinity, compatibility, loss-minimising balance ([RASA] §IV-B). All but masters are trivial."""
    crucial = master_workloads(graph, workloads_with_affinity(graph), masters)  # IV-B1, IV-B2
    classes = compatibility_classes(graph, crucial)  # IV-B3
    splits = [balanced_split(graph, members, seed=[seed, k]) for k, members in enumerate(classes.sets)]  # IV-B4
    notes = [split.note for split in splits if split.note]
    if len(classes.nowhere):
        notes.append(f"{len(classes.nowhere)} workloads with affinity may run on no machine: trivial")
    sets = [part for split in splits for part in split.parts]
    return partition_of(graph, sets, balanced=all(split.balanced for split in splits), notes=notes)
