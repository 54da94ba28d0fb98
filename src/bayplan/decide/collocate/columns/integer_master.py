"""The integer master: how often each pattern is used; what is left is placed by marginal gain ([RASA] Algorithm 1, Round)."""

import time
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from bayplan.decide.collocate.columns.pattern_master import AffinityMaster, MachineTypes
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import Subproblem, gained
from bayplan.model import FloatArray, IntArray
from bayplan.model.interrupt import stop_requested
from bayplan.solvers.highs import solve
from bayplan.solvers.program import LinearExpression, Program, ProgramBuilder

Pattern: TypeAlias = tuple[int, IntArray]  # type, (workload,) containers on one machine of it

GAP = 1e-4
SIZES = (300, 1_000, 2_000, 4_000)  # patterns in one integer program


def patterns_of(types: MachineTypes, counts: IntArray) -> list[Pattern]:
    """The different patterns, of each type, in counts (workload, machine)."""
    patterns: dict[tuple[int, bytes], IntArray] = {}
    for m in np.flatnonzero(counts.any(axis=0)).tolist():
        pattern = counts[:, m].copy()
        patterns.setdefault((int(types.of_machine[m]), pattern.tobytes()), pattern)
    return [(t, pattern) for (t, _), pattern in patterns.items()]


def choose_patterns(
    types: MachineTypes,
    patterns: Sequence[Pattern],
    subproblem: Subproblem,
    seconds: float,
    left: FloatArray | None = None,
    *,
    exactly: bool = False,
    nodes: int | None = None,
) -> IntArray:
    """Counts (workload, machine) that gain most with the given patterns, each used on any number of machines of its type.

    Patterns have to fit. First only the best ones by the linear master are tried, then more, each time from the choice before.
    Demand that they leave is placed by marginal gain. `left` (resource,): what others leave free for all workloads together.
    `exactly`: without a gap, and without the presolve of HiGHS, which may call a point optimal that is not. `nodes`: of branch
    and bound, in each program.
    """
    ends = time.perf_counter() + seconds
    sigma = _sigma(types, patterns, subproblem)
    times = _greedy(types, patterns, subproblem, sigma, left)
    order = _ranked(types, patterns, subproblem, left) if seconds > 0 and patterns else np.zeros(0, dtype=np.int64)
    for size in SIZES:
        remaining = ends - time.perf_counter()
        if remaining <= 0 or not len(order) or stop_requested():
            break
        tried = np.union1d(order[:size], np.flatnonzero(times))
        program = _program(types, [patterns[n] for n in tried.tolist()], subproblem, sigma[tried], times[tried], left)
        limit = remaining if size >= min(len(order), SIZES[-1]) else remaining / 2
        point = solve(program, seconds=limit, gap=0.0 if exactly else GAP, presolve=not exactly, nodes=nodes).point
        if point is not None and sigma[tried] @ np.round(point) > sigma @ times:
            times = np.zeros_like(times)
            times[tried] = np.round(point).astype(np.int64)
        if size >= len(order):
            break
    return greedy_counts(subproblem, _spread_out(types, patterns, subproblem, times))


def _ranked(types: MachineTypes, patterns: Sequence[Pattern], subproblem: Subproblem, left: FloatArray | None) -> IntArray:
    """Patterns by what they add at the prices of the linear master, the best ones first."""
    master = AffinityMaster(subproblem=subproblem, types=types, left=np.zeros(0) if left is None else left)
    numbers = [n for n, (t, pattern) in enumerate(patterns) if master.add(t, pattern)]
    reduced = master.reduced(master.solve()) if numbers else np.zeros(0)
    return np.array(numbers, dtype=np.int64)[np.argsort(-reduced, kind="stable")]


def kept_or_better(subproblem: Subproblem, counts: IntArray, now: IntArray) -> IntArray:
    """The counts, or what runs now filled up by marginal gain, if that gains more."""
    filled = greedy_counts(subproblem, now)
    return filled if gained(subproblem, filled) > gained(subproblem, counts) else counts


def _sigma(types: MachineTypes, patterns: Sequence[Pattern], subproblem: Subproblem) -> FloatArray:
    """(pattern,) what each adds to a machine."""
    fixed = subproblem.fixed[:, types.first]

    def of(count: IntArray) -> float:
        share = count / subproblem.replicas
        return float(subproblem.weight @ np.minimum(share[subproblem.a], share[subproblem.b]))

    base = [of(fixed[:, t]) for t in range(len(types.number))]
    return np.array([of(pattern + fixed[:, t]) - base[t] for t, pattern in patterns], dtype=np.float64)


def _greedy(
    types: MachineTypes, patterns: Sequence[Pattern], subproblem: Subproblem, sigma: FloatArray, left: FloatArray | None
) -> IntArray:
    """(pattern,) how often each is used if the one that gains most is used as often as it can, and so on."""
    times = np.zeros(len(patterns), dtype=np.int64)
    demand, number, free = subproblem.demand.copy(), types.number.copy(), None if left is None else left.copy()
    for n in np.argsort(-sigma, kind="stable").tolist():
        t, pattern = patterns[n]
        used = pattern > 0
        most = min(int(number[t]), int((demand[used] // pattern[used]).min(initial=int(number[t]))))
        if free is not None:
            uses = (pattern @ subproblem.request).astype(np.float64)
            most = min(most, int((free[uses > 0] / uses[uses > 0]).min(initial=float(most))))
            free = free - most * uses
        times[n] = most
        demand, number[t] = demand - most * pattern, number[t] - most
    return times


def _program(
    types: MachineTypes,
    patterns: Sequence[Pattern],
    subproblem: Subproblem,
    sigma: FloatArray,
    start: IntArray,
    left: FloatArray | None,
) -> Program:
    """min - sum_p sigma_p y_p, y integer, from the choice `start` (pattern,)."""
    builder = ProgramBuilder()
    by_workload: list[tuple[list[int], list[float]]] = [([], []) for _ in subproblem.demand]
    by_type: list[list[int]] = [[] for _ in types.number]
    for n, (t, pattern) in enumerate(patterns):
        column = builder.column(-float(sigma[n]), upper=float(types.number[t]), integral=True, start=float(start[n]))
        by_type[t].append(column)
        for w in np.flatnonzero(pattern).tolist():
            by_workload[w][0].append(column)
            by_workload[w][1].append(float(pattern[w]))
    for w, (column_of, by) in enumerate(by_workload):
        builder.row(LinearExpression(column_of, by), at_most=float(subproblem.demand[w]))  # each container once
    for t, columns in enumerate(by_type):
        builder.row(LinearExpression(columns, [1.0] * len(columns)), at_most=float(types.number[t]))  # each machine once
    for r, free in enumerate([] if left is None else left.tolist()):
        uses = [float(pattern @ subproblem.request[:, r]) / free for _, pattern in patterns]
        builder.row(LinearExpression(list(range(len(patterns))), uses), at_most=1.0)  # leave enough for the others
    return builder.program()


def _spread_out(types: MachineTypes, patterns: Sequence[Pattern], subproblem: Subproblem, times: IntArray) -> IntArray:
    """Counts (workload, machine): each pattern on the next machines of its type."""
    counts = np.zeros(subproblem.shape, dtype=np.int64)
    machines = [types.machines(t).tolist() for t in range(len(types.number))]
    for n in np.flatnonzero(times).tolist():
        t, pattern = patterns[n]
        for _ in range(int(times[n])):
            counts[:, machines[t].pop(0)] = pattern
    return counts
