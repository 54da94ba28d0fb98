"""Column generation whole (004 Algorithm 1): patterns until time runs short, whole ones chosen, what is left by marginal gain."""

import time
from collections.abc import Sequence
from itertools import product

import numpy as np

from bayplan.decide.collocate.columns.integer_master import Pattern, choose_patterns, kept_or_better, patterns_of
from bayplan.decide.collocate.columns.pattern_master import MachineTypes, PatternMaster, machine_types_of
from bayplan.decide.collocate.columns.rounds import PricingRounds
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import Subproblem, violations
from bayplan.model import FloatArray, IntArray

MOST = 1_000  # patterns, of all types together


def enumerate_patterns(task: Subproblem, types: MachineTypes) -> list[Pattern] | None:
    """All patterns but the empty ones; None if they may be more than `MOST`."""
    number = 1
    for demand in task.demand.tolist():
        number *= demand + 1
        if number * len(types.number) > MOST:
            return None
    counts = np.array(list(product(*(range(demand + 1) for demand in task.demand.tolist()))), dtype=np.int64)
    return [(t, counts[n]) for t in range(len(types.number)) for n in _fitting(task, int(types.first[t]), counts)]


def _fitting(task: Subproblem, m: int, counts: IntArray) -> list[int]:
    """Of some patterns (pattern, service) those that fit on a machine and are not empty."""
    fits = (counts @ task.request <= task.room[m]).all(axis=1) & counts.any(axis=1)
    fits &= (counts @ task.member.T.astype(np.int64) <= task.spare[:, m]).all(axis=1)
    fits &= ~(counts[:, ~task.allow[task.row_of, m]] > 0).any(axis=1)
    found: list[int] = np.flatnonzero(fits).tolist()
    return found


GENERATING = 0.7  # of the time
PATTERNS = 6_000  # that are worth a choice


def solve_columns(
    task: Subproblem, *, seconds: float, seed: int = 0, rest: IntArray | None = None, known: Sequence[Pattern] = ()
) -> IntArray:
    """Counts (service, machine) that break nothing and gain no less than what is there now, if that breaks nothing.

    `rest` (resource,): what containers outside of the task will need of the task's room in total. `known`: patterns to begin
    with, beside those of a greedy pass and of what is there now.
    """
    ends = time.perf_counter() + seconds
    start = greedy_counts(task)
    now = task.now if not violations(task, task.now) else np.zeros_like(task.now)
    if len(task.a) and task.demand.any() and len(task.machine):
        left = None if rest is None else np.maximum(1.0, (task.room.sum(axis=0) - rest).astype(np.float64))
        types = machine_types_of(task)
        listed = enumerate_patterns(task, types)
        known = [*patterns_of(types, start), *patterns_of(types, now), *known]
        patterns = _generated(task, types, known, left, ends, seed) if listed is None else listed
        start = choose_patterns(types, patterns, task, ends - time.perf_counter(), left, exactly=listed is not None)
    return kept_or_better(task, start, now)


def _generated(
    task: Subproblem, types: MachineTypes, known: Sequence[Pattern], left: FloatArray | None, ends: float, seed: int
) -> list[Pattern]:
    """Patterns that are worth a choice, the best ones first."""
    columns = PatternMaster(task=task, types=types, left=np.zeros(0) if left is None else left)
    for t, pattern in known:
        columns.add(t, pattern)
    rounds, began = PricingRounds(columns=columns, seed=seed), time.perf_counter()

    def stop() -> bool:
        return time.perf_counter() > began + GENERATING * (ends - began)

    while not rounds.done and not stop():
        rounds.one(stop)
    best = np.argsort(-columns.reduced(columns.solve()), kind="stable")[:PATTERNS].tolist()
    return [(columns.type[n], columns.pattern[n]) for n in best]
