"""Slow, obvious twins of the kernels of K8S+ and ApplSci19: dictionaries and loops, everything summed up anew."""

from collections import Counter
from itertools import product


class NaivePacking:
    """Machines with counters of what stands there."""

    def __init__(self, case):
        self.__dict__.update(case)  # request, capacity, allow, sets, edges, replicas
        self.at = [Counter() for _ in self.capacity]

    def takes(self, m, more):
        """Does machine m keep all rules with `more` (service -> number) beside what stands there?"""
        then = self.at[m] + Counter(more)
        for r in range(len(self.capacity[m])):
            added = sum(n * self.request[s][r] for s, n in more.items())
            if added > 0 and sum(n * self.request[s][r] for s, n in then.items()) > self.capacity[m][r]:
                return False
        if any(not self.allow[s][m] for s in more):
            return False
        for members, limit in self.sets:
            if any(s in members for s in more) and sum(then[s] for s in members) > limit:
                return False
        return True

    def free_share(self, m, more):
        then = self.at[m] + Counter(more)
        used = [sum(n * self.request[s][r] for s, n in then.items()) for r in range(len(self.capacity[m]))]
        return sum((c - u) / max(1, c) for c, u in zip(self.capacity[m], used, strict=True))

    def score(self, s, m):
        """K8S+: sum over present neighbours t of w (1 - (x_s / d_s) / (x_t / d_t))."""
        total = 0.0
        for t, w in self.neighbours(s):
            if self.at[m][t]:
                total += w * (1 - (self.at[m][s] / self.replicas[s]) / (self.at[m][t] / self.replicas[t]))
        return total

    def neighbours(self, s):
        return [(b if a == s else a, w) for a, b, w in self.edges if s in (a, b)]

    def affinity(self, counts):
        share = {s: n / self.replicas[s] for s, n in counts.items()}
        return sum(w * min(share.get(a, 0.0), share.get(b, 0.0)) for a, b, w in self.edges)

    def gain(self, m, more):
        """What each service of a part gains with what stands there already; pairs within the part are left out."""
        total = 0.0
        for s, n in more.items():
            with_s = self.at[m] + Counter({s: n})
            total += self.affinity(with_s) - self.affinity(self.at[m])
        return total

    def put(self, m, more):
        self.at[m].update(more)


def schedule(naive_packing, services):
    """Machines one by one: highest score, then emptiest, then first; -1 where nothing takes the container."""
    return [_choose(naive_packing, s, lambda m, s=s: naive_packing.score(s, m), 1) for s in services]


def best_fit(naive_packing, services):
    """Machines one by one: the fullest one that takes the container."""
    return [_choose(naive_packing, s, lambda m: 0.0, -1) for s in services]


def _choose(naive_packing, s, score, sign):
    open_ones = [m for m in range(len(naive_packing.at)) if naive_packing.takes(m, {s: 1})]
    if not open_ones:
        return -1
    most = max(map(score, open_ones))
    ties = [m for m in open_ones if score(m) >= most - 1e-9]
    best = max(ties, key=lambda m: (round(sign * naive_packing.free_share(m, {s: 1}), 9), -m))
    naive_packing.put(best, {s: 1})
    return best


def pack_part(naive_packing, part):
    """The machine that takes the whole part with most gain, then least room left, then the first; -1 if none does."""
    open_ones = [m for m in range(len(naive_packing.at)) if naive_packing.takes(m, part)]
    if not open_ones:
        return -1
    best = max(open_ones, key=lambda m: (round(naive_packing.gain(m, part), 9), round(-naive_packing.free_share(m, part), 9), -m))
    naive_packing.put(best, part)
    return best


def kept(naive_packing, part, side):
    """The affinity of both sides of a cut."""
    return naive_packing.affinity(side) + naive_packing.affinity({s: n - side[s] for s, n in part.items()})


def best_cut(naive_packing, part):
    """The most affinity that any cut keeps, both sides with something."""
    sides = (dict(zip(part, x, strict=True)) for x in product(*(range(n + 1) for n in part.values())))
    return max(kept(naive_packing, part, side) for side in sides if 0 < sum(side.values()) < sum(part.values()))
