"""The fields of a GMRP model file.

A model is one stream of integers:

    R, {transient, w_load} * R,
    M, {neighbourhood, location, C * R, SC * R, MMC * M} * M,
    S, {spreadMin, nDep, dep * nDep} * S,
    P, {service, req * R, PMC} * P,
    B, {r1, r2, target, w_bal} * B,
    w_PMC, w_SMC, w_MMC
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bayplan.errors import Fault, InputError
from bayplan.formats.gmrp.integers import IntegerStream
from bayplan.model import NO_LIMIT, IntArray, ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The fields of a model file, as they stand there."""

    resource: IntArray  # (resource, 2) transient, w_load
    machine: IntArray  # (machine, 2 + 2R + M)
    spread: IntArray  # (service,)
    depends: IntArray  # (dependency, 2) service, on
    process: IntArray  # (process, R + 2) service, requests, PMC
    balance: IntArray  # (target, 4)
    weight: IntArray  # (3,) process, service, machine


def read_fields(stream: IntegerStream) -> Fields:
    """All fields of a model, whatever their numbers mean; InputError if these end too early."""
    n_r = stream.count("number of resources", least=1)
    resource = stream.take(2 * n_r, "resources (transient, load weight)").reshape(n_r, 2)
    n_m = stream.count("number of machines", least=1)
    width = 2 + 2 * n_r + n_m
    machine = stream.take(width * n_m, "machines (neighbourhood, location, capacities, move costs)").reshape(n_m, width)
    n_s = stream.count("number of services", least=1)
    spread, depends = _services(stream, n_s)
    n_p = stream.count("number of processes", least=1)
    process = stream.take((n_r + 2) * n_p, "processes (service, requests, move cost)").reshape(n_p, n_r + 2)
    n_b = stream.count("number of balance costs")
    balance = stream.take(4 * n_b, "balance costs (r1, r2, target, weight)").reshape(n_b, 4)
    weight = stream.take(3, "weights of process, service and machine moves")
    return Fields(
        resource=resource, machine=machine, spread=spread, depends=depends, process=process, balance=balance, weight=weight
    )


def _services(stream: IntegerStream, n_s: int) -> tuple[IntArray, IntArray]:
    """Spread minima, and (service, on) pairs, each once."""
    at = _service_starts(stream, n_s)
    n_d = stream.number[at + 1]
    within = np.arange(n_d.sum()) - np.repeat(np.cumsum(n_d) - n_d, n_d)
    on = stream.number[np.repeat(at + 2, n_d) + within]
    pairs = dict.fromkeys(zip(np.repeat(np.arange(n_s), n_d).tolist(), on.tolist(), strict=True))
    return ints(stream.number[at]), ints(np.array(list(pairs), dtype=np.int64).reshape(-1, 2))


def _service_starts(stream: IntegerStream, n_s: int) -> IntArray:
    """(service,) where each stands in the stream, which is read to the end of the last."""
    start: list[int] = []  # grows: a false count is found by the end of the file, not by the end of the memory
    number, at, last = stream.number.item, stream.at, len(stream.number) - 2
    for s in range(n_s):
        if at > last or not 0 <= number(at + 1) <= last - at:
            _read_service(stream, s, at)
        start.append(at)
        at += 2 + number(at + 1)
    stream.at = at
    return ints(start)


def _read_service(stream: IntegerStream, s: int, at: int) -> None:
    """Raise the InputError that says what of a service is missing or negative."""
    stream.at = at
    stream.one(f"spread minimum of service {s}")
    stream.take(stream.count(f"number of dependencies of service {s}"), f"dependencies of service {s}")


MOST_WEIGHT = 10**15  # of load, as in native files


def read_model(stream: IntegerStream) -> Fields:
    """All fields of a model; InputError if the numbers end too early, mean nothing, or ask for what can never hold."""
    raw = read_fields(stream)
    faults = [*stream.rest(), *(_range_faults(raw) + _index_faults(raw) or [*_overflows(raw), *_impossible(raw)])]
    if faults:
        raise InputError(stream.source, faults)
    return raw


def index_fault(kind: str, name: str, problem: str, value: int | np.int64, size: int) -> Fault:
    """A number that should be the index of something, counted from 0, and is not."""
    return Fault(code="E1705", kind=kind, name=name, problem=problem, value=str(value), expected=f"0..{size - 1}")


def _range_faults(raw: Fields) -> list[Fault]:
    n_r, n_m = len(raw.resource), len(raw.machine)
    capacity = [f"{word} r{r}" for word in ("capacity", "safety capacity") for r in range(n_r)]
    machine = ["neighbourhood", "location", *capacity, *(f"move cost to m{m}" for m in range(n_m))]
    flag = raw.resource[:, 0]
    return [
        *(_range_fault("resource", f"r{r}", "transient flag is too large", flag[r], "0 or 1") for r in np.flatnonzero(flag > 1)),
        *(
            _range_fault("resource", f"r{r}", "load weight is too large", raw.resource[r, 1], f"at most {MOST_WEIGHT}")
            for r in np.flatnonzero(raw.resource[:, 1] > MOST_WEIGHT)
        ),
        *_negative(raw.resource, "resource", "r", ["transient flag", "load weight"]),
        *_negative(raw.machine, "machine", "m", machine),
        *_negative(raw.spread[:, None], "service", "s", ["spread minimum"]),
        *_negative(raw.process[:, 1:], "process", "p", [*(f"request r{r}" for r in range(n_r)), "move cost"]),
        *_negative(raw.balance[:, 2:], "balance", "b", ["target", "weight"]),
        *_negative(raw.weight[None, :], "move weights", "", ["process", "service", "machine"]),
    ]


def _negative(table: IntArray, kind: str, letter: str, field: Iterable[str]) -> list[Fault]:
    if not table.size or table.min() >= 0:
        return []
    name = list(field)
    return [
        _range_fault(kind, f"{letter}{row}" if letter else "", f"{name[column]} is negative", table[row, column], "zero or more")
        for row, column in np.argwhere(table < 0)
    ]


def _range_fault(kind: str, name: str, problem: str, value: np.int64, expected: str) -> Fault:
    return Fault(code="E1704", kind=kind, name=name, problem=problem, value=str(value), expected=expected)


def _index_faults(raw: Fields) -> list[Fault]:
    n_s, n_r = len(raw.spread), len(raw.resource)
    on, service, pair = raw.depends[:, 1], raw.process[:, 0], raw.balance[:, :2]
    return [
        *(
            index_fault("service", f"s{s}", "it depends on a service that does not exist", t, n_s)
            for s, t in raw.depends[(on < 0) | (on >= n_s)]
        ),
        *(
            index_fault("process", f"p{p}", "its service does not exist", service[p], n_s)
            for p in np.flatnonzero((service < 0) | (service >= n_s))
        ),
        *(
            index_fault("balance", f"b{b}", f"its r{k + 1} is a resource that does not exist", pair[b, k], n_r)
            for b, k in np.argwhere((pair < 0) | (pair >= n_r))
        ),
    ]


def _overflows(raw: Fields) -> list[Fault]:
    n_r = len(raw.resource)
    tables = {"requests": raw.process[:, 1 : 1 + n_r], "capacities": raw.machine[:, 2 : 2 + n_r]}
    about = {word: table.sum(axis=0, dtype=np.float64) for word, table in tables.items()}  # the exact sum only where it matters
    large = [(word, r) for word, total in about.items() for r in np.flatnonzero(total > 2.0**62)]
    totals = {(word, r): sum(tables[word][:, r].tolist()) for word, r in large}
    return [
        Fault(
            code="E1708",
            kind="resource",
            name=f"r{r}",
            problem=f"the sum of all {word} overflows int64",
            value=str(total),
            expected="less than 2^63",
        )
        for (word, r), total in totals.items()
        if total > NO_LIMIT
    ]


def _impossible(raw: Fields) -> Iterator[Fault]:
    """What no assignment satisfies, and what no machine can be: the same that a native file may not say."""
    n_r = len(raw.resource)
    capacity, safety = raw.machine[:, 2 : 2 + n_r], raw.machine[:, 2 + n_r : 2 + 2 * n_r]
    for m in np.flatnonzero(~capacity.any(axis=1)):
        problem, expected = "has no capacity of any resource", "some of at least one"
        yield Fault(code="E1709", kind="machine", name=f"m{m}", problem=problem, value="0", expected=expected)
    for m, r in np.argwhere(safety > capacity):
        problem, expected = f"safety capacity r{r} is above the capacity", f"at most {capacity[m, r]}"
        yield Fault(code="E1710", kind="machine", name=f"m{m}", problem=problem, value=str(safety[m, r]), expected=expected)
    size = np.bincount(raw.process[:, 0], minlength=len(raw.spread))
    yield from _wide_spreads(raw, size)
    for s, on in raw.depends[(size[raw.depends[:, 0]] > 0) & (size[raw.depends[:, 1]] == 0)]:
        problem, expected = "it depends on a service without processes", "at least one process"
        yield Fault(code="E1712", kind="service", name=f"s{s}", problem=problem, value=f"s{on}", expected=expected)


def _wide_spreads(raw: Fields, size: IntArray) -> Iterator[Fault]:
    locations = len(np.unique(raw.machine[:, 1]))
    for s in np.flatnonzero(raw.spread > np.clip(size, 1, locations)):
        has, noun = (locations, "locations") if locations < size[s] else (max(1, size[s]), "processes of its own")
        problem = f"its spread minimum is more than there are {noun}"
        yield Fault(
            code="E1711", kind="service", name=f"s{s}", problem=problem, value=str(raw.spread[s]), expected=f"at most {has}"
        )
