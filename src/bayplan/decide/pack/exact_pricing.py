"""Pricing exactly: interval by interval of the variance, in this process, and on an engine once that is worth it.

The table of an interval is made for all groups of machines at once, so that the pieces are intervals, of one deviate each, and
not groups. In this process, an interval knows what those before it have found, and how many nodes they left. Workers suppose
that nothing was found and little was searched, as it is when a bound is proven; where that turns out to be wrong, the interval
is searched again in this process. So patterns and proofs are those of this process alone.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from bayplan.decide.pack.kernel_arrays import copy_bins
from bayplan.decide.pack.pricing import (
    MEMORY,
    DeviateProblem,
    PricedPatterns,
    PricingProblem,
    deviate_problems,
    gathered,
    largest_variance,
)
from bayplan.engine.job_limits import JobTime
from bayplan.engine.jobs import Job, Shared
from bayplan.engine.lazy import LazyEngine
from bayplan.kernels.pack.fill import Bins, Sizes
from bayplan.kernels.pack.pricing import KnapsackTable, PatternSearch, best_patterns, can_pay, make_table, survivors
from bayplan.model import Budget, FloatArray, IntArray

INTERVALS = 64  # of the variance
CELLS = (4_096, 16_384, 65_536, 262_144)  # of the free capacity, in tables one after the other, while an interval may still pay
FINE = 2  # the first of them with which it pays to search
NODES = 2_000  # of one search with any but the last table
LIMITS = (20_000, 2**60)  # nodes of one search with the last table, first and second time: beyond it nothing is proven
PATIENCE = 200_000  # nodes between two looks at the clock: some 50 ms
LOOKS = 10  # of those in one pricing where the budget has iterations and no seconds: without them one search may not end

FoundPatterns: TypeAlias = tuple[IntArray, IntArray, FloatArray]  # (pattern,) bins, patterns and gains
Piece: TypeAlias = tuple[int, int]  # the number of a deviate problem, and of an interval


def never() -> bool:
    """No limit of time."""
    return False


def most_looks(budget: Budget) -> float:
    """How many times PATIENCE nodes one pricing may search: without a limit where seconds end it, or nothing does."""
    return LOOKS if budget.seconds is None and budget.iterations is not None else float("inf")


class PricingInputs(NamedTuple):
    """What all pricing problems of a pattern generation share; it travels to each worker once."""

    sizes: Sizes
    bins: Bins
    minimise_ucac: bool


@dataclass(slots=True, kw_only=True, eq=False)
class PricingPlace:
    """Where intervals are searched: in this process, and by workers until a moment of `time.perf_counter`."""

    inputs: Shared[PricingInputs] | None = None
    engine: LazyEngine = field(default_factory=LazyEngine)
    ends: float = float("inf")
    independent: bool = True  # by the last pricing: did most intervals not need what those before them had found?


class IntervalsTask(NamedTuple):
    """What a job asks."""

    value: FloatArray
    base: FloatArray
    threshold: float
    pieces: Sequence[Piece]
    worth: tuple[int, FloatArray]  # a deviate problem, and what its patterns have to be worth; in others, more than nothing
    limit: int  # nodes
    looks: float
    time: JobTime


class IntervalAnswer(NamedTuple):
    """What became of an interval."""

    best: FloatArray  # (bin,) what the best patterns are worth
    patterns: list[FoundPatterns]
    proven: bool
    looks: float  # that it took
    seconds: float


def price_patterns(
    problem: PricingProblem,
    *,
    over: Callable[[], bool] = never,
    looks: float = float("inf"),
    place: PricingPlace | None = None,
) -> PricedPatterns:
    """The pattern of the largest gain of each bin, and those of intervals of the variance, if that is above the threshold.

    Once `over` says so, or after this many looks at it within searches, it ends and proves nothing.
    """
    for limit in LIMITS:
        priced = _ExactSearch(problem, limit, over, looks, place or PricingPlace()).run()
        if len(priced.gain) or priced.proven or over():
            break
    return priced


class _ExactSearch:
    """One pass over all deviates and intervals of the variance."""

    def __init__(self, problem: PricingProblem, limit: int, over: Callable[[], bool], looks: float, place: PricingPlace) -> None:
        self.problem, self.limit, self.over, self.looks, self.place = problem, limit, over, looks, place
        self.parts = deviate_problems(problem)
        self.intervals = [intervals_of(part) for part in self.parts]

    def run(self) -> PricedPatterns:
        """Every interval, in order."""
        pieces = [(p, n) for p in range(len(self.parts)) for n in range(INTERVALS)]
        worth, supposed, came = np.zeros(0), (-1, np.zeros(0)), None
        patterns: list[FoundPatterns] = []
        proven, independent = True, 0
        for position, (p, n) in enumerate(pieces):
            nothing = self._nothing(p)
            worth = nothing if n == 0 else worth
            if came is None and self._worthwhile(len(pieces) - position):
                supposed = p, worth
                came = self._on_engine(pieces[position:], supposed)
            answer = None if came is None else came.get((p, n))
            if answer is None or not self._holds(answer, worth, supposed[1] if p == supposed[0] else nothing):
                answer = self._answer(p, n, worth)
            patterns += answer.patterns
            independent += np.array_equal(worth, nothing)
            proven, self.looks = proven and answer.proven, self.looks - answer.looks
            worth = worth if self.parts[p].few else answer.best
        self.place.independent = 2 * independent >= len(pieces)
        return gathered(self.problem, patterns, proven=proven)

    def _worthwhile(self, pieces: int) -> bool:
        """Is it worth it to let workers search intervals, and is there time?"""
        return self.place.independent and self.place.engine.worthwhile(pieces) and not self.over()

    def _nothing(self, p: int) -> FloatArray:
        """(bin,) what patterns have to be worth where nothing is found yet."""
        worth: FloatArray = self.parts[p].shift + self.problem.threshold
        return worth

    def _holds(self, answer: IntervalAnswer, worth: FloatArray, supposed: FloatArray) -> bool:
        """Is an answer of a worker the one that this process would give? Looks may not run out within it."""
        return self.looks - answer.looks > 0 and np.array_equal(worth, supposed)

    def _answer(self, p: int, n: int, worth: FloatArray) -> IntervalAnswer:
        search = _IntervalSearch(self.problem, self.limit, self.over, self.looks)
        answer = answer_interval(search, self.parts[p], self.intervals[p][n], worth)
        self.place.engine.did(answer.seconds)
        return answer

    def _on_engine(self, pieces: Sequence[Piece], supposed: tuple[int, FloatArray]) -> dict[Piece, IntervalAnswer]:
        """What workers say, if nothing is found but what is known now; nothing about what is missing in time."""
        came: dict[Piece, IntervalAnswer] = {}
        for answers in self.place.engine.answers(self._jobs(pieces, supposed), ends=self.place.ends):
            came |= answers
            for answer in answers.values():
                self.place.engine.did(answer.seconds)
        return came

    def _jobs(self, pieces: Sequence[Piece], supposed: tuple[int, FloatArray]) -> Iterator[Job[dict[Piece, IntervalAnswer]]]:
        problem, size = self.problem, self.place.engine.pieces_at_once(len(pieces))
        for start in range(0, len(pieces), size):
            task = IntervalsTask(
                value=problem.value,
                base=problem.base,
                threshold=problem.threshold,
                pieces=pieces[start : start + size],
                worth=supposed,
                limit=self.limit,
                looks=self.looks,
                time=JobTime.until_moment(self.place.ends),
            )
            p, n = task.pieces[0]
            name = f"pricing from interval {n + 1} of {INTERVALS}, deviate {p + 1} of {len(self.parts)}"
            yield Job(name=name, call=search_intervals, arguments=(self.place.inputs, task))


def search_intervals(inputs: PricingInputs, task: IntervalsTask) -> dict[Piece, IntervalAnswer]:
    """What a worker does: the answers to some intervals, each as if nothing had been found in another."""
    ends, sizes = task.time.ends, inputs.sizes
    problem = PricingProblem(  # with copies: kernels are compiled for arrays that can be written to
        sizes=Sizes(sizes.mean.copy(), sizes.variance.copy(), sizes.d.copy(), sizes.request.copy()),
        bins=copy_bins(inputs.bins),
        value=task.value,
        base=task.base,
        minimise_ucac=inputs.minimise_ucac,
        threshold=task.threshold,
    )
    parts, answers = deviate_problems(problem), {}
    intervals = [intervals_of(part) for part in parts]
    for p, n in task.pieces:
        worth = task.worth[1] if p == task.worth[0] else parts[p].shift + problem.threshold
        search = _IntervalSearch(problem, task.limit, lambda: time.perf_counter() > ends, task.looks)
        answers[p, n] = answer_interval(search, parts[p], intervals[p][n], worth)
    return answers


def intervals_of(part: DeviateProblem) -> list[tuple[float, float]]:
    """The ends of all intervals: together they cover every variance that a pattern can have."""
    top = np.sqrt(largest_variance(part.whole.sizes, part.bins, float(part.deviates[0])))
    edge = np.square(np.linspace(0.0, max(top, 1e-6) * (1.0 + 1e-9), INTERVALS + 1)).tolist()
    return list(pairwise(edge))


def answer_interval(
    search: "_IntervalSearch", part: DeviateProblem, interval: tuple[float, float], worth: FloatArray
) -> IntervalAnswer:
    """The answer of a search to an interval."""
    began, looks = time.perf_counter(), search.looks
    best = search.run(part, *interval, worth)
    used = 0.0 if np.isinf(looks) else looks - search.looks
    return IntervalAnswer(best, search.patterns, search.proven, used, time.perf_counter() - began)


class _IntervalSearch:
    """The search of one interval; the patterns that it finds."""

    def __init__(self, problem: PricingProblem, limit: int, over: Callable[[], bool], looks: float) -> None:
        self.problem, self.limit, self.clock_over, self.looks = problem, limit, over, looks
        self.patterns: list[FoundPatterns] = []
        self.proven = True

    def over(self) -> bool:
        """Is there no time, or no node, for more?"""
        return self.looks <= 0 or self.clock_over()

    def run(self, part: DeviateProblem, low: float, high: float, worth: FloatArray) -> FloatArray:
        """(bin,) what its best patterns are worth; `worth` where none is worth more.

        Each table is finer than the one before, and has only the workloads that may be in a pattern that pays by the one before.
        """
        problem, order = self.problem, part.order
        sizes, value, priced, d = problem.sizes, problem.value, problem.minimise_ucac, float(part.deviates[0])
        keep = np.zeros(len(order), dtype=np.bool_)
        for level in range(len(CELLS)):
            if self.over():
                self.proven = False
                return worth
            table = self._table(part, low, high, len(order), CELLS[level])
            if level == 0 and not can_pay(sizes, part.bins, d, value, priced, order, worth, table):
                return worth
            make_table(sizes, d, value, priced, order, table)
            if survivors(sizes, part.bins, d, priced, order, worth, table, keep) == 0:
                return worth
            last = level == len(CELLS) - 1
            if level >= FINE:
                best, ended = self._search(part, order, table, worth, self.limit if last else NODES)
                if ended or last:
                    self.proven = self.proven and ended
                    return best
            order = order[keep[: len(order)]]
        return worth

    def _search(
        self, part: DeviateProblem, order: IntArray, table: KnapsackTable, worth: FloatArray, limit: int
    ) -> tuple[FloatArray, bool]:
        """(bin,) what the best patterns of the interval are worth, which are added if that is all; and is it?"""
        problem, n_b = self.problem, len(part.index)
        pattern, best = np.zeros((n_b, len(problem.value)), dtype=np.int64), worth.copy()
        cut, state = np.zeros(n_b, dtype=np.bool_), _state(problem.sizes, len(order))
        known = problem.sizes, part.bins, part.deviates, problem.value, problem.minimise_ucac, order, table
        while not best_patterns(*known, PATIENCE, limit, worth, state, pattern, best, cut):
            self.looks -= 1
            if self.over():
                cut[:] = True
                break
        ended = not cut.any()
        if ended or limit != NODES:
            better = np.flatnonzero(best > worth)
            self.patterns.append((part.index[better], pattern[better], (best - part.shift)[better]))
        return best, ended

    def _table(self, part: DeviateProblem, low: float, high: float, workloads: int, most_cells: int) -> KnapsackTable:
        """The knapsack of an interval, in the memory of the problem, which the next one takes."""
        cells = max(16, min(most_cells, MEMORY // (workloads + 1) - 1))
        bound = self.problem.memory[: (workloads + 1) * (cells + 1)].reshape(workloads + 1, cells + 1)
        width = max(float(part.bins.free_mean[:, 0].max()), 1e-9) / cells
        return KnapsackTable(
            low=low, high=high, bound=bound, weight=np.zeros(workloads), value=np.zeros(workloads), cell_width=width
        )


def _state(sizes: Sizes, workloads: int) -> PatternSearch:
    return PatternSearch(
        at=np.zeros(4, dtype=np.int64),
        sums=np.zeros(2),
        used=np.zeros((2, len(sizes.mean))),
        free=np.zeros(len(sizes.request), dtype=np.int64),
        pattern=np.zeros(workloads, dtype=np.int64),
    )
