"""The problem of a call of `schedule`: requests with the values, and machines with the capacities, that the caller states."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bayplan.decide.schedule import ScheduleProblem
from bayplan.decide.schedule.machine_sweep import MOST_MACHINES
from bayplan.errors import UsageError, did_you_mean, expect_one_of
from bayplan.formats.requests import RequestsFile
from bayplan.model import Fleet, FloatArray, Resource, TimedRequests, floats, ints
from bayplan.model.quantities import parse_quantity, to_base_units
from bayplan.score.timed_load import areas
from bayplan.words import first_names

WEIGHTS = ("given", "one", "area")
MOST_PROFIT = 1e12  # values stay far within what a float holds
CLASSES_NAMED = 12  # in a message


def timed_problem(
    requests: TimedRequests | RequestsFile,
    machines: int | None = None,
    fleet: Fleet | None = None,
    *,
    capacity: Mapping[str, str | float] | None = None,
    weights: str = "given",
    profit: Mapping[str, float] | None = None,
) -> ScheduleProblem:
    """The problem that the arguments of `schedule` state; UsageError for what cannot be."""
    timed = requests.requests if isinstance(requests, RequestsFile) else requests
    timed = valued(with_capacity(timed, capacity or {}), weights=weights, profit=profit or {})
    if machines is not None and fleet is not None:
        raise UsageError("machines and fleet exclude each other; expected one of the two")
    if machines is not None and not 0 <= machines <= MOST_MACHINES:
        raise UsageError(f"machines {machines}: expected 0 to {MOST_MACHINES:,}")
    if machines is not None:
        return ScheduleProblem.alike(timed, machines)
    known = fleet if fleet is not None else requests.fleet if isinstance(requests, RequestsFile) else None
    if known is None:
        raise UsageError("the requests do not say how many machines there are; expected machines or fleet")
    return ScheduleProblem(requests=timed, fleet=known)


def with_capacity(requests: TimedRequests, capacity: Mapping[str, str | float]) -> TimedRequests:
    """The requests with another capacity of one machine: amounts by resource, such as {"cpu": 4, "memory": "16Gi"}."""
    if not capacity:
        return requests
    amounts, known = requests.capacity.tolist(), {resource.name: r for r, resource in enumerate(requests.resources)}
    for name, text in capacity.items():
        if name not in known:
            raise UsageError(f"capacity: no resource '{name}'; expected one of {', '.join(known)}{did_you_mean(name, known)}")
        try:
            amount = to_base_units(parse_quantity(str(text)), requests.resources[known[name]].scale)
        except ValueError as error:
            raise UsageError(f"capacity of {name} '{text}': {error}; expected an amount such as 4, 500m, 16Gi") from None
        if amount < 0:
            raise UsageError(f"capacity of {name} '{text}' is negative; expected zero or more")
        amounts[known[name]] = amount
    return replace(requests, capacity=ints(amounts))


def valued(requests: TimedRequests, *, weights: str, profit: Mapping[str, float]) -> TimedRequests:
    """The requests with other values: as given, 1 each or their area, times the profit of their class."""
    expect_one_of(weights, WEIGHTS, "weights")
    value = areas(requests) if weights == "area" else requests.value if weights == "given" else np.ones(len(requests.name))
    return replace(requests, value=floats(value * _profits(requests, profit)))


def _profits(requests: TimedRequests, profit: Mapping[str, float]) -> FloatArray:
    """(request,) the profit of its class; 1 where none is stated."""
    if not profit:
        return np.ones(len(requests.name))
    classes, of = np.unique(np.array(requests.priority, dtype=np.str_), return_inverse=True)
    known = {name: c for c, name in enumerate(classes.tolist())}
    if not known:
        raise UsageError("profit: the requests have no classes; expected a column 'priority' in the input")
    by_class = np.ones(len(known))
    for name, value in profit.items():
        if name not in known:
            listed = first_names(list(known), CLASSES_NAMED)
            raise UsageError(f"profit: no class '{name}'; expected one of {listed}{did_you_mean(name, known)}")
        if not 0 <= value <= MOST_PROFIT:
            raise UsageError(f"profit of '{name}' {value:g}: expected a number of 0 or more, at most {MOST_PROFIT:g}")
        by_class[known[name]] = value
    return by_class[of]


def comparable_forecast(
    forecast: TimedRequests, resources: Sequence[Resource], *, weights: str, profit: Mapping[str, float]
) -> TimedRequests:
    """The forecast in the units of the requests, and with values made in the same way; UsageError if it has other resources."""
    names = [resource.name for resource in forecast.resources]
    if set(names) != {resource.name for resource in resources}:
        expected = ", ".join(resource.name for resource in resources)
        raise UsageError(f"the forecast is of {', '.join(names)}; expected the resources of the input, {expected}")
    order = [names.index(resource.name) for resource in resources]
    unit = np.array([resource.scale / forecast.resources[r].scale for r, resource in zip(order, resources, strict=True)])
    same = replace(
        forecast,
        resources=tuple(resources),
        demand=ints(np.ceil(forecast.demand[:, order] * unit - 1e-9)),
        capacity=ints(np.floor(forecast.capacity[order] * unit + 1e-9)),
    )
    classes = set(same.priority)
    return valued(same, weights=weights, profit={name: value for name, value in profit.items() if name in classes})
