"""What any two members cost together, both directions in one table: what the searches of 001 (4) look up."""

import numpy as np

from bayplan.kernels.search.compiled import kernel


@kernel
def tabulate(question, single_out, pair_out, talks_out):
    """Fill the costs (member, zone) and (member, member, zone, zone) and who talks to whom; what a forbidden choice costs.

    Forbidden choices are infinite in the question. Here they cost more than any placement that uses none, so that sums and
    differences stay numbers. Both triangles are filled: pair_out[v, w, y, z] = pair_out[w, v, z, y].
    """
    v_n, z_n = question.cost.shape
    most, is_forbidden = 0.0, False
    for v in range(v_n):
        highest = 0.0
        for z in range(z_n):
            single_out[v, z] = question.cost[v, z]
            if question.cost[v, z] < np.inf:
                highest = max(highest, question.cost[v, z])
        most += highest
        talks_out[v, v] = False
        for w in range(v):
            talks_out[v, w] = talks_out[w, v] = question.traffic[v, w] > 0.0 or question.traffic[w, v] > 0.0
            if talks_out[v, w]:
                highest, has_gap = join(question, v, w, pair_out)
                most += highest
                is_forbidden = is_forbidden or has_gap
    barred = 2.0 * most + 1.0
    cap(single_out, barred)
    for v in range(v_n):
        for w in range(v_n):
            if is_forbidden and talks_out[v, w]:
                cap(pair_out[v, w], barred)
    return barred


@kernel
def join(question, v, w, pair_out):
    """Fill the two tables of members v and w; the most that two zones cost that are allowed, and are any not?"""
    highest, has_gap = 0.0, False
    forth, back = question.traffic[v, w], question.traffic[w, v]
    there, here = question.pair[v, w], question.pair[w, v]
    for y in range(question.cost.shape[1]):
        for z in range(question.cost.shape[1]):
            price = 0.0
            if forth > 0.0:
                price += forth * question.link[there, y, z]
            if back > 0.0:
                price += back * question.link[here, z, y]
            pair_out[v, w, y, z] = price
            pair_out[w, v, z, y] = price
            if price < np.inf:
                highest = max(highest, price)
            else:
                has_gap = True
    return highest, has_gap


@kernel
def cap(table, most):
    """No entry of a table is above `most`."""
    for y in range(table.shape[0]):
        for z in range(table.shape[1]):
            table[y, z] = min(table[y, z], most)
