"""Linear programs (6) of [Online clusters] that need no solver: each member fits in its cheapest zone."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel

SKIPPED, SOLVED, OPEN = 0, 1, 2  # infeasible; solved here; left to a solver

ROUNDING = 1e-6  # the tolerance of the solver


class ScaledCosts(NamedTuple):
    """What Algorithm 1 works on: costs that are at most 1."""

    single: npt.NDArray[np.float64]  # (member, zone) infinite where y_vs is fixed to 0
    pair_cost: npt.NDArray[np.float64]  # (member, member, zone, zone) from, to
    demand: npt.NDArray[np.int64]  # (member, resource)
    capacity: npt.NDArray[np.int64]  # (zone, resource)
    sample: npt.NDArray[np.int64]  # (n,) members
    slack: npt.NDArray[np.float64]  # (1,) epsilon V
    traffic_range: npt.NDArray[
        np.float64
    ]  # (2, member, zone) the least and the most that a member can pay for its traffic from a zone


@kernel
def screen(costs, placement, work, free, zone_out, state_out):
    """Test each placement of the sample (row, n): its state, and the zones of all members where those are the solution.

    There is none where the sample itself violates (4a), or an estimate is beyond what any solution reaches.
    `work` (2, member, zone), `free` (zone, resource). Ties: the lowest zone, as good a solution as any.
    """
    for i in range(len(placement)):
        estimate_traffic(costs, placement[i], work[0])
        state_out[i] = SKIPPED
        if capacity_kept(costs, costs.sample, placement[i], free) and estimate_reachable(costs, work[0]):
            for v in range(len(costs.single)):
                zone_out[i, v] = cheapest_for(costs.single[v], work[0, v])
            state_out[i] = SOLVED if solves_program(costs, zone_out[i], work, free) else OPEN


@kernel
def estimate_traffic(costs, at, estimate_out):
    """Algorithm 1 line 5: F_vs if the members of the sample are in these zones."""
    estimate_out[:] = 0.0
    scale = len(costs.single) / len(costs.sample)
    for v in range(len(costs.single)):
        for j in range(len(costs.sample)):
            for z in range(costs.single.shape[1]):
                estimate_out[v, z] += scale * costs.pair_cost[v, costs.sample[j], z, at[j]]


@kernel
def estimate_reachable(costs, estimated):
    """Can (6c) and (6d) be met, each by itself?"""
    slack = costs.slack[0] + ROUNDING
    for v in range(estimated.shape[0]):
        for z in range(estimated.shape[1]):
            if estimated[v, z] - slack > costs.traffic_range[1, v, z] or estimated[v, z] + slack < costs.traffic_range[0, v, z]:
                return False
    return True


@kernel
def cheapest_for(single, estimated):
    """The zone of least P_vs + F_vs."""
    chosen = 0
    for z in range(len(single)):
        if single[z] + estimated[z] < single[chosen] + estimated[chosen]:
            chosen = z
    return chosen


@kernel
def capacity_kept(costs, members, at, free):
    """(4a) for these members in these zones, none of which is forbidden."""
    for z in range(len(free)):
        for r in range(free.shape[1]):
            free[z, r] = costs.capacity[z, r]
    for j, v in enumerate(members):
        if costs.single[v, at[j]] == np.inf:
            return False
        for r in range(free.shape[1]):
            free[at[j], r] -= costs.demand[v, r]
            if free[at[j], r] < 0:
                return False
    return True


@kernel
def solves_program(costs, zone, work, free):
    """Do these zones keep (4a), (6c) and (6d)?"""
    v_n, z_n = costs.single.shape
    if not capacity_kept(costs, range(v_n), zone, free):
        return False
    for v in range(v_n):
        traffic = work[1, v]
        traffic[:] = 0.0
        for w in range(v_n):
            for z in range(z_n):
                traffic[z] += costs.pair_cost[v, w, z, zone[w]]
        for z in range(z_n):
            if abs(traffic[z] - work[0, v, z]) > costs.slack[0] + ROUNDING:
                return False
    return True
