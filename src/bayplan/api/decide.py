"""Decide about a cluster: read, ask a method, write its answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from bayplan.api.inspect import inspect, write_comparison
from bayplan.errors import UsageError
from bayplan.formats.solutions import write_solution
from bayplan.model import Budget, Placement, Reason, Result, Snapshot
from bayplan.model.interrupt import stoppable

Method = TypeVar("Method")
Asked = TypeVar("Asked")  # a problem of some kind

EACH_CONTAINER = 5e-6  # seconds to referee, score and write it
AT_LEAST = 0.05  # seconds that this takes in any case
AT_MOST = 0.25  # of a user's seconds that are kept for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a method made of a snapshot."""

    snapshot: Snapshot  # before
    result: Result[Placement]
    interrupted: bool  # the user asked it to stop: this is the best so far

    @property
    def after(self) -> Snapshot:
        """The snapshot as the decision leaves it; as it was, if there is no solution."""
        placement = self.result.solution
        return self.snapshot if placement is None else replace(self.snapshot, placement=placement)

    @property
    def left_out(self) -> tuple[Reason, ...]:
        """Why containers have no machine."""
        return self.result.left_out

    @property
    def still_broken(self) -> tuple[str, ...]:
        """What was broken before and is so now."""
        return self.result.still_violated

    @property
    def new(self) -> int:
        """Containers that had no machine and have one now."""
        return self.placed - len(self.snapshot.placement.placed)

    @property
    def placed(self) -> int:
        """Containers that have a machine now."""
        return 0 if self.result.solution is None else len(self.result.solution.placed)

    @property
    def moved(self) -> int:
        """Containers that ran elsewhere before."""
        return 0 if self.result.solution is None else len(self.result.solution.moved_from(self.snapshot.placement))


def chosen(methods: Mapping[str, Method], name: str) -> Method:
    """The method of that name; a usage fault that lists them if there is none."""
    if name not in methods:
        raise UsageError(f"no method '{name}'; expected one of {', '.join(methods)}")
    return methods[name]


def budget_for(snapshot: Snapshot, *, seconds: float, used: float, threads: int) -> Budget:
    """What a method may use of a user's seconds: those that are left, less what it takes to write the answer."""
    finish = min(AT_LEAST + EACH_CONTAINER * len(snapshot.cluster.containers.name), AT_MOST * seconds)
    return Budget(seconds=max(0.0, seconds - used - finish), threads=threads)


def decide(snapshot: Snapshot, problem: Asked, ask: Callable[[Asked], Result[Placement]]) -> Decision:
    """The decision of a method. Ctrl-C asks it to stop, and its best so far counts."""
    with stoppable() as stop:
        result = ask(problem)
        return Decision(snapshot=snapshot, result=result, interrupted=stop.requested)


def write_decision(decision: Decision, *, out: Path | None, report: Path | None, command: str) -> None:
    """Write the placement in the form of its input, and a report of before and after."""
    placement = decision.result.solution
    if placement is None:
        return
    if out is not None:
        write_solution(out, decision.snapshot, placement)
    if report is not None:
        after = inspect(decision.after, before=decision.snapshot.placement)
        write_comparison(report, decision.snapshot, after, command=command)
