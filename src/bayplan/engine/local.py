"""Jobs in this process, one after the other."""

from collections.abc import Sequence

from bayplan.engine.job import Job, T


class Here:
    """The engine that needs nothing, and that a debugger can follow."""

    def run(self, jobs: Sequence[Job[T]], *, workers: int) -> list[T]:
        """What each job returns; `workers` makes no difference."""
        return [job() for job in jobs]
