"""Patterns and the master program over them ([RASA] Algorithm 1; the formulation is the supplement's, per type of machine).

    max  sum_tp sigma_p y_tp
    s.t. sum_tp p_w y_tp <= demand_w                     every workload w                       price pi_w
         sum_p  y_tp     <= number_t                     every type t of machines               price cv_t
         sum_tp (sum_w request_wr p_w) y_tp <= left_r    every resource r that others need      price mu_r

Machines that gain something without new containers gain it in any case: sigma is what a pattern adds.

Lagrange: for any pi, mu >= 0 no integer y gains more than
    sum_w pi_w demand_w + sum_r mu_r left_r + sum_t number_t max(0, max_p sigma_p - (pi + mu request) p).
"""

from dataclasses import dataclass, field

import numpy as np

from bayplan.decide.collocate.columns.pricing import Pricer, one_machine
from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.model import FloatArray, IntArray, ints
from bayplan.solvers.master import Master


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MachineTypes:
    """Types of machines: those that can run the same patterns and gain the same with them.

    Machines with equal `free`, `allow`, `set_free` and `fixed` are of one type.
    """

    of_machine: IntArray  # (machine,) its type
    first: IntArray  # (type,) the first machine of the type
    number: IntArray  # (type,) machines of the type

    def machines(self, type_: int) -> IntArray:
        """The machines of a type, ascending."""
        return ints(np.flatnonzero(self.of_machine == type_))


def machine_types_of(subproblem: Subproblem) -> MachineTypes:
    """The types of a subproblem's machines, in order of their first machine."""
    traits = subproblem.free.T, subproblem.allow, subproblem.set_free, subproblem.fixed
    trait = np.concatenate(traits, axis=0)  # (trait, machine)
    code = np.zeros(trait.shape[1], dtype=np.int64)
    for values in trait[(trait != trait[:, :1]).any(axis=1)]:  # one after the other: thousands of traits need no huge sort
        _, rank = np.unique(values, return_inverse=True)
        _, code = np.unique(code * (rank.max(initial=0) + 1) + rank, return_inverse=True)
    _, first, type_, number = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return MachineTypes(of_machine=ints(place[type_]), first=ints(first[order]), number=ints(number[order]))


@dataclass(slots=True, kw_only=True, eq=False)
class AffinityMaster:
    """The patterns of all types, and the master program over them."""

    subproblem: Subproblem
    types: MachineTypes
    left: FloatArray = field(default_factory=lambda: np.zeros(0))  # (resource,) what others leave free; empty: there are none
    type: list[int] = field(default_factory=list)  # (column,)
    pattern: list[IntArray] = field(default_factory=list)  # (column,)
    sigma: list[float] = field(default_factory=list)  # (column,)
    value: FloatArray = field(default_factory=lambda: np.zeros(0))  # (column,) in the last solution of the master
    gain: float = 0.0  # of the last solution of the master
    base: FloatArray = field(init=False)  # (type,) what a machine gains without new containers
    master: Master = field(init=False)
    _pricer: dict[int, Pricer] = field(default_factory=dict)
    _known: set[tuple[int, bytes]] = field(default_factory=set)

    def __post_init__(self) -> None:
        share = self.subproblem.fixed[:, self.types.first] / self.subproblem.replicas[:, None]
        self.base = self.subproblem.weight @ np.minimum(share[self.subproblem.a], share[self.subproblem.b])
        upper = np.concatenate([self.subproblem.demand, self.types.number, np.ones(len(self.left))]).astype(np.float64)
        self.master = Master(np.full(len(upper), -np.inf), upper)

    def pricer(self, t: int) -> Pricer:
        """The pricer of a type of machines."""
        if t not in self._pricer:
            self._pricer[t] = Pricer(subproblem=self.subproblem, machine=one_machine(self.subproblem, int(self.types.first[t])))
        return self._pricer[t]

    def add(self, t: int, pattern: IntArray) -> bool:
        """Add a pattern of a type, unless it is known or gains nothing; True if it is new."""
        key = (t, pattern.tobytes())
        sigma = self.sigma_of(t, pattern)
        if key in self._known or sigma <= 0.0:
            return False
        self._known.add(key)
        workload, n = np.flatnonzero(pattern), len(self.subproblem.demand)
        rows = np.concatenate([workload, [n + t], n + len(self.types.number) + np.arange(len(self.left))])
        of_free = (pattern @ self.subproblem.request) / self.left if len(self.left) else np.zeros(0)
        self.master.add(-sigma, rows, np.concatenate([pattern[workload], [1.0], of_free]))
        self.type.append(t)
        self.pattern.append(pattern)
        self.sigma.append(sigma)
        return True

    def sigma_of(self, t: int, pattern: IntArray) -> float:
        """The affinity that a pattern adds to a machine of a type."""
        share = (pattern + self.subproblem.fixed[:, self.types.first[t]]) / self.subproblem.replicas
        return float(self.subproblem.weight @ np.minimum(share[self.subproblem.a], share[self.subproblem.b]) - self.base[t])

    def solve(self) -> "DualPrices":
        """Solve the master over the patterns so far: its prices."""
        n, n_t = len(self.subproblem.demand), len(self.types.number)
        no_pattern = (0.0, np.zeros(0), np.zeros(n + n_t + len(self.left)))
        cost, self.value, dual = self.master.solve() if self.pattern else no_pattern
        self.gain = float(self.types.number @ self.base) - cost
        price = np.maximum(0.0, -dual)
        return DualPrices(pi=price[:n], cv=price[n : n + n_t], mu=price[n + n_t :])

    def cost_at(self, prices: "DualPrices") -> FloatArray:
        """(workload,) what a container costs at these prices."""
        cost: FloatArray = prices.pi + ((self.subproblem.request / self.left) @ prices.mu if len(self.left) else 0.0)
        return cost

    def best_known(self, cost: FloatArray) -> FloatArray:
        """(type,) what the best known pattern adds at some cost per container; at least 0."""
        best = np.zeros(len(self.types.number))
        if self.pattern:
            np.maximum.at(best, np.array(self.type), np.array(self.sigma) - np.array(self.pattern) @ cost)
        return best

    def reduced(self, prices: "DualPrices") -> FloatArray:
        """(column,) what each pattern adds at these prices."""
        if not self.pattern:
            return np.zeros(0)
        adds: FloatArray = np.array(self.sigma) - np.array(self.pattern) @ self.cost_at(prices) - prices.cv[np.array(self.type)]
        return adds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DualPrices:
    """Prices of containers, of machines, and of what others leave free."""

    pi: FloatArray  # (workload,)
    cv: FloatArray  # (type,)
    mu: FloatArray  # (resource,) or empty

    def towards(self, other: "DualPrices", by: float) -> "DualPrices":
        """Prices on the way from these to others."""
        pairs = ((self.pi, other.pi), (self.cv, other.cv), (self.mu, other.mu))
        pi, cv, mu = ((1.0 - by) * here + by * there for here, there in pairs)
        return DualPrices(pi=pi, cv=cv, mu=mu)
