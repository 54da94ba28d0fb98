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

from bayplan.collect.gmrp.integers import IntegerStream
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
    spread: list[int] = []  # grows: a false count is found by the end of the file, not by the end of the memory
    pairs: dict[tuple[int, int], None] = {}
    for s in range(n_s):
        spread.append(stream.one(f"spread minimum of service {s}"))
        n_d = stream.count(f"number of dependencies of service {s}")
        pairs.update(((s, on), None) for on in stream.take(n_d, f"dependencies of service {s}").tolist())
    return ints(spread), ints(np.array(list(pairs), dtype=np.int64).reshape(-1, 2))
