"""The engine that runs jobs in this process."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Self

from bayplan.engine.jobs import Job, LossReport, T, log_loss
from bayplan.model import Budget
from bayplan.model.interrupt import stop_requested


class InProcess:
    """One job after the other, in this process: needs nothing, and a debugger can follow it. No worker can be lost."""

    name = "here"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is kept."""

    def slots(self, workers: int) -> int:
        """One."""
        return 1

    def stream(
        self, jobs: Iterable[Job[T]], *, workers: int = 1, seconds: float | None = None, lost: LossReport = log_loss
    ) -> Iterator[tuple[int, T]]:
        """Each answer when it is asked for. A job that has begun is not cut off: it looks at the clock and at Ctrl-C itself."""
        clock = Budget(seconds=seconds).clock()
        coming = enumerate(jobs)
        while not stop_requested() and not clock.expired():
            number, job = next(coming, (0, None))
            if job is None:
                return
            yield number, job()

    def run(self, jobs: Sequence[Job[T]], *, workers: int = 1, lost: LossReport = log_loss) -> list[T]:
        """What each job returns. After Ctrl-C jobs that know it end early, and the others run to their end."""
        return [job() for job in jobs]
