"""How much CA-WFD prefers each machine for one new container: [FreeContainer] Algorithm 1, lines 6 and 7, machine by machine.

`ca_wfd` answers with the machine that it takes. A scheduler that weighs several opinions wants to know about all machines: the
largest preference is the machine that `ca_wfd` would take for this container alone.
"""

import math

import numpy as np

from bayplan.errors import UsageError
from bayplan.model import FloatArray

LEAST = 2  # candidates that a share stands for at least: with one, the service has no say


def free_amounts(capacity: FloatArray, load: FloatArray) -> FloatArray:
    """(machine,) sum over r of A(h, r), relative to the largest machine of each resource, every weight 1."""
    weight = 1.0 / np.maximum(1.0, capacity.max(axis=0, initial=0.0))
    free = np.zeros(len(capacity))
    for r in range(capacity.shape[1]):  # in this order, as the kernel adds: equal machines stay equal
        free += weight[r] * (capacity[:, r] - load[:, r])
    return free


def machine_preference(free: FloatArray, together: FloatArray, candidates: int) -> FloatArray:
    """(machine,) 1 for the machine that CA-WFD takes, less for the others, 0 or more.

    `free`: what machines have free; `together`: how much of what the container communicates with runs on each. The candidates,
    those with most free, are above 0.5, in the order in which they would be taken; the others are below, by what is free. Among
    equals the first comes first. All machines given are ones that the container fits on.
    """
    preference = 0.5 * _scaled(free)
    best = np.argsort(-free, kind="stable")[:candidates]  # line 6
    best = best[np.argsort(-together[best], kind="stable")]  # line 7
    preference[best] = 1.0 - 0.5 * np.arange(len(best)) / max(1, len(best))
    return preference


def _scaled(free: FloatArray) -> FloatArray:
    """From 0 for the least to just below 1 for the most."""
    if not len(free):
        return np.zeros(0)
    low, high = float(free.min()), float(free.max())
    return np.asarray((free - low) / (high - low) * 0.99, dtype=np.float64) if high > low else np.zeros(len(free))


def candidate_number(candidates: int | str, machines: int) -> int:
    """`3`, or a share of the machines such as `10%`, at least two."""
    text = str(candidates)
    label = f"'{text}' candidate machines: expected a whole number of 1 or more, or a share of the machines such as 10%"
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    share = text.removesuffix("%")
    if share == text or not share.replace(".", "", 1).isdecimal() or not 0 < float(share) <= 100:
        raise UsageError(label)
    return max(LEAST, math.ceil(machines * float(share) / 100))
