"""Patterns of one machine that are worth more than a target, and a proof where there are none (004 Algorithm 1, GenPattern)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.kernels.collocate.branch import FOUND, OPEN, PROVEN, Stack, explore
from bayplan.kernels.collocate.pattern_search import EJECTIONS, Walk, search, worth
from bayplan.kernels.collocate.relax import Part, Prices, Question, lower
from bayplan.model import FloatArray, IntArray, ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneMachine:
    """One machine of a type: what it could run, and what stands there."""

    most: IntArray  # (service,) containers at most
    amount: IntArray  # (service, row) resources and anti-affinity sets that can become scarce
    room: IntArray  # (row,) positive
    fixed: IntArray  # (service,)
    base: float  # affinity that is gained there without any new container


def one_machine(task: Subproblem, m: int) -> OneMachine:
    """Machine m by itself."""
    amount = np.concatenate([task.request, task.member.T.astype(np.int64)], axis=1)
    room = np.concatenate([task.room[m], task.spare[:, m]])
    fits = np.where(amount > 0, room // np.maximum(amount, 1), np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
    most = np.where(task.allow[task.row_of, m], np.minimum(task.demand, fits), 0)
    scarce = (most.astype(np.float64) @ amount > 0.999 * room) & (room > 0)  # float: sums may pass 2^63
    share = task.fixed[:, m] / task.replicas
    base = float(task.weight @ np.minimum(share[task.a], share[task.b]))
    return OneMachine(most=ints(most), amount=ints(amount[:, scarce]), room=ints(room[scarce]), fixed=task.fixed[:, m], base=base)


def pricing_problem(task: Subproblem, corner: OneMachine, cost: FloatArray) -> tuple[Question, IntArray, IntArray]:
    """The question at some cost per container, the services that it is about, and for each half-edge its number.

    Half-edges are numbered by the task's edges, seen from a; then all of them again, seen from b.

    A container that gains less than it costs even where all of its neighbours stand is in no best pattern.
    """
    stays = corner.fixed > 0
    alive = (corner.most > 0) | stays
    while True:
        inside = alive[task.a] & alive[task.b] & (task.weight > 0)
        gain = np.bincount(task.a, task.weight * inside, len(alive)) + np.bincount(task.b, task.weight * inside, len(alive))
        pays = (gain / task.replicas > cost) & (corner.most > 0)
        keep = alive & (pays | stays)
        if (keep == alive).all():
            break
        alive = keep
    service = np.flatnonzero(alive)
    most = np.where(pays, corner.most, 0)[service]
    question, edge = _assembled(task, corner, cost, service, most)
    return question, ints(service), edge


def _assembled(
    task: Subproblem, corner: OneMachine, cost: FloatArray, service: IntArray, most: IntArray
) -> tuple[Question, IntArray]:
    place = np.full(len(task.demand), -1, dtype=np.int64)
    place[service] = np.arange(len(service))
    inside = np.flatnonzero((place[task.a] >= 0) & (place[task.b] >= 0) & (task.weight > 0))
    a, b, weight = place[task.a[inside]], place[task.b[inside]], task.weight[inside]
    ends, others = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.argsort(ends, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    user, row = np.nonzero(corner.amount[service])
    question = Question(
        start=np.searchsorted(ends[order], np.arange(len(service) + 1)).astype(np.int64),
        other=others[order],
        twin=position[(order + len(a)) % max(1, 2 * len(a))],
        weight=np.concatenate([weight, weight])[order],
        unit=1.0 / task.replicas[service],
        share=corner.fixed[service] / task.replicas[service],
        cost=cost[service],
        most=most,
        row_start=np.searchsorted(user, np.arange(len(service) + 1)).astype(np.int64),
        row=row.astype(np.int64),
        amount=corner.amount[service[user], row],
        room=corner.room.copy(),  # kernels are compiled for arrays that can be written to
        fill=(corner.amount[service] / corner.room)[user, row],
    )
    return question, np.concatenate([inside, inside + len(task.a)])[order]


AT_ONCE = 20  # boxes between two looks at the clock
STEPS = 10  # of the bound, in each box
ROOT_STEPS = 200  # in the first one
MOVES = 4_000  # of a walk
HOT, COLD = 2e-3, 1e-5  # of a walk, by the largest weight

Chance: TypeAlias = npt.NDArray[np.uint64]  # (1,) state of the random numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Priced:
    """Patterns from worse to better, what they are worth, and what none is above."""

    pattern: list[IntArray]
    value: list[float]
    upper: float  # proven
    boxes: int  # that were looked at


@dataclass(slots=True, kw_only=True, eq=False)
class Pricer:
    """One type of machine; remembers what made its last bound tight."""

    task: Subproblem
    corner: OneMachine
    split: FloatArray = field(init=False)  # (edge,) which part of the weight goes to service a
    nu: FloatArray = field(init=False)  # (row,)

    def __post_init__(self) -> None:
        self.split = np.full(len(self.task.a), 0.5)
        self.nu = np.zeros(len(self.corner.room))

    def priced(self, cost: FloatArray, *, target: float, boxes: int, stop: Callable[[], bool]) -> Priced:
        """Patterns that add more than the target, not negative, at some cost per container.

        Each pattern found becomes the new target, so `upper` is the last one's value where all boxes could be looked at.
        """
        question, service, edge = pricing_problem(self.task, self.corner, cost)
        if not question.most.any():
            return Priced(pattern=[], value=[], upper=target, boxes=0)
        part, stack, now = scratch_arrays(question)
        base = worth(question, np.zeros(len(service), dtype=np.int64))
        self._begin(question, edge, part, stack, now, base + target)
        found: list[IntArray] = []
        values: list[float] = []
        best, state = np.zeros(len(service), dtype=np.int64), OPEN
        while state != PROVEN and stack.size[1] < boxes and not stop():
            state = explore(question, part, stack, now, base + target, STEPS, AT_ONCE, best)
            if state == FOUND:
                target = worth(question, best) - base
                found.append(self._whole(service, best))
                values.append(target)
        upper = max(target, float(stack.bound[: stack.size[0]].max(initial=-np.inf)) - base)
        return Priced(pattern=found, value=values, upper=upper, boxes=int(stack.size[1]))

    def walked(self, cost: FloatArray, start: IntArray, ease: float, chance: Chance) -> tuple[IntArray, float]:
        """A good pattern and what it adds at some cost, by annealing from a start; `ease`: share of the cost at first."""
        question, service, _ = pricing_problem(self.task, self.corner, cost)
        best = np.minimum(start[service], question.most)
        if (best @ self.corner.amount[service] > self.corner.room).any():
            best = np.zeros_like(best)
        if not question.most.any():
            return self._whole(service, best), 0.0
        walk = Walk(
            counts=best.copy(),
            used=best @ self.corner.amount[service],
            log=np.zeros(2 * EJECTIONS + 4, dtype=np.int64),
            chance=chance,
            bill=np.zeros(3),
        )
        heat = float(self.task.weight.max())
        value = search(question, walk, MOVES, HOT * heat, COLD * heat, ease, best)
        return self._whole(service, best), value - worth(question, np.zeros_like(best))

    def _whole(self, service: IntArray, count: IntArray) -> IntArray:
        whole = np.zeros(len(self.task.demand), dtype=np.int64)
        whole[service] = count
        return whole

    def _begin(self, question: Question, edge: IntArray, part: Part, stack: Stack, now: Prices, target: float) -> None:
        """The first box, bounded from the prices of the last time."""
        part_of_a = np.where(edge < len(self.split), self.split[edge % len(self.split)], 1.0 - self.split[edge % len(self.split)])
        best = Prices(stack.alpha[0], stack.nu[0])
        stack.high[0] = question.most
        stack.alpha[0] = question.weight * part_of_a
        stack.nu[0] = self.nu
        stack.bound[0] = lower(question, part, best, now, stack.low[0], stack.high[0], target, ROOT_STEPS)
        self.nu = best.nu.copy()
        first = edge < len(self.split)
        self.split[edge[first]] = best.alpha[first] / question.weight[first]


def scratch_arrays(question: Question) -> tuple[Part, Stack, Prices]:
    """Arrays for the kernels; the stack is as deep as boxes can be cut."""
    n, h, r = len(question.most), len(question.other), len(question.room)
    slots = 3 + int(np.ceil(np.log2(question.most + 1.0)).sum())
    part = Part(
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
    stack = Stack(
        low=np.zeros((slots, n), dtype=np.int64),
        high=np.zeros((slots, n), dtype=np.int64),
        alpha=np.zeros((slots, h)),
        nu=np.zeros((slots, r)),
        bound=np.full(slots, np.inf),
        size=np.array([1, 0], dtype=np.int64),
    )
    return part, stack, Prices(alpha=np.zeros(h), nu=np.zeros(r))
