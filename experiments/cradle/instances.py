"""Requests drawn uniformly from a source, and the number of machines that gives a load ([Cradle] §V and (5))."""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from bayplan.formats.traces import read_azure, read_google2011, read_google2011_jobs, read_huawei
from bayplan.model import FloatArray, IntArray, TimedRequests
from experiments.calibration.data import real_file
from experiments.cradle.settings import AZURE, FITTED, GENERATED, GOOGLE, HUAWEI, SEMI_REAL
from experiments.cradle.synthetic import fitted, generated

READERS: Mapping[str, Callable[[int], TimedRequests]] = {  # from a seed, where something is drawn
    GOOGLE: lambda _: read_google2011(_folder(GOOGLE)),
    SEMI_REAL: lambda seed: read_google2011_jobs(_folder(GOOGLE), seed=seed),
    AZURE: lambda _: read_azure(_folder(AZURE)),
    HUAWEI: lambda _: read_huawei(_folder(HUAWEI), capacity=(16, 32)),
    GENERATED: generated,
    FITTED: fitted,
}
SEEDED = (SEMI_REAL, GENERATED, FITTED)


def requests_of(trace: str, seed: int) -> TimedRequests:
    """All requests of a source that a machine can hold: of huawei_east1 388 cannot be, on 16 cores and 32 GB."""
    return _requests_of(trace, seed if trace in SEEDED else 0)


@lru_cache(maxsize=6)
def _requests_of(trace: str, seed: int) -> TimedRequests:
    every = READERS[trace](seed)
    fits = (every.demand <= every.capacity).all(axis=1)
    return every if fits.all() else part(every, np.flatnonzero(fits))


def _folder(trace: str) -> Path:
    return real_file(f"traces/{trace}")


def work(requests: TimedRequests) -> FloatArray:
    """(request,) the mean of its demands, in machines, times its duration: what (5) adds up."""
    return width(requests) * (requests.end - requests.start)


def width(requests: TimedRequests) -> FloatArray:
    """(request,) the mean of its demands, in machines."""
    mean: FloatArray = (requests.demand / requests.capacity).mean(axis=1)
    return mean


def horizon(requests: TimedRequests) -> float:
    """T_Horizon of (5)."""
    return float(requests.end.max() - requests.start.min())


def load(requests: TimedRequests, machines: int) -> float:
    """(5)."""
    return float(work(requests).sum() / (machines * horizon(requests)))


def excess(requests: TimedRequests, machines: int) -> float:
    """The share of the requested work that is above what all machines have at its time: no schedule can serve it."""
    amount, n = width(requests), len(requests.name)
    time = np.concatenate([requests.start, requests.end])
    order = np.argsort(time, kind="stable")
    change = np.concatenate([amount, -amount])[order]
    running, length = np.cumsum(change)[:-1], np.diff(time[order])
    assert len(length) == 2 * n - 1
    return float(np.maximum(running - machines, 0.0) @ length / np.sum(work(requests)))


def balance(requests: TimedRequests) -> float:
    """The load of cpu over that of memory."""
    by_resource = (requests.end - requests.start) @ (requests.demand / requests.capacity)
    return float(by_resource[0] / by_resource[1])


def machines_for(requests: TimedRequests, wanted: float) -> int:
    """The number of machines whose load is nearest to the one that is wanted."""
    exact = float(work(requests).sum() / (wanted * horizon(requests)))
    few = max(1, int(exact))
    return few if abs(load(requests, few) - wanted) <= abs(load(requests, few + 1) - wanted) else few + 1


def size_for(requests: TimedRequests, wanted: float, machines: int) -> int:
    """How many requests, drawn uniformly, have this load on that many machines."""
    return max(1, round(wanted * machines * horizon(requests) / float(work(requests).mean())))


@cache
def size_of(trace: str, wanted: float, machines: int) -> int:
    """The same for a source; where its requests depend on a seed, those of the first one stand for all."""
    return size_for(requests_of(trace, 0), wanted, machines)


def drawn(requests: TimedRequests, size: int, seed: int) -> TimedRequests:
    """That many requests, uniformly: without repetition if there are enough, else with it; copies share a name."""
    n = len(requests.name)
    return part(requests, np.sort(np.random.default_rng(seed).choice(n, size=size, replace=size > n)))


def part(requests: TimedRequests, some: IntArray) -> TimedRequests:
    """Only these requests."""
    return TimedRequests(
        name=tuple(requests.name[j] for j in some.tolist()),
        resources=requests.resources,
        capacity=requests.capacity,
        start=requests.start[some],
        end=requests.end[some],
        demand=requests.demand[some],
        value=requests.value[some],
    )
