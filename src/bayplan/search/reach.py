"""For each kind of item the machines where it could run, were they emptied."""

import numpy as np

from bayplan.model import BoolArray, IntArray
from bayplan.search.array_layout import Blocks

MAX_LISTED = 16_000_000  # kinds times machines; with more, nothing is listed


def is_listed(kinds: int, machines: int) -> bool:
    """Are the lists short enough?"""
    return kinds * machines <= MAX_LISTED


def reach_blocks(blocks: Blocks, home_charge: IntArray, limit: IntArray) -> Blocks:
    """The lists of all kinds: `fits_if_emptied` of the kernels, for an item that ran nowhere and may go anywhere."""
    kinds, machines = len(np.asarray(blocks["allow_row"])), len(limit)
    if not is_listed(kinds, machines):
        return {"reach_start": np.zeros(kinds + 1, dtype=np.int64), "reach": np.zeros(0, dtype=np.int32)}
    order = np.random.default_rng(0).permutation(machines)  # so that neighbours in a list have nothing in common
    fits = fits_if_emptied(blocks, home_charge[order], limit[order], order)
    return {"reach_start": np.r_[0, np.cumsum(fits.sum(axis=1))], "reach": order[np.nonzero(fits)[1]]}


def fits_if_emptied(blocks: Blocks, home_charge: IntArray, limit: IntArray, machine: IntArray) -> BoolArray:
    """(kind, machine) could it run there?"""
    fits: BoolArray = np.asarray(blocks["allowed"]).astype(np.bool_)[np.asarray(blocks["allow_row"])][:, machine]
    request, strict = np.asarray(blocks["request"]), np.asarray(blocks["strict"])
    for r in range(limit.shape[1]):
        want = request[: len(fits), r][:, None]
        fits &= (home_charge[:, r] <= limit[:, r] - want) | ((want == 0) & (strict[r] == 0))
    return fits
