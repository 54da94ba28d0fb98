"""Answers by insertion, one request at a time, and better ones by exchange: eject some, insert a refused request, refill."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from bayplan.decide.admit.offline.column_generation import Column
from bayplan.decide.admit.offline.slot_loads import SlotLoads
from bayplan.decide.admit.offline.time_expanded import TimeExpandedStream
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions
from bayplan.decide.admit.one_shot.tree_search import local
from bayplan.model import FloatArray

STEEP = 100.0  # a full zone costs this many times as much as an almost empty one
EJECTED = (1, 12)  # requests that are removed in one exchange, at least and at most
NOISE = 0.5  # on the logarithm of value for cost, in the order in which removed requests are inserted again


def insert(loads: SlotLoads, order: Iterable[int], total: FloatArray, late: Callable[[], bool], *, seed: int) -> None:
    """Accept each request that still fits, in this order, where prices (request, amount) and loads are low, until it is late."""
    scale = float(total.sum()) / max(1, total.size) or 1.0
    for i in order:
        if late():
            return
        if loads.zone_of[i] is None:
            free, bandwidth = loads.free(i)
            price = total[i] + scale * (STEEP ** loads.share(i) - 1)
            problem = loads.expanded.one_shot_problem(i, price, free=free, bandwidth=bandwidth)
            placement = local(problem, OneShotOptions(), seed=seed)
            if placement.zone is not None and loads.fits(i, placement.zone):
                loads.put(i, placement.zone)


def value_for_cost(value: FloatArray, cost: FloatArray) -> FloatArray:
    """(request,) value divided by cost; 0 for requests without value."""
    return value / np.maximum(cost, 1e-3 * max(1e-9, float(value.max(initial=0.0))))


def by_value_for_cost(worth: FloatArray) -> list[int]:
    """Requests with a value, the best value for cost first; equal ones in their order."""
    return [i for i in np.argsort(-worth, kind="stable").tolist() if worth[i] > 0]


def accept_columns(loads: SlotLoads, columns: Sequence[Column]) -> None:
    """Accept those plans that fit, in their order: the tolerances of a solver do not count here."""
    for column in columns:
        if loads.zone_of[column.request] is None and loads.fits(column.request, column.zone):
            loads.put(column.request, column.zone)


def rounded(expanded: TimeExpandedStream, columns: Sequence[Column], share: FloatArray) -> SlotLoads:
    """An answer from a fractional one: plans with the largest shares first."""
    loads = SlotLoads(expanded)
    accept_columns(loads, [columns[j] for j in np.argsort(-share, kind="stable") if share[j] > 1e-6])
    return loads


def improve(
    loads: SlotLoads, worth: FloatArray, total: FloatArray, late: Callable[[], bool], *, rounds: int, seed: int
) -> SlotLoads:
    """An answer that is worth no less. `worth` (request,): value for cost; 0: never accepted. `total`: prices, see `insert`."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        refused = [i for i, zone in enumerate(loads.zone_of) if zone is None and worth[i] > 0]
        if not refused or late():
            break
        after = loads.copy()
        queue = _eject(after, refused, worth, rng)
        insert(after, queue, total, late, seed=seed)
        if after.value >= loads.value:
            loads = after
    return _recomputed(loads)


def _recomputed(loads: SlotLoads) -> SlotLoads:
    """The same answer with loads summed again, without the rounding errors of removals."""
    fresh = SlotLoads(loads.expanded)
    for i, zone in enumerate(loads.zone_of):
        if zone is not None and fresh.fits(i, zone):
            fresh.put(i, zone)
    return fresh


def _eject(loads: SlotLoads, refused: list[int], worth: FloatArray, rng: np.random.Generator) -> list[int]:
    """Remove some requests that overlap with a refused one; returns the order of insertion: that one, then all others."""
    wanted = refused[int(rng.integers(len(refused)))]
    overlapping = [i for i, zone in enumerate(loads.zone_of) if zone is not None and _overlap(loads, i, wanted)]
    removed = rng.permutation(np.array(overlapping, dtype=np.int64))[: int(rng.integers(*EJECTED, endpoint=True))].tolist()
    for i in removed:
        loads.remove(i)
    queue = removed + [i for i in refused if i != wanted and _overlap(loads, i, wanted)]
    noisy = np.log(np.maximum(worth[queue], 1e-300)) + NOISE * rng.standard_normal(len(queue))
    return [wanted, *(queue[j] for j in np.argsort(-noisy).tolist())]


def _overlap(loads: SlotLoads, i: int, j: int) -> bool:
    """Do two requests overlap in time?"""
    first, last = loads.expanded.first, loads.expanded.last
    return bool(first[i] < last[j] and first[j] < last[i])
