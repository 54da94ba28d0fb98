"""Published traces as values of the model, for experiments. Parquet files need `pip install 'bayplan[data]'`."""

from collections.abc import Mapping
from typing import NamedTuple

from bayplan.collect.traces.alibaba_callgraphs import CallGraph, read_callgraphs
from bayplan.collect.traces.alibaba_dlrm2025 import read_dlrm, read_dlrm_requests
from bayplan.collect.traces.alibaba_tianchi2018 import TIANCHI_SETS, read_tianchi
from bayplan.collect.traces.azure_v1_vms import Batch, azure_batches, read_azure
from bayplan.collect.traces.google2011 import read_google2011
from bayplan.collect.traces.huawei_east1 import read_huawei

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
    "read_huawei",
    "read_tianchi",
]


class Trace(NamedTuple):
    """What a trace is and what reads it; every reader's first argument is the trace's folder."""

    about: str
    readers: tuple[object, ...]  # callables


TRACES: Mapping[str, Trace] = {
    "google2011": Trace("190,926 tasks with CPU and memory, 94 minutes of 2011 and what ran before", (read_google2011,)),
    "azure_v1_vms": Trace(
        "669,435 virtual machines with lifetimes, 9 days of 2017, in tenants' batches", (read_azure, azure_batches)
    ),
    "huawei_east1": Trace("116,313 virtual machines with lifetimes, one month", (read_huawei,)),
    "alibaba_tianchi2018": Trace(
        "68,224 containers of 9,338 applications on 6,000-9,000 machines, 33,416 limits", (read_tianchi,)
    ),
    "alibaba_callgraphs": Trace("who calls whom how often in 2,014 applications", (read_callgraphs,)),
    "alibaba_dlrm2025": Trace("23,871 instances of 156 recommendation services, five resources", (read_dlrm, read_dlrm_requests)),
}
