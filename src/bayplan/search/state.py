"""A state: the state of one cluster, objective and start."""

from dataclasses import dataclass

import numpy as np

from bayplan.errors import ModelError
from bayplan.kernels.search import state as layout
from bayplan.kernels.search.incumbent import Incumbent
from bayplan.kernels.search.lift_drop import move_all, place_start
from bayplan.model import UNPLACED, BoolArray, Cluster, FloatArray, IntArray, Placement
from bayplan.model.problem import Problem
from bayplan.search.array_layout import Blocks, copied, packed, view
from bayplan.search.compile_objective import objective_blocks
from bayplan.search.compile_rules import CompiledRules, limits
from bayplan.search.count_rows import CountRows
from bayplan.search.items import Items, items_of
from bayplan.search.reach import is_listed, reach_blocks


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchState:
    """The items of a cluster on a state. The state changes; all else is fixed."""

    cluster: Cluster
    items: Items
    arrays: layout.State
    minimum: IntArray  # (row,) groups that spread rules ask for; the state may have to settle for less
    missing: IntArray  # (row,) groups that a service may lack, as at the start: its containers are counted as that many fewer

    @property
    def machine_of(self) -> IntArray:
        """(item,) where the items run now; a view."""
        return view(self.arrays, "machine_of", len(self.items.kind_of))

    @property
    def total(self) -> float:
        """The objective of the state, up to a constant."""
        return float(self.arrays.floats[self.arrays.at["total"][0]])

    @property
    def unmet(self) -> int:
        """Containers without what they depend on."""
        return int(view(self.arrays, "tally", layout.UNMET + 1)[layout.UNMET])

    @property
    def skewed(self) -> int:
        """Containers beyond the limits of skew rules."""
        return int(view(self.arrays, "tally", layout.SKEWED + 1)[layout.SKEWED])

    @property
    def has_choice(self) -> BoolArray:
        """(item,) could it ever run anywhere but where it runs now? True where nothing is listed."""
        start = view(self.arrays, "reach_start", int(self.arrays.at["empty_kind"][0]) + 1)
        reach = np.append(view(self.arrays, "reach", int(start[-1])), UNPLACED)  # so that an empty last list has a first machine
        size, first = np.diff(start)[self.items.kind_of], reach[start[:-1][self.items.kind_of]]
        at_home = (self.items.home == self.machine_of) | (self.items.home == UNPLACED)
        stuck = at_home & ((size == 0) | ((size == 1) & (first == self.machine_of)))
        chosen: BoolArray = ~stuck | (self.arrays.at["reach_listed"][0] == 0)
        return chosen

    def copy(self) -> "SearchState":
        """The same, on a state of its own."""
        arrays = copied(self.arrays)
        return SearchState(
            cluster=self.cluster, items=self.items, arrays=arrays, minimum=self.minimum, missing=self.missing.copy()
        )

    def move_to(self, item_machine: IntArray) -> None:
        """Put every item where `item_machine` says, without asking any rule."""
        target = np.array(item_machine, dtype=np.int64)
        most, slots = int(np.bincount(target[target != UNPLACED], minlength=1).max()), int(self.arrays.at["slots"][0])
        if most > slots:
            raise ModelError(f"{most} items on one machine, the state has slots for {slots}")
        move_all(self.arrays, target)

    def placement(self, item_machine: IntArray | None = None) -> Placement:
        """The machine of every container."""
        return Placement(machine_of=self.items.machines_of(self.machine_of if item_machine is None else item_machine))


def new_search_state(problem: Problem) -> SearchState:
    """The state with every container where the problem starts."""
    cluster = problem.cluster
    items = items_of(cluster, problem.before, problem.frozen if len(problem.frozen) else None)
    rows = CountRows(cluster)
    lists = CompiledRules(cluster, items, rows)
    blocks = objective_blocks(cluster, items, rows, problem.objective, problem.max_moves) | lists.blocks()
    start = np.array(problem.start.machine_of[items.first])
    sizes = _sizes(cluster, items, start, blocks)
    empty = _blank(cluster, items, blocks, sizes)
    reach = reach_blocks(blocks, np.asarray(empty["home_charge"]), limits(cluster))
    blank = packed(blocks | empty | reach, sizes)
    place_start(blank, start)
    minimum = np.array(blocks["groups_needed"], dtype=np.int64)
    state = SearchState(cluster=cluster, items=items, arrays=blank, minimum=minimum, missing=np.zeros_like(minimum))
    relax_spread_minimum(state)
    return state


def _sizes(cluster: Cluster, items: Items, start: IntArray, blocks: Blocks) -> dict[str, int]:
    most = max(int(np.bincount(on[on >= 0], minlength=1).max()) for on in (start, items.home))
    return {
        "items": len(items.kind_of),
        "machines": len(cluster.machines.name),
        "resources": len(cluster.resources),
        "risks": len(np.asarray(blocks["risk"])),
        "pairs": len(np.asarray(blocks["pair"])),
        "empty_kind": len(np.asarray(blocks["request"])) - 1,
        "slots": min(len(items.kind_of), 4 * most + 64),
        "reach_listed": int(is_listed(len(np.asarray(blocks["allow_row"])), len(cluster.machines.name))),
        "variance_priced": int(np.asarray(blocks["square"]).any() or np.asarray(blocks["mean"]).any()),
    }


def _blank(cluster: Cluster, items: Items, blocks: Blocks, sizes: dict[str, int]) -> Blocks:
    """The state with nothing placed."""
    n_i, n_m = sizes["items"], sizes["machines"]
    nothing = np.zeros_like(cluster.machines.capacity)
    charge = _home_charge(items, blocks, n_m)
    machines = [nothing, charge, limits(cluster), cluster.machines.safety, cluster.machines.capacity]
    risk = np.zeros((n_m, sizes["risks"]))
    idle = _idle_cost(cluster, blocks)
    return {
        "machine_of": np.full(n_i, layout.NOWHERE),
        "slot_of": np.zeros(n_i),
        "amount": np.stack(machines, axis=1),
        "items_on_size": np.zeros(n_m),
        "home_charge": charge,
        "items_on": np.zeros(n_m * sizes["slots"]),
        "total": [idle.sum()],
        "cost": idle,
        "utilisation_sum": np.zeros(sizes["resources"]),
        "risk_mean": risk,
        "risk_variance": risk,
    }


def _home_charge(items: Items, blocks: Blocks, machines: int) -> IntArray:
    """(machine, resource) what machines are charged for the items that ran there, whether they leave or not."""
    request = np.asarray(blocks["request"])
    charge = np.zeros((machines, request.shape[1]), dtype=np.int64)
    ran = items.home != UNPLACED
    np.add.at(charge, items.home[ran], request[items.kind_of[ran]])
    return np.where(np.asarray(blocks["joint"]), charge, 0)


def _idle_cost(cluster: Cluster, blocks: Blocks) -> FloatArray:
    """(machine,) what an empty machine costs: free amounts out of balance."""
    capacity = cluster.machines.capacity
    cost = np.zeros(len(capacity))
    for (r1, r2, both), (weight, f1, f2) in zip(np.asarray(blocks["pair"]), np.asarray(blocks["pair_by"]), strict=True):
        c1, c2 = capacity[:, r1], capacity[:, r2]
        counts = (c1 > 0) & (c2 > 0) if both else np.ones(len(c1), dtype=np.bool_)
        cost += np.where(counts, weight * np.maximum(0.0, f1 * c1 - f2 * c2), 0.0)
    return cost


def relax_spread_minimum(state: SearchState) -> None:
    """Where a service uses fewer groups than it must, it may go on lacking as many, and no more.

    While some of its containers have no machine, it needs as many groups as it has placed containers, at most the minimum. So
    the same number is taken off the minimum and off the count of placed containers that kernels compare with it.
    """
    restore_spread_minimum(state)
    rows = len(state.minimum)
    placed, size = view(state.arrays, "row_placed", rows), view(state.arrays, "row_size", rows)
    needed = np.where(placed >= size, state.minimum, np.minimum(state.minimum, placed))
    state.missing[:] = np.maximum(0, needed - view(state.arrays, "groups_used", rows))
    view(state.arrays, "groups_needed", rows)[:] -= state.missing
    placed -= state.missing
    size -= state.missing


def restore_spread_minimum(state: SearchState) -> None:
    """Every service is held to its whole minimum again."""
    rows = len(state.minimum)
    view(state.arrays, "groups_needed", rows)[:] = state.minimum
    for name in ("row_placed", "row_size"):
        view(state.arrays, name, rows)[:] += state.missing
    state.missing[:] = 0


def new_incumbent(state: SearchState, journal: int) -> Incumbent:
    """An incumbent that is the present placement; `journal`: moves recorded before the best placement is written out."""
    return Incumbent(
        best=np.array([state.total]),
        best_machine_of=state.machine_of.copy(),
        item=np.zeros(journal, dtype=np.int64),
        origin=np.zeros(journal, dtype=np.int64),
        status=np.array([0, 0, state.unmet], dtype=np.int64),
    )
