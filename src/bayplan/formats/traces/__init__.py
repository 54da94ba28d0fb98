"""Published traces as values of the model, for experiments. Parquet files need `pip install 'bayplan[data]'`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bayplan.formats.traces.alibaba_callgraphs import CallGraph, read_callgraphs
from bayplan.formats.traces.alibaba_dlrm2025 import read_dlrm, read_dlrm_requests
from bayplan.formats.traces.alibaba_tianchi2018 import TIANCHI_SETS, read_tianchi
from bayplan.formats.traces.google2011 import read_google2011, read_google2011_jobs
from bayplan.formats.traces.virtual_machines import Batch, azure_batches, read_azure, read_huawei
from bayplan.model import Snapshot, TimedRequests

__all__ = [
    "TIANCHI_SETS",
    "TRACES",
    "Batch",
    "CallGraph",
    "Trace",
    "azure_batches",
    "read_azure",
    "read_callgraphs",
    "read_dlrm",
    "read_dlrm_requests",
    "read_google2011",
    "read_google2011_jobs",
    "read_huawei",
    "read_tianchi",
]


Convertible: TypeAlias = Snapshot | TimedRequests


class Trace(NamedTuple):
    """What a trace is, and how its folder (and a seed, where something is drawn) becomes one native document."""

    about: str
    read: Callable[[Path, int], Convertible] | None  # None: several values, only from Python


TRACES: Mapping[str, Trace] = {
    "google2011": Trace(
        "190,926 tasks with CPU and memory, 94 minutes of 2011 and what ran before",
        lambda folder, _: read_google2011(folder),
    ),
    "google2011_semi_real": Trace(
        "672,074 jobs of 29 days of 2011; semi-real: their demands are drawn from the tasks of the first 94 minutes",
        lambda folder, seed: read_google2011_jobs(folder, seed=seed),
    ),
    "azure_v1_vms": Trace(
        "669,435 virtual machines with lifetimes, 9 days of 2017; `azure_batches` has them as tenants' batches",
        lambda folder, seed: read_azure(folder, seed=seed),
    ),
    "huawei_east1": Trace("116,313 virtual machines with lifetimes, one month", lambda folder, _: read_huawei(folder)),
    **{
        f"alibaba_tianchi2018/{name}": Trace(
            "68,224 containers of 9,338 applications on thousands of machines, 33,416 limits",
            lambda folder, _, name=name: read_tianchi(folder, name),  # type: ignore[misc]
        )
        for name in TIANCHI_SETS
    },
    "alibaba_callgraphs": Trace("the calls between the microservices of 2,014 applications: `read_callgraphs`", None),
    "alibaba_dlrm2025": Trace(
        "23,871 instances of 156 recommendation services, five resources; `read_dlrm_requests` has them over time",
        lambda folder, _: read_dlrm(folder),
    ),
}
