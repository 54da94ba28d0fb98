"""What members cost alone and in pairs, for the searches of [Online clusters] (4)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel


class MemberCosts(NamedTuple):
    """What the members cost alone, and what the prices of links make of pairs: see `prepare_costs`."""

    single: npt.NDArray[np.float64]  # (member, zone)
    back: npt.NDArray[np.float64]  # (table, zone, zone) the prices of links by where they end, then by where they begin
    talks: npt.NDArray[np.bool_]  # (member, member)
    forbidden_cost: npt.NDArray[np.float64]  # (1,) what a forbidden choice costs


class CostTables(NamedTuple):
    """The same with every pair in a table, which pays only where most of it is read many times: see `tabulate`."""

    single: npt.NDArray[np.float64]  # (member, zone)
    pair: npt.NDArray[np.float64]  # (member, member, zone, zone)
    talks: npt.NDArray[np.bool_]  # (member, member)
    forbidden_cost: npt.NDArray[np.float64]  # (1,)


@kernel
def prepare_costs(problem, costs_out):
    """Fill the costs of members alone, the pairs with traffic, and the cost of a forbidden choice.

    Forbidden choices are infinite in the problem. Here they cost more than any placement that uses none, so that sums and
    differences stay numbers.
    """
    v_n, z_n = problem.cost.shape
    sum_of_highest = 0.0
    for v in range(v_n):
        sum_of_highest += highest_finite(problem.cost[v])
        costs_out.talks[v, v] = False
        for w in range(v):
            costs_out.talks[v, w] = costs_out.talks[w, v] = problem.traffic[v, w] > 0.0 or problem.traffic[w, v] > 0.0
    for t in range(len(problem.link)):
        highest = 0.0
        for y in range(z_n):
            highest = max(highest, highest_finite(problem.link[t, y]))
            for z in range(z_n):
                costs_out.back[t, z, y] = problem.link[t, y, z]
        for v in range(v_n):
            for w in range(v_n):
                if v != w and problem.pair[v, w] == t and problem.traffic[v, w] > 0.0:
                    sum_of_highest += problem.traffic[v, w] * highest
    forbidden_cost = 2.0 * sum_of_highest + 1.0
    costs_out.forbidden_cost[0] = forbidden_cost
    for v in range(v_n):
        for z in range(z_n):
            costs_out.single[v, z] = min(problem.cost[v, z], forbidden_cost)


@kernel
def highest_finite(values):
    """The highest of all finite values, at least 0."""
    highest = 0.0
    for value in values:
        if highest < value < np.inf:
            highest = value
    return highest


@kernel
def pair_cost(problem, costs, v, w, y, z):
    """What the traffic between member v in zone y and member w in zone z costs."""
    forth, back, forbidden_cost = problem.traffic[v, w], problem.traffic[w, v], costs.forbidden_cost[0]
    price = forth * problem.link[problem.pair[v, w], y, z] if forth > 0.0 else 0.0
    price += back * costs.back[problem.pair[w, v], y, z] if back > 0.0 else 0.0
    return price if price < forbidden_cost else forbidden_cost


@kernel
def pair_row(problem, costs, v, w, y, row_out):
    """The same for each zone of member w."""
    forth, back, forbidden_cost = problem.traffic[v, w], problem.traffic[w, v], costs.forbidden_cost[0]
    there, here = problem.link[problem.pair[v, w], y], costs.back[problem.pair[w, v], y]
    for z in range(len(row_out)):
        price = forth * there[z] if forth > 0.0 else 0.0
        price += back * here[z] if back > 0.0 else 0.0
        row_out[z] = price if price < forbidden_cost else forbidden_cost


@kernel
def tabulate(problem, costs, pair_out):
    """Fill the costs (member, member, zone, zone) of pairs with traffic: pair_out[v, w, y, z] = pair_out[w, v, z, y]."""
    v_n, z_n = problem.cost.shape
    for v in range(v_n):
        for w in range(v_n):
            if costs.talks[v, w]:
                for y in range(z_n):
                    pair_row(problem, costs, v, w, y, pair_out[v, w, y])
