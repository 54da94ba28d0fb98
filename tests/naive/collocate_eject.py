"""Ejections without lists to keep in order: everything is looked up again each time."""

import numpy as np

from bayplan.kernels.collocate.eject import MAX_LEAVING, NOISE
from bayplan.kernels.random import uniform


class NaiveEjection:
    """Who stands where; capacity, allow rows per service, and anti-affinity sets as (members, limit)."""

    def __init__(self, service, may_go, machine_of, price, waiting, *, request, capacity, allow, sets):
        self.service, self.may_go, self.machine_of = service, may_go, list(machine_of)
        self.price, self.waiting = list(price), list(waiting)
        self.request, self.capacity, self.allow, self.sets = request, capacity, allow, sets

    def free(self, m):
        load = sum((self.request[self.service[c]] for c in self.on(m)), np.zeros_like(self.capacity[m]))
        return self.capacity[m] - load

    def on(self, m):
        return [c for c, at in enumerate(self.machine_of) if at == m]

    def may_come(self, s, m):
        crowd = [sum(self.service[c] in members for c in self.on(m)) for members, _ in self.sets]
        full = (s in members and n >= limit for n, (members, limit) in zip(crowd, self.sets, strict=True))
        return self.allow[s][m] and not any(full)

    def gap(self, s, m, gone):
        free = self.free(m) + sum((self.request[self.service[c]] for c in gone), 0 * self.capacity[m])
        return np.where(self.request[s] > 0, np.maximum(0, self.request[s] - free), 0)

    def fullest(self, s):
        fitting = [m for m in range(len(self.capacity)) if self.may_come(s, m) and not self.gap(s, m, []).any()]
        empty = {m: sum((self.free(m) - self.request[s]) * (1.0 / np.maximum(1, self.capacity[m]))) for m in fitting}
        return min(fitting, key=lambda m: (empty[m], m), default=None)

    def leaving(self, s, m):
        gone = []
        while self.gap(s, m, gone).any():
            gap = self.gap(s, m, gone)
            options = []
            for c in self.on(m):
                need = self.request[self.service[c]]
                frees = sum(np.minimum(need, gap) * (1.0 / np.maximum(1, self.capacity[m])))
                if self.may_go[c] and c not in gone and frees > 0:
                    whole = bool((need >= gap).all())
                    price = self.price[self.service[c]]
                    options.append((not whole, price if whole else price / frees, c))
            if not options or len(gone) == MAX_LEAVING:
                return None
            gone.append(min(options)[2])
        return gone

    def settle(self, steps, chance):
        stuck = 0
        for _ in range(steps):
            if len(self.waiting) <= stuck:
                break
            c = self.waiting.pop()
            m = self.fullest(self.service[c])
            if m is not None:
                self.machine_of[c] = m
            elif not self.force(c, chance):
                self.waiting.append(c)
                self.waiting[stuck], self.waiting[-1] = self.waiting[-1], self.waiting[stuck]
                stuck += 1
        return len(self.waiting)

    def force(self, c, chance):
        s, best, least = self.service[c], None, np.inf
        for m in range(len(self.capacity)):
            if self.may_come(s, m):
                noise = 1.0 + NOISE * uniform(chance)
                gone = self.leaving(s, m)
                price = np.inf if gone is None else noise * sum(self.price[self.service[other]] for other in gone)
                if price < least:
                    best, least = (m, gone), price
        self.price[s] += 1.0
        if best is None:
            return False
        for other in best[1]:
            self.machine_of[other] = -1
            self.waiting.append(other)
        self.machine_of[c] = best[0]
        return True
