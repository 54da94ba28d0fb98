"""Answers by insertion: requests one by one, each into the zones that are cheapest where it still fits."""

from collections.abc import Iterable, Sequence

import numpy as np

from bayplan.decide.admit.offline.columns import Column
from bayplan.decide.admit.offline.ground import Ground
from bayplan.decide.admit.offline.load import Load
from bayplan.decide.admit.oneshot.local import local
from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.model import FloatArray

STEEP = 100.0  # a full zone costs this many times what an almost empty one does


def insert(load: Load, order: Iterable[int], total: FloatArray, *, seed: int) -> None:
    """Accept each request of an order that still fits, where prices (request, amount) and loads are low."""
    ground = load.ground
    scale = float(total.mean()) or 1.0
    for i in order:
        if load.zone_of[i] is None:
            room, bandwidth = load.free(i)
            price = total[i] + scale * (STEEP ** load.share(i) - 1)
            placing = local(ground.case(i, price, room=room, bandwidth=bandwidth), OneShotOptions(), seed=seed)
            if placing.zone is not None and load.fits(i, placing.zone):
                load.put(i, placing.zone)


def by_gain(value: FloatArray, cost: FloatArray) -> list[int]:
    """Requests of a value by value for cost, the best first; equal ones by value, then in order."""
    worth = value / np.maximum(cost, 1e-6 * max(1e-9, float(value.max(initial=0.0))))
    return [i for i in np.lexsort((-value, -worth)).tolist() if value[i] > 0]


def keep(load: Load, columns: Sequence[Column]) -> None:
    """Accept plans as they come, those that fit: what a solver granted itself is not granted here."""
    for some in columns:
        if load.zone_of[some.request] is None and load.fits(some.request, some.zone):
            load.put(some.request, some.zone)


def rounded(ground: Ground, columns: Sequence[Column], share: FloatArray) -> Load:
    """An answer from a fractional one: plans of the largest shares first."""
    load = Load(ground)
    keep(load, [columns[j] for j in np.argsort(-share, kind="stable") if share[j] > 1e-6])
    return load
