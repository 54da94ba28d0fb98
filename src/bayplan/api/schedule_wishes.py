"""The wishes of a user about a schedule -> the problem, on the machines and with the values that were asked for."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bayplan.decide.schedule import ScheduleOptions, ScheduleProblem
from bayplan.errors import UsageError
from bayplan.formats.files import read_timed
from bayplan.formats.requests import RequestsFile
from bayplan.formats.requests.fleet import read_fleet
from bayplan.model import Fleet, FloatArray, IntArray, Resource, TimedRequests, floats, ints
from bayplan.model.quantities import parse_quantity, to_base_units
from bayplan.score.timed_load import areas

MOST_MACHINES = 1_000_000
WEIGHTS = ("given", "one", "area")
MOST_PROFIT = 1e12  # values stay far within what a float holds
FEW = 12  # classes that are all said


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleWishes:
    """As they stand on the command line."""

    file: Path
    machines: int | None = None
    fleet: Path | None = None
    capacity: Sequence[str] = ()  # "cpu=4"
    weights: str = "given"
    profit: Sequence[str] = ()  # "prod=10"
    horizon: float | None = None
    forecast: Path | None = None
    bound: bool = True
    any_number: bool = False  # of machines: a sweep asks about several


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScheduleQuestion:
    """What a scheduler is asked, and what there is to say about it."""

    problem: ScheduleProblem
    options: ScheduleOptions
    name: str
    notes: tuple[str, ...] = ()


def schedule_question(wishes: ScheduleWishes) -> ScheduleQuestion:
    """The question of a user. InputError for what is wrong with files, UsageError for wishes that cannot be."""
    if wishes.horizon is not None and not math.isfinite(wishes.horizon):
        raise UsageError(f"--horizon {wishes.horizon}: expected a time")
    if wishes.machines is not None and not 0 <= wishes.machines <= MOST_MACHINES:
        raise UsageError(f"--machines {wishes.machines}: expected 0 to {MOST_MACHINES:,}")
    read = read_timed(wishes.file, wishes.horizon)
    requests = valued(read.requests, weights=wishes.weights, profit=wishes.profit)
    requests = replace(requests, capacity=_capacity(requests, wishes.capacity)) if wishes.capacity else requests
    problem = ScheduleProblem(requests=requests, fleet=_fleet(wishes, read, requests))
    forecast = None if wishes.forecast is None else _forecast(wishes, requests.resources)
    return ScheduleQuestion(
        problem=problem,
        options=ScheduleOptions(bound=wishes.bound, forecast=forecast),
        name=wishes.file.name.split(".")[0] if wishes.file.name != "-" else "requests",
        notes=read.notes,
    )


def _fleet(wishes: ScheduleWishes, read: RequestsFile, requests: TimedRequests) -> Fleet:
    """The machines that were asked for, else those of the file."""
    if wishes.machines is not None and wishes.fleet is not None:
        raise UsageError("--machines and --fleet exclude each other; expected one of the two")
    if wishes.any_number:
        if wishes.fleet is not None or wishes.machines is not None:
            raise UsageError("a sweep is over the number of machines that are alike; expected neither --machines nor --fleet")
        return Fleet.alike(0, requests.capacity)
    if wishes.fleet is not None:
        return read_fleet(wishes.fleet, requests.resources)
    if wishes.machines is not None:
        return Fleet.alike(wishes.machines, requests.capacity)
    if read.fleet is None:
        raise UsageError(f"'{wishes.file}' does not say how many machines there are; expected --machines K or --fleet FILE")
    return read.fleet


def _capacity(requests: TimedRequests, texts: Sequence[str]) -> IntArray:
    """(resource,) the capacity of one machine as stated, else that of the file."""
    capacity, known = requests.capacity.tolist(), {resource.name: r for r, resource in enumerate(requests.resources)}
    for name, text in _pairs(texts, "--capacity", "NAME=AMOUNT"):
        if name not in known:
            raise UsageError(f"--capacity '{name}={text}': no resource '{name}'; expected one of {', '.join(known)}")
        scale = requests.resources[known[name]].scale
        try:
            amount = to_base_units(parse_quantity(text), scale)
        except ValueError as error:
            raise UsageError(f"--capacity '{name}={text}': {error}; expected an amount such as 4, 500m, 16Gi") from None
        if amount < 0:
            raise UsageError(f"--capacity '{name}={text}' is negative; expected zero or more")
        capacity[known[name]] = amount
    return ints(capacity)


def valued(requests: TimedRequests, *, weights: str, profit: Sequence[str]) -> TimedRequests:
    """The same requests, worth what the user says: as given, 1 each or their area, times the profit of their class."""
    if weights not in WEIGHTS:
        raise UsageError(f"no weights '{weights}'; expected one of {', '.join(WEIGHTS)}")
    value = areas(requests) if weights == "area" else requests.value if weights == "given" else np.ones(len(requests.name))
    factor = _profits(requests, profit)
    return replace(requests, value=floats(value * factor))


def _profits(requests: TimedRequests, texts: Sequence[str]) -> FloatArray:
    """(request,) the profit of its class; 1 where none is stated."""
    factor = np.ones(len(requests.name))
    if not texts:
        return factor
    classes, of = np.unique(np.array(requests.priority, dtype=np.str_), return_inverse=True)
    known = {name: c for c, name in enumerate(classes.tolist())}
    if not known:
        raise UsageError("--profit: the requests have no classes; expected a column 'priority' in the input")
    by_class = np.ones(len(known))
    for name, text in _pairs(texts, "--profit", "CLASS=VALUE"):
        if name not in known:
            raise UsageError(f"--profit '{name}={text}': no class '{name}'; expected one of {_listed(known)}")
        by_class[known[name]] = _profit(name, text)
    return by_class[of]


def _profit(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= MOST_PROFIT:
        raise UsageError(f"--profit '{name}={text}': expected a number of 0 or more after '=', at most {MOST_PROFIT:g}")
    return value


def _pairs(texts: Sequence[str], option: str, form: str) -> list[tuple[str, str]]:
    """Name and value of each, every name once."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or name in pairs:
            raise UsageError(f"{option} '{text}': expected {form}, each name once")
        pairs[name] = value
    return list(pairs.items())


def _listed(known: Mapping[str, object]) -> str:
    names = list(known)
    return ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")


def _forecast(wishes: ScheduleWishes, resources: Sequence[Resource]) -> TimedRequests:
    """Requests like those to come, in the same resources and worth the same; UsageError if they cannot be compared."""
    assert wishes.forecast is not None
    read = read_timed(wishes.forecast).requests
    names = [resource.name for resource in read.resources]
    if set(names) != {resource.name for resource in resources}:
        expected = ", ".join(resource.name for resource in resources)
        raise UsageError(
            f"--forecast '{wishes.forecast}' is of {', '.join(names)}; expected the resources of the input, {expected}"
        )
    order = [names.index(resource.name) for resource in resources]
    unit = np.array([resource.scale / read.resources[r].scale for r, resource in zip(order, resources, strict=True)])
    same = replace(
        read,
        resources=tuple(resources),
        demand=ints(np.ceil(read.demand[:, order] * unit - 1e-9)),
        capacity=ints(np.floor(read.capacity[order] * unit + 1e-9)),
    )
    known = set(same.priority)
    return valued(same, weights=wishes.weights, profit=[text for text in wishes.profit if text.rpartition("=")[0] in known])
