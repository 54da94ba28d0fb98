"""The construction of one plan: rounds, then detours for what rounds cannot move, then all orders if few units move."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bayplan.migrate.batches import in_batches
from bayplan.migrate.detours import DetourSearch
from bayplan.migrate.explain_stuck import explain_stuck
from bayplan.migrate.move_units import move_units
from bayplan.migrate.options import MigrateOptions
from bayplan.migrate.result import PlanDraft
from bayplan.migrate.rounds import delete_surplus, make_round
from bayplan.migrate.running_state import RunningState
from bayplan.migrate.step_sequence import StepSequence, UnitStep, least_batches
from bayplan.model import UNPLACED, Action, Migration, Progress, Tick

MAX_ORDERED = 8  # units whose orders are all tried
IN_ANY_CASE = 500  # states that are looked at even if the time is over: a plan of a few moves is worth that
MAX_STATES = 5_000  # of them: all states of six units; of more, those that are met first


class OrderSearch:
    """A search over all states of a few units: where they were, down, on both machines, on their target."""

    def __init__(self, sequence: StepSequence, units: list[int], over: Callable[[], bool]) -> None:
        self.sequence, self.units, self.over = sequence, units, over
        self.home = {u: sequence.at[u] for u in units}
        self.seen: set[tuple[tuple[int, int], ...]] = set()
        self.best: list[UnitStep] = []
        self.arrived = -1

    def search(self) -> bool:
        """Is there an order in which all arrive? `best` holds the steps of the one in which most do."""
        self._keep()
        return self._from_here()

    def _from_here(self) -> bool:
        key = tuple((self.sequence.at[u], self.sequence.second.get(u, UNPLACED)) for u in self.units)
        if key in self.seen or len(self.seen) >= MAX_STATES or (len(self.seen) >= IN_ANY_CASE and self.over()):
            return False
        self.seen.add(key)
        self._keep()
        if not any(u in self.sequence.pending for u in self.units):
            return True
        for u in self.units:
            for action in Action:
                mark = len(self.sequence.steps)
                if self._step(u, action):
                    if self._from_here():
                        return True
                    self.sequence.back_to(mark)
        return False

    def _step(self, u: int, action: Action) -> bool:
        sequence, target = self.sequence, self.sequence.units.target[u]
        first, second = sequence.at[u], sequence.second.get(u, UNPLACED)
        if u not in sequence.pending:
            return False
        if action is Action.CREATE:
            may = first == UNPLACED or sequence.units.may_surge[u]
            return may and second == UNPLACED and target not in (UNPLACED, first) and sequence.create(u, target)
        if first == UNPLACED:
            return False
        if second != UNPLACED:
            return sequence.delete(u, first if first != target else second)
        return (target == UNPLACED or sequence.units.may_replace[u]) and sequence.delete(u, first)

    def _keep(self) -> None:
        """Keep the steps so far if no unit is under way and more have arrived than ever."""
        sequence = self.sequence
        if any(sequence.at[u] == UNPLACED != self.home[u] and sequence.units.target[u] != UNPLACED for u in self.units):
            return
        if any(u in sequence.second for u in self.units):
            return
        arrived = sum(u not in sequence.pending for u in self.units)
        if arrived > self.arrived:
            self.arrived, self.best = arrived, list(sequence.steps)


KnownOrders = dict[tuple[bool, bool], tuple[int, list[UnitStep]]]  # generous, strict -> units that arrive, and the steps


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstructionStyle:
    """What one construction prefers and permits."""

    surge_first: bool = True  # do units that surge come first?
    generous: bool = False  # may any unit surge whose way is AUTO?
    strict: bool = True  # is spread kept even where a container that is down would excuse it?
    depth: int = 4  # targets that one detour clears one after the other
    patience: int = 400  # tries of one detour


class Construction:
    """One attempt at a plan."""

    def __init__(
        self,
        migration: Migration,
        options: MigrateOptions,
        style: ConstructionStyle,
        rng: np.random.Generator,
        over: Callable[[], bool],
        known_orders: "KnownOrders | None" = None,
    ) -> None:
        self.migration, self.options, self.style, self.rng, self.over = migration, options, style, rng, over
        self.known_orders: KnownOrders = {} if known_orders is None else known_orders
        self.units = move_units(migration, options, generous=style.generous)
        self.sequence = StepSequence(self._new_state(), self.units)
        self.home = list(self.sequence.at)
        self.total = len(self.sequence.pending)
        self.safe = (0, 0)  # units that have arrived, steps: the best state in which no unit is under way
        self.cuts: list[int] = []  # number of steps after which heavier units may move too
        self.heaviest = 0.0  # weight of the units that may move now

    def run(self, progress: Progress) -> PlanDraft:
        """Plan as far as it goes."""
        self._note(progress)
        bound = least_batches(self.sequence)
        for weight in sorted({self.units.weight[u] for u in self.sequence.pending}):  # heavier ones later
            self.cuts.append(len(self.sequence.steps))
            self.heaviest = weight
            self._advance(progress)
        self._settle()
        if self.sequence.pending:
            self._try_all_orders()
        self._note(progress)
        state, steps, cuts = self._new_state(), self.sequence.steps, [*self.cuts, len(self.sequence.steps)]
        plan = in_batches(state, [steps[first:last] for first, last in pairwise(cuts)])
        return PlanDraft(plan=plan, left_out=explain_stuck(StepSequence(state, self.units)), bound=bound)

    def _new_state(self) -> RunningState:
        state = RunningState(self.migration)
        state.strict = self.style.strict
        return state

    def _advance(self, progress: Progress) -> None:
        """Rounds and detours in turn, until all have arrived or nothing changes."""
        left = len(self.sequence.pending) + 1
        while 0 < len(self.sequence.pending) < left and not self.over():
            left = len(self.sequence.pending)
            delete_surplus(self.sequence)
            while not self.over() and make_round(self.sequence, self._by_importance()):
                self._note(progress)
            self._detours(progress)

    def _by_importance(self) -> list[int]:
        """Pending units that have a target: light ones first, then those that are down, then those that need most rounds."""
        sequence, units, state = self.sequence, self.units, self.sequence.state
        pending = [u for u in sorted(sequence.pending) if units.target[u] != UNPLACED and u not in sequence.second]
        pending = [u for u in pending if units.weight[u] <= self.heaviest]
        left = Counter(state.workload[c] for u in pending for c in units.members[u])
        jitter = dict(zip(pending, self.rng.random(len(pending)).tolist(), strict=True))

        def rounds(u: int) -> float:
            """The rounds that its workload needs at least."""
            return max(
                left[w] / max(1, state.alive[w] - state.least[w]) for w in map(state.workload.__getitem__, units.members[u])
            )

        need = {u: 1.0 if self._surges(u) else rounds(u) for u in pending}
        longest = max(need.values(), default=0.0)

        def rank(u: int) -> tuple[float, ...]:
            may_wait = need[u] < longest  # nothing is lost if it moves later
            return (
                units.weight[u],
                sequence.at[u] != UNPLACED,
                may_wait,
                self._surges(u) != self.style.surge_first,
                -need[u],
                jitter[u],
            )

        return sorted(pending, key=rank)

    def _surges(self, u: int) -> bool:
        """Can it only move by a surge?"""
        state = self.sequence.state
        workloads = [state.workload[c] for c in self.units.members[u]]
        return not self.units.may_replace[u] or min(state.alive[w] - state.least[w] for w in workloads) <= 0

    def _detours(self, progress: Progress) -> None:
        """One try for every pending unit."""
        detours = DetourSearch(
            self.sequence, self.rng, stopovers=self.options.stopovers, depth=self.style.depth, patience=self.style.patience
        )
        for u in self._by_importance():
            if self.over():
                break
            if u in self.sequence.pending and detours.bring(u):
                self._note(progress)

    def _settle(self) -> None:
        """No unit stays under way: what is down or on a stopover arrives or goes home, or all steps since then are taken back."""
        sequence = self.sequence
        for u in [u for u in self._by_importance() if sequence.at[u] != self.home[u]]:
            if not sequence.move(u, self.units.target[u]) and self.home[u] != UNPLACED:
                sequence.move(u, self.home[u])
        if self._under_way():
            sequence.back_to(self.safe[1])
        self.cuts = [min(cut, len(sequence.steps)) for cut in self.cuts]

    def _under_way(self) -> bool:
        """Is any unit down that ran and has a target, or does any run twice?"""
        at, target = self.sequence.at, self.units.target
        down = (u for u in self.sequence.pending if at[u] == UNPLACED != self.home[u] and target[u] != UNPLACED)
        return bool(self.sequence.second) or next(down, None) is not None

    def _note(self, progress: Progress) -> None:
        """Remember this state if no unit is under way and more have arrived than ever."""
        arrived = self.total - len(self.sequence.pending)
        progress(Tick(stage="planning", done=max(0.0, arrived / max(1, self.total))))
        if arrived > self.safe[0] and not self._under_way():
            self.safe = (arrived, len(self.sequence.steps))

    def _try_all_orders(self) -> None:
        """All orders of the moves, if there are few."""
        fresh = StepSequence(self._new_state(), self.units)
        units = sorted(fresh.pending)
        if len(units) > MAX_ORDERED:
            return
        key = self.style.generous, self.style.strict
        if key not in self.known_orders:
            orders = OrderSearch(fresh, units, self.over)
            orders.search()
            self.known_orders[key] = orders.arrived, orders.best
            fresh.back_to(0)
        arrived, best = self.known_orders[key]
        if arrived > self.total - len(self.sequence.pending):
            fresh.redo(best)
            self.sequence, self.cuts = fresh, [0]
