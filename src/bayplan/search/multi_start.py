"""Several walks from one problem, anywhere, that exchange what they have found.

The walks of an epoch are independent jobs. Then each goes on from one of the best few placements that any of them has found: from
a few and not from the best alone, because walks from one placement mostly find their way back to it. The first epoch has most of
the time: a slow annealing is worth more than an early exchange (four walks of 1.5 million steps on a2_3 cost 3 % more where the
first epoch had half of them than without an exchange; with 85 % of them, and one more epoch, the same within the noise, and
less on a small cluster). A later epoch begins cooler, so that it does not lose what was found (`search.cooling`). The problem
travels once; only placements travel to and fro.

With a budget of iterations, which each walk has for itself, the answer is the same on every engine and with any number of
workers. With a budget of seconds the engine's slots share the time: where there are more walks than slots, each is shorter.

All walks are of one method with one setting, and differ by their seeds. A portfolio of methods is left out: an iteration of one
is not an iteration of another, so walks would not be of one length; and in equal time noisy local search and Sweep&Search were
behind the search on average on GMRP's a1_2, a2_2 and a2_3, so a walk of theirs takes the place of a better one. Temperatures
are set by the steps that a walk has (`search.walker`); other ones would be wrong for its length.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.check import check
from bayplan.engine import Engine, EngineLostError, Job, LossNotes, Shared
from bayplan.engine.job_limits import EqualShares, JobLimits, equal_shares
from bayplan.model import Budget, IntArray, Placement, Progress, Tick, ints, silent
from bayplan.model.interrupt import stop_requested
from bayplan.model.problem import Problem
from bayplan.score.terms import weighted

MOST_STARTS = 1_000
EPOCHS = 0.85, 0.15  # of the seconds and iterations
FEW = 2  # placements that walks go on from
STAGE = "searching"  # in reports of progress
SEEDS = 2**28  # seeds are less: solvers take no larger ones

Machines: TypeAlias = npt.NDArray[np.int32]  # (container,)
Rank: TypeAlias = tuple[float, ...]  # what is compared first, second, ... of two placements; less is better


class Walk(Protocol):
    """A method, as a function of a module: other processes call it."""

    def __call__(self, problem: Problem, *, budget: Budget, seed: int, further: bool) -> Placement:
        """A placement that is no worse than the start; `further`: the start is what an earlier walk found."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSettings:
    """How many walks, and where they run."""

    starts: int
    engine: Engine
    workers: int = 1
    epochs: tuple[float, ...] = EPOCHS  # of the seconds and iterations, each


class FoundFromStarts(NamedTuple):
    """The best placement of all walks."""

    placement: Placement
    notes: tuple[str, ...]  # what was done, for people


def violated_then_cost(problem: Problem, placement: Placement) -> Rank:
    """Violated rules, containers without a machine, the objective."""
    cost = weighted(problem.cluster, placement, problem.objective, problem.before)
    return len(check(problem.cluster, placement, problem.before)), len(placement.unplaced), cost


def search_from_starts(
    problem: Problem,
    walk: Walk,
    settings: StartSettings,
    *,
    budget: Budget,
    seed: int,
    progress: Progress = silent,
    rank: Callable[[Problem, Placement], Rank] = violated_then_cost,
) -> FoundFromStarts:
    """The best placement that any walk finds; what is there when a stop is requested, the time ends or the engine is lost.

    EngineLostError if it is lost before any walk has ended.
    """
    epochs = _Epochs(problem, walk, settings, budget, seed, progress, rank)
    with settings.engine:
        for number in range(len(settings.epochs)):
            epochs.run(number)
            if epochs.over:
                break
    return FoundFromStarts(epochs.best.placement, tuple(epochs.notes))


class _Found(NamedTuple):
    rank: Rank
    placement: Placement


class _Epochs:
    """The best few placements so far, and how the walks of an epoch make better ones of them."""

    def __init__(
        self,
        problem: Problem,
        walk: Walk,
        settings: StartSettings,
        budget: Budget,
        seed: int,
        progress: Progress,
        rank: Callable[[Problem, Placement], Rank],
    ) -> None:
        self.problem, self.walk, self.settings, self.seed = problem, walk, settings, seed
        self.progress, self.rank, self.clock = progress, rank, budget.clock()
        self.shared = Shared(problem)
        self.start = _Found(rank(problem, problem.start), problem.start)
        self.few = [self.start]
        self.ended = 0  # walks
        self.lost = False
        how = "each from the best few of all in turn" if len(settings.epochs) > 1 else "each by itself"
        self.notes = [f"from {settings.starts} starts: {how}"]

    @property
    def best(self) -> _Found:
        """The best placement of all epochs that have ended."""
        return self.few[0]

    @property
    def over(self) -> bool:
        """Is it time to answer?"""
        return self.lost or stop_requested() or self.clock.expired()

    def run(self, number: int) -> None:
        """One epoch: let all walks go on, then keep the best few, whatever the order in which they ended."""
        losses, found, settings = LossNotes(), dict[int, _Found](), self.settings
        shares = equal_shares(settings.starts, self.clock, sum(settings.epochs[: number + 1]))
        try:
            jobs = self._jobs(number, shares)
            answers = settings.engine.stream(jobs, workers=settings.workers, seconds=shares.late, lost=losses.report)
            for n, machines in answers:
                found[n] = self._found(ints(machines))
                self._report(number, found)
        except EngineLostError as error:
            if not self.ended and not found:
                raise
            self.lost = True
            losses.notes.append(f"the search ended early: {error}")
        self.notes += losses.notes
        self.ended += len(found)
        self._keep_few(found[n] for n in sorted(found))

    def _found(self, machine_of: IntArray) -> _Found:
        placement = Placement(machine_of=machine_of)
        return _Found(self.rank(self.problem, placement), placement)

    def _keep_few(self, found: Iterator[_Found]) -> None:
        """The best, and the best others that are not as good: those that are as good are mostly the same."""
        better = [each for each in (*self.few, *found) if each.rank < self.start.rank]
        by_rank = dict(reversed(better))  # of equals, the first is kept
        self.few = [_Found(rank, by_rank[rank]) for rank in sorted(by_rank)[:FEW]] or [self.start]

    def _report(self, number: int, found: dict[int, _Found]) -> None:
        best = min([self.best, *found.values()], key=lambda each: each.rank)
        epochs = self.settings.epochs
        done = sum(epochs[:number]) + epochs[number] * len(found) / self.settings.starts
        self.progress(Tick(stage=STAGE, done=min(1.0, done), score=best.rank[-1], solution=lambda: best.placement))

    def _jobs(self, number: int, shares: EqualShares) -> Iterator[Job[Machines]]:
        """A job when a worker is free for it. By iterations, nothing of it depends on the number of workers."""
        settings, epochs = self.settings, self.settings.epochs
        for n in range(settings.starts):
            start = self.few[n % len(self.few)].placement.machine_of.astype(np.int32)
            limits = shares.of(n, settings.engine.slots(settings.workers))
            if limits.iterations is not None:
                limits = limits._replace(iterations=max(1, int(epochs[number] * limits.iterations)))
            name = f"walk {n + 1} of {settings.starts}, epoch {number + 1} of {len(epochs)}"
            seed = seed_of(self.seed, number, n)
            yield Job(name=name, call=walk_from, arguments=(self.shared, self.walk, start, limits, seed, number > 0))


def seed_of(seed: int, epoch: int, start: int) -> int:
    """The seed of a walk: walks of other starts, other epochs and other seeds of the user draw other numbers."""
    return int(np.random.SeedSequence((seed % 2**32, epoch, start)).generate_state(1)[0]) % SEEDS


def walk_from(problem: Problem, walk: Walk, start: Machines, limits: JobLimits, seed: int, further: bool) -> Machines:
    """(container,) the machines that a walk finds from a start."""
    here = replace(problem, start=Placement(machine_of=ints(start)))
    return walk(here, budget=limits.budget, seed=seed, further=further).machine_of.astype(np.int32)
