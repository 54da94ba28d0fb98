"""Timed requests as obvious loops: the best schedule by trying all, and the bound of given prices by its definition."""

from itertools import product

import numpy as np

from bayplan.decide.schedule.problem import ScheduleProblem


def fits(problem: ScheduleProblem, m: int, running: list[int]) -> bool:
    """Do these requests share machine m at every instant? The load is highest just after some start."""
    capacity = problem.fleet.capacity[problem.fleet.kind_of[m]]
    requests = problem.requests
    for t in requests.start[running].tolist():
        there = [j for j in running if requests.start[j] <= t < requests.end[j]]
        if (requests.demand[there].sum(axis=0) > capacity).any():
            return False
    return True


def best_value(problem: ScheduleProblem, allowed: np.ndarray | None = None) -> float:
    """The value of the best schedule in which request j runs only on kinds that `allowed` (kind, request) lets it."""
    kind_of = problem.fleet.kind_of.tolist()

    def rest(j: int, on: list[list[int]]) -> float:
        if j == len(problem.requests.name):
            return 0.0
        best = rest(j + 1, on)
        tried = set()
        for m, q in enumerate(kind_of):
            same = (q, tuple(on[m]))
            if same in tried or (allowed is not None and not allowed[q, j]):
                continue
            tried.add(same)
            if fits(problem, m, [*on[m], j]):
                best = max(best, float(problem.requests.value[j]) + rest(j + 1, [*on[:m], [*on[m], j], *on[m + 1 :]]))
        return best

    return rest(0, [[] for _ in kind_of])


def bound_of(problem: ScheduleProblem, time: list[float], price: np.ndarray) -> float:
    """All capacity at its price (kind, critical time, resource), and what the requests have left after paying for theirs."""
    requests, fleet = problem.requests, problem.fleet
    total = sum(float(fleet.machines[q]) * float(price[q].sum()) for q in range(len(fleet.kind)))
    for j in range(len(requests.name)):
        costs = [0.0]
        for q in range(len(fleet.kind)):
            if fleet.machines[q] and problem.fits(q)[j]:
                share = problem.share(q)[j]
                cells = product(range(len(time)), range(len(share)))
                cost = sum(share[r] * price[q, t, r] for t, r in cells if requests.start[j] <= time[t] < requests.end[j])
                costs.append(max(0.0, float(requests.value[j]) - cost))
        total += max(costs)
    return total
