"""Annealing in counts by a pool of walkers, one per thread, in rounds.

Temperatures are in units of the mean `reach`: what one container with traffic can gain. A round cools from random moves to
improvements only; its length is what a cluster of that many containers needs, if the time lasts. Where there is time for more,
further rounds are independent of each other: their answers differ by more than a longer round would gain.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayplan.decide.collocate.annealing.count_state import Int32Array
from bayplan.decide.collocate.annealing.walker import STEPS, CountWalker
from bayplan.kernels.collocate.count_state import CountState
from bayplan.model import Clock, Placement, Progress, Tick
from bayplan.model.interrupt import StopFlag

HOT, COLD = 2.0, 0.03  # first and last temperature
HOT_BY_CAP, LEAST_HOT = 3.0, 0.15  # first temperature under a cap: by the share of containers that may move, and at least
WARM = 0.15  # first temperature of a round that goes on from the best
QUENCH = 0.95  # of a round; from there on only improvements are accepted
ROUND = 9_000  # steps of a full round for each container with traffic
LOOKS = 500  # at the clock in a walk, at least
LATE = tuple(np.linspace(0.5, 0.9, 9).tolist())  # parts of a round at which the present state is kept
PROBES, PROBE = 4, 0.08  # rounds that find the price of moves under a cap, and the part of the time for each
SLOWER = 3.0  # a round under a cap takes longer
CAP_FROM = 0.8  # of a round; from there on the cap on moves is hard


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkLimits:
    """When walks end: by the clock, by their steps, or when the user stops them."""

    clock: Clock
    stop: StopFlag
    progress: Progress
    began: float  # by the clock
    until: float | None  # by the clock; None: no limit
    steps: int | None = None  # of each walk, at most
    placement_of: Callable[[Int32Array], Placement] | None = None  # of (item,) machines, for reports of progress

    def next_steps(self, walked: int) -> int:
        """Steps until the next look at the clock."""
        return STEPS if self.steps is None else max(1, min(STEPS, self.steps // LOOKS, self.steps - walked))

    def share(self, walked: int) -> float:
        """The part of the walk that is done; 1 if it is over."""
        if self.stop.requested:
            return 1.0
        by_time = 0.0 if self.until is None else (self.clock.seconds - self.began) / max(1e-9, self.until - self.began)
        return max(by_time, 0.0 if self.steps is None else walked / max(1, self.steps))

    def report(self, share: float, walker: CountWalker) -> None:
        """Report how far a walk has come, and what makes the best placement that it has seen."""
        best = None if self.placement_of is None else partial(self.placement_of, walker.incumbent_of)
        self.progress(Tick(stage="annealing", done=min(1.0, share), score=walker.incumbent, solution=best))


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAnnealingRound:
    """A part of a walk in which the temperature falls once."""

    begin: float  # part of the walk that is done when it begins
    end: float
    hot: float
    probe: bool = False  # is it only to find the price of moves under a cap?

    def inner(self, share: float) -> float:
        """The part of the round that is done when this part of the walk is."""
        return max(0.0, (share - self.begin) / max(1e-9, self.end - self.begin))


class WalkerPool:
    """Walkers from one state, and the best that any of them has reached."""

    def __init__(self, state: CountState, *, threads: int, seed: int, price: float) -> None:
        self.start = state.machine_of.copy()
        self.walkers = [CountWalker(state, seed=seed * 1_000 + n, price=price) for n in range(threads)]
        self.best, self.best_of = self.walkers[0].worth, self.start
        self.passed: list[Int32Array] = []  # placements late in a round, and at its end

    @property
    def hopeless(self) -> bool:
        """Is there nothing to move, or nothing to gain?"""
        state = self.walkers[0].state
        return not len(state.machine_of) or len(state.number_on) < 2 or not self.walkers[0].scale

    @property
    def rounds(self) -> float:
        """Rounds that there was time for when it was measured."""
        return max(walker.rounds for walker in self.walkers)

    def explore(self, limits: WalkLimits) -> None:
        """Walk rounds from the start."""
        self._walk_all(lambda walker: _fresh_rounds(walker, limits, self.start))

    def refine(self, limits: WalkLimits, machine_of: Int32Array) -> None:
        """Walk one round from a placement, not so hot that it is lost."""

        def walk(walker: CountWalker) -> None:
            walker.begin(machine_of)
            _walk_round(walker, limits, CountAnnealingRound(begin=0.0, end=1.0, hot=WARM))

        self._walk_all(walk)

    def settle(self, limits: WalkLimits, machine_of: Int32Array) -> None:
        """Go on from a placement as good as the best, and send home containers that gain nothing where they are."""
        walker = self.walkers[0]
        walker.steps = 0
        walker.begin(machine_of)
        walker.prefer_homes()
        while limits.share(walker.steps) < 1.0:
            walker.walk(0.0, COLD, limits.next_steps(walker.steps))
        self.best, self.best_of = walker.worth, walker.state.machine_of.copy()

    def _walk_all(self, walk: Callable[[CountWalker], None]) -> None:
        for walker in self.walkers:
            walker.steps = 0
        with ThreadPoolExecutor(len(self.walkers)) as pool:
            list(pool.map(walk, self.walkers))
        for walker in self.walkers:
            self.passed += walker.passed
            walker.passed = []
            if walker.incumbent > self.best:
                self.best, self.best_of = walker.incumbent, walker.incumbent_of


def _fresh_rounds(walker: CountWalker, limits: WalkLimits, start: Int32Array) -> None:
    """Walk rounds from the start: first probes for the price of moves under a cap, then as many as there is time for."""
    _measure_speed(walker, limits)
    begin, hot = 0.0, _first_heat(walker)
    for n in range(PROBES if walker.capped else 0):
        walker.begin(start)
        _walk_round(walker, limits, CountAnnealingRound(begin=n * PROBE, end=(n + 1) * PROBE, hot=hot, probe=True))
        walker.adjust_price()
        begin = (n + 1) * PROBE
    number = max(1, int(walker.rounds * (1.0 - begin) / (SLOWER if walker.capped else 1.0)))
    length = (1.0 - begin) / number
    for n in range(number):
        walker.begin(start)
        _walk_round(walker, limits, CountAnnealingRound(begin=begin + n * length, end=begin + (n + 1) * length, hot=hot))


def _first_heat(walker: CountWalker) -> float:
    """The temperature at which rounds from the start begin."""
    share = walker.max_moves / len(walker.state.machine_of)
    return float(np.clip(HOT_BY_CAP * share**2 * max(1.0, walker.rounds), LEAST_HOT, HOT)) if walker.capped else HOT


def _measure_speed(walker: CountWalker, limits: WalkLimits) -> None:
    """Measure how many rounds there is time for."""
    share = 0.0
    while share < 0.01:
        walker.walk(HOT, COLD, limits.next_steps(walker.steps))
        share = limits.share(walker.steps)
    walker.rounds = walker.steps / share / (ROUND * max(1, walker.talking))


def _walk_round(walker: CountWalker, limits: WalkLimits, part: CountAnnealingRound) -> None:
    """Walk one round. What it passes late, and its best, is kept, unless it is a probe."""
    walker.begin_round()
    late = iter(() if part.probe else LATE)
    due = next(late, np.inf)
    while (share := limits.share(walker.steps)) < part.end:
        inner = part.inner(share)
        if inner > due:
            walker.passed.append(walker.state.machine_of.copy())
            due = next(late, np.inf)
        heat = 0.0 if inner > QUENCH else part.hot * (COLD / part.hot) ** (inner / QUENCH)
        walker.enforce_cap(hard=inner > CAP_FROM and not part.probe, free=inner > QUENCH and not part.probe)
        walker.walk(heat, COLD, limits.next_steps(walker.steps))
        limits.report(share, walker)
    if not part.probe:
        walker.passed.append(walker.best_of)
