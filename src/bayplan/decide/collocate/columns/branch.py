"""Branch and bound of all types of machines at some prices: in this process, and on an engine once that is worth it.

A type needs no search where a larger one, priced before, has no pattern that pays for it. In this process that is known before a
type is priced; workers price types before it is known, and what need not have been priced is not used. So the patterns, the
bounds and the multipliers that pricers keep are those of this process alone, whatever came when.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.decide.collocate.columns.pricing import Priced, Pricer, one_machine
from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.engine.job_limits import JobTime
from bayplan.engine.jobs import Job, Shared
from bayplan.engine.lazy import LazyEngine
from bayplan.model import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TypeInputs:
    """What pricing needs in all rounds; it travels to each worker once."""

    subproblem: Subproblem
    first: IntArray  # (type,) the first machine of the type
    below: BoolArray  # (type, type) whatever runs on a machine of the first runs on one of the second


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TypeQuestion:
    """What one round asks of all types."""

    inputs: Shared[TypeInputs]
    order: Sequence[int]  # of the types, each after those that it is below
    cost: FloatArray  # (workload,) of a container
    target: FloatArray  # (type,) patterns have to add more
    boxes: int  # of one branch and bound


class RoundTime(NamedTuple):
    """When a round ends."""

    stop: Callable[[], bool]
    ends: float  # a moment of `time.perf_counter`, for workers, which cannot ask `stop`
    in_shares: bool = False  # has each type its share of the time? Or may the first ones take all of it?

    def stop_of(self, types: int) -> Callable[[], bool]:
        """When to stop with a type, if this many are left with it."""
        if not self.in_shares:
            return self.stop
        share_ends = after(share_of(self.ends, types))
        return lambda: self.stop() or share_ends()


class PricedTypes(NamedTuple):
    """The answer: patterns of the types that had to be priced, in their order, and a bound of each type."""

    priced: dict[int, Priced]
    upper: FloatArray  # (type,) proven: no pattern adds more; infinite where that is not known


class TypeTask(NamedTuple):
    """One type of a job, with the multipliers of its pricer."""

    type: int
    target: float
    split: FloatArray
    nu: FloatArray


class TypesTask(NamedTuple):
    """What a job asks."""

    types: list[TypeTask]
    cost: FloatArray
    upper: FloatArray  # (type,) what is known of all types
    boxes: int
    time: JobTime
    in_shares: bool


class TypeAnswer(NamedTuple):
    """What a job says about a type that it has priced."""

    priced: Priced
    split: FloatArray
    nu: FloatArray
    seconds: float


def price_types(question: TypeQuestion, pricer_of: Callable[[int], Pricer], limits: RoundTime, engine: LazyEngine) -> PricedTypes:
    """Price all types that no larger one spares. Those that are missing in time have the bound of a larger one, or none."""
    below, target = question.inputs.value.below, question.target
    answer = PricedTypes({}, np.full(len(target), np.inf))
    came: dict[int, TypeAnswer] | None = None
    for n, t in enumerate(question.order):
        answer.upper[t] = answer.upper[below[t]].min(initial=np.inf)
        if answer.upper[t] <= target[t]:
            continue
        if came is None and engine.worthwhile(len(question.order) - n) and not limits.stop():
            came = _on_engine(question, question.order[n:], answer.upper, pricer_of, limits, engine)
        if came is not None and t in came:
            pricer, priced = pricer_of(t), came[t].priced
            pricer.split, pricer.nu = came[t].split, came[t].nu
        elif limits.stop():
            continue
        else:
            began = time.perf_counter()
            stop = limits.stop_of(len(question.order) - n)
            priced = pricer_of(t).priced(question.cost, target=float(target[t]), boxes=question.boxes, stop=stop)
            engine.did(time.perf_counter() - began)
        answer.upper[t] = min(answer.upper[t], priced.upper)
        answer.priced[t] = priced
    return answer


def _on_engine(
    question: TypeQuestion,
    types: Sequence[int],
    upper: FloatArray,
    pricer_of: Callable[[int], Pricer],
    limits: RoundTime,
    engine: LazyEngine,
) -> dict[int, TypeAnswer]:
    """What workers say about these types; nothing about those that need no search, or that are missing in time."""
    came: dict[int, TypeAnswer] = {}
    for answers in engine.answers(_jobs(question, types, upper, came, pricer_of, limits, engine), ends=limits.ends):
        came |= answers
        for answer in answers.values():
            engine.did(answer.seconds)
    return came


def _jobs(
    question: TypeQuestion,
    types: Sequence[int],
    upper: FloatArray,
    came: dict[int, TypeAnswer],
    pricer_of: Callable[[int], Pricer],
    limits: RoundTime,
    engine: LazyEngine,
) -> Iterator[Job[dict[int, TypeAnswer]]]:
    """Jobs of some types each, without those that need no search by what came until a worker was free."""
    size, target, below = engine.pieces_at_once(len(types)), question.target, question.inputs.value.below
    for start in range(0, len(types), size):
        known = _known(types, upper, came, below)
        chunk = [t for t in types[start : start + size] if known[t] > target[t]]
        if not chunk:
            continue
        tasks = [TypeTask(t, float(target[t]), (pricer := pricer_of(t)).split, pricer.nu) for t in chunk]
        share = len(chunk) * engine.slots / (len(types) - start)
        now = time.perf_counter()
        ends = now + min(1.0, share) * (limits.ends - now) if limits.in_shares else limits.ends
        task = TypesTask(tasks, question.cost, known, question.boxes, JobTime.until_moment(ends), limits.in_shares)
        yield Job(name=f"pricing of {_names(chunk)}", call=price_some_types, arguments=(question.inputs, task))


def _known(types: Sequence[int], upper: FloatArray, came: dict[int, TypeAnswer], below: BoolArray) -> FloatArray:
    """(type,) the bounds by what came so far: never less than in the end."""
    known = upper.copy()
    for t in types:
        known[t] = known[below[t]].min(initial=np.inf)
        if t in came:
            known[t] = min(known[t], came[t].priced.upper)
    return known


def _names(types: Sequence[int]) -> str:
    """'machine type 7', '3 machine types from 7'."""
    return f"machine type {types[0]}" if len(types) == 1 else f"{len(types)} machine types from {types[0]}"


def price_some_types(inputs: TypeInputs, task: TypesTask) -> dict[int, TypeAnswer]:
    """What a worker does: the answer to each type of a job that needs a search by what is known there."""
    answers: dict[int, TypeAnswer] = {}
    upper, ends = task.upper.copy(), task.time.ends
    for n, (t, target, split, nu) in enumerate(task.types):
        upper[t] = upper[inputs.below[t]].min(initial=np.inf)
        if upper[t] <= target:
            continue
        began = time.perf_counter()
        pricer = Pricer(subproblem=inputs.subproblem, machine=one_machine(inputs.subproblem, int(inputs.first[t])))
        pricer.split, pricer.nu = split.copy(), nu.copy()
        stop = after(share_of(ends, len(task.types) - n) if task.in_shares else ends)
        priced = pricer.priced(task.cost, target=target, boxes=task.boxes, stop=stop)
        upper[t] = min(upper[t], priced.upper)
        answers[t] = TypeAnswer(priced, pricer.split, pricer.nu, time.perf_counter() - began)
    return answers


def after(moment: float) -> Callable[[], bool]:
    """Has a moment of `time.perf_counter` passed?"""
    return lambda: time.perf_counter() > moment


def share_of(ends: float, number: int) -> float:
    """The moment at which one of this many has had its share of the time from now on."""
    now = time.perf_counter()
    return now + (ends - now) / number
