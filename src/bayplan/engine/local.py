"""A piece of work that needs nothing from its neighbours, and what runs many of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job(Generic[T]):
    """A call that can be sent elsewhere: a function that stands in a module, and arguments that can be pickled."""

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
        """What each job returns, in the order of the jobs, whoever ends first; at most `workers` run at a time.

        A job that raises ends the run with its own error; other jobs are given up. WorldError if a process dies.
        """
        ...


class InProcess:
    """The engine that needs nothing, and that a debugger can follow."""

    def run(self, jobs: Sequence[Job[T]], *, workers: int) -> list[T]:
        """What each job returns; `workers` makes no difference."""
        return [job() for job in jobs]
