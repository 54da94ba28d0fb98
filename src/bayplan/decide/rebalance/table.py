"""What every method sets up: the board, the book of the best, random numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayplan.check import check
from bayplan.decide.rebalance.options import RebalanceOptions
from bayplan.decide.rebalance.rounds import Rounds
from bayplan.kernels.search.board import BREACHES, NOWHERE
from bayplan.kernels.search.book import LENGTH, OPEN, Book, close
from bayplan.model import Budget, IntArray, Placement, Progress, Result
from bayplan.model.interrupt import stoppable
from bayplan.model.problem import Problem
from bayplan.score.terms import weighted
from bayplan.search.answer import answer, excess_by_kind
from bayplan.search.blocks import view
from bayplan.search.game import Game, new_game

JOURNAL = 100_000  # moves that the book remembers before it writes the best placement out


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A game that is being played."""

    problem: Problem
    game: Game
    book: Book
    chance: npt.NDArray[np.uint64]
    rounds: Rounds

    @property
    def movable(self) -> IntArray:
        """Items that stand somewhere and may move."""
        return np.flatnonzero(self.game.items.movable & (self.game.machine_of != NOWHERE))

    def restart(self, stage: str) -> None:
        """From here on the present is the best so far, and the rounds belong to another stage."""
        self.book.best[0] = self.game.total
        self.book.page[OPEN], self.book.page[LENGTH] = 1, 0
        self.rounds.stage = stage

    def better_of_start_and_best(self) -> Result[Placement]:
        """The best placement since the last restart; the start instead, if it costs less and the best repairs nothing."""
        found, start = self.result(), self.problem.start
        cluster, objective, before = self.problem.cluster, self.problem.objective, self.problem.before
        costs = [weighted(cluster, some, objective, before) for some in (start, found.solution or start)]
        if costs[0] >= costs[1] or repairs(self.problem, found.solution or start):
            return found
        return answer(self.problem, start, seconds=self.rounds.clock.seconds)

    def result(self) -> Result[Placement]:
        """The best placement seen."""
        close(self.book, self.game.board)
        return answer(self.problem, self.game.placement(self.book.best_of), seconds=self.rounds.clock.seconds)


@contextmanager
def table(
    problem: Problem, options: RebalanceOptions, stage: str, *, budget: Budget, seed: int, progress: Progress
) -> Iterator[Table]:
    """Everything set up; the first Ctrl-C ends the rounds, not the process."""
    clock = budget.clock()
    game = new_game(problem)
    book = new_book(game)
    # the board's total lacks a constant
    constant = weighted(problem.cluster, game.placement(), problem.objective, problem.before) - game.total
    with stoppable() as stop:
        rounds = Rounds(
            stage=stage,
            clock=clock,
            stop=stop,
            progress=progress,
            score=lambda: float(book.best[0]) + constant,
            target=options.target,
        )
        yield Table(problem=problem, game=game, book=book, chance=random_state(seed), rounds=rounds)


def repairs(problem: Problem, placement: Placement) -> bool:
    """Does a placement break rules by less than the start?"""
    both = (check(problem.cluster, some, problem.before) for some in (problem.start, placement))
    then, now = (sum(excess_by_kind(broken).values()) for broken in both)
    return now < then


def new_book(game: Game) -> Book:
    """A book in which the present is the best."""
    best_of = np.array(game.machine_of)
    entries = np.zeros(JOURNAL, dtype=np.int64)
    breaches = view(game.board, "tally", BREACHES + 1)[BREACHES]
    return Book(np.array([game.total]), best_of, entries, entries.copy(), np.array([0, 1, breaches]))


def random_state(seed: int) -> npt.NDArray[np.uint64]:
    """The state of the random numbers for a seed; never zero."""
    return np.random.SeedSequence(seed).generate_state(1, dtype=np.uint64) | np.uint64(1)
