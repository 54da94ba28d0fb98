"""What a placement of one request takes of zones and links, whether it fits, and which part of it costs most."""

import numpy as np

from bayplan.kernels.jit import kernel

NO_LINK = 2**62  # more than any resource has
TOLERANCE_BITS = 40  # 2^-40 of each traffic is not booked
MAX_CUT_MEMBERS = 12  # members up to which every cut of a request is examined


@kernel
def list_use(zone, demand, traffic, scale, resource_out, amount_out):
    """The number of resources a placement takes; `resource_out` and `amount_out` list them, and the amount of each.

    Zones first, in the order of the members. Traffic is in whole units of its link, 1 / scale[y, z]; what has no
    link, or overflows, takes `NO_LINK`.
    """
    members, n_z, n_r, listed = len(zone), len(scale), demand.shape[1], 0
    for v in range(members):
        if not first_in(zone, v):
            continue
        for r in range(n_r):
            total = 0
            for w in range(v, members):
                if zone[w] == zone[v]:
                    total += demand[w, r]
            if total > 0:
                resource_out[listed], amount_out[listed] = zone[v] * n_r + r, total
                listed += 1
    for v in range(members):
        for w in range(members):
            if zone[v] == zone[w] or not first_in(zone, v) or not first_in(zone, w):
                continue
            total = flow_of(zone, traffic, zone[v], zone[w])
            amount = link_units(total, scale[zone[v], zone[w]])
            if amount > 0:
                resource_out[listed], amount_out[listed] = n_z * n_r + zone[v] * n_z + zone[w], amount
                listed += 1
    return listed


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
def link_units(traffic, scale):
    """Traffic in integer units of a link of that scale; the scale 0 means that there is no link.

    Rounded down, and a little less, so that parts of a bandwidth that make up all of it fit: sums of floats may be above it.
    """
    if traffic <= 0.0:
        return 0
    if scale == 0.0 or traffic * scale >= NO_LINK:
        return NO_LINK
    whole = int(traffic * scale)
    return whole - (whole >> TOLERANCE_BITS)


@kernel
def first_over(resource, amount, limit, peak):
    """The first entry in the list of what a request takes that exceeds what is free; -1 if there is none."""
    for i in range(len(resource)):
        if amount[i] > limit[resource[i]] - peak[resource[i]]:
            return i
    return -1


@kernel
def most_expensive(resource, amount, unit, price):
    """The entry in the list that costs most, the first of equals; -1 if the list is empty. `unit`: amounts in one of price."""
    best, cap = -1, -1.0
    for i in range(len(resource)):
        part = amount[i] / unit[resource[i]] * price[resource[i]]
        if part > cap:
            best, cap = i, part
    return best


@kernel
def well_formed(demand, traffic, cap):
    """Are all amounts finite and not negative, has no member traffic to itself, and each a zone that would hold it alone?"""
    for v in range(len(demand)):
        for w in range(len(demand)):
            if not 0.0 <= traffic[v, w] < np.inf:
                return False
        if traffic[v, v] > 0.0 or zones_that_fit(demand[v], cap) == 0:
            return False
    return True


@kernel
def zones_that_fit(demand, free):
    """The number of zones that hold that much of every resource; 0 if an amount is negative."""
    listed = 0
    for z in range(len(free)):
        holds = True
        for r in range(len(demand)):
            holds = holds and 0 <= demand[r] <= free[z, r]
        listed += holds
    return listed


@kernel
def value_ratio(value, demand, traffic, cap, known, side_out):
    """b / max f of [Online clusters] §III: value by the most of one zone's resource or one link that a placement can take.

    A zone: all members in it, up to cap[r]. A link: the largest directed cut between two groups of members; of more than
    `MAX_CUT_MEMBERS` members only the cuts between one and all others. At most `known`: `known`. `side_out` is (member,).
    """
    largest = 0.0
    for r in range(demand.shape[1]):
        total = 0
        for v in range(len(demand)):
            total = min(total + demand[v, r], cap[r])
        largest = max(largest, float(total))
    if largest > 0.0 and value <= known * largest:
        return known
    largest = max(largest, single_cut(traffic))
    if len(traffic) <= MAX_CUT_MEMBERS:
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
