"""Alibaba/Tianchi 2018: real layouts of 68,224 containers of 9,338 applications, with limits on which share a machine.

CPU and memory are curves of 98 points over a day, in float32. The request is the peak of the curve (stricter than the
competition, which asks for free capacity at every point of the day) or its mean; mean and standard deviation over the day become
the usage. Disk and the P, M, PM slots are as they stand. There is no traffic in this trace.
"""

from pathlib import Path
from typing import Any, Literal

import numpy as np

from bayplan.errors import Fault, InputError, UsageError
from bayplan.formats.traces.table import amounts_ok, names_ok, positions, read_columns
from bayplan.model import (
    NO_LIMIT,
    UNPLACED,
    Capacity,
    Cluster,
    Containers,
    FloatArray,
    Interference,
    Machines,
    Objective,
    Placement,
    Resource,
    Services,
    Snapshot,
    Traffic,
    Workloads,
    machine_level,
)

TIANCHI_SETS = ("prelimB", "semi_a", "semi_b", "semi_c")
SCALE = 10**6  # of cpu and memory, whose curves are float32; rounded to nearest
LARGEST = 1e6  # of an amount: so all of them together, times their scale, stay within int64
FIELDS = {"cpu": SCALE, "mem": SCALE, "disk": 1, "P": 1, "M": 1, "PM": 1}
RESOURCES = (
    Resource(name="cpu", scale=SCALE, unit="cores"),
    Resource(name="memory", scale=SCALE, unit="GB"),
    *(Resource(name=name) for name in ("disk", "P", "M", "PM")),
)


def read_tianchi(folder: Path | str, name: str = "prelimB", *, request: Literal["peak", "mean"] = "peak") -> Snapshot:
    """The layout called `name`, as it was found; in prelimB 6,970 containers have no machine.

    At every point of the day the layouts fit and keep the limits. Peaks do not fall together, so with `peak` some
    machines are over capacity: 1,677 in prelimB, 2,029 in semi_a, 2,018 in semi_b, 2,488 in semi_c; with `mean` none.
    """
    if name not in TIANCHI_SETS:
        raise UsageError(f"there is no Tianchi set '{name}'; choose one of {', '.join(TIANCHI_SETS)}")
    apps = read_columns(folder, "app_resources.parquet", ["app", *FIELDS])
    machines = read_columns(folder, f"machines_{name}.parquet", ["machine", *FIELDS])
    for key, table in (("app", apps), ("machine", machines)):
        amounts_ok(folder, largest=LARGEST, **{field: table[field] for field in FIELDS})
        names_ok(folder, key, table[key].tolist())
    _some_capacity(folder, machines)
    containers, placement = _deployed(folder, name, apps["app"].tolist(), machines["machine"].tolist())
    capacity = np.stack([machines[field] * scale for field, scale in FIELDS.items()], axis=1)
    cluster = Cluster(
        name=f"tianchi-{name}",
        resources=RESOURCES,
        machines=Machines(name=tuple(machines["machine"]), capacity=capacity, safety=capacity),
        levels=(machine_level(machines["machine"]),),
        services=Services(name=tuple(apps["app"]), clique=np.zeros(len(apps["app"]))),
        workloads=_workloads(apps, request),
        containers=containers,
        traffic=Traffic.none(),
        rules=(Capacity(resources=tuple(range(len(RESOURCES)))), *_limits(folder, apps["app"].tolist())),
    )
    return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster), notes=_notes(request))


def _some_capacity(folder: Path | str, machines: dict[str, Any]) -> None:
    bare = np.flatnonzero(~np.stack([machines[field] for field in FIELDS], axis=1).any(axis=1))
    problem, expected = "has no capacity of any resource", "some of at least one"
    names = machines["machine"][bare].tolist()
    faults = [Fault(code="E1808", kind="machine", name=name, problem=problem, value="0", expected=expected) for name in names]
    if faults:
        raise InputError(str(folder), faults)


def _notes(request: str) -> tuple[str, ...]:
    return (
        f"cpu and memory: the {request} of a curve of 98 points, times {SCALE}, rounded to nearest",
        "usage: mean and standard deviation of the curve over the day, not of independent draws",
        "the layout is as it was found: it fits at every point of the day, but not if all peaks fell together",
    )


def _workloads(apps: dict[str, Any], request: str) -> Workloads:
    names = tuple(apps["app"])
    requested = _table(apps, "max" if request == "peak" else "mean")
    return Workloads(
        name=names,
        service=np.arange(len(names)),
        request=np.rint(requested),
        usage_mean=_table(apps, "mean"),
        usage_std=_table(apps, "std"),
        limit=np.full(requested.shape, NO_LIMIT),
    )


def _table(apps: dict[str, Any], figure: str) -> FloatArray:
    """(app, resource) one figure of each curve; a constant amount is its own peak and mean."""
    columns = []
    for field, scale in FIELDS.items():
        curve = apps[field].reshape(len(apps[field]), -1)
        columns.append(getattr(curve, figure)(axis=1) * scale)
    return np.stack(columns, axis=1).astype(np.float64)


def _deployed(folder: Path | str, name: str, apps: list[str], machines: list[str]) -> tuple[Containers, Placement]:
    deploy = read_columns(folder, f"deploy_{name}.parquet", ["inst", "app", "machine"])
    workload = positions(folder, "application", apps, deploy["app"].tolist())
    order = np.argsort(workload, kind="stable")
    on = np.array([machine is not None for machine in deploy["machine"]])
    names_ok(folder, "instance", deploy["inst"].tolist())
    machine_of = np.full(len(workload), UNPLACED)
    machine_of[on] = positions(folder, "machine", machines, deploy["machine"][on].tolist())
    containers = Containers(name=tuple(deploy["inst"][order]), workload=workload[order])
    return containers, Placement(machine_of=machine_of[order])


def _limits(folder: Path | str, apps: list[str]) -> tuple[Interference, ...]:
    """Where a runs, at most k of b run; k + 1 if b is a itself."""
    columns = read_columns(folder, "app_interference.parquet", ["app_a", "app_b", "max_b_with_a"])
    amounts_ok(folder, max_b_with_a=columns["max_b_with_a"])
    a, b = (positions(folder, "application", apps, columns[key].tolist()).tolist() for key in ("app_a", "app_b"))
    return tuple(
        Interference(a=i, b=j, limit=k + (i == j)) for i, j, k in zip(a, b, columns["max_b_with_a"].tolist(), strict=True)
    )
