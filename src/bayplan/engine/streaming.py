"""The one loop behind engines with workers: jobs go out as workers become free, answers come back, what is lost is repeated."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from bayplan.engine.jobs import ATTEMPTS, EngineLostError, Job, JobLoss, LossReport, T
from bayplan.engine.worker import Ended
from bayplan.model import Budget, Clock
from bayplan.model.interrupt import stop_requested

POLL = 0.1  # seconds between two looks at whether to stop


class WorkerEvent(NamedTuple):
    """What became of a job that was sent: it ended, or its worker was lost with it."""

    ticket: int
    ended: Ended | None
    cause: str = ""  # of the loss
    advice: str = ""  # what to do if that happens again and again


class Workers(Protocol):
    """Workers that run, of one engine."""

    @property
    def slots(self) -> int:
        """How many jobs may be there at a time; it may change."""
        ...

    def send(self, ticket: int, job: Job[Any]) -> None:
        """Let a free worker begin a job."""
        ...

    def receive(self, seconds: float) -> Sequence[WorkerEvent]:
        """What happened, waiting at most this long for it. EngineLostError if all workers are gone."""
        ...

    def give_up(self) -> None:
        """End all jobs that were sent and have not ended, at once."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Attempt:
    number: int
    job: Job[Any]
    attempt: int = 1


class JobStream:
    """One stream of jobs on some workers."""

    _tickets = 0  # of all streams: an answer to an earlier stream is not taken for one of this

    def __init__(self, workers: Workers, jobs: Iterable[Job[Any]], clock: Clock, lost: LossReport) -> None:
        self._workers, self._clock, self._lost = workers, clock, lost
        self._coming = (_Attempt(number=number, job=job) for number, job in enumerate(jobs))
        self._again: list[_Attempt] = []
        self._running: dict[int, _Attempt] = {}

    def answers(self) -> Iterator[tuple[int, Any]]:
        """The number of a job and its answer, as they come."""
        try:
            while not self._over() and self._sent():
                for event in self._workers.receive(min(POLL, max(0.0, self._clock.seconds_left))):
                    yield from self._handled(event)
        finally:
            if self._running:
                self._workers.give_up()

    def _over(self) -> bool:
        return stop_requested() or self._clock.expired()

    def _sent(self) -> bool:
        """Send jobs while there are free workers; False if none is left to wait for."""
        while len(self._running) < self._workers.slots:
            attempt = self._again.pop(0) if self._again else next(self._coming, None)
            if attempt is None:
                break
            JobStream._tickets += 1
            self._running[JobStream._tickets] = attempt
            self._workers.send(JobStream._tickets, attempt.job)
        return bool(self._running)

    def _handled(self, event: WorkerEvent) -> Iterator[tuple[int, Any]]:
        attempt = self._running.pop(event.ticket, None)
        if attempt is None:
            return
        if event.ended is None:
            self._repeat(attempt, event)
        elif event.ended.error is not None:
            raise event.ended.error
        else:
            yield attempt.number, event.ended.value

    def _repeat(self, attempt: _Attempt, event: WorkerEvent) -> None:
        loss = JobLoss(attempt.job.name, event.cause, attempt.attempt, attempt.attempt < ATTEMPTS)
        self._lost(loss)
        if not loss.again:
            advice = f"; {event.advice}" if event.advice else ""
            raise EngineLostError(f"job '{loss.job}' was lost {ATTEMPTS} times, at last because {event.cause}{advice}")
        self._again.append(replace(attempt, attempt=attempt.attempt + 1))


def streamed(workers: Workers, jobs: Iterable[Job[T]], *, seconds: float | None, lost: LossReport) -> Iterator[tuple[int, T]]:
    """The number of a job and its answer, as they come; see `Engine.stream`."""
    return JobStream(workers, jobs, Budget(seconds=seconds).clock(), lost).answers()
