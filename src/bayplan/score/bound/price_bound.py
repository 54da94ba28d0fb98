"""A lower bound by prices (Lagrangian relaxation): what if no machine was ever full, but every unit on it had a price?

Let s in 0..1 be a share of each hinge, n >= 0 a price of capacity and u >= 0 a price of what is free for arrivals. A hinge
max(0, x) is at least s x, and a placement that keeps both limits loses nothing by paying for what is above them. So, whatever
the prices are,

    cost >= what the prices say of an empty cluster
            + for each container the cheapest machine at these prices, moving fee included

For the few largest containers of a machine it is decided at once which of them stay. If x' <= x is what those make of a hinge
that grows with load, max(0, x) is at least s x + (1 - s) max(0, x'), and the cheapest subset counts.

Better prices are looked for by subgradient ascent. They need not be good for the bound to hold.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.model import NO_LIMIT, UNPLACED, BoolArray, Cluster, FloatArray, IntArray
from bayplan.score.bound.communication_bounds import capped_resources
from bayplan.score.bound.overload_bound import ROUNDING, Hinges
from bayplan.score.bound.reachable import Reachable

MAX_MEMBERS = 9  # 512 subsets a machine
MAX_NUMBERS = 1_500_000  # of a (machine, subset, hinge) table
NO_MEMBER = -1
CELLS = 25_000_000  # (kind, machine) prices that all steps together may look at
MOST_STEPS, FEWEST_STEPS = 250, 40
STEP = (0.8, 3e-3)  # first and last, of a price's own size
MEMORY, MEMORY_OF_SQUARES = 0.9, 0.95  # how much of the average slope the next step keeps
_ONE_CORE = 200_000  # multiplications that OpenBLAS does not split


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subsets:
    """Hinges that grow with load are no less than what the subset alone makes of them."""

    member: IntArray  # (machine, slot) kind, or NO_MEMBER
    inside: FloatArray  # (subset, slot) 1 for members that stay
    hinge: IntArray  # (growing hinge,) which they are
    height: FloatArray  # (machine, subset, growing hinge) weight max(0, a . load of the subset + b)
    forbidden: FloatArray  # (machine, subset) infinite where the subset alone is above the capacity, else 0

    def cheapest(self, share: FloatArray, extra: FloatArray) -> tuple[FloatArray, IntArray]:
        """(machine,) least cost and subset: what `share` (machine, hinge) leaves of the hinges, plus `extra` (machine, slot)
        of each member that stays."""
        unpaid = 1.0 - share[:, self.hinge]
        cost = np.matmul(self.height, unpaid[:, :, None])[:, :, 0] + self.forbidden
        cost += _sums_of_subsets(extra)
        subset = cost.argmin(axis=1)
        return cost[np.arange(len(cost)), subset], subset


def _sums_of_subsets(amount: FloatArray) -> FloatArray:
    """(machine, subset) of (machine, slot): subset i has the slots whose bits are set in i."""
    sums = np.zeros((len(amount), 1))
    for column in amount.T:
        sums = np.concatenate([sums, sums + column[:, None]], axis=1)
    return sums


def subsets(request: FloatArray, member: IntArray, shapes: Hinges, least: FloatArray, capacity: FloatArray) -> Subsets:
    """All subsets of `member` (machine, slot), each beside the (machine, resource) load that never leaves."""
    slots = member.shape[1]
    inside = ((np.arange(2**slots)[:, None] >> np.arange(slots)) & 1).astype(np.float64)
    each = np.where((member != NO_MEMBER)[:, :, None], request[member], 0.0)  # (machine, slot, resource)
    load = np.matmul(inside, each) + least[:, None, :]  # (machine, subset, resource)
    hinge = np.flatnonzero(shapes.grows)
    above = np.matmul(load, shapes.a[hinge].T) + shapes.b[:, None, hinge]
    return Subsets(
        member=member,
        inside=inside,
        hinge=hinge,
        height=np.maximum(0.0, above) * shapes.weight[:, None, hinge],
        forbidden=np.where((load <= capacity[:, None, :] * (1 + ROUNDING)).all(axis=2), 0.0, np.inf),
    )


def largest_at_home(home: IntArray, size: FloatArray, machines: int, hinges: int) -> IntArray:
    """(machine, slot) the kinds of largest `size` of each home; as many slots as all subsets fit in memory.

    `home` is NO_MEMBER for kinds that are not to be among them.
    """
    order = np.lexsort((-size, home))
    order = order[home[order] != NO_MEMBER]
    start = np.searchsorted(home[order], np.arange(machines))
    rank = np.arange(len(order)) - start[home[order]]
    most_subsets = MAX_NUMBERS // max(1, machines * hinges)
    slots = min(MAX_MEMBERS, max(0, most_subsets.bit_length() - 1), int(rank.max(initial=-1)) + 1) if hinges else 0
    member = np.full((machines, slots), NO_MEMBER)
    member[home[order][rank < slots], rank[rank < slots]] = order[rank < slots]
    return member


class Prices(NamedTuple):
    """The variables of the relaxation."""

    share: FloatArray  # (machine, hinge) 0..1
    capacity: FloatArray  # (machine, resource) 0.., in units of `PricedProblem.unit`
    arrival: FloatArray  # (machine, resource) 0.., in units of `PricedProblem.unit`


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PricedProblem:
    """What containers pay for, on every machine."""

    hinges: Hinges
    request: FloatArray  # (kind, resource)
    count: FloatArray  # (kind,)
    load: FloatArray  # (resource,) of all containers
    home: IntArray  # (kind,) machine before; 0 for new containers, which cannot stay
    stay: FloatArray  # (kind,) infinite if it cannot stay at home, else 0
    fee: FloatArray  # (kind, machine) of a move there; infinite at home and where it cannot run
    least: FloatArray  # (machine, resource)
    capacity: FloatArray  # (machine, resource)
    protected: BoolArray  # (resource,) by a capacity rule
    free: FloatArray  # (machine, resource) for arrivals
    limited: BoolArray  # (machine, resource) are arrivals limited to that?
    unit: FloatArray  # (resource,) what one unit may cost
    subsets: Subsets
    is_member: BoolArray  # (kind,) of the subsets


class PricedBound(NamedTuple):
    """The bound that prices give, and where it grows."""

    bound: float
    slope: Prices


def priced_problem(cluster: Cluster, within: Reachable, can: BoolArray, shapes: Hinges, fee: FloatArray) -> PricedProblem:
    """The problem of the kinds of `within`, which can run where `can` says and pay a (kind, machine) fee for a move."""
    at_home = within.home != UNPLACED
    home, row = np.where(at_home, within.home, 0), np.arange(len(within.home))
    stays = at_home & can[row, home]
    fee = np.where(can, fee, np.inf)
    fee[row[at_home], home[at_home]] = np.inf
    request, least, unit = within.request.astype(np.float64), within.least.astype(np.float64), _unit(cluster, shapes)
    member = largest_at_home(np.where(stays, home, NO_MEMBER), request @ unit, len(least), int(shapes.grows.sum()))
    limited, capacity = within.free != NO_LIMIT, cluster.machines.capacity.astype(np.float64)
    protected = np.isin(np.arange(len(unit)), capped_resources(cluster))
    return PricedProblem(
        hinges=shapes,
        request=request,
        count=within.count.astype(np.float64),
        load=within.total.astype(np.float64),
        home=home,
        stay=np.where(stays, 0.0, np.inf),
        fee=fee,
        least=least,
        capacity=capacity,
        protected=protected,
        free=np.where(limited, np.maximum(0, within.free), 0).astype(np.float64),
        limited=limited,
        unit=unit,
        subsets=subsets(request, member, shapes, least, np.where(protected, capacity, np.inf)),
        is_member=np.isin(row, member),
    )


def _unit(cluster: Cluster, shapes: Hinges) -> FloatArray:
    """(resource,) the most that its hinges take for one unit; without any, so that all of it costs what others do."""
    unit = shapes.weight.max(axis=0, initial=0.0) @ abs(shapes.a)
    if not len(unit):
        return np.zeros(0)
    size = np.maximum(1.0, cluster.machines.capacity.mean(axis=0))
    return np.asarray(np.where(unit > 0, unit, max(1e-9, float((unit * size).mean())) / size), dtype=np.float64)


def best_bound(problem: PricedProblem, share: FloatArray) -> float:
    """The best bound that is found from `share` (machine, hinge) on, with no other prices at first."""
    none = np.zeros_like(problem.capacity)
    prices = Prices(share, none, none)
    evaluated = evaluate_prices(problem, prices)
    best = first = evaluated.bound
    steps = min(MOST_STEPS, CELLS // max(1, problem.fee.size))
    mean = square = Prices(*(np.zeros_like(price) for price in prices))
    for step in range(steps if steps >= FEWEST_STEPS else 0):
        slope = [np.where((p <= 0) & (s < 0), 0.0, s) for p, s in zip(prices, evaluated.slope, strict=True)]
        mean = Prices(*(_faded(m, s, MEMORY) for m, s in zip(mean, slope, strict=True)))
        square = Prices(*(_faded(m, s * s, MEMORY_OF_SQUARES) for m, s in zip(square, slope, strict=True)))
        size = STEP[0] * (STEP[1] / STEP[0]) ** (step / steps)
        size *= np.sqrt(1 - MEMORY_OF_SQUARES ** (step + 1)) / (1 - MEMORY ** (step + 1))
        moved = Prices(*(_moved(p, m, q, size) for p, m, q in zip(prices, mean, square, strict=True)))
        prices = moved._replace(share=np.minimum(1.0, moved.share))
        evaluated = evaluate_prices(problem, prices)
        best = max(best, evaluated.bound)
        if step == steps // 2 and best == first:
            break  # nothing to find
    return best


def _faded(mean: FloatArray, new: FloatArray, memory: float) -> FloatArray:
    return memory * mean + (1 - memory) * new


def _moved(price: FloatArray, mean: FloatArray, square: FloatArray, size: float) -> FloatArray:
    """Every price goes by about `size`, however steep it is (Adam; Kingma and Ba 2015)."""
    return np.maximum(0.0, price + size * mean / (np.sqrt(square) + 1e-300))


def evaluate_prices(problem: PricedProblem, prices: Prices) -> PricedBound:
    """What every container pays at best, and the bound that this gives."""
    shapes, several = problem.hinges, problem.subsets
    paid = prices.share * shapes.weight
    of_capacity, of_arrival = prices.capacity * problem.unit * problem.protected, prices.arrival * problem.unit * problem.limited
    unit = paid @ shapes.a + of_capacity  # (machine, resource) price of one unit
    away = _products(problem.request, (unit + of_arrival).T)
    away += problem.fee
    to = away.argmin(axis=1)
    cost_away, cost_home = away[np.arange(len(to)), to], (problem.request * unit[problem.home]).sum(axis=1) + problem.stay
    stays = (cost_home <= cost_away) & ~problem.is_member
    cost = np.where(stays, cost_home, cost_away)
    staying = np.append(cost_home - cost_away, 0.0)[several.member]  # (machine, slot) NO_MEMBER is the last
    cost_subset, subset = several.cheapest(prices.share, staying)
    stays[several.member[(several.inside[subset] > 0) & (several.member != NO_MEMBER)]] = True
    parts = (
        problem.count * cost,
        cost_subset,
        paid * shapes.b,
        problem.least * unit,
        -of_capacity * problem.capacity,
        -of_arrival * problem.free,
    )
    priced = paid @ abs(shapes.a) + of_capacity + of_arrival  # (machine, resource) as `unit`, if nothing cancelled
    size = sum(abs(part).sum() for part in parts) + (paid * shapes.size).sum() + priced.max(axis=0, initial=0.0) @ problem.load
    bound = float(sum(part.sum() for part in parts) - ROUNDING * size)
    return PricedBound(bound, _slope(problem, np.where(stays, problem.home, to), stays, subset))


def _products(left: FloatArray, right: FloatArray) -> FloatArray:
    """left @ right, a few rows at a time: a large product would be problem to all cores, and wait for them."""
    rows = max(1, _ONE_CORE // max(1, right.size))
    product = np.empty((len(left), right.shape[1]))
    for start in range(0, len(left), rows):
        np.matmul(left[start : start + rows], right, out=product[start : start + rows])
    return product


def _slope(problem: PricedProblem, machine: IntArray, stays: BoolArray, subset: IntArray) -> Prices:
    """How the bound changes with each price if all stay with what they chose."""
    load = problem.count[:, None] * problem.request
    arrivals = _per_machine(machine[~stays], load[~stays], len(problem.least))
    total = problem.least + arrivals + _per_machine(machine[stays], load[stays], len(problem.least))
    shapes, several = problem.hinges, problem.subsets
    share = shapes.weight * (total @ shapes.a.T + shapes.b)
    share[:, several.hinge] -= several.height[np.arange(len(subset)), subset]
    return Prices(
        share=share,
        capacity=problem.unit * (total - problem.capacity) * problem.protected,
        arrival=problem.unit * (arrivals - problem.free) * problem.limited,
    )


def _per_machine(machine: IntArray, amount: FloatArray, machines: int) -> FloatArray:
    total = np.zeros((machines, amount.shape[1]))
    for r, column in enumerate(amount.T):
        total[:, r] = np.bincount(machine, weights=column, minlength=machines)
    return total
