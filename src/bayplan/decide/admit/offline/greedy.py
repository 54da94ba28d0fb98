"""Answers by insertion: requests one by one, each into the zones that are cheapest where it still fits."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from bayplan.decide.admit.offline.columns import Column
from bayplan.decide.admit.offline.ground import Ground
from bayplan.decide.admit.offline.load import Load
from bayplan.decide.admit.oneshot.local import local
from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.model import FloatArray

STEEP = 100.0  # a full zone costs this many times what an almost empty one does


def insert(load: Load, order: Iterable[int], total: FloatArray, late: Callable[[], bool], *, seed: int) -> None:
    """Accept each request of an order that still fits, where prices (request, amount) and loads are low, until it is too late."""
    scale = float(total.sum()) / max(1, total.size) or 1.0
    for i in order:
        if late():
            return
        if load.zone_of[i] is None:
            room, bandwidth = load.free(i)
            price = total[i] + scale * (STEEP ** load.share(i) - 1)
            placing = local(load.ground.case(i, price, room=room, bandwidth=bandwidth), OneShotOptions(), seed=seed)
            if placing.zone is not None and load.fits(i, placing.zone):
                load.put(i, placing.zone)


def worth_of(value: FloatArray, cost: FloatArray) -> FloatArray:
    """(request,) value for cost; 0 for what has no value."""
    return value / np.maximum(cost, 1e-3 * max(1e-9, float(value.max(initial=0.0))))


def by_worth(worth: FloatArray) -> list[int]:
    """Requests that are worth something, the best first; equal ones in order."""
    return [i for i in np.argsort(-worth, kind="stable").tolist() if worth[i] > 0]


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
