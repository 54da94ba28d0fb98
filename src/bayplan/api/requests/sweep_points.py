"""The points of a sweep: one job for each number of machines, on an engine."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from bayplan.decide.schedule.machine_sweep import MachineSweep, PointInputs, fewest, sweep_point
from bayplan.engine import Engine, EngineLostError, Job, LossNotes, Shared
from bayplan.engine.job_limits import given_up_after
from bayplan.model import Budget, Tick
from bayplan.model.interrupt import stoppable
from bayplan.score.machine_sweep import FewestMachines, SweepPoint

BESIDE_FEWEST = 0.7  # of the time for the stated numbers of machines, if the fewest machines are wanted too


class SweepEnd(NamedTuple):
    """How a sweep ended; its points are in the sweep."""

    fewest: FewestMachines | None  # that serve the stated share
    not_tried: int  # numbers of machines without an answer
    interrupted: bool
    notes: tuple[str, ...]  # of lost workers


@dataclass(slots=True, kw_only=True, eq=False)
class SweepRun:
    """A sweep that runs on an engine: points are known as they come, in any order."""

    sweep: MachineSweep
    engine: Engine
    workers: int
    keep: Callable[[], None]  # called after every point
    losses: LossNotes = field(default_factory=LossNotes)

    def run(self, machines: Sequence[int], serve: float | None) -> SweepEnd:
        """All points that there is time for, then the fewest machines that serve the share. Ctrl-C keeps the points that came."""
        wanted = [number for number in dict.fromkeys(machines) if number not in self.sweep.known]
        smallest, part = None, 1.0 if serve is None else BESIDE_FEWEST
        with stoppable() as stop:

            def over() -> bool:
                return stop.requested or (bool(self.sweep.known) and self.sweep.clock.expired())

            if wanted:
                self._points(wanted, part, over)
            if serve is not None and not over():
                smallest = fewest(self.sweep, serve, over)
            missing = sum(number not in self.sweep.known for number in wanted)
            return SweepEnd(smallest, missing, stop.requested, tuple(self.losses.notes))

    def _points(self, wanted: Sequence[int], part: float, over: Callable[[], bool]) -> None:
        """The points of these numbers of machines, in a part of the time; at least one, however little time there is."""
        done, left = 0, self.sweep.clock.left(part)
        late = None if left is None else given_up_after(left)
        try:
            with self.engine as engine:
                jobs = self._jobs(wanted, part, engine.slots(self.workers), over)
                for number, point in engine.stream(jobs, workers=self.workers, seconds=late, lost=self.losses.report):
                    self.sweep.known[wanted[number]] = point
                    done += 1
                    self._tell(point, done / len(wanted))
        except EngineLostError as error:
            if not self.sweep.known:
                raise
            self.losses.notes.append(str(error))
        if not self.sweep.known and not over():
            self._tell(self.sweep.at(wanted[0], part), 1.0 / len(wanted))

    def _tell(self, point: SweepPoint, done: float) -> None:
        self.sweep.progress(Tick(stage=f"{point.machines:,} machines", done=done, score=point.value))
        self.keep()

    def _jobs(self, wanted: Sequence[int], part: float, slots: int, over: Callable[[], bool]) -> Iterator[Job[SweepPoint]]:
        """One job for each number of machines, when a worker is free for it. Without seconds nothing of it depends on workers."""
        shared, budget = Shared(self.sweep.inputs), self.sweep.clock.budget
        for machines in wanted:
            if over():
                return
            open_ends = sum(number not in self.sweep.known for number in wanted)
            many = max(1, min(slots, open_ends))
            share = many * part / (len(wanted) - part * (len(wanted) - open_ends))
            seconds = self.sweep.clock.left(min(1.0, share))
            threads = 1 if seconds is None else max(1, budget.threads // many)
            own = replace(budget, seconds=seconds, threads=threads)
            until = time.time() + (seconds or 0.0)
            yield Job(name=f"{machines:,} machines", call=point_until, arguments=(shared, machines, own, until))


def point_until(inputs: PointInputs, machines: int, budget: Budget, until: float) -> SweepPoint:
    """A point within its budget, and by a moment of `time.time`, so that the time in which a worker starts counts, too."""
    if budget.seconds is not None:
        budget = replace(budget, seconds=max(0.0, min(budget.seconds, until - time.time())))
    return sweep_point(inputs, machines, budget=budget)
