"""The fourth stage (004 IV-B4): a large set is split into parts of about equal size that lose little affinity."""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bayplan.decide.collocate.partition.graph import AffinityGraph, Partition, partition_of
from bayplan.errors import UsageError
from bayplan.kernels.collocate.bfs import Queues, Web, grow, judge
from bayplan.model import BoolArray, FloatArray, IntArray, ints

LARGE = 180  # services from which on a set is split (the authors' code; the paper does not say)
SLACK = 50  # services that the largest part may have above the mean (the authors' code)
TINY = 5  # components of at most so many services get no seed (the authors' code merges them)
WORK = 500_000_000  # visits of vertices and edges, a few seconds: beyond it there are fewer than |E| rounds, and a note


class BalancedSplit(NamedTuple):
    """Parts of one set, largest first, and how they came about."""

    parts: tuple[IntArray, ...]  # services, ascending
    balanced: bool  # does the split satisfy the balance rule?
    note: str = ""  # what the user should know


def part_count(services: int) -> int:
    """h: into how many parts a set is split; 1 if it is not large."""
    return services // LARGE + 1 if services >= LARGE else 1


def balanced_split(graph: AffinityGraph, services: IntArray, *, seed: int | list[int], parts: int | None = None) -> BalancedSplit:
    """The best of |E| splits by breadth-first search from h random services each (IV-B4).

    A split is accepted if its largest part is below size / h + 50 and below twice the smallest: the authors' code,
    which implies the paper's "does not exceed twice". Of the accepted ones the one that loses least wins, of equals
    the first. If none is accepted, the least unbalanced one (largest over smallest part) is taken, and said so.

    What the paper leaves open: neighbours are visited by falling weight; seeds stand in components of more than 5
    services if there are enough of those; components without a seed go as a whole to the smallest part, largest first.
    """
    h = min(part_count(len(services)) if parts is None else parts, len(services))
    if h <= 1:
        return BalancedSplit(parts=(ints(services),) if len(services) else (), balanced=True)
    web = _web(graph, services)
    rounds = min(max(len(web.a), 1), max(WORK // (len(services) + 4 * len(web.a)), 1))
    seeds = _seeds(web.size[web.component] > TINY, h, rounds, np.random.default_rng(seed))
    queues, part = Queues.of(len(services), h, len(web.size)), np.empty(len(services), dtype=np.int64)
    largest, smallest, lost = np.empty(rounds, np.int64), np.empty(rounds, np.int64), np.empty(rounds)
    judge(web, seeds, queues, part, largest, smallest, lost)
    fair = accepted(largest, smallest, len(services), h)
    grow(web, seeds[_best(fair, largest, smallest, lost)], queues, part)
    members = sorted((services[part == k] for k in range(h)), key=len, reverse=True)
    found, cut = bool(fair.any()), rounds < len(web.a)
    tried = f"{rounds} rounds" + (f" instead of {len(web.a)}, to save time" if cut else "")
    note = f"{'a' if found else 'no'} balanced split of {len(services)} services into {h} parts in {tried}"
    return BalancedSplit(parts=tuple(ints(some) for some in members), balanced=found, note="" if found and not cut else note)


def accepted(largest: IntArray, smallest: IntArray, size: int, h: int) -> BoolArray:
    """(round,) is the split of `size` services into h parts balanced?"""
    return (largest < size / h + SLACK) & (largest < 2 * smallest)


def _best(fair: BoolArray, largest: IntArray, smallest: IntArray, lost: FloatArray) -> int:
    """The round to take."""
    if fair.any():
        return int(np.argmin(np.where(fair, lost, np.inf)))
    return int(np.lexsort((lost, largest / smallest))[0])


def _seeds(worthy: BoolArray, h: int, rounds: int, rng: np.random.Generator) -> IntArray:
    """(round, part) h different vertices a round, worthy ones if there are enough."""
    candidates = np.flatnonzero(worthy) if worthy.sum() >= h else np.arange(len(worthy))
    return np.array([rng.choice(candidates, h, replace=False) for _ in range(rounds)], dtype=np.int64)


def _web(graph: AffinityGraph, services: IntArray) -> Web:
    """The graph of these services alone, as the kernel wants it: heavy neighbours and large components first."""
    n = len(services)
    number = np.full(graph.n, -1, dtype=np.int64)
    number[services] = np.arange(n)
    inside = (number[graph.a] >= 0) & (number[graph.b] >= 0) & (graph.weight > 0)
    a, b, weight = number[graph.a[inside]], number[graph.b[inside]], graph.weight[inside]
    here, there = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.lexsort((there, -np.tile(weight, 2), here))
    links = csr_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n, n))
    _, component = connected_components(links, directed=False)
    size = np.bincount(component)
    rank = np.argsort(np.argsort(-size, kind="stable"))
    start = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=n))])
    return Web(
        start=start.astype(np.int64),
        neighbour=there[order],
        a=a,
        b=b,
        weight=weight,
        component=rank[component].astype(np.int64),
        size=np.sort(size)[::-1].astype(np.int64),
    )


class CompatibilityClasses(NamedTuple):
    """Services told apart by the machines they may use."""

    sets: tuple[IntArray, ...]  # no machine may host services of two of them; by their first service
    nowhere: IntArray  # services that no machine may host


def workloads_with_affinity(graph: AffinityGraph) -> IntArray:
    """Services that have affinity to another one (IV-B1), ascending. Traffic of a service without containers is none."""
    counts = (graph.weight > 0) & (graph.replicas[graph.a] > 0) & (graph.replicas[graph.b] > 0)
    return ints(np.unique(np.concatenate([graph.a[counts], graph.b[counts]])))


def master_count(services: int) -> int:
    """floor(45 ln^0.66 N) (V-B): how many of all N services are masters if nobody says otherwise."""
    return math.floor(45.0 * math.log(services) ** 0.66) if services > 1 else 0


def master_workloads(graph: AffinityGraph, services: IntArray, n: int | None = None) -> IntArray:
    """Those n of some services with the largest total affinity T(s) (IV-B2), ascending; of equals, the first."""
    most = master_count(graph.n) if n is None else n
    if most < 0:
        raise UsageError(f"{most} master services; expected zero or more")
    order = np.argsort(-graph.affinity[services], kind="stable")
    return ints(np.sort(services[order[:most]]))


def compatibility_classes(graph: AffinityGraph, services: IntArray) -> CompatibilityClasses:
    """The blocks of the compatibility matrix (IV-B3): services are in one if a chain of shared machines links them."""
    row_of = graph.row_of[services]
    n_rows = len(graph.allow)
    used = np.zeros(n_rows, dtype=np.bool_)
    used[row_of] = True
    row, machine = np.nonzero(graph.allow & used[:, None])
    n = n_rows + graph.allow.shape[1]
    links = csr_array((np.ones(len(row), dtype=np.int8), (row, n_rows + machine)), shape=(n, n))
    _, block = connected_components(links, directed=False)
    hosted = np.isin(row_of, row)
    placed = services[hosted]
    _, first, number = np.unique(block[row_of[hosted]], return_index=True, return_inverse=True)
    sets = [placed[number == k] for k in np.argsort(first)]
    return CompatibilityClasses(sets=tuple(ints(members) for members in sets), nowhere=ints(services[~hosted]))


def multi_stage(graph: AffinityGraph, *, masters: int | None, seed: int) -> Partition:
    """Non-affinity, master-affinity, compatibility, loss-minimising balance (004 IV-B). All but masters are trivial."""
    crucial = master_workloads(graph, workloads_with_affinity(graph), masters)  # IV-B1, IV-B2
    blocks = compatibility_classes(graph, crucial)  # IV-B3
    splits = [balanced_split(graph, some, seed=[seed, k]) for k, some in enumerate(blocks.sets)]  # IV-B4
    notes = [split.note for split in splits if split.note]
    if len(blocks.nowhere):
        notes.append(f"{len(blocks.nowhere)} services with affinity may run on no machine: trivial")
    sets = [part for split in splits for part in split.parts]
    return partition_of(graph, sets, balanced=all(split.balanced for split in splits), notes=notes)
