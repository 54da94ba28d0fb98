"""A few machines of a state, what may move among them, and what the rest of the state says."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search import state as layout
from bayplan.model import IntArray
from bayplan.search.state import SearchState
from bayplan.search.verify_state import block


class StateViews:
    """The blocks of a state's state by name; they follow the state."""

    def __init__(self, state: SearchState) -> None:
        self.of: Mapping[str, npt.NDArray[Any]] = {
            name: block(state.arrays, name) for name in (*layout.INTS, *layout.FLOATS, *layout.SMALL)
        }
        self.size = {name: int(state.arrays.at[name][0]) for name in layout.SIZES}
        n_m, n_r = self.size["machines"], self.size["resources"]
        self.machine = self.of["amount"].reshape(n_m, layout.AMOUNTS, n_r)
        self.group_of = self.of["group_of"].reshape(-1, n_m)
        self.request = self.of["request"].reshape(-1, n_r)
        self._adds: dict[int, dict[int, int]] = {}

    def entries(self, name: str, kind: int) -> tuple[IntArray, slice]:
        """(entry, number) the list of a kind, and where it is among all entries."""
        starts, width = layout.LISTS[name]
        start = self.of[starts]
        where = slice(int(start[kind]), int(start[kind + 1]))
        return self.of[name].reshape(-1, width)[where], where

    def adds(self, kind: int) -> dict[int, int]:
        """row -> containers that an item of this kind counts for."""
        if kind not in self._adds:
            self._adds[kind] = dict(self.entries("add", kind)[0].tolist())
        return self._adds[kind]

    def items_on(self, machine: int) -> list[int]:
        """The items that run on a machine and may move, ascending."""
        first = machine * self.size["slots"]
        items = self.of["items_on"][first : first + int(self.of["items_on_size"][machine])]
        return sorted(items[self.of["movable"][items] == 1].tolist())


class Window:
    """Classes of items that run on these machines: those of a class are interchangeable.

    A class is a kind with one home; where `apart`, every item is a class of its own.
    """

    def __init__(self, views: StateViews, machines: Sequence[int], *, apart: bool) -> None:
        self.views, self.machines = views, list(machines)
        self.items: list[list[int]] = []  # (class,)
        self.kind: list[int] = []  # (class,)
        self.home: list[int] = []  # (class,)
        self.only: list[int] = []  # (class,)
        number: dict[tuple[int, ...], int] = {}
        placed: list[list[int]] = []
        for place, m in enumerate(self.machines):
            for i in views.items_on(m):
                key = (int(views.of["kind_of"][i]), int(views.of["home"][i]), int(views.of["only_machine"][i]), i if apart else 0)
                c = number.setdefault(key, len(number))
                if c == len(self.items):
                    self.items.append([])
                    self.kind.append(key[0])
                    self.home.append(key[1])
                    self.only.append(key[2])
                    placed.append([0] * len(self.machines))
                self.items[c].append(i)
                placed[c][place] += 1
        self.placed: IntArray = np.array(placed, dtype=np.int64).reshape(len(self.items), len(self.machines))
        self.request: IntArray = views.request[self.kind]  # (class, resource)
        self.groups_of = [_places(level[self.machines].tolist()) for level in views.group_of]  # (level,) group -> places
        self._stays: dict[tuple[int, int], int] = {}
        self.counted: dict[int, list[tuple[int, int]]] = {}  # row -> (class, containers) of the classes that it counts
        for c, k in enumerate(self.kind):
            for row, by in views.adds(k).items():
                self.counted.setdefault(row, []).append((c, by))

    @property
    def fixed_load(self) -> IntArray:
        """(machine, resource) load of what stays."""
        load: IntArray = self.views.machine[self.machines, layout.LOAD] - self.placed.T @ self.request
        return load

    def charged(self, r: int) -> IntArray:
        """(class, machine) what a machine is charged for an item that comes; nothing at home if leaving frees nothing."""
        at_home = np.array(self.home, dtype=np.int64)[:, None] == np.array(self.machines)[None, :]
        free = at_home & bool(self.views.of["joint"][r])
        return np.where(free, 0, self.request[:, r : r + 1])

    def groups(self, row: int) -> dict[int, list[int]]:
        """group -> places of these machines that are in it, on the level of a row."""
        return self.groups_of[int(self.views.of["row_level"][row])]

    def count(self, row: int, group: int) -> int:
        """Containers that a row counts now."""
        return int(self.views.of["count"][int(self.views.of["row_start"][row]) + group])

    def stays(self, row: int, group: int) -> int:
        """Containers that a row counts in a group whatever moves."""
        if (row, group) not in self._stays:
            places = self.groups(row)[group]
            moving = sum(by * self.placed[c, p].item() for c, by in self.counted.get(row, ()) for p in places)
            self._stays[row, group] = self.count(row, group) - moving
        return self._stays[row, group]

    def within_limits(self, share: IntArray) -> bool:
        """Is no machine charged beyond its limit, or beyond what it is charged now? Exact, unlike the solver's sums."""
        about = self.views.machine[self.machines]
        for r in range(self.views.size["resources"]):
            now = about[:, layout.CHARGE, r]
            more = (self.charged(r) * (share - self.placed)).sum(axis=0)
            if ((more > 0) & (more > np.maximum(about[:, layout.LIMIT, r], now) - now)).any():
                return False
        return True

    def assigned(self, share: IntArray) -> tuple[IntArray, IntArray]:
        """Items and their machines, if that many of each class run on each machine; as few as possible change theirs."""
        where: dict[int, int] = {}
        machine_of = self.views.of["machine_of"]
        for items, wanted in zip(self.items, share.tolist(), strict=True):
            left, to_move = dict(zip(self.machines, wanted, strict=True)), []
            for i in items:
                m = int(machine_of[i])
                if left[m] > 0:
                    left[m] -= 1
                else:
                    to_move.append(i)
            where.update(zip(to_move, (m for m, n in left.items() for _ in range(n)), strict=True))
        return np.array(list(where), dtype=np.int64), np.array(list(where.values()), dtype=np.int64)


def _places(group: list[int]) -> dict[int, list[int]]:
    """group -> where it occurs."""
    places: dict[int, list[int]] = {}
    for place, value in enumerate(group):
        places.setdefault(value, []).append(place)
    return places
