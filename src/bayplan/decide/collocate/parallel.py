"""Subproblems solved on an engine, one job each: largest first, each with its part of the time, kept as they come."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple

import numpy as np

from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.engine import Engine, EngineLostError, Job, LossNotes, Shared
from bayplan.engine.job_limits import JobTime, given_up_after
from bayplan.engine.jobs import T
from bayplan.model import FloatArray, Progress, Tick


class SolveLimits(NamedTuple):
    """What solving all subproblems may take."""

    seconds: float  # of all together; infinite without a limit
    iterations: int | None  # of each; they alone determine the answer where the seconds are infinite
    threads: int
    seed: int


class PartLimits(NamedTuple):
    """What solving one subproblem may take."""

    time: JobTime
    iterations: int | None
    threads: int
    seed: int


class SolvedParts(NamedTuple, Generic[T]):
    """What became of subproblems: the answers that came, by number, and what the user should know."""

    answer_of: dict[int, T]
    notes: tuple[str, ...]


@dataclass(slots=True, kw_only=True, eq=False)
class TimeShares:
    """The time of subproblems that are begun one after the other in several slots; what one leaves is for those after it."""

    share: FloatArray  # (subproblem,) of any total
    until: float  # a moment of `time.time`
    slots: int
    ends: dict[int, float] = field(default_factory=dict)  # of those that run: when their time is over
    begun: set[int] = field(default_factory=set)

    def begin(self, number: int) -> float:
        """The seconds of a subproblem that begins now: its share of what those that run leave in all slots."""
        if math.isinf(self.until):
            return math.inf
        now = time.time()
        left = max(0.0, self.until - now)
        free = self.slots * left - sum(max(0.0, end - now) for end in self.ends.values())
        coming = float(sum(share for n, share in enumerate(self.share.tolist()) if n not in self.begun))
        seconds = min(left, max(0.0, free) * float(self.share[number]) / max(coming, 1e-300))
        self.begun.add(number)
        self.ends[number] = now + seconds
        return seconds

    def end(self, number: int) -> None:
        """A subproblem has ended."""
        self.ends.pop(number, None)


def solve_in_parallel(
    subproblems: Sequence[Subproblem],
    call: Callable[[Sequence[Subproblem], int, Any, PartLimits], T],
    about: Sequence[object],
    engine: Engine,
    limits: SolveLimits,
    progress: Progress,
) -> SolvedParts[T]:
    """The answers of `call(subproblems, number, about[number], limits)`, as far as they come in time.

    Missing are those that a stop, the end of the time or the loss of the engine left over. EngineLostError if none has come.
    """
    until, losses = time.time() + limits.seconds, LossNotes()
    share = time_shares(subproblems)
    order: list[int] = np.argsort(-share, kind="stable").tolist()
    parts: SolvedParts[T] = SolvedParts({}, ())
    try:
        with engine:
            times = TimeShares(share=share, until=until, slots=engine.slots(limits.threads))
            jobs = _jobs(Shared(tuple(subproblems)), call, about, order, times, limits)
            seconds = given_up_after(until - time.time(), limits.seconds)
            for number, answer in engine.stream(jobs, workers=limits.threads, seconds=seconds, lost=losses.report):
                parts.answer_of[order[number]] = answer
                times.end(order[number])
                progress(Tick(stage="solving", done=float(share[list(parts.answer_of)].sum() / max(share.sum(), 1e-300))))
    except EngineLostError as error:
        if not parts.answer_of:
            raise
        losses.notes.append(str(error))
    return parts._replace(notes=tuple(losses.notes))


def _jobs(
    shared: Shared[tuple[Subproblem, ...]],
    call: Callable[[Sequence[Subproblem], int, Any, PartLimits], T],
    about: Sequence[object],
    order: Sequence[int],
    times: TimeShares,
    limits: SolveLimits,
) -> Iterator[Job[T]]:
    """One job per subproblem. Under iterations nothing of it depends on the number of workers."""
    many = max(1, min(len(order), times.slots))
    threads = max(1, limits.threads // many) if limits.iterations is None else 1
    for number in order:
        seconds = times.begin(number)
        part = PartLimits(JobTime(times.until, seconds), limits.iterations, threads, limits.seed + number)
        yield Job(name=f"part {number + 1} of {len(order)}", call=call, arguments=(shared, number, about[number], part))


def time_shares(subproblems: Sequence[Subproblem]) -> FloatArray:
    """(subproblem,) its part of the time: half by its affinity, half by its size, workloads times machines."""
    affinity = np.array([subproblem.weight.sum() for subproblem in subproblems])
    size = np.array([float(np.prod(subproblem.shape)) for subproblem in subproblems])
    part: FloatArray = 0.5 * affinity / max(affinity.sum(), 1e-300) + 0.5 * size / max(size.sum(), 1e-300)
    return part
