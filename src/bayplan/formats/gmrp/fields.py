"""The fields of a GMRP model file.

A model is one stream of integers:

    R, {transient, w_load} * R,
    M, {neighbourhood, location, C * R, SC * R, MMC * M} * M,
    S, {spreadMin, nDep, dep * nDep} * S,
    P, {service, req * R, PMC} * P,
    B, {r1, r2, target, w_bal} * B,
    w_PMC, w_SMC, w_MMC
"""

from dataclasses import dataclass

import numpy as np

from bayplan.formats.gmrp.integers import IntegerStream
from bayplan.model import IntArray, ints


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
