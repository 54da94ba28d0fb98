"""Slow twins of the kernels of a live admission: dictionaries, loops over everything, no ring and no blocks."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction


class Book:
    """What is booked, by (slot, resource)."""

    def __init__(self, limit, base):
        self.limit, self.base = limit, base
        self.load = defaultdict(int)

    def book(self, first, last, resource, amount):
        for t in range(first, last + 1):
            for m, taken in zip(resource, amount, strict=True):
                self.load[t, m] += taken

    def price(self, t, m):
        """(8) of [Online clusters]."""
        return self.base ** (self.load[t, m] / self.limit[m]) - 1 if self.limit[m] else 0.0

    def look(self, first, last):
        """Per resource the sum of prices and the largest load."""
        slots = range(first, last + 1)
        price = [math.fsum(self.price(t, m) for t in slots) for m in range(len(self.limit))]
        return price, [max((self.load[t, m] for t in slots), default=0) for m in range(len(self.limit))]


def use(zone, demand, traffic, scale):
    """What a placement takes, by resource; None where it needs a link that is not there."""
    n_z, n_r, taken = len(scale), len(demand[0]), defaultdict(int)
    for v, z in enumerate(zone):
        for r in range(n_r):
            taken[z * n_r + r] += int(demand[v][r])
    flow = defaultdict(Fraction)
    for v, w in itertools.permutations(range(len(zone)), 2):
        if zone[v] != zone[w] and traffic[v][w] > 0:
            flow[zone[v], zone[w]] += Fraction(float(traffic[v][w]))
    for (y, z), sent in flow.items():
        whole = math.floor(sent * Fraction(float(scale[y][z])))
        taken[n_z * n_r + y * n_z + z] = whole - whole // 2**40 if scale[y][z] else None
    return {m: amount for m, amount in taken.items() if amount != 0}


def fits(zone, demand, free, traffic, bandwidth):
    """Do zones and links hold it?"""
    n_z = len(free)
    for z in range(n_z):
        for r in range(len(free[0])):
            if sum(int(demand[v][r]) for v in range(len(zone)) if zone[v] == z) > free[z][r]:
                return False
    for y, z in itertools.permutations(range(n_z), 2):
        pairs = itertools.product(range(len(zone)), repeat=2)
        if sum(traffic[v][w] for v, w in pairs if (zone[v], zone[w]) == (y, z)) > bandwidth[y][z]:
            return False
    return True


def first_found(demand, free, traffic, bandwidth):
    """The first of all placements in order that fits."""
    every = itertools.product(range(len(free)), repeat=len(demand))
    return next((zone for zone in every if fits(zone, demand, free, traffic, bandwidth)), None)


def largest_use(demand, traffic, most):
    """The most of one zone's resource, or over one link, that a placement can take: every group of members against the others."""
    members = range(len(demand))
    zone = max(min(sum(int(demand[v][r]) for v in members), int(most[r])) for r in range(len(most)))
    groups = itertools.product((False, True), repeat=len(demand))
    cuts = (sum(traffic[v][w] for v in members for w in members if side[v] and not side[w]) for side in groups)
    return max(zone, *cuts)
