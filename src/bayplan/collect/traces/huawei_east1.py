"""Huawei-East-1: virtual machines created and deleted within one month (CC BY-NC 4.0: not for commercial use)."""

from pathlib import Path

import numpy as np

from bayplan.collect.traces.table import amounts_ok, read_columns
from bayplan.model import Resource, TimedRequests


def read_huawei(folder: Path | str, *, capacity: tuple[int, int] = (64, 128)) -> TimedRequests:
    """One request per virtual machine, in seconds; `capacity` is cores and GB of one machine. Each is worth 1.

    Machines that were never deleted are not in the trace.
    """
    columns = read_columns(folder, "huawei_east1_lifetimes.parquet", ["vmid", "cpu", "mem", "at", "lt"])
    amounts_ok(folder, **columns)
    return TimedRequests(
        name=tuple(f"vm{number}" for number in columns["vmid"].tolist()),
        resources=(Resource(name="cpu", unit="cores"), Resource(name="memory", unit="GB")),
        capacity=np.array(capacity),
        start=columns["at"],
        end=columns["at"] + columns["lt"],
        demand=np.stack([columns["cpu"], columns["mem"]], axis=1),
        value=np.ones(len(columns["at"])),
    )
