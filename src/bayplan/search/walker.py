"""A walk of one or several annealings: its bags of items, its turns, its best placement.

How hot the walk starts, and how many of its steps are ejections, depends on how many steps it can make for each item: a
walk too short to cool down from chaos starts cooler and takes cheap steps.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from bayplan.kernels.search.eject import new_lifted_set
from bayplan.kernels.search.incumbent import ALLOWED_UNMET, OPEN, Incumbent, restore_best, write_out
from bayplan.kernels.search.state import UNMET
from bayplan.kernels.search.walk import StepSettings, cost_scale, walk
from bayplan.model import IntArray
from bayplan.model.deadline import Guide
from bayplan.search.game import Game
from bayplan.search.noise import Noise
from bayplan.search.rounds import Round
from bayplan.search.schedule import Schedule, Weather

ENOUGH = 5.0  # steps per item and machine; a walk with fewer has less ease
COOLER = 1.0  # the power of the ease that the first temperature is multiplied with ...
RARER = 0.35  # ... and that of the ejections
HURRY = 0.25  # of that ease; with less, large items are shifted more often, too
STYLE = StepSettings(shift_tries=8, eject_tries=128, eject_finds=30, eject_share=0.6, swap_share=0.2, scan=64)
MOST_TRIES = 32  # machines a lifted item looks at where there are thousands
CROWD = 2.0  # the share of ejections is this over the root of the items per machine: among many small items shifts do
GETTING_TO_KNOW = 0.03  # of the walk, in which its pace is measured
TURN = 0.03  # seconds between two looks at the clock
FIRST_TURN, PROBES, JOURNAL = 500, 2_000, 1 << 16
COPIES = 4  # entries per item in the bag that holds large items more often


class Walker:
    """A game that is walked over, and the book of its best placement."""

    def __init__(self, game: Game, *, seed: int) -> None:
        self.game = game
        self.movable = np.flatnonzero(game.items.movable & (game.machine_of >= 0))
        self.sized = self._sized()
        self.shifted, self.style = self.movable, self._style(1.0)
        self.chance = np.array([(seed + 1) * 0x9E3779B97F4A7C15 % 2**64 or 1], dtype=np.uint64)
        self.noise = Noise(game, seed=seed)
        self.known: float | None = None  # the best, while nothing counts as such
        self.steps, self.turn, self.began, self.ease = 0, FIRST_TURN, 0.0, 0.0
        here = game.machine_of.copy()
        self.party = new_lifted_set(len(game.cluster.resources))
        self.book = Incumbent(
            best=np.array([game.total]),
            best_machine_of=here,
            item=np.zeros(JOURNAL, dtype=np.int64),
            origin=np.zeros(JOURNAL, dtype=np.int64),
            status=np.array([0, 0, self._breaches], dtype=np.int64),
        )

    @property
    def best(self) -> float:
        """The least objective seen, up to the game's constant."""
        return float(self.book.best[0]) if self.known is None else self.known

    @property
    def _breaches(self) -> int:
        at = self.game.arrays.at
        return int(self.game.arrays.ints[at["tally"][0] + UNMET])

    def answer(self) -> IntArray:
        """(item,) the machines of the best placement."""
        write_out(self.book, self.game.arrays)
        return self.book.best_machine_of

    @property
    def stuck(self) -> bool:
        """Is there nothing to walk over?"""
        return not len(self.movable) or len(self.game.cluster.machines.name) < 2

    def get_to_know(self, guide: Guide) -> None:
        """The first steps: how large they are, how many there will be, and what follows from that."""
        if self.stuck:
            return
        found = np.zeros(2)
        cost_scale(self.game.arrays, self.movable, self.chance, PROBES, found)
        self.schedule = Schedule(scale=float(found[0]), items=len(self.movable), hindered=float(found[1]))
        self._turn(self.schedule.at(1.0, broken=False), 1)  # loads the machine code, which takes as long as many turns
        self.began, hot = guide.clock.seconds, self.schedule.hot
        while (share := guide.share(self.steps, self.began)) < GETTING_TO_KNOW:
            self._go(guide, self.schedule, share)
            all_steps = guide.steps or self.steps / max(1e-6, guide.clock.seconds - self.began) * guide.seconds_left
            self.ease = all_steps / (ENOUGH * len(self.movable) * len(self.game.cluster.machines.name))
            ease = min(1.0, self.ease)
            self.schedule.hot, self.style = hot * ease**COOLER, self._style(ease)
            self.shifted = self.sized if ease < HURRY else self.movable
            guide.tell(share, self.best)

    def anneal(self, guide: Guide, part: Round) -> None:
        """Walk through a round, or until the guide says that it is over."""
        if self.stuck:
            return
        schedule = self.schedule.further() if part.number else self.schedule
        if part.noisy and self.noise.possible:
            with self._noise():
                self._walk(guide, schedule, part, part.noisy)
        self._walk(guide, schedule, part, 1.0)
        self._charge_breaches(0.0)

    def restart(self, best: float, best_of: IntArray) -> None:
        """Go to a placement that is better than, or as good as, any that this walker has seen."""
        self.book.best[0], self.book.best_machine_of[:] = best, best_of
        self.book.status[OPEN] = 0
        restore_best(self.game.arrays, self.book)

    @contextmanager
    def _noise(self) -> Iterator[None]:
        """Within, loads cost something else, and nothing counts as the best."""
        write_out(self.book, self.game.arrays)
        self.known = self.best
        self.book.best[0] = -np.inf
        self.noise.begin()
        yield
        self.noise.end()
        self.book.best[0], self.known = self.known, None

    def _walk(self, guide: Guide, schedule: Schedule, part: Round, until: float) -> None:
        """Turns up to some part of a round."""
        while (share := guide.share(self.steps, self.began)) < 1.0 and (inner := part.inner(share)) < until:
            self._go(guide, schedule, inner)
            guide.tell(share, self.best)

    def _go(self, guide: Guide, schedule: Schedule, inner: float) -> None:
        """One turn; the next is as long as the clock should not be looked at."""
        if guide.steps is not None:
            self.turn = max(1, min(self.turn, guide.steps - self.steps))
        took = self._turn(schedule.at(inner, broken=self._breaches > self.book.status[ALLOWED_UNMET]), self.turn)
        self.steps += self.turn
        if guide.steps is None:
            self.turn = int(max(1, min(4 * self.turn, self.turn * TURN / took)))

    def _turn(self, weather: Weather, steps: int) -> float:
        """Make so many steps; the seconds that they took."""
        self._charge_breaches(weather.breach_price)
        began = time.perf_counter()
        walk(
            self.game.arrays,
            self.shifted,
            self.sized,
            self.style,
            self.chance,
            weather.heat,
            weather.loose,
            steps,
            self.book,
            self.party,
        )
        return max(1e-6, time.perf_counter() - began)

    def _charge_breaches(self, price: float) -> None:
        """Set the price of broken dependencies, and the total that includes it."""
        board = self.game.arrays
        at = int(board.at["unmet_price"][0])
        board.floats[board.at["total"][0]] += (price - board.floats[at]) * self._breaches
        board.floats[at] = price

    def _style(self, ease: float) -> StepSettings:
        """The mixture of steps; `ease`: how much of the time for a long walk there is."""
        crowd = len(self.game.items.kind_of) / max(1, len(self.game.cluster.machines.name))
        ejects = ease**RARER * min(STYLE.eject_share, CROWD / max(1.0, crowd) ** 0.5)
        tries = int(min(MOST_TRIES, max(STYLE.shift_tries, len(self.game.cluster.machines.name) / 100)))
        return STYLE._replace(shift_tries=tries, eject_share=ejects, swap_share=(1.0 - ejects) / 2)

    def _sized(self) -> IntArray:
        """Movable items, large ones more often."""
        cluster, items = self.game.cluster, self.game.items
        request = (cluster.workloads.request / np.maximum(1.0, cluster.machines.capacity.mean(axis=0))).max(axis=1)
        size = np.bincount(items.of_container, weights=request[cluster.containers.workload], minlength=len(items.kind_of))
        share = size[self.movable] / max(size[self.movable].sum(), 1e-300)
        return np.repeat(self.movable, np.maximum(1, np.round(share * COPIES * len(self.movable))).astype(np.int64))
