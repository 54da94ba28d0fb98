"""Column generation whole (004 Algorithm 1): patterns until time runs short, whole ones chosen, what is left by marginal gain."""

import time
from collections.abc import Sequence

import numpy as np

from bayplan.decide.collocate.columns.every import every_pattern
from bayplan.decide.collocate.columns.generation import Columns
from bayplan.decide.collocate.columns.rounds import Rounds
from bayplan.decide.collocate.columns.types import Types, types_of
from bayplan.decide.collocate.columns.whole import Pattern, choose_patterns, kept_or_better, patterns_of
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.task import Task, faults
from bayplan.model import FloatArray, IntArray

GENERATING = 0.7  # of the time
PATTERNS = 6_000  # that are worth a choice


def solve_columns(
    task: Task, *, seconds: float, seed: int = 0, rest: IntArray | None = None, known: Sequence[Pattern] = ()
) -> IntArray:
    """Counts (service, machine) that break nothing and gain no less than what is there now, if that breaks nothing.

    `rest` (resource,): what containers outside of the task will need of the task's room in total. `known`: patterns to begin
    with, beside those of a greedy pass and of what is there now.
    """
    ends = time.perf_counter() + seconds
    start = greedy_counts(task)
    now = task.now if not faults(task, task.now) else np.zeros_like(task.now)
    if len(task.a) and task.demand.any() and len(task.machine):
        left = None if rest is None else np.maximum(1.0, (task.room.sum(axis=0) - rest).astype(np.float64))
        types = types_of(task)
        listed = every_pattern(task, types)
        known = [*patterns_of(types, start), *patterns_of(types, now), *known]
        patterns = _generated(task, types, known, left, ends, seed) if listed is None else listed
        start = choose_patterns(types, patterns, task, ends - time.perf_counter(), left, exactly=listed is not None)
    return kept_or_better(task, start, now)


def _generated(
    task: Task, types: Types, known: Sequence[Pattern], left: FloatArray | None, ends: float, seed: int
) -> list[Pattern]:
    """Patterns that are worth a choice, the best ones first."""
    columns = Columns(task=task, types=types, left=np.zeros(0) if left is None else left)
    for t, pattern in known:
        columns.add(t, pattern)
    rounds, began = Rounds(columns=columns, seed=seed), time.perf_counter()

    def stop() -> bool:
        return time.perf_counter() > began + GENERATING * (ends - began)

    while not rounds.done and not stop():
        rounds.one(stop)
    best = np.argsort(-columns.reduced(columns.solve()), kind="stable")[:PATTERNS].tolist()
    return [(columns.type[n], columns.pattern[n]) for n in best]
