"""Failures looked at on an engine: some of them in each job, which builds its own state of the cluster.

A failure leaves the state as it was, so the outcomes do not depend on which failures are in one job. How many those are never
depends on the workers: enough that building the state pays, and not more than `MOST_JOBS` jobs.
"""

import math
import time
from collections.abc import Iterator, Sequence

from bayplan.decide.capacity import CapacityOptions, Spare, survive
from bayplan.engine import Engine, EngineLostError, Job, LossNotes, Shared
from bayplan.engine.job_limits import given_up_after
from bayplan.model import Budget, Clock, Progress, Snapshot, Tick, silent
from bayplan.model.failures import Failure, FailureOutcome

FEWEST, MOST_JOBS = 20, 64  # failures of a job, and jobs


class FailureJobs:
    """Where failures are looked at, and what users should know of it."""

    def __init__(self, engine: Engine, workers: int) -> None:
        self.engine, self.workers, self.losses = engine, workers, LossNotes()

    def survive(
        self,
        snapshot: Snapshot,
        failures: Sequence[Failure],
        spares: Sequence[Spare],
        options: CapacityOptions,
        *,
        clock: Clock,
        progress: Progress,
    ) -> list[FailureOutcome]:
        """The outcome of each failure, in that order; some are missing if the time ends, a stop is requested or all is lost.

        EngineLostError if none has come.
        """
        groups, answers, done = _groups(failures), dict[int, list[FailureOutcome]](), 0
        shared = Shared((snapshot, tuple(spares), options))
        seconds = given_up_after(clock.seconds_left)
        try:
            jobs = _jobs(shared, groups, clock)
            for n, outcomes in self.engine.stream(jobs, workers=self.workers, seconds=seconds, lost=self.losses.report):
                answers[n], done = outcomes, done + len(outcomes)
                progress(Tick(stage=f"failure {done:,} of {len(failures):,}", done=done / len(failures)))
        except EngineLostError as error:
            if not answers:
                raise
            self.losses.notes.append(f"not all failures were looked at: {error}")
        return [outcome for n in sorted(answers) for outcome in answers[n]]


def _groups(failures: Sequence[Failure]) -> list[Sequence[Failure]]:
    size = max(FEWEST, -(-len(failures) // MOST_JOBS))
    return [failures[first : first + size] for first in range(0, len(failures), size)]


SharedInputs = tuple[Snapshot, tuple[Spare, ...], CapacityOptions]


def _jobs(shared: Shared[SharedInputs], groups: Sequence[Sequence[Failure]], clock: Clock) -> Iterator[Job[list[FailureOutcome]]]:
    for n, failures in enumerate(groups):
        until = time.time() + clock.seconds_left
        yield Job(name=f"failures {n + 1} of {len(groups)}", call=survived, arguments=(shared, tuple(failures), until))


def survived(shared: SharedInputs, failures: Sequence[Failure], until: float) -> list[FailureOutcome]:
    """The outcomes of some failures; fewer if that moment of `time.time` comes before."""
    snapshot, spares, options = shared
    clock = Budget(seconds=None if math.isinf(until) else max(0.0, until - time.time())).clock()
    return survive(snapshot, failures, spares, options, clock=clock, progress=silent)
