r"""Pattern generation ([UCaC] §5.3 and appendix C), for machines that may run containers already.

    min  sum_g sum_p cost_gp v_gp + penalty sum_w o_w
    s.t. sum_g sum_p p_w v_gp + o_w >= m_w        every workload w  every container is placed, or is left out (14)
         sum_p v_gp <= n_g                        every group g     of equal machines: one row instead of one per machine (8)

The cost of a pattern is the uncertainty that it adds, d sqrt(B + b p) - d sqrt(B), the part of UCaC that packing changes; or, to
count machines, 1 where nothing runs yet. Pricing is exact, so at the end no pattern of reduced cost below -1e-9 exists.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bayplan.decide.pack.exact_pricing import PricingInputs, PricingPlace, most_looks, price_patterns
from bayplan.decide.pack.heuristics import best_fit, fill_by_uncertainty
from bayplan.decide.pack.kernel_arrays import MachineGroups, select_bins, uncertainty_of
from bayplan.decide.pack.pricing import MEMORY, PricedPatterns, PricingProblem
from bayplan.decide.pack.quick_pricing import patterns_by_exchange, patterns_on_tangents
from bayplan.engine.jobs import Shared
from bayplan.engine.lazy import LazyEngine
from bayplan.kernels.pack.fill import Bins, Sizes, fill_in_order, max_containers
from bayplan.model import Budget, FloatArray, IntArray
from bayplan.solvers.master import Master

LEAST_GAIN = 1e-9  # reduced cost that counts
INERTIA = 0.6  # of duals, from round to round
PATTERNS_PER_ROUND = 120  # at most
LITTLE = 3e-4  # of the mean cost of a pattern: a gain below it is little
EXCHANGED = 2  # patterns for each workload from which exchange begins
AT_ONCE = 20  # of them between two looks at the clock
PENALTY = 50.0  # machines that a container left out costs


@dataclass(slots=True, kw_only=True, eq=False)
class PatternMaster:
    """Patterns with their groups and costs, and the master problem over them."""

    sizes: Sizes
    groups: MachineGroups
    unplaced: IntArray  # (workload,)
    starts_empty: FloatArray  # (group,) 1 where nothing runs yet
    minimise_ucac: bool  # does the uncertainty cost, or do machines?
    engine: LazyEngine = field(default_factory=LazyEngine)  # where patterns are searched for exactly, once that is worth it
    group: list[int] = field(default_factory=list)
    pattern: list[IntArray] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    known: set[tuple[int, bytes]] = field(default_factory=set)
    value: FloatArray = field(default_factory=lambda: np.zeros(0))  # (column,) in the last solution of the master
    dual: FloatArray = field(default_factory=lambda: np.zeros(0))  # (workload,) and (group,)
    least_cost: float = 0.0  # of the master
    left_out: float = 0.0  # containers that it leaves out
    rounds: int = 0
    proven: bool = False  # is no pattern of negative reduced cost left?

    def __post_init__(self) -> None:
        upper = np.array([len(machines) for machines in self.groups.machines], dtype=np.float64)
        n_w, n_g = len(self.unplaced), len(upper)
        low = np.concatenate([self.unplaced.astype(np.float64), np.full(n_g, -np.inf)])
        self.master = Master(low, np.concatenate([np.full(n_w, np.inf), upper]))
        self.memory = np.empty(MEMORY)
        self.place = PricingPlace(
            inputs=Shared(PricingInputs(self.sizes, self.groups.bins, self.minimise_ucac)), engine=self.engine
        )
        for w in range(n_w):
            self.master.add(PENALTY, [w], [1.0])

    master: Master = field(init=False)
    memory: FloatArray = field(init=False)  # for tables
    place: PricingPlace = field(init=False)

    def add(self, g: int, pattern: IntArray) -> None:
        """A pattern of a group, unless it is known."""
        key = (g, pattern.tobytes())
        if key in self.known or not pattern.any():
            return
        self.known.add(key)
        workloads = np.flatnonzero(pattern)
        cost = self.cost_of(g, pattern)
        rows = [*workloads.tolist(), len(self.unplaced) + g]
        self.master.add(cost, rows, [*pattern[workloads].astype(np.float64).tolist(), 1.0])
        self.group.append(g)
        self.pattern.append(pattern)
        self.cost.append(cost)

    def cost_of(self, g: int, pattern: IntArray) -> float:
        """What a pattern adds."""
        if not self.minimise_ucac:
            return float(self.starts_empty[g])
        one = _one(self.groups.bins, g)
        nothing = np.zeros((1, len(pattern)), dtype=np.int64)
        return float(uncertainty_of(self.sizes, one, pattern[None, :])[0] - uncertainty_of(self.sizes, one, nothing)[0])

    def add_first_patterns(self, bins: Bins, earlier: IntArray | None, seconds_left: Callable[[], float]) -> None:
        """Patterns of the heuristics, of single workloads, and of an earlier day; fewer if no time is left."""
        for fill in (fill_by_uncertainty, best_fit):
            count = fill(self.sizes, bins, self.unplaced)
            for m in np.flatnonzero(count.any(axis=1)).tolist():
                if seconds_left() <= 0.0:
                    return
                self.add(int(self.groups.of_machine[m]), count[m])
        for g in np.flatnonzero(self.starts_empty).tolist():
            if seconds_left() > 0.0:
                self.add_diagonal(g)
                for pattern in () if earlier is None else earlier:
                    self.add(g, self.shortened(g, pattern))

    def add_diagonal(self, g: int) -> None:
        """Of each workload by itself as many containers as the group takes: the P(0) of [UCaC] appendix C.2."""
        for w in np.flatnonzero(self.unplaced).tolist():
            alone = np.zeros(len(self.unplaced), dtype=np.int64)
            alone[w] = max_containers(self.sizes, self.groups.bins, g, w, int(self.unplaced[w]))
            self.add(g, alone)

    def shortened(self, g: int, pattern: IntArray) -> IntArray:
        """As much of a pattern as the group takes today."""
        one, taken = _one(self.groups.bins, g), np.zeros((1, len(pattern)), dtype=np.int64)
        fill_in_order(self.sizes, one, np.arange(1), np.arange(len(pattern)), np.minimum(pattern, self.unplaced), taken)
        short: IntArray = taken[0]
        return short

    def generate(self, budget: Budget, seconds_left: Callable[[], float], report: Callable[[float], None]) -> None:
        """Price and add until no pattern pays, for the budget's iterations and as long as seconds are left, also within a round.

        Quick pricing comes first, at a mixture of this round's duals and those of the rounds before, which swing less; where it
        gains little, patterns of the solution are improved by exchange at this round's own duals. Only where nothing new comes
        of both the best patterns are searched for, exactly; only that can end the search.
        """

        def over() -> bool:
            return seconds_left() <= 0.0

        smooth, most_rounds = np.zeros(0), float("inf") if budget.iterations is None else budget.iterations
        while self.rounds < most_rounds and self.solve(seconds_left()):
            report(self.least_cost)
            self.rounds += 1
            before = len(self.pattern)
            smooth = INERTIA * smooth + (1.0 - INERTIA) * self.dual if len(smooth) else self.dual
            gain = self._add_best(patterns_on_tangents(self.pricing_problem(smooth)))
            if self.pattern and gain < LITTLE * self.least_cost / max(1.0, float(self.value.sum())):
                self._exchange(over)
            if len(self.pattern) == before and not over():
                self.place.ends = time.perf_counter() + seconds_left()
                priced = price_patterns(self.pricing_problem(self.dual), over=over, looks=most_looks(budget), place=self.place)
                self._add_best(priced)
                smooth = self.dual
                if len(self.pattern) == before:
                    self.proven = priced.proven
                    return

    def _exchange(self, over: Callable[[], bool]) -> None:
        """Add what exchange makes of the patterns of the least reduced cost."""
        before, problem = len(self.pattern), self.pricing_problem(self.dual)
        near = np.sort(np.argsort(self.reduced_cost(), kind="stable")[: EXCHANGED * len(self.unplaced)])
        bins, patterns = np.array(self.group)[near], np.array(self.pattern)[near]
        for deep in (False, True):
            for start in range(0, len(near), AT_ONCE):
                if not over():
                    part = slice(start, start + AT_ONCE)
                    self._add_best(patterns_by_exchange(problem, bins[part], patterns[part], deep=deep))
            if len(self.pattern) > before:
                return

    def reduced_cost(self) -> FloatArray:
        """(column,) at the duals of the last solution."""
        n_w, reduced = len(self.unplaced), np.array(self.cost)
        if len(self.dual):  # else it was never solved
            reduced = reduced - np.array(self.pattern) @ self.dual[:n_w] - self.dual[n_w:][np.array(self.group)]
        return reduced

    def pricing_problem(self, dual: FloatArray) -> PricingProblem:
        """Which patterns pay at these duals of workloads and groups?"""
        n_w = len(self.unplaced)
        value, rent = np.maximum(0.0, dual[:n_w]), np.maximum(0.0, -dual[n_w:])
        return PricingProblem(
            sizes=self.sizes,
            bins=self.groups.bins,
            value=value,
            base=rent if self.minimise_ucac else rent + self.starts_empty,
            minimise_ucac=self.minimise_ucac,
            threshold=LEAST_GAIN,
            memory=self.memory,
        )

    def proven_bound(self) -> float | None:
        """No packing of all containers costs less; None if the last pricing proves nothing.

        Evaluated at the duals, whatever value HiGHS gives them: each machine's pattern is worth at most its rent and LEAST_GAIN.
        """
        if not self.proven:
            return None
        priced = self.pricing_problem(self.dual)
        machines = np.array([len(machines) for machines in self.groups.machines], dtype=np.float64)
        rent = priced.base if self.minimise_ucac else priced.base - self.starts_empty
        terms = np.concatenate([self.unplaced * priced.value, -machines * (rent + 2.0 * LEAST_GAIN)])
        return float(terms.sum() - len(terms) * np.finfo(np.float64).eps * np.abs(terms).sum())

    def _add_best(self, priced: PricedPatterns) -> float:
        """Add the best of them; the largest gain."""
        for n in np.argsort(-priced.gain, kind="stable")[:PATTERNS_PER_ROUND].tolist():
            self.add(int(priced.bin[n]), priced.pattern[n])
        return float(priced.gain.max(initial=0.0))

    def solve(self, seconds: float = np.inf) -> bool:
        """Solve the master over the patterns there are; False, and nothing has changed, if there is no time for that."""
        if seconds <= 0.0:
            return False
        answer = self.master.solve() if seconds == np.inf else self.master.solve_within(seconds)
        if answer is None:
            return False
        self.least_cost, value, self.dual = answer
        n_w = len(self.unplaced)
        self.left_out, self.value = float(value[:n_w].sum()), value[n_w:]
        return True


def _one(bins: Bins, g: int) -> Bins:
    return select_bins(bins, np.array([g]))
