"""Slow obvious twins of scheduling: [Cradle] Algorithm 1 as a recursion, best effort on every machine, the optimum by trying.

Shares are fractions, so residual weights are exact.
"""

from fractions import Fraction

import numpy as np

NOTHING = Fraction(1, 10**12)


class Literal:
    """Algorithm 1 on one class of requests, on machines of one kind."""

    def __init__(self, problem, kind, members, *, wide):
        """`members`: requests in the order given."""
        self.problem, self.kind, self.members, self.wide = problem, kind, members, wide
        self.machines = int(problem.fleet.machines[kind])
        self.capacity = problem.fleet.capacity[kind].tolist()
        demand = problem.requests.demand
        self.resources = max(1, sum(any(demand[j, r] > 0 for j in members) for r in range(demand.shape[1])))
        self.weight = {j: Fraction(float(problem.requests.value[j])) for j in members}
        self.residual = dict.fromkeys(members, Fraction(0))

    def share(self, j):
        """a_j + b_j + ..."""
        demand = self.problem.requests.demand[j].tolist()
        return sum((Fraction(d, has) for d, has in zip(demand, self.capacity, strict=True) if d), Fraction(0))

    def meet(self, i, j):
        """Do two half-open intervals have a time in common?"""
        start, end = self.problem.requests.start, self.problem.requests.end
        return max(start[i], start[j]) < min(end[i], end[j])

    def w1(self, w, first):
        """(3) for a wide class, (4) for narrow requests."""
        found = {}
        for j in w:
            if j == first:
                found[j] = w[first]
            elif self.meet(first, j) and self.wide:
                found[j] = w[first] / self.machines
            elif self.meet(first, j):
                found[j] = w[first] * self.share(j) / (self.resources * self.machines - self.share(first))
            else:
                found[j] = Fraction(0)
        return found

    def goes(self, served, i, j):
        """Lines 6-7: may j join machine i?"""
        here = [q for q, m in served.items() if m == i]
        if self.wide:
            return not any(self.meet(j, q) for q in here)
        return holds(self.problem, self.kind, [*here, j])

    def cradle(self, w):
        """Machine by request; `w`: weights of those that are left."""
        if not w:
            return {}  # line 1
        for j in w:
            if w[j] <= NOTHING * self.weight[j]:
                return self.cradle({q: w[q] for q in w if q != j})  # lines 2-3
        first = min(w, key=lambda j: (self.problem.requests.end[j], j))  # line 4
        self.residual[first] = w[first]
        w1 = self.w1(w, first)
        served = self.cradle({j: w[j] - w1[j] for j in w})  # line 5
        for i in range(self.machines):
            if self.goes(served, i, first):
                served[first] = i
                break
        return served


def local_ratio(problem, kind, members, *, wide):
    """(member,) machine or -1, and (member,) residual weight when it was pushed."""
    literal = Literal(problem, kind, [int(j) for j in members], wide=wide)
    served = literal.cradle(dict(literal.weight))
    machine = np.array([served.get(j, -1) for j in literal.members], dtype=np.int64)
    return machine, np.array([float(literal.residual[j]) for j in literal.members])


def holds(problem, kind, together):
    """Does one machine of this kind hold these requests at every time?"""
    requests = problem.requests
    for t in (requests.end[j] for j in together):
        runs = [j for j in together if requests.start[j] < t <= requests.end[j]]
        for r, has in enumerate(problem.fleet.capacity[kind].tolist()):
            if sum(int(requests.demand[j, r]) for j in runs) > has:
                return False
    return True


def best_effort(problem, machine_of, order):
    """Each request in turn on the lowest-index machine that holds it."""
    chosen, kind_of = list(machine_of), problem.fleet.kind_of
    for j in order:
        for m in range(problem.fleet.size):
            if chosen[j] == -1 and holds(problem, kind_of[m], [q for q, at in enumerate(chosen) if at == m] + [j]):
                chosen[j] = m
    return np.array(chosen, dtype=np.int64)


def optimum(problem, allowed=None):
    """The largest value of any schedule, by trying all; of machines of one kind that are empty only the first is tried."""
    value, kind_of = problem.requests.value, problem.fleet.kind_of.tolist()
    todo = [j for j in range(len(value)) if value[j] > 0 and (allowed is None or allowed[j])]

    def best(i, on):
        if i == len(todo):
            return 0.0
        most = best(i + 1, on)
        empty = set()
        for m, kind in enumerate(kind_of):
            if not on[m] and kind in empty:
                continue
            if not on[m]:
                empty.add(kind)
            if holds(problem, kind, [*on[m], todo[i]]):
                most = max(most, value[todo[i]] + best(i + 1, [*on[:m], [*on[m], todo[i]], *on[m + 1 :]]))
        return most

    return float(best(0, [[] for _ in kind_of]))
