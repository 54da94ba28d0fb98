"""What a placement of one request takes of zones and links, whether it fits, and which part of it costs most."""

import numpy as np

from bayplan.kernels.search.compiled import kernel

NO_LINK = 2**62  # more than any resource has
GRANTED = 40  # bits: 2^-40 of each traffic is not booked
LARGE_CUT = 12  # members up to which every cut of a request is looked at


@kernel
def use_of(zone, demand, traffic, scale, resource_out, amount_out):
    """How many resources a placement takes; `resource_out` and `amount_out` begin with which, and how much of each.

    Zones first, in the order of the members. Traffic is in whole units of its link, 1 / scale[y, z]; what has no
    link, or is beyond all measure, takes `NO_LINK`.
    """
    members, n_z, n_r, found = len(zone), len(scale), demand.shape[1], 0
    for v in range(members):
        if not first_in(zone, v):
            continue
        for r in range(n_r):
            total = 0
            for w in range(v, members):
                if zone[w] == zone[v]:
                    total += demand[w, r]
            if total > 0:
                resource_out[found], amount_out[found] = zone[v] * n_r + r, total
                found += 1
    for v in range(members):
        for w in range(members):
            if zone[v] == zone[w] or not first_in(zone, v) or not first_in(zone, w):
                continue
            total = flow_of(zone, traffic, zone[v], zone[w])
            amount = units(total, scale[zone[v], zone[w]])
            if amount > 0:
                resource_out[found], amount_out[found] = n_z * n_r + zone[v] * n_z + zone[w], amount
                found += 1
    return found


@kernel
def first_in(zone, v):
    """Is v the first member in its zone?"""
    for w in range(v):
        if zone[w] == zone[v]:
            return False
    return True


@kernel
def flow_of(zone, traffic, y, z):
    """The traffic from zone y to zone z."""
    total = 0.0
    for v in range(len(zone)):
        if zone[v] == y:
            for w in range(len(zone)):
                if zone[w] == z:
                    total += traffic[v, w]
    return total


@kernel
def units(traffic, scale):
    """Whole units of a link of that scale; 0 is the scale of a link that is not there.

    Rounded down, and a little less, so that parts of a bandwidth that make up all of it fit: sums of floats may be above it.
    """
    if traffic <= 0.0:
        return 0
    if scale == 0.0 or traffic * scale >= NO_LINK:
        return NO_LINK
    whole = int(traffic * scale)
    return whole - (whole >> GRANTED)


@kernel
def first_over(resource, amount, limit, peak):
    """The first place in the list of what a request takes that has no room for it; -1 if there is none."""
    for i in range(len(resource)):
        if amount[i] > limit[resource[i]] - peak[resource[i]]:
            return i
    return -1


@kernel
def dearest(resource, amount, unit, price):
    """The place in the list of what costs most, the first of equals; -1 if the list is empty. `unit`: amounts in one of price."""
    best, most = -1, -1.0
    for i in range(len(resource)):
        part = amount[i] / unit[resource[i]] * price[resource[i]]
        if part > most:
            best, most = i, part
    return best


@kernel
def sound(demand, traffic, most):
    """Are all amounts finite and not negative, no member talks to itself, and has each member a zone that would hold it alone?"""
    for v in range(len(demand)):
        for w in range(len(demand)):
            if not 0.0 <= traffic[v, w] < np.inf:
                return False
        if traffic[v, v] > 0.0 or homes(demand[v], most) == 0:
            return False
    return True


@kernel
def homes(demand, room):
    """How many zones hold that much of every resource; none if an amount is negative."""
    found = 0
    for z in range(len(room)):
        holds = True
        for r in range(len(demand)):
            holds = holds and 0 <= demand[r] <= room[z, r]
        found += holds
    return found


@kernel
def value_ratio(value, demand, traffic, most, known, side_out):
    """b / max f of 001 section III: value by the most of one zone's resource or one link that a placement can take.

    A zone: all members in it, up to most[r]. A link: the largest directed cut between two groups of members; of more than
    `LARGE_CUT` members only the cuts between one and all others. At most `known`: `known`. `side_out` is (member,).
    """
    largest = 0.0
    for r in range(demand.shape[1]):
        total = 0
        for v in range(len(demand)):
            total = min(total + demand[v, r], most[r])
        largest = max(largest, float(total))
    if largest > 0.0 and value <= known * largest:
        return known
    largest = max(largest, single_cut(traffic))
    if len(traffic) <= LARGE_CUT:
        largest = max(largest, largest_cut(traffic, side_out))
    return max(known, value / largest) if largest > 0.0 else known


@kernel
def single_cut(traffic):
    """The most that one member sends to all others, or gets from them."""
    largest = 0.0
    for v in range(len(traffic)):
        sent, got = 0.0, 0.0
        for w in range(len(traffic)):
            sent += traffic[v, w]
            got += traffic[w, v]
        largest = max(largest, sent, got)
    return largest


@kernel
def largest_cut(traffic, side_out):
    """The most traffic from a group of members to all others; groups in the order of a Gray code. O(V 2^V)."""
    members, cut, largest = len(traffic), 0.0, 0.0
    side_out[:] = 0
    for number in range(1, 2**members):
        v = 0
        while (number >> v) & 1 == 0:
            v += 1
        change = 0.0
        for w in range(members):
            if w != v:
                change += -traffic[w, v] if side_out[w] else traffic[v, w]
        cut += -change if side_out[v] else change
        side_out[v] = 1 - side_out[v]
        largest = max(largest, cut)
    return largest
