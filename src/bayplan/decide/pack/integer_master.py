"""How often each pattern is used, in whole numbers: round down, fill up, let HiGHS improve, take off what is too much."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csc_array, eye_array, hstack, vstack

from bayplan.decide.pack.heuristics import best_fit, fill_by_uncertainty
from bayplan.decide.pack.kernel_arrays import uncertainty_of, with_containers
from bayplan.decide.pack.pattern_generation import PENALTY, PatternMaster
from bayplan.kernels.pack.fill import Bins
from bayplan.model import Clock, FloatArray, IntArray
from bayplan.model.interrupt import StopFlag
from bayplan.solvers.highs import solve
from bayplan.solvers.program import Program

SECONDS = 4.0  # for HiGHS, if the budget does not limit them
LATE = 0.2  # seconds beyond them that it is waited for
GAP = 5e-5  # of the uncertainty, at which HiGHS may stop
MOST_COLUMNS = 6_000  # that HiGHS gets: those of the least reduced cost


def integer_counts(master: PatternMaster, bins: Bins, clock: Clock, stop: StopFlag) -> IntArray:
    """(machine, workload) new containers: the best of rounding, the heuristics, and HiGHS. What does not fit is missing."""
    rounded = np.floor(master.value + 1e-9)
    heuristic = [fill(master.sizes, bins, master.unplaced) for fill in (fill_by_uncertainty, best_fit)]
    candidates = [_on_machines(master, rounded, bins), *heuristic]
    candidates.sort(key=lambda count: _cost(master, bins, count))
    seconds = seconds_for_highs(clock)
    if seconds > 0 and master.pattern and not stop.requested:
        times = _improved(master, candidates[0], seconds)
        if times is not None:
            candidates.append(_on_machines(master, times, bins))
    return min(candidates, key=lambda count: _cost(master, bins, count))


def seconds_for_highs(clock: Clock) -> float:
    """For HiGHS, which stops by the clock: a budget of iterations alone promises the same answer again and does without it."""
    if clock.budget.seconds is None and clock.budget.iterations is not None:
        return 0.0
    return max(0.0, min(SECONDS, clock.seconds_left - 0.1))


def _on_machines(master: PatternMaster, times: FloatArray, bins: Bins) -> IntArray:
    """Give each pattern to as many machines as `times` (column,) says, take off what is too much, fill in what is missing."""
    count = patterns_on_machines(master, times)
    _take_off(master, bins, count)
    missing = master.unplaced - count.sum(axis=0)
    if missing.any():
        count += fill_by_uncertainty(master.sizes, with_containers(master.sizes, bins, count), missing)
    return count


def patterns_on_machines(master: PatternMaster, times: FloatArray) -> IntArray:
    """(machine, workload) each pattern on as many machines of its group as `times` (column,) says, the lowest first."""
    count = np.zeros((len(master.groups.of_machine), len(master.unplaced)), dtype=np.int64)
    taken = np.zeros(len(master.groups.machines), dtype=np.int64)
    for n in np.flatnonzero(times > 0.5).tolist():
        g, uses = master.group[n], round(float(times[n]))
        machines = master.groups.machines[g][taken[g] : taken[g] + uses]
        count[machines] = master.pattern[n]
        taken[g] += uses
    return count


def _take_off(master: PatternMaster, bins: Bins, count: IntArray) -> None:
    """Patterns cover more than there is ([UCaC] (8)): take containers away where that saves most uncertainty.

    That is where the variance is least, the lowest machine of equals; and then there again, as long as there is one.
    """
    variance = bins.variance[:, 0] + count @ master.sizes.variance[0]
    surplus = count.sum(axis=0) - master.unplaced
    for w in np.flatnonzero(surplus > 0).tolist():
        machines = np.flatnonzero(count[:, w])
        machines = machines[np.argsort(variance[machines], kind="stable")]
        have = count[machines, w]
        taken = np.clip(surplus[w] - (np.cumsum(have) - have), 0, have)
        count[machines, w] -= taken
        variance[machines] -= taken * master.sizes.variance[0, w]


def _cost(master: PatternMaster, bins: Bins, count: IntArray) -> float:
    """The cost of a packing, as the master counts it."""
    missing = PENALTY * float(master.unplaced.sum() - count.sum())
    if master.minimise_ucac:
        return missing + float(uncertainty_of(master.sizes, bins, count).sum())
    empty = master.starts_empty[master.groups.of_machine] > 0
    return missing + float((count.any(axis=1) & empty).sum())


def _improved(master: PatternMaster, first: IntArray, seconds: float) -> FloatArray | None:
    """(column,) how often each pattern is used in the best integer solution of the master that HiGHS finds from a first one."""
    for m in np.flatnonzero(first.any(axis=1)).tolist():
        master.add(int(master.groups.of_machine[m]), first[m])
    start = _times(master, first)
    return solved_in_whole_numbers(master, start, seconds, start=start)


def solved_in_whole_numbers(
    master: PatternMaster,
    used: FloatArray,
    seconds: float,
    *,
    start: FloatArray | None = None,
    least: FloatArray | None = None,
) -> FloatArray | None:
    """(column,) how often each pattern is used in the best solution of the master that HiGHS finds; None if it finds none.

    It gets the columns of the least reduced cost and those with a value in `used` (column,), and may begin from `start`. `least`
    (group,): how many machines of a group must take a pattern, where HiGHS gets one of the group.
    """
    kept = _promising(master, used)
    program = _program(master, kept, None if start is None else start[kept])
    if least is not None:
        has_pattern = np.isin(np.arange(len(least)), np.array(master.group)[kept])
        low = np.concatenate([master.unplaced.astype(np.float64), np.where(has_pattern, least, 0.0)])
        program = replace(program, row_lower=low)
    answer = solve(program, seconds=seconds, gap=GAP, patience=seconds + LATE)
    if answer.point is None:
        return None
    times = np.zeros(len(master.pattern))
    times[kept] = answer.point[: len(kept)]
    return times


def _times(master: PatternMaster, count: IntArray) -> FloatArray:
    """(column,) on how many machines each pattern runs."""
    number = {(g, pattern.tobytes()): n for n, (g, pattern) in enumerate(zip(master.group, master.pattern, strict=True))}
    times = np.zeros(len(master.pattern))
    for m in np.flatnonzero(count.any(axis=1)).tolist():
        times[number[int(master.groups.of_machine[m]), count[m].tobytes()]] += 1
    return times


def _promising(master: PatternMaster, used: FloatArray) -> IntArray:
    """Columns of the least reduced cost, and those that are used."""
    reduced = master.reduced_cost()
    reduced[used > 0] = -np.inf
    return np.sort(np.argsort(reduced, kind="stable")[:MOST_COLUMNS])


def _program(master: PatternMaster, kept: IntArray, start: FloatArray | None) -> Program:
    """The master over the columns `kept`, in whole numbers, with containers left out at their penalty."""
    n_w, n_g = len(master.unplaced), len(master.groups.machines)
    pattern, group = np.array(master.pattern)[kept], np.array(master.group)[kept]
    cover = hstack([csc_array(pattern.T), eye_array(n_w, format="csc")])
    place = csc_array((np.ones(len(kept)), (group, np.arange(len(kept)))), shape=(n_g, len(kept) + n_w))
    size = np.array([len(machines) for machines in master.groups.machines], dtype=np.float64)
    first = np.zeros(0) if start is None else np.concatenate([start, np.maximum(0.0, master.unplaced - pattern.T @ start)])
    return Program(
        cost=np.concatenate([np.array(master.cost)[kept], np.full(n_w, PENALTY)]),
        lower=np.zeros(len(kept) + n_w),
        upper=np.concatenate([size[group], master.unplaced.astype(np.float64)]),
        integral=np.ones(len(kept) + n_w, dtype=np.bool_),
        matrix=vstack([cover, place]).tocsr(),
        row_lower=np.concatenate([master.unplaced.astype(np.float64), np.full(n_g, -np.inf)]),
        row_upper=np.concatenate([np.full(n_w, np.inf), size]),
        start=first,
    )
