"""Virtual machines with lifetimes: Azure Public Dataset V1 (2017) and Huawei-East-1 (CC BY-NC 4.0: not for commercial use).

Azure's arrivals and lifetimes stand on a grid of 300 s. A lifetime of d seconds means that the machine was seen in the slots
arrival .. arrival + d, both included, so it is (arrival, arrival + d + 300] here. Longer lifetimes are known by their bin only: d
is drawn evenly from the bin's grid points. For a censored machine (5.6 %) the bin is the last that was seen.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayplan.formats.traces.table import LARGEST, amounts_ok, names_ok, read_columns, times_ok
from bayplan.model import FloatArray, IntArray, Resource, TimedRequests, floats, ints

SLOT = 300  # seconds
SCALE = 100  # memory comes in quarters of a GB
RESOURCES = (Resource(name="cpu", unit="cores"), Resource(name="memory", scale=SCALE, unit="GB"))
WITH_LIFETIME = ("dev", "test")  # the other split, train, has no durations
COLUMNS = ("split", "arrival_s", "batch_id", "vcpu", "mem_gb", "censored", "dur_lo_s", "dur_hi_s")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Machines that one tenant started in the same slot: a natural cluster of containers, without its traffic."""

    name: str
    members: tuple[str, ...]
    demand: IntArray  # (member, resource) cpu, memory
    arrival: float  # seconds; also the start
    end: float  # of the member that lives longest

    def __post_init__(self) -> None:
        object.__setattr__(self, "demand", ints(self.demand))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Machines:
    batch: IntArray  # (machine,)
    start: FloatArray
    end: FloatArray
    demand: IntArray  # (machine, resource)
    censored: Any  # (machine,) bool


def read_azure(
    folder: Path | str, *, capacity: tuple[float, float] = (16.0, 112.0), censored: bool = True, seed: int = 0
) -> TimedRequests:
    """One request per virtual machine of the splits that have lifetimes; `capacity` is cores and GB of one machine."""
    machines = _machines(folder, seed)
    keep = np.arange(len(machines.batch)) if censored else np.flatnonzero(~machines.censored)
    return TimedRequests(
        name=tuple(f"vm{number}" for number in keep.tolist()),
        resources=RESOURCES,
        capacity=np.rint(np.array(capacity) * [1, SCALE]),
        start=machines.start[keep],
        end=machines.end[keep],
        demand=machines.demand[keep],
        value=np.ones(len(keep)),
    )


def azure_batches(
    folder: Path | str, *, smallest: int = 2, largest: int = 8, censored: bool = False, seed: int = 0
) -> tuple[Batch, ...]:
    """Batches of `smallest` to `largest` machines in order of arrival; with `censored`, also those with a censored one."""
    machines = _machines(folder, seed)
    order = np.argsort(machines.batch, kind="stable")  # ids grow with the arrival
    number, first, size = np.unique(machines.batch[order], return_index=True, return_counts=True)
    hidden = np.add.reduceat(machines.censored[order].astype(np.int64), first) > 0
    wanted = (size >= smallest) & (size <= largest) & (censored | ~hidden)
    return tuple(_batch(machines, int(number[i]), order[first[i] : first[i] + size[i]]) for i in np.flatnonzero(wanted))


def _batch(machines: _Machines, number: int, member: IntArray) -> Batch:
    return Batch(
        name=f"batch{number}",
        members=tuple(f"vm{i}" for i in range(len(member))),
        demand=machines.demand[member],
        arrival=float(machines.start[member[0]]),
        end=float(machines.end[member].max()),
    )


def _machines(folder: Path | str, seed: int) -> _Machines:
    columns = read_columns(folder, "azure_v1_vms.parquet", COLUMNS)
    keep = np.isin(columns["split"].astype(str), WITH_LIFETIME)
    part = {name: column[keep] for name, column in columns.items()}
    amounts_ok(folder, **{name: part[name] for name in ("arrival_s", "batch_id", "vcpu", "dur_lo_s", "dur_hi_s")})
    amounts_ok(folder, largest=LARGEST / SCALE, mem_gb=part["mem_gb"])
    times_ok(folder, "dur_hi_s", part["dur_lo_s"] > part["dur_hi_s"])
    low, high = (part[name].astype(np.int64) // SLOT for name in ("dur_lo_s", "dur_hi_s"))
    slots = np.random.default_rng(seed).integers(low, high, endpoint=True) + 1
    start = part["arrival_s"].astype(np.float64)
    return _Machines(
        batch=ints(part["batch_id"]),
        start=floats(start),
        end=floats(start + slots * SLOT),
        demand=ints(np.rint(np.stack([part["vcpu"], part["mem_gb"] * SCALE], axis=1))),
        censored=part["censored"].astype(bool),
    )


def read_huawei(folder: Path | str, *, capacity: tuple[int, int] = (64, 128)) -> TimedRequests:
    """One request per virtual machine, in seconds; `capacity` is cores and GB of one machine. Each is worth 1.

    Machines that were never deleted are not in the trace.
    """
    columns = read_columns(folder, "huawei_east1_lifetimes.parquet", ["vmid", "cpu", "mem", "at", "lt"])
    amounts_ok(folder, **columns)
    start, end = columns["at"], columns["at"] + columns["lt"]
    times_ok(folder, "lt", ~(start < end))
    names = tuple(f"vm{number}" for number in columns["vmid"].tolist())
    names_ok(folder, "machine", names)
    return TimedRequests(
        name=names,
        resources=(Resource(name="cpu", unit="cores"), Resource(name="memory", unit="GB")),
        capacity=np.array(capacity),
        start=start,
        end=end,
        demand=np.stack([columns["cpu"], columns["mem"]], axis=1),
        value=np.ones(len(columns["at"])),
    )
