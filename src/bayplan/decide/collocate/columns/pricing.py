"""Patterns of one machine that add more than a target, or a proof that there are none ([RASA] Algorithm 1, GenPattern)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.kernels.collocate.pattern_bound import BoundPrices, BoundState, PatternProblem, tighten_bound
from bayplan.kernels.collocate.pattern_branch import FOUND, OPEN, PROVEN, BoxStack, explore
from bayplan.kernels.collocate.pattern_search import MAX_EJECTIONS, PatternWalk, pattern_value, search_pattern
from bayplan.model import FloatArray, IntArray, ints

NO_LIMIT = np.iinfo(np.int64).max
AT_ONCE = 20  # boxes between two looks at the clock
STEPS = 10  # of the bound, in each box
ROOT_STEPS = 200  # in the first one
MOVES = 4_000  # of a walk
HOT, COLD = 2e-3, 1e-5  # of a walk, by the largest weight

Chance: TypeAlias = npt.NDArray[np.uint64]  # (1,) state of the random numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneMachine:
    """One machine of a type: what it could run, and what stays there."""

    most: IntArray  # (workload,) containers at most
    amount: IntArray  # (workload, row) resources and anti-affinity sets that can become scarce
    free: IntArray  # (row,) positive
    fixed: IntArray  # (workload,)
    base: float  # affinity that is gained there without any new container


def one_machine(subproblem: Subproblem, m: int) -> OneMachine:
    """Machine m by itself."""
    amount = np.concatenate([subproblem.request, subproblem.member.T.astype(np.int64)], axis=1)
    free = np.concatenate([subproblem.free[m], subproblem.set_free[:, m]])
    fits = np.where(amount > 0, free // np.maximum(amount, 1), NO_LIMIT).min(axis=1, initial=NO_LIMIT)
    most = np.where(subproblem.allow[subproblem.row_of, m], np.minimum(subproblem.demand, fits), 0)
    scarce = (most.astype(np.float64) @ amount > 0.999 * free) & (free > 0)  # float: sums may pass 2^63
    share = subproblem.fixed[:, m] / subproblem.replicas
    base = float(subproblem.weight @ np.minimum(share[subproblem.a], share[subproblem.b]))
    return OneMachine(
        most=ints(most), amount=ints(amount[:, scarce]), free=ints(free[scarce]), fixed=subproblem.fixed[:, m], base=base
    )


def pricing_problem(subproblem: Subproblem, machine: OneMachine, cost: FloatArray) -> tuple[PatternProblem, IntArray, IntArray]:
    """The pricing problem at some cost per container, the workloads that it is about, and for each half-edge its number.

    Half-edges are numbered by the subproblem's edges, seen from a; then all of them again, seen from b.

    A container that gains less than it costs even beside all of its neighbours is in no best pattern.
    """
    stays = machine.fixed > 0
    alive = (machine.most > 0) | stays
    while True:
        inside = alive[subproblem.a] & alive[subproblem.b] & (subproblem.weight > 0)
        weight = subproblem.weight * inside
        gain = np.bincount(subproblem.a, weight, len(alive)) + np.bincount(subproblem.b, weight, len(alive))
        pays = (gain / subproblem.replicas > cost) & (machine.most > 0)
        keep = alive & (pays | stays)
        if (keep == alive).all():
            break
        alive = keep
    workload = np.flatnonzero(alive)
    most = np.where(pays, machine.most, 0)[workload]
    question, edge = _arrays(subproblem, machine, cost, workload, most)
    return question, ints(workload), edge


def _arrays(
    subproblem: Subproblem, machine: OneMachine, cost: FloatArray, workload: IntArray, most: IntArray
) -> tuple[PatternProblem, IntArray]:
    place = np.full(len(subproblem.demand), -1, dtype=np.int64)
    place[workload] = np.arange(len(workload))
    inside = np.flatnonzero((place[subproblem.a] >= 0) & (place[subproblem.b] >= 0) & (subproblem.weight > 0))
    a, b, weight = place[subproblem.a[inside]], place[subproblem.b[inside]], subproblem.weight[inside]
    ends, others = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.argsort(ends, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    user, row = np.nonzero(machine.amount[workload])
    question = PatternProblem(
        start=np.searchsorted(ends[order], np.arange(len(workload) + 1)).astype(np.int64),
        other=others[order],
        twin=position[(order + len(a)) % max(1, 2 * len(a))],
        weight=np.concatenate([weight, weight])[order],
        unit=1.0 / subproblem.replicas[workload],
        share=machine.fixed[workload] / subproblem.replicas[workload],
        cost=cost[workload],
        max_count=most,
        row_start=np.searchsorted(user, np.arange(len(workload) + 1)).astype(np.int64),
        row=row.astype(np.int64),
        amount=machine.amount[workload[user], row],
        free=machine.free.copy(),  # kernels are compiled for arrays that can be written to
        free_share=(machine.amount[workload] / machine.free)[user, row],
    )
    return question, np.concatenate([inside, inside + len(subproblem.a)])[order]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Priced:
    """Patterns from worse to better, what they add, and a bound that none exceeds."""

    pattern: list[IntArray]
    value: list[float]
    upper: float  # proven
    boxes: int  # that were explored


@dataclass(slots=True, kw_only=True, eq=False)
class Pricer:
    """Finds patterns of one type of machine; keeps the multipliers that made its last bound tight."""

    subproblem: Subproblem
    machine: OneMachine
    split: FloatArray = field(init=False)  # (edge,) the part of the weight that goes to workload a
    nu: FloatArray = field(init=False)  # (row,)

    def __post_init__(self) -> None:
        self.split = np.full(len(self.subproblem.a), 0.5)
        self.nu = np.zeros(len(self.machine.free))

    def priced(self, cost: FloatArray, *, target: float, boxes: int, stop: Callable[[], bool]) -> Priced:
        """Patterns that add more than the target, not negative, at some cost per container.

        Each pattern found becomes the new target, so `upper` is the last one's value where all boxes could be explored.
        """
        question, workload, edge = pricing_problem(self.subproblem, self.machine, cost)
        if not question.max_count.any():
            return Priced(pattern=[], value=[], upper=target, boxes=0)
        part, stack, now = scratch_arrays(question)
        base = pattern_value(question, np.zeros(len(workload), dtype=np.int64))
        self._begin(question, edge, part, stack, now, base + target)
        patterns: list[IntArray] = []
        values: list[float] = []
        best, state = np.zeros(len(workload), dtype=np.int64), OPEN
        while state != PROVEN and stack.size[1] < boxes and not stop():
            state = explore(question, part, stack, now, base + target, STEPS, AT_ONCE, best)
            if state == FOUND:
                target = pattern_value(question, best) - base
                patterns.append(self._full(workload, best))
                values.append(target)
        upper = max(target, float(stack.bound[: stack.size[0]].max(initial=-np.inf)) - base)
        return Priced(pattern=patterns, value=values, upper=upper, boxes=int(stack.size[1]))

    def walked(self, cost: FloatArray, start: IntArray, ease: float, chance: Chance) -> tuple[IntArray, float]:
        """A good pattern and what it adds at some cost, by annealing from a start; `ease`: share of the cost at first."""
        question, workload, _ = pricing_problem(self.subproblem, self.machine, cost)
        best = np.minimum(start[workload], question.max_count)
        if (best @ self.machine.amount[workload] > self.machine.free).any():
            best = np.zeros_like(best)
        if not question.max_count.any():
            return self._full(workload, best), 0.0
        walk = PatternWalk(
            counts=best.copy(),
            used=best @ self.machine.amount[workload],
            log=np.zeros(2 * MAX_EJECTIONS + 4, dtype=np.int64),
            rng=chance,
            change=np.zeros(3),
        )
        heat = float(self.subproblem.weight.max())
        value = search_pattern(question, walk, MOVES, HOT * heat, COLD * heat, ease, best)
        return self._full(workload, best), value - pattern_value(question, np.zeros_like(best))

    def _full(self, workload: IntArray, count: IntArray) -> IntArray:
        """(workload,) the pattern over all workloads of the subproblem."""
        pattern = np.zeros(len(self.subproblem.demand), dtype=np.int64)
        pattern[workload] = count
        return pattern

    def _begin(
        self, question: PatternProblem, edge: IntArray, part: BoundState, stack: BoxStack, now: BoundPrices, target: float
    ) -> None:
        """Bound the first box, from the multipliers of the last time."""
        n = len(self.split)
        part_of_a = np.where(edge < n, self.split[edge % n], 1.0 - self.split[edge % n])
        best = BoundPrices(stack.alpha[0], stack.nu[0])
        stack.high[0] = question.max_count
        stack.alpha[0] = question.weight * part_of_a
        stack.nu[0] = self.nu
        stack.bound[0] = tighten_bound(question, part, best, now, stack.low[0], stack.high[0], target, ROOT_STEPS)
        self.nu = best.nu.copy()
        first = edge < n
        self.split[edge[first]] = best.alpha[first] / question.weight[first]


def scratch_arrays(question: PatternProblem) -> tuple[BoundState, BoxStack, BoundPrices]:
    """Arrays for the kernels; the stack is as deep as boxes can be cut."""
    n, h, r = len(question.max_count), len(question.other), len(question.free)
    slots = 3 + int(np.ceil(np.log2(question.max_count + 1.0)).sum())
    part = BoundState(
        price=np.zeros(n),
        counts=np.zeros(n, dtype=np.int64),
        sum=np.zeros(n),
        square=np.zeros(n),
        steps=np.zeros(1, dtype=np.int64),
        value=np.zeros(n),
        low=np.zeros(n),
        high=np.zeros(n),
        slope=np.zeros(r),
        tilt=np.zeros(h),
    )
    stack = BoxStack(
        low=np.zeros((slots, n), dtype=np.int64),
        high=np.zeros((slots, n), dtype=np.int64),
        alpha=np.zeros((slots, h)),
        nu=np.zeros((slots, r)),
        bound=np.full(slots, np.inf),
        size=np.array([1, 0], dtype=np.int64),
    )
    return part, stack, BoundPrices(alpha=np.zeros(h), nu=np.zeros(r))
