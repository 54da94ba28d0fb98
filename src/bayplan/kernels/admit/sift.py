"""Linear programs (6) of 001 whose answer can be seen: each member in its cheapest zone, and nothing in the way."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.compiled import kernel

SKIPPED, SEEN, OPEN = 0, 1, 2  # there is no answer; it is known; a solver has to look

ROUNDING = 1e-6  # what the solver grants


class Estimate(NamedTuple):
    """What Algorithm 1 works on: costs that are at most 1."""

    single: npt.NDArray[np.float64]  # (member, zone) infinite where y_vs is fixed to 0
    forth: npt.NDArray[np.float64]  # (member, member, zone, zone) from, to
    demand: npt.NDArray[np.int64]  # (member, resource)
    room: npt.NDArray[np.int64]  # (zone, resource)
    sample: npt.NDArray[np.int64]  # (n,) members
    slack: npt.NDArray[np.float64]  # (1,) epsilon V
    reach: npt.NDArray[np.float64]  # (2, member, zone) the least and the most that a member can pay for its traffic from a zone


@kernel
def sift(estimate, placement, work, free, zone_out, state_out):
    """Look at each placement of the sample (row, n): its state, and the zones of all members where those are the answer.

    There is none where the sample itself does not keep (4a), or a guess is beyond what any answer reaches.
    `work` (2, member, zone), `free` (zone, resource). Ties: the lowest zone, as good an answer of the program as any.
    """
    for i in range(len(placement)):
        guess(estimate, placement[i], work[0])
        state_out[i] = SKIPPED
        if keeps_room(estimate, estimate.sample, placement[i], free) and in_reach(estimate, work[0]):
            for v in range(len(estimate.single)):
                zone_out[i, v] = cheapest_for(estimate.single[v], work[0, v])
            state_out[i] = SEEN if is_answer(estimate, zone_out[i], work, free) else OPEN


@kernel
def guess(estimate, at, guess_out):
    """Algorithm 1 line 5: F_vs if the members of the sample are in these zones."""
    guess_out[:] = 0.0
    scale = len(estimate.single) / len(estimate.sample)
    for v in range(len(estimate.single)):
        for j in range(len(estimate.sample)):
            for z in range(estimate.single.shape[1]):
                guess_out[v, z] += scale * estimate.forth[v, estimate.sample[j], z, at[j]]


@kernel
def in_reach(estimate, guessed):
    """Can (6c) and (6d) be met, each by itself?"""
    slack = estimate.slack[0] + ROUNDING
    for v in range(guessed.shape[0]):
        for z in range(guessed.shape[1]):
            if guessed[v, z] - slack > estimate.reach[1, v, z] or guessed[v, z] + slack < estimate.reach[0, v, z]:
                return False
    return True


@kernel
def cheapest_for(single, guessed):
    """The zone of least P_vs + F_vs."""
    chosen = 0
    for z in range(len(single)):
        if single[z] + guessed[z] < single[chosen] + guessed[chosen]:
            chosen = z
    return chosen


@kernel
def keeps_room(estimate, members, at, free):
    """(4a) for these members in these zones, none of which is closed to them."""
    for z in range(len(free)):
        for r in range(free.shape[1]):
            free[z, r] = estimate.room[z, r]
    for j, v in enumerate(members):
        if estimate.single[v, at[j]] == np.inf:
            return False
        for r in range(free.shape[1]):
            free[at[j], r] -= estimate.demand[v, r]
            if free[at[j], r] < 0:
                return False
    return True


@kernel
def is_answer(estimate, zone, work, free):
    """Do these zones keep (4a), (6c) and (6d)?"""
    v_n, z_n = estimate.single.shape
    if not keeps_room(estimate, range(v_n), zone, free):
        return False
    for v in range(v_n):
        real = work[1, v]
        real[:] = 0.0
        for w in range(v_n):
            for z in range(z_n):
                real[z] += estimate.forth[v, w, z, zone[w]]
        for z in range(z_n):
            if abs(real[z] - work[0, v, z]) > estimate.slack[0] + ROUNDING:
                return False
    return True
