"""Engines in this process that do what others do now and then: answers in any order, answers that never come, a sudden end."""

import os
import pickle
import random
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from bayplan.engine import Engine, EngineLostError, Job, LossReport, engine_of, log_loss
from bayplan.engine.worker import attempt, parts_in_file
from bayplan.model.interrupt import stop_requested


class OddEngine:
    """Begins several jobs at a time, each as bytes, and answers in a random order.

    `missing`: the share of answers that never come, as after a deadline. `lost_after`: that many answers it is lost.
    """

    name = "odd"

    def __init__(self, *, slots: int = 3, seed: int = 0, missing: float = 0.0, lost_after: int | None = None) -> None:
        self.at_a_time, self.random, self.missing, self.lost_after = slots, random.Random(seed), missing, lost_after
        self.sent: list[str] = []  # names of jobs
        self.answered = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is kept."""

    def slots(self, workers: int) -> int:
        return self.at_a_time

    def stream(
        self, jobs: Iterable[Job[Any]], *, workers: int, seconds: float | None = None, lost: LossReport = log_loss
    ) -> Iterator[tuple[int, Any]]:
        coming, running = enumerate(jobs), []
        while not stop_requested():
            while len(running) < self.at_a_time and (following := next(coming, None)) is not None:
                running.append(following)
                self.sent.append(following[1].name)
            if not running:
                return
            if self.answered == self.lost_after:
                raise EngineLostError("engine 'odd' is lost: all at once")
            number, job = running.pop(self.random.randrange(len(running)))
            self.answered += 1
            if self.random.random() >= self.missing:
                yield number, answered(job)

    def run(self, jobs: Sequence[Job[Any]], *, workers: int, lost: LossReport = log_loss) -> list[Any]:
        return [answer for _, answer in sorted(self.stream(jobs, workers=workers))]


def answered(job: Job[Any]) -> Any:
    """What a worker answers to a job that came to it as bytes."""
    files = {each.key: str(each.file()) for each in job.shared}
    ended = pickle.loads(attempt(job.packed(), lambda key: parts_in_file(files[key])))
    if ended.error is not None:
        raise ended.error
    return ended.value


class ChangedJobs:
    """An engine whose jobs are changed on their way."""

    def __init__(self, engine: str | Engine, change: Callable[[Job[Any]], Job[Any]]) -> None:
        self.engine, self.change = engine_of(engine), change
        self.name = self.engine.name

    def __enter__(self) -> Self:
        self.engine.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.__exit__(None, None, None)

    def slots(self, workers: int) -> int:
        return self.engine.slots(workers)

    def stream(self, jobs: Iterable[Job[Any]], **options: Any) -> Iterator[tuple[int, Any]]:
        return self.engine.stream((self.change(job) for job in jobs), **options)

    def run(self, jobs: Sequence[Job[Any]], **options: Any) -> list[Any]:
        return self.engine.run([self.change(job) for job in jobs], **options)


def losing_one_worker(engine: str | Engine, mark: Path) -> ChangedJobs:
    """The engine on which the first job that comes to a worker ends that worker."""
    return ChangedJobs(
        engine,
        lambda job: Job(name=job.name, call=dying_once, arguments=(str(mark), job.call, *job.arguments), options=job.options),
    )


def losing_every_worker(engine: str | Engine) -> ChangedJobs:
    """The engine on which every job ends its worker."""
    return ChangedJobs(engine, lambda job: Job(name=job.name, call=dying, arguments=job.arguments))


def dying_once(mark: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The call, but where none has died before."""
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return call(*arguments, **options)
    return os.kill(os.getpid(), signal.SIGKILL)


def dying(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
