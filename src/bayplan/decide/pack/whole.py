"""How often each pattern is used, in whole numbers: round down, fill up, let HiGHS improve, take off what is too much."""

import heapq

import numpy as np
from scipy.sparse import csc_array

from bayplan.decide.pack.best_fit import best_fit
from bayplan.decide.pack.bi_level import fill_by_uncertainty
from bayplan.decide.pack.bins import copied, ucac_of
from bayplan.decide.pack.columns import PENALTY, Columns
from bayplan.kernels.pack.fill import Bins, put
from bayplan.model import Clock, FloatArray, IntArray
from bayplan.model.interrupt import Stop
from bayplan.solvers.highs import solve
from bayplan.solvers.program import Program

SECONDS = 4.0  # for HiGHS, if the budget says nothing
GAP = 5e-5  # of the uncertainty, at which HiGHS may stop
MOST_COLUMNS = 6_000  # that HiGHS gets: those of the least reduced cost


def whole_counts(columns: Columns, bins: Bins, clock: Clock, stop: Stop) -> IntArray:
    """(machine, service) new containers, as good as could be found; what does not fit is missing."""
    simple = [fill(columns.sizes, bins, columns.waiting) for fill in (fill_by_uncertainty, best_fit)]
    found = [_on_machines(columns, _filled_up(columns), bins), *simple]
    found.sort(key=lambda count: _cost(columns, bins, count))
    seconds = _seconds(clock)
    if seconds > 0 and columns.pattern and not stop.asked:
        used = _improved(columns, found[0], seconds)
        if used is not None:
            found.append(_on_machines(columns, used, bins))
    return min(found, key=lambda count: _cost(columns, bins, count))


def _seconds(clock: Clock) -> float:
    """For HiGHS, which counts seconds: a budget of iterations alone, which promises the same answer again, does without it."""
    left = clock.budget.seconds
    if left is None:
        return SECONDS if clock.budget.iterations is None else 0.0
    return max(0.0, min(SECONDS, left - clock.seconds - 0.1))


def _filled_up(columns: Columns) -> FloatArray:
    """(column,) every pattern as often as the master says, rounded down."""
    return np.floor(columns.value + 1e-9)


def _on_machines(columns: Columns, used: FloatArray, bins: Bins) -> IntArray:
    """Give patterns to machines, take off what is too much, fill in what is missing."""
    count = np.zeros(bins.most.shape, dtype=np.int64)
    taken = np.zeros(len(columns.groups.machines), dtype=np.int64)
    for n in np.flatnonzero(used > 0.5).tolist():
        g, times = columns.group[n], round(float(used[n]))
        machines = columns.groups.machines[g][taken[g] : taken[g] + times]
        count[machines] = columns.pattern[n]
        taken[g] += times
    _take_off(columns, bins, count)
    missing = columns.waiting - count.sum(axis=0)
    if missing.any():
        left = copied(bins)
        for m, k in zip(*np.nonzero(count), strict=True):
            put(columns.sizes, left, int(m), int(k), int(count[m, k]))
        count += fill_by_uncertainty(columns.sizes, left, missing)
    return count


def _take_off(columns: Columns, bins: Bins, count: IntArray) -> None:
    """Patterns cover more than there is (003 (8)): take containers away where that saves most uncertainty."""
    variance = bins.variance[:, 0] + count @ columns.sizes.variance[0]
    for k in np.flatnonzero(count.sum(axis=0) > columns.waiting).tolist():
        by = float(columns.sizes.variance[0, k])
        heap = [(float(variance[m]), int(m)) for m in np.flatnonzero(count[:, k])]
        heapq.heapify(heap)
        for _ in range(int(count[:, k].sum() - columns.waiting[k])):
            _, m = heapq.heappop(heap)
            count[m, k] -= 1
            variance[m] -= by
            if count[m, k]:
                heapq.heappush(heap, (float(variance[m]), m))


def _cost(columns: Columns, bins: Bins, count: IntArray) -> float:
    """What the master counts, of whole containers."""
    missing = PENALTY * float(columns.waiting.sum() - count.sum())
    if columns.priced:
        return missing + float(ucac_of(columns.sizes, bins, count).sum())
    fresh = columns.starts_empty[columns.groups.of_machine] > 0
    return missing + float((count.any(axis=1) & fresh).sum())


def _improved(columns: Columns, begin: IntArray, seconds: float) -> FloatArray | None:
    """(column,) how often each pattern is used in the best whole solution of the master that HiGHS finds from another one."""
    for m in np.flatnonzero(begin.any(axis=1)).tolist():
        columns.add(int(columns.groups.of_machine[m]), begin[m])
    start = _times(columns, begin)
    kept = _promising(columns, start)
    answer = solve(_program(columns, kept, start[kept]), seconds=seconds, gap=GAP)
    if answer.point is None:
        return None
    used = np.zeros(len(columns.pattern))
    used[kept] = answer.point[: len(kept)]
    return used


def _times(columns: Columns, count: IntArray) -> FloatArray:
    """(column,) how often each pattern stands on machines."""
    number = {(g, pattern.tobytes()): n for n, (g, pattern) in enumerate(zip(columns.group, columns.pattern, strict=True))}
    times = np.zeros(len(columns.pattern))
    for m in np.flatnonzero(count.any(axis=1)).tolist():
        times[number[int(columns.groups.of_machine[m]), count[m].tobytes()]] += 1
    return times


def _promising(columns: Columns, start: FloatArray) -> IntArray:
    """Columns of the least reduced cost, and those that the start uses."""
    n_k = len(columns.waiting)
    pattern, group = np.array(columns.pattern), np.array(columns.group)
    reduced = np.array(columns.cost) - pattern @ columns.price[:n_k] - columns.price[n_k:][group]
    reduced[start > 0] = -np.inf
    return np.sort(np.argsort(reduced, kind="stable")[:MOST_COLUMNS])


def _program(columns: Columns, kept: IntArray, start: FloatArray) -> Program:
    """The master over some columns, in whole numbers, with containers left out at their penalty."""
    n_k, n_g = len(columns.waiting), len(columns.groups.machines)
    pattern, group = np.array(columns.pattern)[kept], np.array(columns.group)[kept]
    cover = np.vstack([pattern, np.eye(n_k, dtype=np.int64)]).T
    place = np.zeros((n_g, len(kept) + n_k))
    place[group, np.arange(len(kept))] = 1.0
    size = np.array([len(machines) for machines in columns.groups.machines], dtype=np.float64)
    covered = pattern.T @ start
    return Program(
        cost=np.concatenate([np.array(columns.cost)[kept], np.full(n_k, PENALTY)]),
        lower=np.zeros(len(kept) + n_k),
        upper=np.concatenate([size[group], columns.waiting.astype(np.float64)]),
        integral=np.ones(len(kept) + n_k, dtype=np.bool_),
        matrix=csc_array(np.vstack([cover, place])).tocsr(),
        row_lower=np.concatenate([columns.waiting.astype(np.float64), np.full(n_g, -np.inf)]),
        row_upper=np.concatenate([np.full(n_k, np.inf), size]),
        start=np.concatenate([start, np.maximum(0.0, columns.waiting - covered)]),
    )
