"""Collocation by trying everything, and slow obvious twins of its kernels."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from bayplan.decide.collocate.subproblem import Subproblem

Rows = tuple[tuple[int, ...], ...]  # (service, machine)


def allowed(subproblem: Subproblem, rows: Rows) -> bool:
    """Do counts obey (3)-(6) of [RASA]?"""
    services, machines = range(len(rows)), range(len(subproblem.machine))
    for s in services:
        if sum(rows[s]) > subproblem.demand[s] or any(
            rows[s][m] and not subproblem.allow[subproblem.row_of[s], m] for m in machines
        ):
            return False
    for m in machines:
        for r in range(subproblem.request.shape[1]):
            if sum(rows[s][m] * int(subproblem.request[s, r]) for s in services) > subproblem.free[m, r]:
                return False
        for k in range(len(subproblem.member)):
            if sum(rows[s][m] for s in services if subproblem.member[k, s]) > subproblem.set_free[k, m]:
                return False
    return True


def affinity(subproblem: Subproblem, rows: Rows) -> float:
    """(1), (2) of [RASA]."""
    total = 0.0
    for a, b, weight in zip(subproblem.a.tolist(), subproblem.b.tolist(), subproblem.weight.tolist(), strict=True):
        for m in range(len(subproblem.machine)):
            share = [(rows[s][m] + int(subproblem.fixed[s, m])) / int(subproblem.replicas[s]) for s in (a, b)]
            total += weight * min(share)
    return total


def every_count(subproblem: Subproblem) -> Iterator[Rows]:
    """All counts that obey the rules."""
    choices = [
        [row for row in product(range(int(demand) + 1), repeat=len(subproblem.machine)) if sum(row) <= demand]
        for demand in subproblem.demand
    ]
    return (rows for rows in product(*choices) if allowed(subproblem, rows))


def most_gained(subproblem: Subproblem) -> float:
    """The most affinity that any counts gain."""
    return max(affinity(subproblem, rows) for rows in every_count(subproblem))


def greedy(subproblem: Subproblem, order: list[int], start: np.ndarray) -> np.ndarray:
    """Services in order, each container where the whole affinity grows most; ties: where most of the service fit, then first."""
    counts = start.copy()
    for s in order:
        while counts[s].sum() < subproblem.demand[s]:
            options = []
            for m in range(len(subproblem.machine)):
                more = counts.copy()
                more[s, m] += 1
                if allowed(subproblem, _rows(more)):
                    gain = affinity(subproblem, _rows(more)) - affinity(subproblem, _rows(counts))
                    options.append((-round(gain, 10), -_takes(subproblem, counts, s, m), m))
            if not options:
                break
            counts[s, min(options)[2]] += 1
    return counts


def _rows(counts: np.ndarray) -> Rows:
    return tuple(tuple(row) for row in counts.tolist())


def _takes(subproblem: Subproblem, counts: np.ndarray, s: int, m: int) -> float:
    """How many containers of s the resources of machine m still take."""
    room = subproblem.free[m] - counts[:, m] @ subproblem.request
    return min((int(room[r]) // int(q) for r, q in enumerate(subproblem.request[s].tolist()) if q), default=float("inf"))
