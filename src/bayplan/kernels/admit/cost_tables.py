"""What members cost alone and in pairs, both directions in one table, for the searches of [Online clusters] (4)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel


class CostTables(NamedTuple):
    """What the members cost: see `tabulate`."""

    single: npt.NDArray[np.float64]  # (member, zone)
    pair: npt.NDArray[np.float64]  # (member, member, zone, zone)
    talks: npt.NDArray[np.bool_]  # (member, member)
    forbidden_cost: npt.NDArray[np.float64]  # (1,) what a forbidden choice costs


@kernel
def tabulate(problem, single_out, pair_out, talks_out):
    """Fill the costs (member, zone), (member, member, zone, zone), and the pairs with traffic; the cost of a forbidden choice.

    Forbidden choices are infinite in the problem. Here they cost more than any placement that uses none, so that sums and
    differences stay numbers. Both triangles are filled: pair_out[v, w, y, z] = pair_out[w, v, z, y].
    """
    v_n, z_n = problem.cost.shape
    highest_sum, is_forbidden = 0.0, False
    for v in range(v_n):
        highest = 0.0
        for z in range(z_n):
            single_out[v, z] = problem.cost[v, z]
            if problem.cost[v, z] < np.inf:
                highest = max(highest, problem.cost[v, z])
        highest_sum += highest
        talks_out[v, v] = False
        for w in range(v):
            talks_out[v, w] = talks_out[w, v] = problem.traffic[v, w] > 0.0 or problem.traffic[w, v] > 0.0
            if talks_out[v, w]:
                highest, has_gap = fill_pair(problem, v, w, pair_out)
                highest_sum += highest
                is_forbidden = is_forbidden or has_gap
    forbidden_cost = 2.0 * highest_sum + 1.0
    cap(single_out, forbidden_cost)
    for v in range(v_n):
        for w in range(v_n):
            if is_forbidden and talks_out[v, w]:
                cap(pair_out[v, w], forbidden_cost)
    return forbidden_cost


@kernel
def fill_pair(problem, v, w, pair_out):
    """Fill the two tables of members v and w; the highest cost of two allowed zones, and are any forbidden?"""
    highest, has_gap = 0.0, False
    forth, back = problem.traffic[v, w], problem.traffic[w, v]
    there, here = problem.pair[v, w], problem.pair[w, v]
    for y in range(problem.cost.shape[1]):
        for z in range(problem.cost.shape[1]):
            price = 0.0
            if forth > 0.0:
                price += forth * problem.link[there, y, z]
            if back > 0.0:
                price += back * problem.link[here, z, y]
            pair_out[v, w, y, z] = price
            pair_out[w, v, z, y] = price
            if price < np.inf:
                highest = max(highest, price)
            else:
                has_gap = True
    return highest, has_gap


@kernel
def cap(table, highest_sum):
    """No entry of a table is above `highest_sum`."""
    for y in range(table.shape[0]):
        for z in range(table.shape[1]):
            table[y, z] = min(table[y, z], highest_sum)
