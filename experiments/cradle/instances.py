"""Requests drawn uniformly from a trace, and the number of machines that gives a load ([Cradle] §V and (5))."""

from functools import cache, partial

import numpy as np

from bayplan.formats.traces.google2011 import read_google2011
from bayplan.formats.traces.virtual_machines import read_azure, read_huawei
from bayplan.generate import GENERATORS
from bayplan.model import FloatArray, IntArray, TimedRequests
from experiments.calibration.data import real_file
from experiments.cradle.settings import MADE

READERS = {"google2011": read_google2011, "azure_v1_vms": read_azure, "huawei_east1": partial(read_huawei, capacity=(16, 32))}


@cache
def requests_of(trace: str) -> TimedRequests:
    """All requests of a trace that a machine can hold: of huawei_east1 388 cannot be, on 16 cores and 32 GB."""
    if trace == MADE:
        made = GENERATORS["requests"].make(machines=30, load=12.0, seed=0)
        assert isinstance(made, TimedRequests)
        return made
    every = READERS[trace](real_file(f"traces/{trace}"))
    return part(every, np.flatnonzero((every.demand <= every.capacity).all(axis=1)))


def work(requests: TimedRequests) -> FloatArray:
    """(request,) the mean of its demands, in machines, times its duration: what (5) adds up."""
    return (requests.demand / requests.capacity).mean(axis=1) * (requests.end - requests.start)


def horizon(requests: TimedRequests) -> float:
    """T_Horizon of (5)."""
    return float(requests.end.max() - requests.start.min())


def load(requests: TimedRequests, machines: int) -> float:
    """(5)."""
    return float(work(requests).sum() / (machines * horizon(requests)))


def machines_for(requests: TimedRequests, wanted: float) -> int:
    """The number of machines whose load is nearest to the one that is wanted."""
    exact = float(work(requests).sum() / (wanted * horizon(requests)))
    few = max(1, int(exact))
    return few if abs(load(requests, few) - wanted) <= abs(load(requests, few + 1) - wanted) else few + 1


def size_for(requests: TimedRequests, wanted: float, machines: int) -> int:
    """How many requests, drawn uniformly, have this load on that many machines."""
    return max(1, round(wanted * machines * horizon(requests) / float(work(requests).mean())))


def drawn(requests: TimedRequests, size: int, seed: int) -> TimedRequests:
    """So many requests, uniformly, without repetition; all if there are not more."""
    n = len(requests.name)
    if size >= n:
        return requests
    return part(requests, np.sort(np.random.default_rng(seed).choice(n, size=size, replace=False)))


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
