r"""The integer program of 002 section III-A, for HiGHS.

    max  sum_j w_j sum_i x_ij
    s.t. sum_i x_ij <= 1                           every request j                                   (I1)
         sum_{j: t in I_j} d_jr x_ij <= C_ir       every machine i, resource r, maximal instant t    (I2)
         x_ij in {0, 1}

Rows that nothing can break are left out. Machines of a kind are alike: they are numbered by their first request, so the p-th
request that fits there runs on one of the first p machines, and other x_ij do not exist.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from bayplan.decide.schedule.market import Market
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import UNPLACED, FloatArray, IntArray
from bayplan.solvers.program import LARGEST_SCALE, Program


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Which x there are."""

    bidder: IntArray  # (column,)
    machine: IntArray  # (column,)
    number: IntArray  # (bidder, machine) column, or -1


def columns_of(problem: ScheduleProblem, market: Market) -> Columns:
    """Pairs of bidder and machine, but for symmetric ones."""
    number = np.full((len(market.value), problem.fleet.size), -1, dtype=np.int64)
    kind_of = problem.fleet.kind_of
    for q in range(len(problem.fleet.kind)):
        machines = np.flatnonzero(kind_of == q)
        earlier = np.cumsum(market.allowed[q]) - 1  # those that fit and come before
        exists = market.allowed[q][:, None] & (np.arange(len(machines))[None, :] <= earlier[:, None])
        number[:, machines] = np.where(exists, 0, -1)
    bidder, machine = np.nonzero(number == 0)
    number[bidder, machine] = np.arange(len(bidder))
    return Columns(bidder=bidder, machine=machine, number=number)


def size_of(problem: ScheduleProblem, market: Market) -> int:
    """About how many coefficients the program has."""
    length = market.instants.past - market.instants.first
    machines = problem.fleet.machines.astype(np.int64) @ market.allowed.astype(np.int64)  # (bidder,)
    entries = int((length * machines).sum())
    return entries * int(problem.requests.demand.shape[1])


def program_of(problem: ScheduleProblem, market: Market, columns: Columns, start: IntArray) -> Program:
    """(I1) and (I2); `start` (request,) is a schedule to begin from."""
    n, n_x = len(market.value), len(columns.bidder)
    row, column, entry, most = [columns.bidder], [np.arange(n_x)], [np.ones(n_x)], [np.ones(n)]
    rows = n
    for machine, q in enumerate(problem.fleet.kind_of.tolist()):
        for r in range(problem.requests.demand.shape[1]):
            here, who, demand, limit = _knapsacks(problem, market, q, r)
            exists = columns.number[who, machine] >= 0
            row.append(rows + here[exists])
            column.append(columns.number[who[exists], machine])
            entry.append(demand[exists])
            most.append(limit)
            rows += len(limit)
    return Program(
        cost=-market.value[columns.bidder],
        lower=np.zeros(n_x),
        upper=np.ones(n_x),
        integral=np.ones(n_x, dtype=np.bool_),
        matrix=coo_array((np.concatenate(entry), (np.concatenate(row), np.concatenate(column))), shape=(rows, n_x)).tocsr(),
        row_lower=np.full(rows, -np.inf),
        row_upper=np.concatenate(most),
        start=_start(problem, market, columns, start),
    )


def _knapsacks(problem: ScheduleProblem, market: Market, q: int, r: int) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """(I2) of one machine: row, bidder and coefficient of each entry; limit of each row. In units that divide all demands."""
    demand = problem.requests.demand[market.request, r]
    unit = max(1, int(np.gcd.reduce(demand, initial=0)))
    able = np.flatnonzero(market.allowed[q] & (demand > 0))
    length = (market.instants.past - market.instants.first)[able]
    who = np.repeat(able, length)
    instant = np.arange(len(who)) - np.repeat(np.cumsum(length) - length, length) + market.instants.first[who]
    amount, room = demand // unit, int(problem.fleet.capacity[q, r]) // unit
    load = np.bincount(instant, weights=amount[who].astype(np.float64), minlength=len(market.instants.time))
    tight = np.flatnonzero(load > room)
    place = np.full(len(market.instants.time), -1)
    place[tight] = np.arange(len(tight))
    kept = place[instant] >= 0
    scale = min(float(amount.max(initial=1)), LARGEST_SCALE)
    return place[instant[kept]], who[kept], amount[who[kept]] / scale, np.full(len(tight), room / scale)


def _start(problem: ScheduleProblem, market: Market, columns: Columns, start: IntArray) -> FloatArray:
    """(column,) the schedule, machines of a kind numbered by their first request."""
    point = np.zeros(len(columns.bidder))
    kind_of, before = problem.fleet.kind_of, np.concatenate([[0], np.cumsum(problem.fleet.machines)])
    name: dict[int, int] = {}
    used = [0] * len(problem.fleet.kind)
    for bidder, m in enumerate(start[market.request].tolist()):
        if m == UNPLACED:
            continue
        if m not in name:
            q = int(kind_of[m])
            name[m] = int(before[q]) + used[q]
            used[q] += 1
        point[columns.number[bidder, name[m]]] = 1.0
    return point


def schedule_of(problem: ScheduleProblem, market: Market, columns: Columns, point: FloatArray) -> IntArray:
    """(request,) the machines of a point."""
    machine_of = np.full(len(problem.requests.name), UNPLACED, dtype=np.int64)
    served = np.flatnonzero(point > 0.5)
    machine_of[market.request[columns.bidder[served]]] = columns.machine[served]
    return machine_of
