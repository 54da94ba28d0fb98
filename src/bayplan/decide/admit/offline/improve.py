"""A better answer by making room: a refused request comes in, some that run beside it go out, and as many as fit come back."""

from collections.abc import Callable

import numpy as np

from bayplan.decide.admit.offline.greedy import insert
from bayplan.decide.admit.offline.load import Load
from bayplan.model import FloatArray

OUT = (1, 12)  # requests that go out, at least and at most
NOISE = 0.5  # of the logarithm of what a request is worth for its cost, when those that went out queue again


def improve(load: Load, worth: FloatArray, total: FloatArray, late: Callable[[], bool], *, rounds: int, seed: int) -> Load:
    """An answer that is worth no less. `worth` (request,): value for cost; 0: never comes in. `total`: prices, see `insert`."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        refused = [i for i, zone in enumerate(load.zone_of) if zone is None and worth[i] > 0]
        if not refused or late():
            break
        after = load.copy()
        queue = _made_room(after, refused, worth, rng)
        insert(after, queue, total, late, seed=seed)
        if after.value >= load.value:
            load = after
    return _anew(load)


def _anew(load: Load) -> Load:
    """The same answer, its loads added up anew: what went in and out has left rounding behind."""
    fresh = Load(load.ground)
    for i, zone in enumerate(load.zone_of):
        if zone is not None and fresh.fits(i, zone):
            fresh.put(i, zone)
    return fresh


def _made_room(load: Load, refused: list[int], worth: FloatArray, rng: np.random.Generator) -> list[int]:
    """Take out some that run beside one that was refused: that one, then they and others refused, in the order to come in."""
    wanted = refused[int(rng.integers(len(refused)))]
    beside = [i for i, zone in enumerate(load.zone_of) if zone is not None and _meet(load, i, wanted)]
    out = rng.permutation(np.array(beside, dtype=np.int64))[: int(rng.integers(*OUT, endpoint=True))].tolist()
    for i in out:
        load.remove(i)
    queue = out + [i for i in refused if i != wanted and _meet(load, i, wanted)]
    noisy = np.log(np.maximum(worth[queue], 1e-300)) + NOISE * rng.standard_normal(len(queue))
    return [wanted, *(queue[j] for j in np.argsort(-noisy).tolist())]


def _meet(load: Load, i: int, j: int) -> bool:
    """Do two requests run at one time?"""
    first, last = load.ground.first, load.ground.last
    return bool(first[i] < last[j] and first[j] < last[i])
