"""The rounding of Shmoys and Tardos (001 Algorithm 2): shares of members become members, by a matching."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from bayplan.model import FloatArray, IntArray

LITTLE = 1e-7  # a share that is rounding of the linear program


def rounded(share: FloatArray, cost: FloatArray, demand: IntArray, room: IntArray) -> IntArray | None:
    """(member,) zones from shares (member, zone) that keep (4a); None if rounding errors leave no matching.

    With one resource no zone gets more than 2B, if no share is above zero where a_v > B_s (001 Theorem 1). With several,
    members are sorted by the largest part of the zone that they take of any, and nothing is promised.
    """
    member, zone = _bins(share, demand, room)
    node = np.full((len(share), len(zone)), np.inf)
    for v, b in member:
        node[v, b] = cost[v, zone[b]]
    try:
        rows, columns = linear_sum_assignment(node)  # line 2: matches all members, of which there are no more than bins
    except ValueError:
        return None
    at = np.asarray(zone, dtype=np.int64)[columns]
    return at if len(rows) == len(share) else None


def _bins(share: FloatArray, demand: IntArray, room: IntArray) -> tuple[list[tuple[int, int]], list[int]]:
    """Line 1: the edges from members to zone nodes s_s1, s_s2, ..., each a bin for shares of 1 in all, and each node's zone."""
    edges: list[tuple[int, int]] = []
    zone: list[int] = []
    for s in range(share.shape[1]):
        inside = np.flatnonzero(share[:, s] > LITTLE)
        part = (demand[inside] / np.maximum(room[s], 1)).max(axis=1, initial=0.0)
        left = 0.0
        for v in inside[np.argsort(-part, kind="stable")].tolist():  # ii) non-increasing demand
            piece = float(share[v, s])
            while piece > LITTLE:  # iii) what does not go into this bin goes into the next
                if left <= LITTLE:
                    zone.append(s)
                    left = 1.0
                edges.append((v, len(zone) - 1))  # iv)
                taken = min(piece, left)
                piece, left = piece - taken, left - taken
    return edges, zone
