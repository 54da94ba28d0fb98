"""Whole patterns: the integer master program over those there are, and what is left by marginal gain (004 Algorithm 1, Round)."""

import time
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from bayplan.decide.collocate.columns.pattern_master import MachineTypes, PatternMaster
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import Subproblem, gained
from bayplan.model import FloatArray, IntArray
from bayplan.solvers.highs import solve
from bayplan.solvers.program import LinearExpression, Program, ProgramBuilder

Pattern: TypeAlias = tuple[int, IntArray]  # type, (service,) containers on one machine of it

GAP = 1e-4
SIZES = (300, 1_000, 2_000, 4_000)  # patterns in one integer program


def patterns_of(types: MachineTypes, counts: IntArray) -> list[Pattern]:
    """The patterns of an answer (service, machine), each type's different ones."""
    found: dict[tuple[int, bytes], IntArray] = {}
    for m in np.flatnonzero(counts.any(axis=0)).tolist():
        pattern = counts[:, m].copy()
        found.setdefault((int(types.of_machine[m]), pattern.tobytes()), pattern)
    return [(t, pattern) for (t, _), pattern in found.items()]


def choose_patterns(
    types: MachineTypes,
    patterns: Sequence[Pattern],
    task: Subproblem,
    seconds: float,
    left: FloatArray | None = None,
    *,
    exactly: bool = False,
) -> IntArray:
    """Counts (service, machine) that gain most with some patterns, each on so many machines of its type as pay.

    Patterns have to fit. First the best ones by the linear master alone are tried, then more, each time from the choice before.
    What demand they leave is placed by marginal gain. `left` (resource,): room that others leave to all services together.
    `exactly`: without a gap, and without the presolve of HiGHS, which may call something optimal that is not.
    """
    ends = time.perf_counter() + seconds
    sigma = _sigma(types, patterns, task)
    times = _greedy(types, patterns, task, sigma, left)
    order = _ranked(types, patterns, task, left) if seconds > 0 and patterns else np.zeros(0, dtype=np.int64)
    for size in SIZES:
        remaining = ends - time.perf_counter()
        if remaining <= 0 or not len(order):
            break
        some = np.union1d(order[:size], np.flatnonzero(times))
        draft = _draft(types, [patterns[n] for n in some.tolist()], task, sigma[some], times[some], left)
        slice_ = remaining if size >= min(len(order), SIZES[-1]) else remaining / 2
        point = solve(draft, seconds=slice_, gap=0.0 if exactly else GAP, presolve=not exactly).point
        if point is not None and sigma[some] @ np.round(point) > sigma @ times:
            times = np.zeros_like(times)
            times[some] = np.round(point).astype(np.int64)
        if size >= len(order):
            break
    return greedy_counts(task, _spread_out(types, patterns, task, times))


def _ranked(types: MachineTypes, patterns: Sequence[Pattern], task: Subproblem, left: FloatArray | None) -> IntArray:
    """Patterns by what they add at the prices of the linear master, the best ones first."""
    columns = PatternMaster(task=task, types=types, left=np.zeros(0) if left is None else left)
    place = [n for n, (t, pattern) in enumerate(patterns) if columns.add(t, pattern)]
    reduced = columns.reduced(columns.solve()) if place else np.zeros(0)
    return np.array(place, dtype=np.int64)[np.argsort(-reduced, kind="stable")]


def kept_or_better(task: Subproblem, counts: IntArray, now: IntArray) -> IntArray:
    """The counts, or what is there now with the rest added by marginal gain, if that gains more."""
    filled = greedy_counts(task, now)
    return filled if gained(task, filled) > gained(task, counts) else counts


def _sigma(types: MachineTypes, patterns: Sequence[Pattern], task: Subproblem) -> FloatArray:
    """(pattern,) what each adds to a machine."""
    fixed = task.fixed[:, types.first]

    def of(count: IntArray) -> float:
        share = count / task.replicas
        return float(task.weight @ np.minimum(share[task.a], share[task.b]))

    base = [of(fixed[:, t]) for t in range(len(types.number))]
    return np.array([of(pattern + fixed[:, t]) - base[t] for t, pattern in patterns], dtype=np.float64)


def _greedy(
    types: MachineTypes, patterns: Sequence[Pattern], task: Subproblem, sigma: FloatArray, left: FloatArray | None
) -> IntArray:
    """(pattern,) how often each is used if the one that gains most is used as often as it can, and so on."""
    times = np.zeros(len(patterns), dtype=np.int64)
    demand, number, room = task.demand.copy(), types.number.copy(), None if left is None else left.copy()
    for n in np.argsort(-sigma, kind="stable").tolist():
        t, pattern = patterns[n]
        some = pattern > 0
        most = min(int(number[t]), int((demand[some] // pattern[some]).min(initial=int(number[t]))))
        if room is not None:
            uses = (pattern @ task.request).astype(np.float64)
            most = min(most, int((room[uses > 0] / uses[uses > 0]).min(initial=float(most))))
            room = room - most * uses
        times[n] = most
        demand, number[t] = demand - most * pattern, number[t] - most
    return times


def _draft(
    types: MachineTypes,
    patterns: Sequence[Pattern],
    task: Subproblem,
    sigma: FloatArray,
    start: IntArray,
    left: FloatArray | None,
) -> Program:
    draft = ProgramBuilder()
    by_service: list[tuple[list[int], list[float]]] = [([], []) for _ in task.demand]
    by_type: list[list[int]] = [[] for _ in types.number]
    for n, (t, pattern) in enumerate(patterns):
        column = draft.column(-float(sigma[n]), upper=float(types.number[t]), integral=True, start=float(start[n]))
        by_type[t].append(column)
        for s in np.flatnonzero(pattern).tolist():
            by_service[s][0].append(column)
            by_service[s][1].append(float(pattern[s]))
    for s, (column_of, by) in enumerate(by_service):
        draft.row(LinearExpression(column_of, by), at_most=float(task.demand[s]))  # each container once
    for t, columns in enumerate(by_type):
        draft.row(LinearExpression(columns, [1.0] * len(columns)), at_most=float(types.number[t]))  # each machine once
    for r, room in enumerate([] if left is None else left.tolist()):
        uses = [float(pattern @ task.request[:, r]) / room for _, pattern in patterns]
        draft.row(LinearExpression(list(range(len(patterns))), uses), at_most=1.0)  # room for the others
    return draft.program()


def _spread_out(types: MachineTypes, patterns: Sequence[Pattern], task: Subproblem, times: IntArray) -> IntArray:
    """Counts (service, machine): each pattern on the next machines of its type."""
    counts = np.zeros(task.shape, dtype=np.int64)
    machines = [types.machines(t).tolist() for t in range(len(types.number))]
    for n in np.flatnonzero(times).tolist():
        t, pattern = patterns[n]
        for _ in range(int(times[n])):
            counts[:, machines[t].pop(0)] = pattern
    return counts
