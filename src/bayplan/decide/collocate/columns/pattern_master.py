"""Patterns and the master program over them (004 Algorithm 1; the formulation is the supplement's, per type of machine).

    max  sum_tp sigma_p y_tp
    s.t. sum_tp p_s y_tp <= demand_s                     every service s                      price pi_s
         sum_p  y_tp     <= number_t                     every type t of machines             price cv_t
         sum_tp (sum_s request_sr p_s) y_tp <= left_r    every resource r, if others need room    price mu_r

Machines that gain something without new containers gain it in any case: sigma is what a pattern adds.

Lagrange: for any pi, mu >= 0 no whole y gains more than
    sum_s pi_s demand_s + sum_r mu_r left_r + sum_t number_t max(0, max_p sigma_p - (pi + mu request) p).
"""

from dataclasses import dataclass, field

import numpy as np

from bayplan.decide.collocate.columns.pricing import Pricer, one_machine
from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.model import FloatArray, IntArray, ints
from bayplan.solvers.master import Master


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MachineTypes:
    """Machines of equal room, equal allow column, equal `spare` and equal `fixed` are one type."""

    of_machine: IntArray  # (machine,) its type
    first: IntArray  # (type,) the first machine of the type
    number: IntArray  # (type,) machines of the type

    def machines(self, type_: int) -> IntArray:
        """The machines of a type, ascending."""
        return ints(np.flatnonzero(self.of_machine == type_))


def machine_types_of(task: Subproblem) -> MachineTypes:
    """The types of a task's machines, in order of their first machine."""
    trait = np.concatenate([task.room.T, task.allow, task.spare, task.fixed], axis=0)  # (trait, machine)
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
class PatternMaster:
    """Patterns of types, and the master program over them."""

    task: Subproblem
    types: MachineTypes
    left: FloatArray = field(default_factory=lambda: np.zeros(0))  # (resource,) room that others leave; empty: they need none
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
        share = self.task.fixed[:, self.types.first] / self.task.replicas[:, None]
        self.base = self.task.weight @ np.minimum(share[self.task.a], share[self.task.b])
        upper = np.concatenate([self.task.demand, self.types.number, np.ones(len(self.left))]).astype(np.float64)
        self.master = Master(np.full(len(upper), -np.inf), upper)

    def pricer(self, t: int) -> Pricer:
        """Who prices patterns of a type."""
        if t not in self._pricer:
            self._pricer[t] = Pricer(task=self.task, corner=one_machine(self.task, int(self.types.first[t])))
        return self._pricer[t]

    def add(self, t: int, pattern: IntArray) -> bool:
        """A pattern of a type, unless it is known or gains nothing; True if it is new."""
        key = (t, pattern.tobytes())
        sigma = self.sigma_of(t, pattern)
        if key in self._known or sigma <= 0.0:
            return False
        self._known.add(key)
        service, n = np.flatnonzero(pattern), len(self.task.demand)
        rows = np.concatenate([service, [n + t], n + len(self.types.number) + np.arange(len(self.left))])
        of_room = (pattern @ self.task.request) / self.left if len(self.left) else np.zeros(0)
        self.master.add(-sigma, rows, np.concatenate([pattern[service], [1.0], of_room]))
        self.type.append(t)
        self.pattern.append(pattern)
        self.sigma.append(sigma)
        return True

    def sigma_of(self, t: int, pattern: IntArray) -> float:
        """The affinity that a pattern adds to a machine of a type."""
        share = (pattern + self.task.fixed[:, self.types.first[t]]) / self.task.replicas
        return float(self.task.weight @ np.minimum(share[self.task.a], share[self.task.b]) - self.base[t])

    def solve(self) -> "DualPrices":
        """Solve the master over the patterns there are: its prices."""
        n, n_t = len(self.task.demand), len(self.types.number)
        nothing = (0.0, np.zeros(0), np.zeros(n + n_t + len(self.left)))
        cost, self.value, dual = self.master.solve() if self.pattern else nothing
        self.gain = float(self.types.number @ self.base) - cost
        price = np.maximum(0.0, -dual)
        return DualPrices(pi=price[:n], cv=price[n : n + n_t], mu=price[n + n_t :])

    def cost_at(self, point: "DualPrices") -> FloatArray:
        """(service,) what a container costs at some prices."""
        cost: FloatArray = point.pi + ((self.task.request / self.left) @ point.mu if len(self.left) else 0.0)
        return cost

    def best_known(self, cost: FloatArray) -> FloatArray:
        """(type,) what the best pattern there is adds at some cost; at least 0."""
        best = np.zeros(len(self.types.number))
        if self.pattern:
            np.maximum.at(best, np.array(self.type), np.array(self.sigma) - np.array(self.pattern) @ cost)
        return best

    def reduced(self, point: "DualPrices") -> FloatArray:
        """(column,) what each pattern adds at some prices."""
        if not self.pattern:
            return np.zeros(0)
        adds: FloatArray = np.array(self.sigma) - np.array(self.pattern) @ self.cost_at(point) - point.cv[np.array(self.type)]
        return adds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DualPrices:
    """Prices of containers, of machines, and of room."""

    pi: FloatArray  # (service,)
    cv: FloatArray  # (type,)
    mu: FloatArray  # (resource,) or empty

    def towards(self, other: "DualPrices", by: float) -> "DualPrices":
        """A point on the way."""
        pairs = ((self.pi, other.pi), (self.cv, other.cv), (self.mu, other.mu))
        pi, cv, mu = ((1.0 - by) * here + by * there for here, there in pairs)
        return DualPrices(pi=pi, cv=cv, mu=mu)
