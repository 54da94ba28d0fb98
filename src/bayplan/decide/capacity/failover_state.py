"""The state of the search, on which machines fail and recover: built once, changed and changed back for each failure."""

import numpy as np

from bayplan.decide.capacity.open_groups import OpenGroups
from bayplan.kernels.search.evaluate_all import evaluate_all, new_evaluation
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.place_greedy import RESIDUAL, PlacementScratch, Scoring, ServiceIndex, place_in_order
from bayplan.kernels.search.state import AMOUNTS, CAPACITY, LIMIT, LOAD, NOWHERE, SAFETY
from bayplan.model import AntiAffinity, BoolArray, Cluster, Dependency, FloatArray, IntArray, Pinned, Snapshot, Spread, ints
from bayplan.model.arrays import random_state
from bayplan.model.problem import Problem
from bayplan.search.array_layout import view
from bayplan.search.items import Items
from bayplan.search.state import SearchState, new_search_state

CHUNK, MANY = 1000, 5000  # where that many items look for a place: how many are placed at once, without kinds that fit nowhere
UNMET_PRICE = 1.0  # what a container without the service on which it depends costs; nothing else costs anything


class FailoverState:
    """Lifts what runs on failed machines, puts it elsewhere, and puts it back.

    A machine is closed by taking it from all allow lists, so that no kernel puts anything there.
    """

    def __init__(self, snapshot: Snapshot, closed: IntArray) -> None:
        """`closed`: machines on which nothing may run until they are opened."""
        objective = snapshot.objective.with_weights({})
        problem = Problem(cluster=snapshot.cluster, objective=objective, before=snapshot.placement, start=snapshot.placement)
        self.cluster = snapshot.cluster
        self.state: SearchState = new_search_state(problem)
        self.spreads: dict[int, list[Spread]] = {}  # by service
        self.anti_affinities: dict[int, list[AntiAffinity]] = {}  # by workload
        for rule in snapshot.cluster.rules:
            if isinstance(rule, Spread):
                self.spreads.setdefault(rule.service, []).append(rule)
            elif isinstance(rule, AntiAffinity):
                for w in dict.fromkeys(rule.workloads):
                    self.anti_affinities.setdefault(w, []).append(rule)
        self.has_dependencies = any(isinstance(rule, Dependency) for rule in snapshot.cluster.rules)
        self.never_elsewhere = _pinned_items(snapshot.cluster, self.state.items)
        arrays, machines = self.state.arrays, len(snapshot.cluster.machines.name)
        self.skews = OpenGroups(snapshot.cluster, arrays)
        rows = 1 + int(
            view(arrays, "allow_row", len(snapshot.cluster.workloads.name) + len(self.state.items.units)).max(initial=0)
        )
        self.allowed: IntArray = view(arrays, "allowed", rows * machines).reshape(rows, machines)  # (row, machine) a view
        self._allowed_before = self.allowed.copy()
        amounts = view(arrays, "amount", machines * AMOUNTS * len(snapshot.cluster.resources))
        self._amount: IntArray = amounts.reshape(machines, AMOUNTS, len(snapshot.cluster.resources))
        view(arrays, "unmet_price", 1)[:] = UNMET_PRICE
        self._risk = view(arrays, "risk_mean", machines * int(arrays.at["risks"][0]))
        self._risk_variance = view(arrays, "risk_variance", len(self._risk))
        self._risks_before = self._risk.copy(), self._risk_variance.copy()
        rows = len(self.state.minimum)
        self._groups_needed = view(arrays, "groups_needed", rows)
        self._groups_needed_before = self._groups_needed.copy()
        self._row_level = view(arrays, "row_level", rows)
        self.opened = np.ones(machines, dtype=np.bool_)  # (machine,)
        self.placer = GreedyPlacer(self.state, again=self.has_dependencies or bool(self.spreads) or bool(self.skews.rules))
        home = self.state.items.home
        self._by_home = np.argsort(home, kind="stable")
        self._start = np.searchsorted(home[self._by_home], np.arange(machines + 1))
        self._failed = ints([])
        self._unmet_before = self.state.unmet
        self.items = ints([])  # lifted because their machine failed, largest first
        self.pinned = ints([])  # the same, of those that may run nowhere else
        self.moved: list[int] = []  # items that ran elsewhere and were moved
        self.close(closed)

    @property
    def load(self) -> IntArray:
        """(machine, resource) a view."""
        return self._amount[:, LOAD]

    @property
    def limit(self) -> IntArray:
        """(machine, resource) what may be requested there by the rules; very much where there is no rule."""
        return self._amount[:, LIMIT]

    def above_safety(self, machines: IntArray) -> BoolArray:
        """(machine,) is the load of each of these above its safety capacity?"""
        amount = self._amount[machines]
        return np.asarray((amount[:, LOAD] > amount[:, SAFETY]).any(axis=1), dtype=np.bool_)

    def fullness(self, machines: IntArray) -> FloatArray:
        """(machine,) the largest share of a resource that is requested on each of these."""
        amount = self._amount[machines]
        capacity, load = amount[:, CAPACITY], amount[:, LOAD]
        share = np.where(capacity > 0, load / np.maximum(1, capacity), np.where(load > 0, np.inf, 0.0))
        return np.asarray(share.max(axis=1, initial=0.0), dtype=np.float64)

    @property
    def unmet(self) -> int:
        """How many more containers than before have nothing that they depend on."""
        return max(0, self.state.unmet - self._unmet_before)

    @property
    def too_close(self) -> int:
        """How many services use fewer groups than they have to, and did not before."""
        rows = len(self._groups_needed)
        placed, size, used = (view(self.state.arrays, name, rows) for name in ("row_placed", "row_size", "groups_used"))
        need = np.where(placed >= size, self._groups_needed, np.minimum(self._groups_needed, placed))
        return int((need > used).sum())

    @property
    def all_placed(self) -> bool:
        """Has everything a machine, and is no other container the worse for it?"""
        return not (len(self.left) or self.unmet or self.too_close)

    @property
    def left(self) -> IntArray:
        """Lifted items that have no machine, largest first."""
        left: IntArray = self.items[self.state.machine_of[self.items] == NOWHERE]
        return left

    def close(self, machines: IntArray) -> None:
        """Nothing may come to these machines."""
        self._shut(machines)
        self.skews.compare(self.opened)

    def _shut(self, machines: IntArray) -> None:
        self.allowed[:, machines] = 0
        self.opened[machines] = False

    def open(self, machines: IntArray) -> None:
        """What the rules allow may come to these machines again."""
        self.allowed[:, machines] = self._allowed_before[:, machines]
        self.opened[machines] = True
        self.skews.compare(self.opened)

    def fail(self, machines: IntArray) -> None:
        """Close the machines and lift everything that runs there."""
        self._failed = machines
        self._shut(machines)
        self._ask_for_no_more_groups_than_are_left()
        spans = [self._by_home[self._start[m] : self._start[m + 1]] for m in machines.tolist()]
        items = np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)
        for i in items.tolist():
            lift(self.state.arrays, i)
        self.skews.compare(self.opened)
        pinned = self.never_elsewhere[items]
        self.pinned = items[pinned]
        self.items = self.placer.largest_first(items[~pinned])

    def _ask_for_no_more_groups_than_are_left(self) -> None:
        """Spread rules that cannot be kept any more are said by themselves, and do not keep everything else down."""
        if self.spreads:
            left = np.array([len(np.unique(level.group_of[self.opened])) for level in self.cluster.levels])
            of_level = np.minimum(self._row_level, len(left) - 1)  # behind those of the cluster: what skew rules compare
            np.minimum(self._groups_needed, left[of_level], out=self._groups_needed)

    def recover(self) -> None:
        """Everything runs where it ran before; the machines are open again."""
        self.lift_again()
        self.open(self._failed)
        home = self.state.items.home
        for i in [*self.items.tolist(), *self.pinned.tolist()]:
            drop(self.state.arrays, i, int(home[i]))
        self._groups_needed[:] = self._groups_needed_before
        self._risk[:], self._risk_variance[:] = self._risks_before  # sums of floats do not come back exactly
        self._failed = self.items = self.pinned = ints([])

    def lift_again(self) -> None:
        """Only what ran on failed machines is lifted: what was placed is lifted again, what was moved goes back."""
        arrays, machine_of, home = self.state.arrays, self.state.machine_of, self.state.items.home
        for i in [*self.items.tolist(), *self.moved]:
            if machine_of[i] != NOWHERE:
                lift(arrays, i)
        for i in self.moved:
            drop(arrays, i, int(home[i]))
        self.moved = []

    def place(self, *, emptiest_first: bool) -> None:
        """Place what is lifted, largest first, on the emptiest or on the fullest machine that it fits; as much as possible."""
        self.placer.place(self.left, emptiest_first)

    def place_with_dependants(self) -> None:
        """The same, each where most containers get back what they depend on; among equals on the emptiest machine."""
        evaluation = new_evaluation(len(self.cluster.machines.name), len(self.cluster.resources))
        left, before = self.left, -1
        while len(left) != before:
            before = len(left)
            for i in left.tolist():
                number = evaluate_all(self.state.arrays, i, evaluation)
                if number:
                    machine = evaluation.machine[:number]
                    free = self.placer.free_score(machine)
                    drop(self.state.arrays, i, int(machine[np.lexsort((machine, -free, evaluation.delta[:number]))[0]]))
            left = self.left

    def put(self, targets: IntArray) -> None:
        """Put every lifted item on its machine in `targets`, as found earlier; the others stay lifted."""
        for i, m in zip(self.items.tolist(), targets.tolist(), strict=True):
            if m != NOWHERE:
                drop(self.state.arrays, i, m)

    def machines_of(self, containers: IntArray) -> IntArray:
        """The machine of each container now; UNPLACED while it is lifted."""
        machine: IntArray = self.state.machine_of[self.state.items.of_container[containers]]
        return machine

    def homes_of(self, containers: IntArray) -> IntArray:
        """The machine of each container before any failure."""
        machine: IntArray = self.state.items.home[self.state.items.of_container[containers]]
        return machine

    def put_containers(self, containers: IntArray, machines: IntArray) -> None:
        """The same, of containers that were found a machine earlier."""
        targets = dict(zip(self.state.items.of_container[containers].tolist(), machines.tolist(), strict=True))
        self.put(ints([targets.get(i, NOWHERE) for i in self.items.tolist()]))

    def containers_of(self, items: IntArray) -> IntArray:
        """The containers of some items, ascending."""
        of = self.state.items
        size = of.start[items + 1] - of.start[items]
        if (size == 1).all():
            return ints(np.sort(of.container[of.start[items]]))
        spans = [of.container[of.start[i] : of.start[i + 1]] for i in items.tolist()]
        return ints(np.sort(np.concatenate(spans)))


def _pinned_items(cluster: Cluster, items: Items) -> BoolArray:
    """(item,) has it a container that a pinned rule names? What is co-located with such a container is the same item."""
    pinned = np.zeros(len(items.kind_of), dtype=np.bool_)
    for rule in cluster.rules:
        if isinstance(rule, Pinned):
            pinned[items.of_container[list(rule.containers)]] = True
    return pinned


class GreedyPlacer:
    """Items one by one, each on the machine with most or least free capacity that it fits."""

    def __init__(self, state: SearchState, again: bool) -> None:
        """`again`: could an item that fits nowhere fit after others have been placed?"""
        self.state, self._again = state, again
        cluster = state.cluster
        machines = len(cluster.machines.name)
        mean = cluster.machines.capacity.mean(axis=0) if machines else np.zeros(len(cluster.resources))
        self._unit = np.where(mean > 0, 1.0 / np.maximum(mean, 1e-300), 0.0)  # (resource,)
        request = (cluster.workloads.request * self._unit).max(axis=1, initial=0.0)
        items = state.items
        self.size = np.bincount(items.of_container, weights=request[cluster.containers.workload], minlength=len(items.kind_of))
        self._services = _no_services(state)
        self._scratch = PlacementScratch(
            np.zeros(machines, dtype=np.int64),
            np.zeros(machines, dtype=np.int64),
            np.zeros(machines),
            np.zeros(1, dtype=np.int64),
        )
        self._rng = random_state(0)

    def largest_first(self, items: IntArray) -> IntArray:
        """The items by their largest share of a machine; among equals by their first container."""
        of = self.state.items
        first = of.container[of.start[items]]
        order: IntArray = items[np.lexsort((first, -self.size[items]))]
        return order

    def free_score(self, machines: IntArray) -> FloatArray:
        """What is free on machines, in mean machines, summed over resources."""
        n_m, n_r = len(self.state.cluster.machines.name), len(self.state.cluster.resources)
        amount = view(self.state.arrays, "amount", n_m * AMOUNTS * n_r).reshape(n_m, AMOUNTS, n_r)[machines]
        score: FloatArray = (amount[:, CAPACITY] - amount[:, LOAD]) @ self._unit
        return score

    def place(self, items: IntArray, emptiest_first: bool) -> None:
        """Place what fits. What does not is tried again after the others, where that can help and places something."""
        scoring = Scoring(RESIDUAL, (self._unit if emptiest_first else -self._unit)[None, :])
        if not self._again and len(items) > MANY:
            for start in range(0, len(items), CHUNK):
                part = self._with_a_machine(items[start : start + CHUNK])
                place_in_order(self.state.arrays, part, scoring, self._services, self._rng, self._scratch)
            return
        while len(items) and place_in_order(self.state.arrays, items, scoring, self._services, self._rng, self._scratch):
            items = items[self.state.machine_of[items] == NOWHERE]
            if not self._again:
                return

    def _with_a_machine(self, items: IntArray) -> IntArray:
        """Those of many items for whose kind some machine has enough free: the kernel would look at each machine for each."""
        arrays, n_m, n_r = self.state.arrays, len(self.state.cluster.machines.name), len(self.state.cluster.resources)
        amount = view(arrays, "amount", n_m * AMOUNTS * n_r).reshape(n_m, AMOUNTS, n_r)
        free = amount[:, LIMIT] - amount[:, LOAD]
        kind, inverse = np.unique(self.state.items.kind_of[items], return_inverse=True)
        kinds = len(self.state.cluster.workloads.name) + len(self.state.items.units)
        request = view(arrays, "request", kinds * n_r).reshape(kinds, n_r)[kind]
        row = view(arrays, "allow_row", kinds)[kind]
        open_to = [view(arrays, "allowed", (r + 1) * n_m)[r * n_m :] != 0 for r in range(int(row.max(initial=0)) + 1)]
        fits = [
            bool(((free >= wants) | (wants == 0)).all(axis=1)[open_to[r]].any()) for wants, r in zip(request, row, strict=True)
        ]
        kept: IntArray = items[np.array(fits, dtype=np.bool_)[inverse]]
        return kept


def _no_services(state: SearchState) -> ServiceIndex:
    """No kind has a service: with one candidate for each item, services decide nothing."""
    kinds = len(state.cluster.workloads.name) + len(state.items.units)
    none = np.zeros(0, dtype=np.int64)
    return ServiceIndex(
        kind_start=np.zeros(kinds + 1, dtype=np.int64),
        service=none,
        own_size=np.zeros(kinds, dtype=np.int64),
        service_start=np.zeros(1, dtype=np.int64),
        item=none,
    )
