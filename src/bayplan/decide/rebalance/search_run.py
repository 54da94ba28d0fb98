"""What the published methods share: the search state, its incumbent, random numbers, and a loop that keeps the budget."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayplan.check import check
from bayplan.decide.rebalance.options import RebalanceOptions
from bayplan.kernels.search.incumbent import LENGTH, OPEN, Incumbent, write_out
from bayplan.kernels.search.state import NOWHERE
from bayplan.model import Budget, Clock, IntArray, Placement, Progress, Result, Tick
from bayplan.model.arrays import random_state
from bayplan.model.interrupt import StopFlag, stoppable
from bayplan.model.problem import Problem
from bayplan.score.terms import weighted
from bayplan.search.answer import answer, excess_by_kind
from bayplan.search.state import SearchState, new_incumbent, new_search_state

SLICE_SECONDS = 0.07
FIRST_SLICE = 20.0  # iterations
MOST_PER_SLICE = 1_000_000
JOURNAL = 100_000  # moves that the incumbent remembers before it writes the best placement out


@dataclass(slots=True, kw_only=True)
class IterationLoop:
    """Runs a kernel in short slices, between which it looks at the clock and for Ctrl-C and reports progress.

    It counts the iterations of one decision. The length of a slice depends on the clock, what is computed does not.
    """

    stage: str
    clock: Clock
    stop: StopFlag
    progress: Progress
    score: Callable[[], float]  # the best objective so far
    target: float | None = None
    done: int = 0
    _slice: float = FIRST_SLICE

    def begin(self, stage: str) -> None:
        """Report another stage. Its iterations may take a thousand times longer: what a slice was says nothing of them."""
        self.stage, self._slice = stage, FIRST_SLICE

    @property
    def over(self) -> bool:
        """Is it time to answer?"""
        reached = self.target is not None and self.score() <= self.target
        return reached or self.stop.requested or self.clock.expired(self.done)

    def run(self, iterate: Callable[[int], int], iterations: int | None = None) -> bool:
        """Let `iterate` run at most `iterations` iterations; False once it stopped by itself.

        `iterate(n)` runs up to n iterations and returns how many it did: fewer than n if there is nothing left to do.
        """
        left = MOST_PER_SLICE if iterations is None else iterations
        while left > 0 and not self.over:
            limit = self.clock.budget.iterations
            wanted = min(left, int(self._slice), left if limit is None else limit - self.done)
            before = time.perf_counter()
            did = iterate(wanted)
            self._adapt(did, time.perf_counter() - before)
            self.done += did
            left -= did if iterations is not None else 0
            self.progress(Tick(stage=self.stage, done=self._share(), score=self.score()))
            if did < wanted:
                return False
        return True

    def _adapt(self, did: int, seconds: float) -> None:
        """Set the length of a slice so that it takes about SLICE_SECONDS."""
        factor = SLICE_SECONDS / max(seconds, 1e-6) if did else 1.0
        self._slice = min(MOST_PER_SLICE, max(1.0, self._slice * min(4.0, max(0.1, factor))))

    def _share(self) -> float:
        budget = self.clock.budget
        by_time = self.clock.seconds / budget.seconds if budget.seconds else 0.0
        by_count = self.done / budget.iterations if budget.iterations else 0.0
        return min(1.0, max(by_time, by_count))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRun:
    """One run of a method: its problem, the state that moves change, the incumbent, random numbers, and the loop."""

    problem: Problem
    state: SearchState
    incumbent: Incumbent
    random_state: npt.NDArray[np.uint64]
    loop: IterationLoop

    @property
    def movable(self) -> IntArray:
        """Items that are placed and may move."""
        return np.flatnonzero(self.state.items.movable & (self.state.machine_of != NOWHERE))

    def restart(self, stage: str) -> None:
        """Make the present placement the incumbent, and let the loop report another stage."""
        self.incumbent.best[0] = self.state.total
        self.incumbent.status[OPEN], self.incumbent.status[LENGTH] = 1, 0
        self.loop.begin(stage)

    def better_of_start_and_best(self) -> Result[Placement]:
        """The best placement since the last restart; the start instead, if it costs less and the best repairs nothing."""
        best, start = self.result(), self.problem.start
        cluster, objective, before = self.problem.cluster, self.problem.objective, self.problem.before
        costs = [weighted(cluster, placement, objective, before) for placement in (start, best.solution or start)]
        if costs[0] >= costs[1] or repairs(self.problem, best.solution or start):
            return best
        return answer(self.problem, start, seconds=self.loop.clock.seconds)

    def result(self) -> Result[Placement]:
        """The best placement since the last restart."""
        write_out(self.incumbent, self.state.arrays)
        return answer(self.problem, self.state.placement(self.incumbent.best_machine_of), seconds=self.loop.clock.seconds)


@contextmanager
def search_run(
    problem: Problem, options: RebalanceOptions, stage: str, *, budget: Budget, seed: int, progress: Progress
) -> Iterator[SearchRun]:
    """A run set up to begin; within, the first Ctrl-C ends the loop, not the process."""
    clock = budget.clock()
    state = new_search_state(problem)
    incumbent = new_incumbent(state, JOURNAL)
    # the state's total lacks a constant
    constant = weighted(problem.cluster, state.placement(), problem.objective, problem.before) - state.total
    with stoppable() as stop:
        loop = IterationLoop(
            stage=stage,
            clock=clock,
            stop=stop,
            progress=progress,
            score=lambda: float(incumbent.best[0]) + constant,
            target=options.target,
        )
        yield SearchRun(problem=problem, state=state, incumbent=incumbent, random_state=random_state(seed), loop=loop)


def repairs(problem: Problem, placement: Placement) -> bool:
    """Does a placement violate rules by less than the start?"""
    both = (check(problem.cluster, checked, problem.before) for checked in (problem.start, placement))
    excess_before, excess_after = (sum(excess_by_kind(violations).values()) for violations in both)
    return excess_after < excess_before
