"""A walk of one or several annealings: the items it draws from, its turns, its incumbent.

How hot the walk starts, and how many of its steps are ejections, depends on how many steps it can make for each item: a
walk too short to cool down from chaos starts cooler and takes cheap steps.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from bayplan.kernels.search.eject import new_lifted_set
from bayplan.kernels.search.incumbent import ALLOWED_UNMET, OPEN, restore_best, write_out
from bayplan.kernels.search.walk import StepSettings, cost_scale, walk
from bayplan.model import IntArray, Placement
from bayplan.search.cooling import AnnealingRound, Cooling, CoolingPhase, temperatures
from bayplan.search.deadline import Deadline
from bayplan.search.move_shares import MoveShares
from bayplan.search.noise import Noise
from bayplan.search.state import SearchState, new_incumbent

ENOUGH = 5.0  # steps per item and machine; a walk with fewer has less ease
HURRY = 0.25  # of that ease; with less, large items are shifted more often, too
SETTINGS = StepSettings(shift_tries=8, eject_tries=128, eject_finds=30, scan=64)
MAX_TRIES = 32  # machines tried for a lifted item where there are thousands
MEASURING = 0.05  # of the walk, a descent in which its pace is measured
TURN = 0.03  # seconds between two readings of the clock
FIRST_TURN, PROBES, JOURNAL = 500, 16_000, 1 << 16
COPIES = 4  # entries per item in the list that has large items more often


class Walker:
    """A walk over one state, and its incumbent."""

    def __init__(self, state: SearchState, *, seed: int) -> None:
        self.state = state
        self.movable = np.flatnonzero(state.items.movable & (state.machine_of >= 0) & state.has_choice)
        self.by_size = self._draw_by_size()
        self.shifted, self.settings = self.movable, self._settings()
        self.rng = np.array([(seed + 1) * 0x9E3779B97F4A7C15 % 2**64 or 1], dtype=np.uint64)
        self.noise = Noise(state, seed=seed)
        self.known: float | None = None  # the best, while nothing counts as such
        self.steps, self.turn, self.began, self.ease = 0, FIRST_TURN, 0.0, 0.0
        self.lifted = new_lifted_set(len(state.cluster.resources))
        self.incumbent = new_incumbent(state, JOURNAL)
        self.shares = MoveShares(len(self.movable), len(state.cluster.machines.name))

    @property
    def best(self) -> float:
        """The least objective seen, up to the state's constant."""
        return float(self.incumbent.best[0]) if self.known is None else self.known

    def answer(self) -> IntArray:
        """(item,) the machines of the best placement."""
        write_out(self.incumbent, self.state.arrays)
        return self.incumbent.best_machine_of

    def best_placement(self) -> Placement:
        """The best placement, for reports of progress: the walk goes on as it would have done."""
        return self.state.placement(self.answer())

    @property
    def idle(self) -> bool:
        """Is there nothing to walk over?"""
        return not len(self.movable) or len(self.state.cluster.machines.name) < 2

    def measure_pace(self, deadline: Deadline) -> None:
        """Descend for a while to measure the pace and the scale of costs, and set the temperatures from them."""
        if self.idle:
            return
        measured, rises = np.zeros(2), np.zeros(PROBES)
        cost_scale(self.state.arrays, self.movable, self.rng, measured, rises)
        self.cooling = Cooling(scale=float(measured[0]), hot=0.0, cold=0.0, hindered=float(measured[1]))
        self._turn(self.cooling.at(1.0, unmet=False), 1)  # loads the machine code, which takes as long as many turns
        self.began = deadline.clock.seconds
        while (share := deadline.share(self.steps, self.began)) < MEASURING:
            self._go(deadline, self.cooling, share)
            all_steps = deadline.steps or self.steps / max(1e-6, deadline.clock.seconds - self.began) * deadline.seconds_left
            self.ease = all_steps / (ENOUGH * len(self.movable) * len(self.state.cluster.machines.name))
            self.shifted = self.by_size if self.ease < HURRY else self.movable
            deadline.report(share, self.best, self.best_placement)
        number = cost_scale(self.state.arrays, self.movable, self.rng, measured, rises)
        self.cooling.hot, self.cooling.cold = temperatures(float(measured[0]), rises[:number], self.ease)

    def anneal(self, deadline: Deadline, part: AnnealingRound) -> None:
        """Walk through a round, or until the deadline says that it is over."""
        if self.idle:
            return
        cooling = self.cooling.further() if part.number else self.cooling
        if part.noisy and self.noise.possible:
            with self._noise():
                self._walk(deadline, cooling, part, part.noisy)
        self._walk(deadline, cooling, part, 1.0)
        self._charge_unmet(0.0)

    def restart(self, best: float, best_of: IntArray) -> None:
        """Go to a placement that is better than, or as good as, any that this walker has seen."""
        self.incumbent.best[0], self.incumbent.best_machine_of[:] = best, best_of
        self.incumbent.status[OPEN] = 0
        restore_best(self.state.arrays, self.incumbent)

    @contextmanager
    def _noise(self) -> Iterator[None]:
        """Within, loads cost something else, and nothing counts as the best."""
        write_out(self.incumbent, self.state.arrays)
        self.known = self.best
        self.incumbent.best[0] = -np.inf
        self.noise.begin()
        yield
        self.noise.end()
        self.incumbent.best[0], self.known = self.known, None

    def _walk(self, deadline: Deadline, cooling: Cooling, part: AnnealingRound, until: float) -> None:
        """Make turns up to a part of a round."""
        while (share := deadline.share(self.steps, self.began)) < 1.0 and (inner := part.inner(share)) < until:
            self._go(deadline, cooling, inner)
            deadline.report(share, self.best, self.best_placement)

    def _go(self, deadline: Deadline, cooling: Cooling, inner: float) -> None:
        """Make one turn; the next is as long as the clock need not be read."""
        if deadline.steps is not None:
            self.turn = max(1, min(self.turn, deadline.steps - self.steps))
        took = self._turn(cooling.at(inner, unmet=self.state.unmet > self.incumbent.status[ALLOWED_UNMET]), self.turn)
        self.steps += self.turn
        if deadline.steps is None:
            self.turn = int(max(1, min(4 * self.turn, self.turn * TURN / took)))

    def _turn(self, phase: CoolingPhase, steps: int) -> float:
        """Make `steps` steps; the seconds that they took."""
        self._charge_unmet(phase.unmet_price)
        began = time.perf_counter()
        walk(
            self.state.arrays,
            self.shifted,
            self.by_size,
            self.settings,
            self.shares.mixture,
            self.rng,
            phase.temperature,
            phase.loose,
            steps,
            self.incumbent,
            self.lifted,
        )
        self.shares.update()
        return max(1e-6, time.perf_counter() - began)

    def _charge_unmet(self, price: float) -> None:
        """Set the price of unmet dependencies, and the total that includes it."""
        arrays = self.state.arrays
        at = int(arrays.at["unmet_price"][0])
        arrays.floats[arrays.at["total"][0]] += (price - arrays.floats[at]) * self.state.unmet
        arrays.floats[at] = price

    def _settings(self) -> StepSettings:
        """How far steps look."""
        tries = int(min(MAX_TRIES, max(SETTINGS.shift_tries, len(self.state.cluster.machines.name) / 100)))
        return SETTINGS._replace(shift_tries=tries)

    def _draw_by_size(self) -> IntArray:
        """Movable items, large ones more often."""
        cluster, items = self.state.cluster, self.state.items
        request = (cluster.workloads.request / np.maximum(1.0, cluster.machines.capacity.mean(axis=0))).max(axis=1, initial=0.0)
        size = np.bincount(items.of_container, weights=request[cluster.containers.workload], minlength=len(items.kind_of))
        share = size[self.movable] / max(size[self.movable].sum(), 1e-300)
        return np.repeat(self.movable, np.maximum(1, np.round(share * COPIES * len(self.movable))).astype(np.int64))
