"""What docs/verbs/generate.md says of what arrives over time: requests, the trace they resemble, and container clusters."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bayplan.check import check_schedule
from bayplan.formats.traces.table import read_columns
from bayplan.generate.container_clusters import container_clusters
from bayplan.generate.requests import WINDOW, requests
from bayplan.model import Fleet, FloatArray, TimedRequests
from experiments.calibration.fits import area_bound, cyclic_first_fit

WIDE = 0.5  # of a machine, in cpu or memory ([Cradle])
PERCENTILES = (50, 90, 95)
FOREVER, DRAWN = 1e9, 30_000  # a horizon that clips no duration, and how many requests show their durations
SLOTS = 100  # T, the default of container-clusters
FIVE = 5  # members of the clusters that the page speaks of


@dataclass(frozen=True, slots=True, kw_only=True)
class Loads:
    """How many machines the requests are for, and the load factors at which they are served."""

    machines: int = 100
    factors: tuple[int, ...] = (1, 2, 12)


def of_requests(seed: int, loads: Loads) -> dict[str, float]:
    """The shape of the default requests, and how many are served at each load."""
    made = requests(seed=seed, machines=loads.machines)
    duration = made.end - made.start
    drawn = requests(seed=seed, machines=1, load=1e-3, horizon=FOREVER, n=DRAWN)
    values = {
        "requests": len(made.name),
        **_demand(made.demand / made.capacity),
        "duration, median, start and end in the window": np.median(duration[made.end < WINDOW]),
        **_percentiles(drawn.end - drawn.start),
    }
    for load in loads.factors:
        values |= {f"load {load}: {name}": value for name, value in _served(seed, loads.machines, load).items()}
    return values


def _served(seed: int, machines: int, load: int) -> dict[str, float]:
    made: TimedRequests = requests(seed=seed, machines=machines, load=float(load))
    schedule = cyclic_first_fit(made, machines)
    return {
        "requests": len(made.name),
        "share served by cyclic first fit": len(schedule.served) / len(made.name),
        "rules broken": len(check_schedule(made, schedule, Fleet.alike(machines, made.capacity))),
        "area bound on the share served": area_bound(made, machines, WINDOW),
    }


def of_google2011(folder: Path) -> dict[str, float]:
    """The same shape in the trace. Durations are from scheduling; those of job ends are an upper bound on the task's."""
    names = ("submit_us", "schedule_us", "task_end_us", "end_us", "cpu", "mem")
    submit, schedule, task_end, end, cpu, memory = read_columns(folder, "tasks_part0.parquet", names).values()
    later = submit > 0
    in_window, in_trace = ((done[later] - schedule[later]) / 1e6 for done in (task_end, end))
    in_window, in_trace = in_window[~np.isnan(in_window)], in_trace[~np.isnan(in_trace)]
    return {
        "requests": len(submit),
        "requests there at time 0": (~later).sum(),
        **_demand(np.stack([cpu, memory], axis=1)),
        "duration, median, start and end in the window": np.median(in_window),
        "requests that start and end in the window": len(in_window),
        **_percentiles(in_trace),
    }


def _demand(demand: FloatArray) -> dict[str, float]:
    """Of (request, resource) shares of a machine; logarithms only of those that ask for both."""
    log = np.log(demand[(demand > 0).all(axis=1)])
    wide = (demand > WIDE).any(axis=1)
    return {
        "cpu, median": np.median(demand[:, 0]),
        "memory, median": np.median(demand[:, 1]),
        "standard deviation of log cpu": log[:, 0].std(),
        "standard deviation of log memory": log[:, 1].std(),
        "correlation of log cpu and log memory": np.corrcoef(log.T)[0, 1],
        "wide requests": wide.sum(),
        "share of wide requests": wide.mean(),
    }


def _percentiles(duration: FloatArray) -> dict[str, float]:
    return {f"duration, {q} %, not clipped": np.percentile(duration, q) for q in PERCENTILES}


def of_container_clusters(seed: int) -> dict[str, float]:
    """What all requests together would use of the zones over all slots, and of the links if every pair ran apart."""
    made = container_clusters(seed=seed, slots=SLOTS)
    zones, asked = made.zones, made.requests
    time = np.array([request.end - request.start for request in asked])
    demand = time @ np.array([request.demand.sum(axis=0) for request in asked]) / (SLOTS * zones.capacity.sum(axis=0))
    traffic = time @ np.array([request.traffic.sum() for request in asked])
    five = [request.demand.sum(axis=0) for request in asked if len(request.members) == FIVE]
    return {
        "zones": len(zones.name),
        "requests": len(asked),
        "members": sum(len(request.members) for request in asked),
        **{f"{r.name} of the zones, if all were accepted": used for r, used in zip(zones.resources, demand, strict=True)},
        "bandwidth of the links, if all were accepted and every pair ran apart": traffic / (SLOTS * zones.bandwidth.sum()),
        "share of the clusters of five that need two zones or more": np.mean(
            (np.array(five) > zones.request_cap.max(axis=0)).any(axis=1)
        ),
    }
