"""Alibaba cluster-trace-gpu-v2025: instances of 156 recommendation services, each with CPU nodes (CN) and GPU nodes (HN).

Real: requests, limits, times, and how many instances of a role may share a machine. Synthetic: the machines (the
trace has none) and the weight of the traffic between the two roles of an application (the trace says only that they
talk over RDMA).
"""

import csv
import gzip
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bayplan.errors import Fault, InputError, UsageError
from bayplan.formats.traces.table import LARGEST, names_ok, trace_file
from bayplan.model import (
    AntiAffinity,
    Capacity,
    Cluster,
    Containers,
    IntArray,
    Machines,
    Objective,
    Placement,
    Resource,
    Rule,
    Services,
    Snapshot,
    TimedRequests,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
)

FILE = "disaggregated_DLRM_trace.csv.gz"
FIELDS = ("cpu", "gpu", "rdma", "memory", "disk")
SCALE = 1000  # of memory and disk, which come with decimals; rounded to nearest
SCALES = (1, 1, 1, SCALE, SCALE)
RESOURCES = tuple(
    Resource(name=name, scale=scale, unit=unit)
    for name, scale, unit in zip(FIELDS, SCALES, ("cores", "", "", "GB", "GB"), strict=True)
)
CPU_MACHINE = (192, 0, 100, 1536, 4000)  # made up: each role fits a few times
GPU_MACHINE = (192, 8, 400, 1536, 4000)
MONTH = 31 * 86400.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class _Instance:
    name: str
    app: str
    role: str
    request: tuple[int, ...]  # (resource,)
    limit: tuple[int, ...]  # (resource,)
    per_machine: int  # of this app and role; -1 for no limit
    created: float
    deleted: float


def read_dlrm(folder: Path | str, *, at: float = 0.0, fill: float = 0.7, machines: tuple[int, int] | None = None) -> Snapshot:
    """The instances alive at second `at`, none placed, on made-up machines without and with GPUs.

    `machines` says how many of each; by default as many as bring the scarcest resource of each role to `fill`.
    """
    if not 0 < fill <= 1:
        raise UsageError(f"fill is {fill}; expected more than 0 and at most 1")
    alive = sorted((i for i in _instances(folder) if i.created <= at < i.deleted), key=_key)
    if not alive:
        raise UsageError(f"no instance is alive at second {at}; the trace covers 0 to {MONTH:.0f}")
    keys = list(dict.fromkeys(map(_key, alive)))
    index = {key: w for w, key in enumerate(keys)}
    containers = Containers(name=tuple(i.name for i in alive), workload=np.array([index[_key(i)] for i in alive]))
    counts = machines or (_needed(alive, "CN", CPU_MACHINE, fill), _needed(alive, "HN", GPU_MACHINE, fill))
    fleet = _machines(*counts)
    apps = list(dict.fromkeys(key[0] for key in keys))
    cluster = Cluster(
        name="dlrm",
        resources=RESOURCES,
        machines=fleet,
        levels=(machine_level(fleet.name),),
        services=Services(name=tuple(apps), clique=np.zeros(len(apps))),
        workloads=_workloads(keys, apps),
        containers=containers,
        traffic=_traffic(keys, np.bincount(containers.workload)),
        rules=(Capacity(resources=tuple(range(len(FIELDS)))), *_limits(keys)),
    )
    return Snapshot(
        cluster=cluster, placement=Placement.empty(len(alive)), objective=Objective.default(cluster), notes=_notes(counts, at)
    )


def read_dlrm_requests(folder: Path | str, *, capacity: Sequence[float] = GPU_MACHINE, window: float = MONTH) -> TimedRequests:
    """One request per instance, from its creation (0 if before the trace) to its deletion or `window`, in seconds.

    Instances that were deleted when they were created, or before (15 of 23,871), are left out.
    """
    instances = [i for i in _instances(folder) if i.created < min(i.deleted, window)]
    return TimedRequests(
        name=tuple(i.name for i in instances),
        resources=RESOURCES,
        capacity=np.rint(np.array(capacity) * SCALES),
        start=floats([i.created for i in instances]),
        end=floats([min(i.deleted, window) for i in instances]),
        demand=ints([i.request for i in instances]),
        value=np.ones(len(instances)),
    )


# Reading ------------------------------------------------------------------------------------------


def _instances(folder: Path | str) -> list[_Instance]:
    path = trace_file(folder, FILE)
    needed = ["instance_sn", "role", "app_name", "max_instance_per_node", "creation_time", "deletion_time"]
    needed += [f"{field}_{word}" for field in FIELDS for word in ("request", "limit")]
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in needed if name not in (reader.fieldnames or ())]
            rows = [] if missing else list(reader)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        fault = Fault(
            code="E1803", kind="file", name=FILE, problem="cannot be read", value=str(error), expected="a gzipped CSV file"
        )
        raise InputError(str(path), [fault]) from error
    if missing:
        problem, expected = "the column is missing", f"it in '{FILE}'"
        raise InputError(
            str(path), [Fault(code="E1802", kind="column", name=m, problem=problem, expected=expected) for m in missing]
        )
    return _parsed(path, rows)


def _parsed(path: Path, rows: Iterable[dict[str, str]]) -> list[_Instance]:
    instances, faults = [], []
    for row in rows:
        try:
            instances.append(_instance(row))
        except (TypeError, ValueError, OverflowError) as error:
            problem, expected = "a value is missing or cannot be", "numbers, zero or more"
            faults.append(
                Fault(
                    code="E1804",
                    kind="instance",
                    name=str(row["instance_sn"]),
                    problem=problem,
                    value=str(error),
                    expected=expected,
                )
            )
    if faults:
        raise InputError(str(path), faults)
    names_ok(path, "instance", [instance.name for instance in instances])
    return instances


def _instance(row: dict[str, str]) -> _Instance:
    request, limit = (_amounts(row, word) for word in ("request", "limit"))
    if any(most < requested for most, requested in zip(limit, request, strict=True)):
        raise ValueError("a limit is below its request")
    return _Instance(
        name=row["instance_sn"],
        app=row["app_name"],
        role=row["role"],
        request=request,
        limit=limit,
        per_machine=int(row["max_instance_per_node"]),
        created=float(row["creation_time"] or 0.0),
        deleted=float(row["deletion_time"] or math.inf),
    )


def _amounts(row: dict[str, str], word: str) -> tuple[int, ...]:
    return tuple(_amount(row[f"{field}_{word}"], scale) for field, scale in zip(FIELDS, SCALES, strict=True))


def _amount(text: str, scale: int) -> int:
    amount = round(float(text) * scale)
    if not 0 <= amount <= LARGEST:
        raise ValueError(f"{text} is negative or too large")
    return amount


# Building -----------------------------------------------------------------------------------------

_Key = tuple[str, str, int, tuple[int, ...], tuple[int, ...]]  # app, role, per machine, request, limit


def _key(instance: _Instance) -> _Key:
    """Instances that are alike are one workload."""
    return (instance.app, instance.role, instance.per_machine, instance.request, instance.limit)


def _workloads(keys: list[_Key], apps: list[str]) -> Workloads:
    request = ints([key[3] for key in keys])
    return Workloads(
        name=_names(keys),
        service=np.array([apps.index(key[0]) for key in keys]),
        request=request,
        usage_mean=request.astype(np.float64),
        usage_std=np.zeros(request.shape),
        limit=ints([key[4] for key in keys]),
    )


def _names(keys: list[_Key]) -> tuple[str, ...]:
    """'app_0-HN', and 'app_0-HN-1', 'app_0-HN-2' where the instances of a role are not all alike."""
    names: list[str] = []
    for number, key in enumerate(keys):
        alike = [k for k, other in enumerate(keys) if other[:2] == key[:2]]
        name = f"{key[0]}-{key[1]}"
        names.append(name if len(alike) == 1 else f"{name}-{alike.index(number) + 1}")
    return tuple(names)


def _limits(keys: list[_Key]) -> list[Rule]:
    groups: dict[tuple[str, str, int], list[int]] = {}
    for w, (app, role, per_machine, *_) in enumerate(keys):
        if per_machine > 0:
            groups.setdefault((app, role, per_machine), []).append(w)
    return [AntiAffinity(workloads=tuple(ws), limit=limit) for (_, _, limit), ws in groups.items()]


def _traffic(keys: list[_Key], replicas: IntArray) -> Traffic:
    """CN to HN of each app: the RDMA bandwidth of the smaller side, shared out over its workloads by theirs."""
    rdma = np.array([key[3][FIELDS.index("rdma")] for key in keys]) * replicas
    a, b, weight = [], [], []
    for app in dict.fromkeys(key[0] for key in keys):
        cn, hn = ([w for w, key in enumerate(keys) if key[:2] == (app, role)] for role in ("CN", "HN"))
        sides = rdma[cn].sum(), rdma[hn].sum()
        for i in cn:
            for j in hn:
                a.append(i)
                b.append(j)
                weight.append(min(sides) * rdma[i] / sides[0] * rdma[j] / sides[1] if min(sides) else 0.0)
    return Traffic.between(ints(a), ints(b), floats(weight)) if a else Traffic.none()


def _needed(alive: list[_Instance], role: str, machine: Sequence[int], fill: float) -> int:
    total: list[int] = ints([i.request for i in alive if i.role == role]).reshape(-1, len(FIELDS)).sum(axis=0).tolist()
    share: float = max(t / (c * scale) for t, c, scale in zip(total, machine, SCALES, strict=True) if c)
    return max(1, math.ceil(share / fill))


def _machines(cpu: int, gpu: int) -> Machines:
    capacity = ints(np.repeat(np.array([CPU_MACHINE, GPU_MACHINE]) * SCALES, [cpu, gpu], axis=0))
    names = (*(f"cpu-{i}" for i in range(cpu)), *(f"gpu-{i}" for i in range(gpu)))
    return Machines(name=names, capacity=capacity, safety=capacity)


def _notes(counts: tuple[int, int], at: float) -> tuple[str, ...]:
    return (
        f"instances alive at second {at:.0f}, none placed: the trace does not say where they ran",
        f"synthetic: {counts[0]} machines of {CPU_MACHINE} and {counts[1]} of {GPU_MACHINE} ({', '.join(FIELDS)})",
        "synthetic: traffic between CN and HN of an application is the RDMA bandwidth of the smaller side",
    )
