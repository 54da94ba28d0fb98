"""Huawei-East-1: virtual machines created and deleted within one month (CC BY-NC 4.0: not for commercial use)."""

from pathlib import Path

import numpy as np

from bayplan.formats.traces.table import amounts_ok, names_ok, read_columns, times_ok
from bayplan.model import Resource, TimedRequests


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
