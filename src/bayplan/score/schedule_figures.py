"""A schedule in numbers: what is served of each class and on each kind of machine, and how much is requested and used."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import UNPLACED, BoolArray, Fleet, Schedule, TimedRequests
from bayplan.score.timed_load import load_curve, load_factor, loads, span, wide


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedClass:
    """The requests of one class."""

    name: str
    requests: int
    served: int
    requested: float  # value of all
    value: float  # of those that are served


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetKind:
    """The machines of one kind."""

    name: str
    machines: int
    served: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedUse:
    """One resource over time, as shares of all machines."""

    name: str
    requested: float  # the load factor of this resource alone
    used: float  # of what is served
    peak: float  # the most that is requested at one time
    peak_used: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFigures:
    """What a schedule comes to."""

    requests: int
    served: int
    machines: int
    requested: float  # value of all requests
    value: float  # of those that are served
    load: float  # [Cradle] (5); NaN without machines
    utilisation: float  # the same of what is served
    span: float  # T of (5)
    narrow: int
    wide: int
    too_large: int  # requests that fit on no machine
    resources: tuple[TimedUse, ...]
    classes: tuple[ServedClass, ...]
    kinds: tuple[FleetKind, ...]


def served_by(requests: TimedRequests, schedule: Schedule | None) -> BoolArray:
    """(request,) has it a machine? None has, without a schedule."""
    if schedule is None:
        return np.zeros(len(requests.name), dtype=np.bool_)
    return np.asarray(schedule.machine_of != UNPLACED, dtype=np.bool_)


def schedule_figures(requests: TimedRequests, fleet: Fleet, schedule: Schedule | None) -> ScheduleFigures:
    """A schedule in numbers; without one, nothing is served."""
    served, is_wide = served_by(requests, schedule), wide(requests).any(axis=1)
    used = loads(requests, fleet, served)
    known = used[~np.isnan(used)]
    return ScheduleFigures(
        requests=len(served),
        served=int(served.sum()),
        machines=fleet.size,
        requested=float(requests.value.sum()),
        value=float(requests.value[served].sum()),
        load=load_factor(requests, fleet),
        utilisation=float(known.mean()) if len(known) else float("nan"),
        span=span(requests),
        narrow=int((~is_wide).sum()),
        wide=int(is_wide.sum()),
        too_large=_too_large(requests, fleet),
        resources=_resources(requests, fleet, served),
        classes=_classes(requests, served),
        kinds=_kinds(requests, fleet, schedule),
    )


def _too_large(requests: TimedRequests, fleet: Fleet) -> int:
    """The number of requests that fit on no machine, even an empty one."""
    fits = np.zeros(len(requests.name), dtype=np.bool_)
    for kind in np.flatnonzero(fleet.machines).tolist():
        fits |= (requests.demand <= fleet.capacity[kind]).all(axis=1)
    return int((~fits).sum())


def _resources(requests: TimedRequests, fleet: Fleet, served: BoolArray) -> tuple[TimedUse, ...]:
    total = (fleet.machines[:, None] * fleet.capacity.astype(np.float64)).sum(axis=0)
    peaks = [load_curve(requests, chosen).load.max(axis=0, initial=0.0) for chosen in (None, served)]
    with np.errstate(divide="ignore", invalid="ignore"):
        peak, peak_used = (np.where(total > 0, highest / total, np.nan) for highest in peaks)
    requested, used = loads(requests, fleet), loads(requests, fleet, served)
    return tuple(
        TimedUse(
            name=resource.name,
            requested=float(requested[r]),
            used=float(used[r]),
            peak=float(peak[r]),
            peak_used=float(peak_used[r]),
        )
        for r, resource in enumerate(requests.resources)
    )


def _classes(requests: TimedRequests, served: BoolArray) -> tuple[ServedClass, ...]:
    """One row per class, numbers by size, words by alphabet; none if there are no classes."""
    names, of = np.unique(np.array(requests.priority, dtype=np.str_), return_inverse=True)
    weights = (None, served.astype(np.float64), requests.value, requests.value * served)
    if not len(names):
        return ()
    count, taken, requested, value = (np.bincount(of, weights=weight, minlength=len(names)) for weight in weights)
    rows = [
        ServedClass(name=name, requests=int(count[c]), served=int(taken[c]), requested=float(requested[c]), value=float(value[c]))
        for c, name in enumerate(names.tolist())
    ]
    return tuple(sorted(rows, key=lambda row: (0, int(row.name), "") if row.name.isdigit() else (1, 0, row.name)))


def _kinds(requests: TimedRequests, fleet: Fleet, schedule: Schedule | None) -> tuple[FleetKind, ...]:
    served = served_by(requests, schedule)
    on = fleet.kind_of[schedule.machine_of[served]] if schedule is not None else np.zeros(0, dtype=np.int64)
    count = np.bincount(on, minlength=len(fleet.kind))
    value = np.bincount(on, weights=requests.value[served], minlength=len(fleet.kind))
    return tuple(
        FleetKind(name=name, machines=int(fleet.machines[q]), served=int(count[q]), value=float(value[q]))
        for q, name in enumerate(fleet.kind)
    )
