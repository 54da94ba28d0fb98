"""Online schedulers one request at a time, looking at every machine and at every request that runs there."""

import math

import numpy as np

from bayplan.kernels.schedule import online as settings


def _free(instance, machine_of, m, now):
    """What machine m has left just after `now`."""
    requests = instance.requests
    runs = (machine_of == m) & (requests.start <= now) & (requests.end > now)
    return instance.fleet.capacity[instance.fleet.kind_of[m]] - requests.demand[runs].sum(axis=0)


def _has_room(instance, machine_of, m, j):
    return bool((_free(instance, machine_of, m, instance.requests.start[j]) >= instance.requests.demand[j]).all())


def in_turn(instance, move_on):
    """[Cradle] §V: all machines in a circle, from the one used last or the one after it."""
    machine_of, turn, k = np.full(len(instance.requests.name), -1), 0, instance.fleet.size
    for j in np.argsort(instance.requests.start, kind="stable"):
        for step in range(k):
            m = (turn + step) % k
            if _has_room(instance, machine_of, m, j):
                machine_of[j] = m
                turn = (m + 1) % k if move_on else m
                break
    return machine_of


def fullest(instance, machine_of, j):
    """The machine where it fits that has the least free, in shares of its own size; -1 if it fits on none."""
    best, least = -1, math.inf
    for m in range(instance.fleet.size):
        if _has_room(instance, machine_of, m, j):
            capacity = np.maximum(instance.fleet.capacity[instance.fleet.kind_of[m]], 1)
            free = float(
                sum(
                    (1.0 / c) * f
                    for c, f in zip(capacity, _free(instance, machine_of, m, instance.requests.start[j]), strict=True)
                )
            )
            if free < least:
                best, least = m, free
    return best


class Learner:
    """Prices and strictness from what has come, recomputed from the whole history."""

    def __init__(self, instance, multiples, lead):
        self.instance, self.requests, self.multiples, self.lead = instance, instance.requests, multiples, lead
        self.total = total = np.maximum(instance.fleet.capacity[instance.fleet.kind_of].sum(axis=0), 1)
        self.share, self.lasts = instance.requests.demand / total, instance.requests.end - instance.requests.start
        self.price, self.mean, self.low, self.at = np.zeros(len(total)), 0.0, 0, settings.FIRST
        self.accepted = [[] for _ in multiples]  # by virtual fleet

    def cost(self, j):
        return float((self.price * self.share[j]).sum()) * self.lasts[j]

    def asks(self, j, cost):
        """What request j has to bring, after all virtual fleets decided on it."""
        now, value = self.requests.start[j], self.requests.value
        for multiple, members in zip(self.multiples, self.accepted, strict=True):
            load = sum((self.share[i] for i in members if self.requests.end[i] > now), np.zeros(len(self.price)))
            if cost * multiple <= value[j] and (load + self.share[j] <= settings.VIRTUAL_SHARE).all():
                members.append(j)
        done = [sum(value[i] for i in members if self.requests.end[i] <= now) for members in self.accepted]
        if max(done) > done[self.lead]:
            self.lead = int(np.argmax(done))
        return cost * self.multiples[self.lead]

    def seen(self, history, machine_of):
        """Learn, if it is time to."""
        if len(history) != self.at:
            return
        self.at = max(self.at + settings.FIRST, int(self.at * settings.GROWTH))
        if len(history) == settings.FIRST:
            self.price[:] = self._even(history)
        self._learn(history, self._free(history, machine_of))

    def _even(self, past):
        work = float((self.share[past].sum(axis=1) * self.lasts[past]).sum())
        return self.requests.value[past].sum() / work if work > 0 else 0.0

    def _free(self, history, machine_of):
        now = self.requests.start[history[-1]]
        free = sum(_free(self.instance, machine_of, m, now) for m in range(self.instance.fleet.size))
        return np.maximum(settings.MIN_FREE, free / self.total)

    def _learn(self, history, free):
        start, value = self.requests.start, self.requests.value
        since = start[history[-1]] - settings.LIVES * self.mean
        while self.mean > 0 and self.low < len(history) - settings.FEWEST and start[history[self.low]] < since:
            self.low += 1
        past = history[self.low :: -(-(len(history) - self.low) // settings.SAMPLE)]
        even, kept = self._even(past), None
        for i in range(settings.ROUNDS):
            self.price = np.clip(self.price, settings.MIN_PRICE * even, settings.MAX_PRICE * even)
            pays = [j for j in past if self.cost(j) <= value[j]]
            worth = value[pays].sum()
            self.mean = float((value[pays] * self.lasts[pays]).sum() / worth) if worth > 0 else 0.0
            used = (self.share[pays] * self.lasts[pays][:, None]).sum(axis=0)
            passed = start[history[-1]] - start[history[self.low]]
            limit = np.maximum(settings.FILL * passed, free * self.mean / settings.AHEAD)
            if ((limit > 0) & (used >= limit)).any():
                kept = self.price.copy()
            for r in np.flatnonzero(limit > 0):
                self.price[r] *= min(4.0, max(0.25, used[r] / limit[r])) ** (0.6 / (1.0 + 0.1 * i))
        if kept is not None:
            self.price = kept


def by_learnt_price(instance, multiples, lead):
    """Serve each request that is worth what its capacity costs, at prices learnt so far."""
    learner, machine_of, history = Learner(instance, multiples, lead), np.full(len(instance.requests.name), -1), []
    for j in np.argsort(instance.requests.start, kind="stable").tolist():
        if instance.requests.value[j] > 0:
            cost = 0.0 if len(history) < settings.FIRST else learner.cost(j)
            if learner.asks(j, cost) <= instance.requests.value[j]:
                machine_of[j] = fullest(instance, machine_of, j)
        history.append(j)
        learner.seen(history, machine_of)
    return machine_of


def by_given_price(instance, cost, multiple):
    """Who brings a multiple of a given cost."""
    machine_of = np.full(len(instance.requests.name), -1)
    for j in np.argsort(instance.requests.start, kind="stable").tolist():
        if 0 < instance.requests.value[j] >= cost[j] * multiple:
            machine_of[j] = fullest(instance, machine_of, j)
    return machine_of
