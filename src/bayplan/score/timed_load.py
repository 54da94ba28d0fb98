"""How much timed requests demand: the load factor of [Cradle] (5), the load over time, narrow and wide requests."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import BoolArray, Fleet, FloatArray, TimedRequests, floats

HALF = 0.5  # of a machine: a request that demands more is wide ([Cradle] §III-B)


def span(requests: TimedRequests) -> float:
    """T of (5): the time from the first start to the last end; 0 without requests."""
    return float(requests.end.max() - requests.start.min()) if len(requests.name) else 0.0


def loads(requests: TimedRequests, fleet: Fleet, chosen: BoolArray | None = None) -> FloatArray:
    """(resource,) what these requests demand over time, as a share of all that the machines have; NaN where they have nothing."""
    duration = requests.end - requests.start
    mask = np.ones(len(duration), dtype=np.bool_) if chosen is None else chosen
    demand = (requests.demand * (duration * mask)[:, None]).sum(axis=0)
    offered = (fleet.machines[:, None] * fleet.capacity.astype(np.float64)).sum(axis=0) * span(requests)
    return floats(np.divide(demand, offered, out=np.full(len(offered), np.nan), where=offered > 0))


def load_factor(requests: TimedRequests, fleet: Fleet) -> float:
    """[Cradle] (5): the mean over resources of `loads`; NaN without machines or requests."""
    each = loads(requests, fleet)
    known = each[~np.isnan(each)]
    return float(known.mean()) if len(known) else float("nan")


def areas(requests: TimedRequests) -> FloatArray:
    """(request,) mean share of a machine times duration: what (5) adds up."""
    capacity = np.maximum(requests.capacity, 1)
    share = requests.demand / capacity
    return floats(share.mean(axis=1) * (requests.end - requests.start)) if share.shape[1] else floats(np.zeros(len(share)))


def wide(requests: TimedRequests) -> BoolArray:
    """(request, resource) does it demand more than half of a machine of the requests' own size?"""
    return np.asarray(requests.demand > HALF * requests.capacity, dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadCurve:
    """Steps over time."""

    time: FloatArray  # (step + 1,) load[i] holds on (time[i], time[i + 1]]
    load: FloatArray  # (step, resource) base units


def load_curve(requests: TimedRequests, chosen: BoolArray | None = None) -> LoadCurve:
    """What these requests demand at every instant. O(n log n)."""
    j = np.arange(len(requests.name)) if chosen is None else np.flatnonzero(chosen)
    moment = np.concatenate([requests.start[j], requests.end[j]])
    time, at = np.unique(moment, return_inverse=True)
    change = np.zeros((len(time), requests.demand.shape[1]))
    for r in range(change.shape[1]):
        amount = requests.demand[j, r].astype(np.float64)
        change[:, r] = np.bincount(at, weights=np.concatenate([amount, -amount]), minlength=len(time))
    load = np.maximum(0.0, np.cumsum(change, axis=0))
    return LoadCurve(time=floats(time), load=floats(load[:-1]))


def thinned(curve: LoadCurve, steps: int) -> LoadCurve:
    """The highest load in each of at most `steps` equal parts of the time, for a picture."""
    if len(curve.load) <= steps:
        return curve
    edge = np.linspace(curve.time[0], curve.time[-1], steps + 1)
    first = np.clip(np.searchsorted(curve.time, edge[:-1], side="right") - 1, 0, len(curve.load) - 1)
    last = np.clip(np.searchsorted(curve.time, edge[1:], side="left"), first + 1, len(curve.load))
    load = np.array([curve.load[a:b].max(axis=0) for a, b in zip(first, last, strict=True)])
    return LoadCurve(time=floats(edge), load=floats(load))
