"""A job, what every engine is, and the engine that runs jobs in this process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job(Generic[T]):
    """A call that another process can make: a function of a module, and arguments that can be pickled."""

    name: str  # for messages: "part 3 of 4"
    call: Callable[..., T]
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # by keyword

    def __call__(self) -> T:
        """What the call returns."""
        return self.call(*self.arguments, **self.options)


class Engine(Protocol):
    """A place where jobs run."""

    def run(self, jobs: Sequence[Job[T]], *, workers: int) -> list[T]:
        """What each job returns, in the order of the jobs, whichever ends first; at most `workers` run at a time.

        A job that raises ends the run with its own error; other jobs are given up. WorldError if a process dies.
        """
        ...


class InProcess:
    """One job after the other, in this process: needs nothing, and a debugger can follow it."""

    def run(self, jobs: Sequence[Job[T]], *, workers: int) -> list[T]:
        """What each job returns; `workers` makes no difference."""
        return [job() for job in jobs]
