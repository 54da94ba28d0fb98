"""Where the work of a plan runs: its search, in one or several jobs, and the independent questions beside it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from bayplan.api.planning.target import best_target, best_target_from_starts, best_target_in_parts
from bayplan.engine import Engine, EngineLostError, Job, LossNotes, engine_of
from bayplan.model import Budget, Placement, Progress, silent
from bayplan.model.problem import Problem
from bayplan.search.multi_start import StartSettings
from bayplan.search.parts import PartSettings

T = TypeVar("T")


@dataclass(slots=True, kw_only=True, eq=False)
class PlanJobs:
    """An engine for independent questions, and what users should know of how they were answered."""

    engine: Engine = field(default_factory=lambda: engine_of("here"))
    workers: int = 1
    lost: bool = False  # is the engine lost?
    losses: LossNotes = field(default_factory=LossNotes)

    @property
    def slots(self) -> int:
        """How many jobs run at a time."""
        return self.engine.slots(self.workers)

    @property
    def notes(self) -> tuple[str, ...]:
        """About workers that were lost."""
        return tuple(self.losses.notes)

    def stream(self, jobs: Iterable[Job[T]], *, seconds: float | None = None) -> Iterator[tuple[int, T]]:
        """The number of a job and its answer, as they come. It ends early if the engine is lost: what is there counts."""
        if self.lost:
            return
        try:
            yield from self.engine.stream(jobs, workers=self.workers, seconds=seconds, lost=self.losses.report)
        except EngineLostError as error:
            self.lost = True
            self.losses.notes.append(f"not all questions were answered: {error}")


@dataclass(slots=True, kw_only=True, eq=False)
class TargetSearch:
    """The search for a target: as a whole, in parts, or from several starts."""

    in_parts: PartSettings | None = None
    from_starts: StartSettings | None = None
    notes: tuple[str, ...] = ()  # of the last search, for people

    def __call__(self, problem: Problem, *, budget: Budget, seed: int, progress: Progress = silent) -> Placement:
        """The best placement that is found."""
        if self.in_parts is not None:
            solved = best_target_in_parts(problem, self.in_parts, budget=budget, seed=seed, progress=progress)
            self.notes = solved.notes
            return solved.placement
        if self.from_starts is not None:
            found = best_target_from_starts(problem, self.from_starts, budget=budget, seed=seed, progress=progress)
            self.notes = found.notes
            return found.placement
        return best_target(problem, budget=budget, seed=seed, progress=progress)
