"""A lower bound on [Online clusters] (4): costs of pairs are moved onto their members, as long as that raises the bound.

For any amounts lam: sum_v single_v + sum_{v<w} pair_vw is the same function of the zones as with
single_v(y) + sum_w lam_vw(y) and pair_vw(y, z) - lam_vw(y) - lam_wv(z). As long as no pair falls below zero, the sum of the
least of each member's costs is a lower bound. One exchange of messages moves the costs of two members into the pair and back,
so that neither can get more; it never lowers the bound (the dual block-coordinate ascent MPLP++ of Tourani et al., ECCV 2018).
"""

import numpy as np

from bayplan.kernels.jit import kernel


@kernel
def least_beside(pair, v, w, at_v, out):
    """out[z] = min over y of at_v[y] + pair[v, w, y, z]."""
    z_n = pair.shape[2]
    for z in range(z_n):
        out[z] = np.inf
    for y in range(z_n):
        offset = at_v[y]
        for z in range(z_n):
            cost = offset + pair[v, w, y, z]
            out[z] = cost if cost < out[z] else out[z]


@kernel
def exchange_messages(pair, v, w, single, lam, work):
    """Move costs between members v and w and their pair; `single` (member, zone) and `lam` (member, member, zone) change."""
    z_n = pair.shape[2]
    near, far = work[0], work[1]
    for z in range(z_n):
        far[z] = single[w, z] - lam[w, v, z]
    least_beside(pair, w, v, far, near)
    for y in range(z_n):  # half of the minimum of v stays with v
        before = single[v, y] - lam[v, w, y]
        single[v, y] = 0.5 * (near[y] + before)
        lam[v, w, y] = -0.5 * (before - near[y])
        near[y] = -lam[v, w, y]
    least_beside(pair, v, w, near, far)
    for z in range(z_n):  # w takes all that remains
        before = single[w, z] - lam[w, v, z]
        single[w, z] = far[z] + before
        lam[w, v, z] = far[z]
        far[z] = -far[z]
    least_beside(pair, w, v, far, near)
    for y in range(z_n):  # and v what is left
        more = near[y] - lam[v, w, y]
        single[v, y] += more
        lam[v, w, y] += more


@kernel
def tighten(pair, talks, open_members, single, lam, work):
    """Every two open members with traffic exchange messages once; the bound: the sum of the least cost of each open member."""
    for i in range(len(open_members)):
        for j in range(i):
            v, w = open_members[j], open_members[i]
            if talks[v, w]:
                exchange_messages(pair, v, w, single, lam, work)
    return sum_of_least(open_members, single)


@kernel
def sum_of_least(open_members, single):
    """The sum of the least cost of each open member."""
    total = 0.0
    for v in open_members:
        total += least_of(single, v)
    return total


@kernel
def least_of(single, v):
    """The least cost of member v in any zone."""
    least = np.inf
    for z in range(single.shape[1]):
        least = min(least, single[v, z])
    return least
