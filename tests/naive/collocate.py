"""Collocation by trying everything, and slow obvious twins of its kernels."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from bayplan.decide.collocate.subproblem import Subproblem

Rows = tuple[tuple[int, ...], ...]  # (service, machine)


def allowed(task: Subproblem, rows: Rows) -> bool:
    """Do counts obey (3)-(6) of 004?"""
    services, machines = range(len(rows)), range(len(task.machine))
    for s in services:
        if sum(rows[s]) > task.demand[s] or any(rows[s][m] and not task.allow[task.row_of[s], m] for m in machines):
            return False
    for m in machines:
        for r in range(task.request.shape[1]):
            if sum(rows[s][m] * int(task.request[s, r]) for s in services) > task.room[m, r]:
                return False
        for k in range(len(task.member)):
            if sum(rows[s][m] for s in services if task.member[k, s]) > task.spare[k, m]:
                return False
    return True


def affinity(task: Subproblem, rows: Rows) -> float:
    """(1), (2) of 004."""
    total = 0.0
    for a, b, weight in zip(task.a.tolist(), task.b.tolist(), task.weight.tolist(), strict=True):
        for m in range(len(task.machine)):
            share = [(rows[s][m] + int(task.fixed[s, m])) / int(task.replicas[s]) for s in (a, b)]
            total += weight * min(share)
    return total


def every_count(task: Subproblem) -> Iterator[Rows]:
    """All counts that obey the rules."""
    choices = [
        [row for row in product(range(int(demand) + 1), repeat=len(task.machine)) if sum(row) <= demand] for demand in task.demand
    ]
    return (rows for rows in product(*choices) if allowed(task, rows))


def most_gained(task: Subproblem) -> float:
    """The most affinity that any counts gain."""
    return max(affinity(task, rows) for rows in every_count(task))


def greedy(task: Subproblem, order: list[int], start: np.ndarray) -> np.ndarray:
    """Services in order, each container where the whole affinity grows most; ties: where most of the service fit, then first."""
    counts = start.copy()
    for s in order:
        while counts[s].sum() < task.demand[s]:
            options = []
            for m in range(len(task.machine)):
                more = counts.copy()
                more[s, m] += 1
                if allowed(task, _rows(more)):
                    gain = affinity(task, _rows(more)) - affinity(task, _rows(counts))
                    options.append((-round(gain, 10), -_takes(task, counts, s, m), m))
            if not options:
                break
            counts[s, min(options)[2]] += 1
    return counts


def _rows(counts: np.ndarray) -> Rows:
    return tuple(tuple(row) for row in counts.tolist())


def _takes(task: Subproblem, counts: np.ndarray, s: int, m: int) -> float:
    """How many containers of s the resources of machine m still take."""
    room = task.room[m] - counts[:, m] @ task.request
    return min((int(room[r]) // int(q) for r, q in enumerate(task.request[s].tolist()) if q), default=float("inf"))
