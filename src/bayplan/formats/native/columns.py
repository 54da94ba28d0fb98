"""The amounts and places of a native snapshot read a column at a time: quick, and None as soon as anything is odd.

The readers of rows, in `machines` and `workloads`, say what is odd and where; they are asked only then. Equal values are worked
out once.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from bayplan.formats.native.reader import Amounts, exact
from bayplan.model import NO_LIMIT, UNPLACED, BoolArray, FloatArray, IntArray, Machines, Placement, Workloads, floats, ints
from bayplan.model.quantities import LARGEST

Rows = Sequence[Mapping[str, Any]]
ABSENT: Mapping[str, Any] = {}
EXACT = 2**53  # whole numbers beyond it are rounded when they are compared with floats


class _OddError(Exception):
    """Something is not plain; the readers of rows say what."""


def machines_by_column(amounts: Amounts, names: tuple[str, ...], machines: Rows, safety_default: Any) -> Machines | None:
    """Names, capacities and safety capacities."""
    stated = [machine.get("safety", safety_default) for machine in machines]
    if not set(map(type, stated)) <= {dict}:
        return None
    try:
        capacity = _wholes(amounts, [machine["capacity"] for machine in machines], 0)
        safety = _wholes(amounts, stated, capacity)
    except _OddError:
        return None
    if (safety > capacity).any() or any(sum(column) > LARGEST for column in capacity.T.tolist()):
        return None
    return Machines(name=names, capacity=capacity, safety=safety)


def workloads_by_column(amounts: Amounts, names: tuple[str, ...], service: IntArray, workloads: Rows) -> Workloads | None:
    """Requests, usage and limits."""
    try:
        request = _wholes(amounts, [workload["request"] for workload in workloads], 0)
        limit = _wholes(amounts, [workload.get("limit", ABSENT) for workload in workloads], NO_LIMIT)
        usage = _usage(amounts, [workload.get("usage", ABSENT) for workload in workloads], request)
    except _OddError:
        return None
    if (limit < request).any() or above_limit(limit, usage.mean).any():
        return None
    return Workloads(name=names, service=service, request=request, usage_mean=usage.mean, usage_std=usage.std, limit=limit)


def above_limit(limit: IntArray, mean: FloatArray) -> BoolArray:
    """(workload, resource) is, or may be, the mean usage above the limit? Exact for all but the largest amounts."""
    return np.asarray((limit < mean) | ((limit > EXACT) & (limit <= mean)))


def placement_by_column(machine: Mapping[str, int], on: Iterable[Sequence[str | None]]) -> Placement | None:
    """Where containers run, from the lists of all workloads."""
    known: dict[str | None, int] = {None: UNPLACED}
    known.update(machine)
    machine_of = list(map(known.get, chain.from_iterable(on)))
    return None if None in machine_of else Placement(machine_of=ints(np.array(machine_of, dtype=np.int64)))


def _wholes(amounts: Amounts, rows: Rows, default: int | IntArray) -> IntArray:
    """(row, resource) base units; the default where a row does not name a resource."""
    table = np.empty((len(rows), len(amounts.resources)), dtype=np.int64)
    table[:] = default
    for r, column in enumerate(_columns(amounts, rows)):
        known = {value: _whole(amounts, r, value) for value in set(column) - {None}}
        if None in column:
            stated = [place for place, value in enumerate(column) if value is not None]
            table[stated, r] = [known[column[place]] for place in stated]
        else:
            table[:, r] = [known[value] for value in column]
    return ints(table)


def _columns(amounts: Amounts, rows: Rows) -> list[list[Any]]:
    """What rows say of each resource, None for nothing."""
    columns = [[row.get(resource.name) for row in rows] for resource in amounts.resources]
    stated = sum(len(column) - column.count(None) for column in columns)
    if stated != sum(map(len, rows)):
        raise _OddError  # a resource that is not known
    return columns


def _base(amounts: Amounts, r: int, value: Any) -> Any:
    """Base units, exactly."""
    try:
        amount = exact(value) * (1 if amounts.base_units else amounts.resources[r].scale)
    except ValueError:
        raise _OddError from None
    if not 0 <= amount <= LARGEST:
        raise _OddError
    return amount


def _whole(amounts: Amounts, r: int, value: Any) -> int:
    amount = _base(amounts, r, value)
    if amount.denominator != 1:
        raise _OddError
    return int(amount.numerator)


class _Usage(NamedTuple):
    mean: FloatArray  # (row, resource)
    std: FloatArray  # (row, resource)


def _usage(amounts: Amounts, rows: Rows, request: IntArray) -> _Usage:
    """Mean and standard deviation; the request, exactly, where no usage is stated."""
    mean, std = request.astype(np.float64), np.zeros(request.shape)
    if any(rows):
        for r, column in enumerate(_columns(amounts, rows)):
            stated = [place for place, value in enumerate(column) if value is not None]
            both = [value if isinstance(value, dict) else {"mean": value} for value in map(column.__getitem__, stated)]
            mean[stated, r] = _reals(amounts, r, [usage["mean"] for usage in both])
            std[stated, r] = _reals(amounts, r, [usage.get("std", 0) for usage in both])
    return _Usage(floats(mean), floats(std))


def _reals(amounts: Amounts, r: int, values: list[Any]) -> list[float]:
    known = {value: float(_base(amounts, r, value)) for value in set(values)}
    return [known[value] for value in values]
