"""The `mip` of the pool (004 section IV-C): Expressions (2)-(9) as one integer program for HiGHS."""

import time

import numpy as np

from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.mip_program import Columns, columns_of, counts_of, program_of, size_of
from bayplan.decide.collocate.task import Task, faults, gained
from bayplan.model import IntArray
from bayplan.solvers.highs import solve

MOST_ENTRIES = 600_000  # coefficients: HiGHS takes about 1 kB for each, and with more its first LP does not end within a minute
ENTRIES_A_SECOND = 100_000  # with less time it would overrun its limit before it has begun to search


def solve_mip(task: Task, *, seconds: float, seed: int = 0, threads: int = 1) -> IntArray:
    """Counts (service, machine) that break nothing and gain at least what the start does; the most, if the time suffices.

    The start is the better of where containers stand now and what one greedy pass finds. It comes back as it is if the program
    is hopeless: more than `MOST_ENTRIES` coefficients, or than `ENTRIES_A_SECOND` for each second. Containers that the
    program leaves out, since they gain nothing, are put where they fit.
    """
    ends = time.perf_counter() + seconds
    start = _start(task)
    columns = columns_of(task)
    if not columns.edge.size or size_of(task, columns) > min(MOST_ENTRIES, ENTRIES_A_SECOND * seconds):
        return start
    return _improved(task, columns, start, ends, seed, threads)


def _start(task: Task) -> IntArray:
    """The better of the greedy pass over nothing and over what stands now; the latter if equal."""
    found = [greedy_counts(task)]
    if task.now.any() and not faults(task, task.now):
        found.insert(0, greedy_counts(task, task.now))
    return max(found, key=lambda counts: gained(task, counts))


def _improved(task: Task, columns: Columns, start: IntArray, ends: float, seed: int, threads: int) -> IntArray:
    """What HiGHS finds from the start, if it is better. A claimed optimum is put to the test without presolve (see `solve`)."""
    best = start
    for presolve in (True, False):
        program = program_of(task, columns, best)
        left = ends - time.perf_counter()
        if left <= 0.0:
            break
        answer = solve(program, seconds=left, threads=threads, seed=seed, presolve=presolve)
        if answer.point is None:
            break
        counts = greedy_counts(task, repaired(task, counts_of(columns, answer.point)))
        best = max(best, counts, key=lambda some: gained(task, some))
    return best


def repaired(task: Task, counts: IntArray) -> IntArray:
    """Counts that break nothing: what breaks (3)-(5) by rounding loses containers, each time the one that gains least."""
    counts = np.where(task.allow[task.row_of], np.maximum(0, counts), 0)
    member: IntArray = task.member.astype(np.int64)
    while True:
        many = counts.sum(axis=1) > task.demand  # (service,)
        full = counts.T @ task.request > task.room  # (machine, resource)
        close = member @ counts > task.spare  # (set, machine)
        blamed = many[:, None] | (task.request > 0) @ full.T | (member.T @ close > 0)  # (service, machine)
        culprits = np.argwhere(blamed & (counts > 0))
        if not len(culprits):
            return counts
        s, m = min(culprits.tolist(), key=lambda cell: _loss(task, counts, *cell))
        counts[s, m] -= 1


def _loss(task: Task, counts: IntArray, s: int, m: int) -> float:
    """The affinity that one container of s less on machine m costs."""
    share = (counts[:, m] + task.fixed[:, m]) / task.replicas
    then = share.copy()
    then[s] -= 1 / task.replicas[s]
    ends = (task.a == s) | (task.b == s)
    a, b = task.a[ends], task.b[ends]
    return float(task.weight[ends] @ (np.minimum(share[a], share[b]) - np.minimum(then[a], then[b])))
