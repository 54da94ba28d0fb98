r"""Pattern generation (003 section 5.3 and appendix C), for machines that may run containers already.

    min  sum_g sum_p cost_gp v_gp + penalty sum_k o_k
    s.t. sum_g sum_p p_k v_gp + o_k >= m_k        every service k   every container has a place, or is left out (14)
         sum_p v_gp <= n_g                        every group g     of equal machines: one row instead of one per machine (8)

The cost of a pattern is the uncertainty that it adds, d sqrt(B + b p) - d sqrt(B), the part of UCaC that one can change; or, to
count machines, 1 where nothing runs yet. Pricing is exact, so at the end no pattern of reduced cost below -1e-9 exists.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bayplan.decide.pack.best_fit import best_fit
from bayplan.decide.pack.bi_level import fill_by_uncertainty
from bayplan.decide.pack.bins import Groups, chosen, ucac_of
from bayplan.decide.pack.pricing import Found, price_patterns
from bayplan.kernels.pack.fill import Bins, Sizes, fill_in_order, most_of
from bayplan.model import FloatArray, IntArray
from bayplan.solvers.master import Master

LEAST = 1e-9  # reduced cost that counts
INERTIA = 0.6  # of prices, from round to round
A_ROUND = 120  # columns that one round adds at most
PENALTY = 50.0  # machines that a container left out costs


@dataclass(slots=True, kw_only=True, eq=False)
class Columns:
    """Patterns with their groups and costs, and the master problem over them."""

    sizes: Sizes
    groups: Groups
    waiting: IntArray  # (service,)
    starts_empty: FloatArray  # (group,) 1 where nothing runs yet
    priced: bool  # does the uncertainty cost, or do machines?
    group: list[int] = field(default_factory=list)
    pattern: list[IntArray] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    known: set[tuple[int, bytes]] = field(default_factory=set)
    value: FloatArray = field(default_factory=lambda: np.zeros(0))  # (column,) in the last solution of the master
    price: FloatArray = field(default_factory=lambda: np.zeros(0))  # (service,) dual
    least: float = 0.0  # what the master costs
    left_out: float = 0.0  # containers that it leaves out
    rounds: int = 0
    proven: bool = False  # is no pattern of negative reduced cost left?

    def __post_init__(self) -> None:
        upper = np.array([len(machines) for machines in self.groups.machines], dtype=np.float64)
        n_k, n_g = len(self.waiting), len(upper)
        low = np.concatenate([self.waiting.astype(np.float64), np.full(n_g, -np.inf)])
        self.master = Master(low, np.concatenate([np.full(n_k, np.inf), upper]))
        for k in range(n_k):
            self.master.add(PENALTY, [k], [1.0])

    master: Master = field(init=False)

    def add(self, g: int, pattern: IntArray) -> None:
        """A pattern of a group, unless it is known."""
        key = (g, pattern.tobytes())
        if key in self.known or not pattern.any():
            return
        self.known.add(key)
        services = np.flatnonzero(pattern)
        cost = self.cost_of(g, pattern)
        rows = [*services.tolist(), len(self.waiting) + g]
        self.master.add(cost, rows, [*pattern[services].astype(np.float64).tolist(), 1.0])
        self.group.append(g)
        self.pattern.append(pattern)
        self.cost.append(cost)

    def cost_of(self, g: int, pattern: IntArray) -> float:
        """What a pattern adds."""
        if not self.priced:
            return float(self.starts_empty[g])
        one = _one(self.groups.bins, g)
        nothing = np.zeros((1, len(pattern)), dtype=np.int64)
        return float(ucac_of(self.sizes, one, pattern[None, :])[0] - ucac_of(self.sizes, one, nothing)[0])

    def begin(self, bins: Bins, more: IntArray | None) -> None:
        """Start from what the heuristics make of the machines, from single services, and from patterns of an earlier day."""
        for count in (fill_by_uncertainty(self.sizes, bins, self.waiting), best_fit(self.sizes, bins, self.waiting)):
            for m in np.flatnonzero(count.any(axis=1)).tolist():
                self.add(int(self.groups.of_machine[m]), count[m])
        for g in range(len(self.groups.machines)):
            if self.starts_empty[g]:
                for k in np.flatnonzero(self.waiting).tolist():
                    alone = np.zeros(len(self.waiting), dtype=np.int64)
                    alone[k] = most_of(self.sizes, self.groups.bins, g, k, int(self.waiting[k]))
                    self.add(g, alone)
                for pattern in () if more is None else more:
                    self.add(g, self._shortened(g, pattern))

    def _shortened(self, g: int, pattern: IntArray) -> IntArray:
        """As much of a pattern as the group takes today."""
        one, taken = _one(self.groups.bins, g), np.zeros((1, len(pattern)), dtype=np.int64)
        fill_in_order(self.sizes, one, np.arange(1), np.arange(len(pattern)), np.minimum(pattern, self.waiting), taken)
        short: IntArray = taken[0]
        return short

    def generate(self, stop: Callable[[], bool], tell: Callable[[float], None]) -> None:
        """Price and add until no pattern pays, or until it has to stop.

        Patterns are priced at a mixture of this round's prices and those of the rounds before, which swing less; where
        nothing new comes of that, at this round's own. Only a round at its own prices can end the search.
        """
        smooth = np.zeros(0)
        while not stop():
            self.solve()
            tell(self.least)
            self.rounds += 1
            before = len(self.pattern)
            if len(smooth):
                smooth = INERTIA * smooth + (1.0 - INERTIA) * self.price
                self._add_best(self._priced(smooth))
            if len(self.pattern) == before:
                found = self._priced(self.price)
                self._add_best(found)
                smooth = self.price
                if len(self.pattern) == before:
                    self.proven = found.proven
                    return

    def _priced(self, price: FloatArray) -> Found:
        """Patterns that pay at some prices of services and groups."""
        n_k = len(self.waiting)
        worth, rent = np.maximum(0.0, price[:n_k]), np.maximum(0.0, -price[n_k:])
        base = rent if self.priced else rent + self.starts_empty
        return price_patterns(self.sizes, self.groups.bins, worth, base, priced=self.priced, least=LEAST)

    def _add_best(self, found: Found) -> None:
        for n in np.argsort(-found.gain, kind="stable")[:A_ROUND].tolist():
            self.add(int(found.bin[n]), found.pattern[n])

    def solve(self) -> None:
        """Solve the master over the patterns there are."""
        self.least, value, self.price = self.master.solve()
        n_k = len(self.waiting)
        self.left_out, self.value = float(value[:n_k].sum()), value[n_k:]


def _one(bins: Bins, g: int) -> Bins:
    return chosen(bins, np.array([g]))
