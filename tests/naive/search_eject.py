"""The victims of an ejection, from whole columns of numbers: the slow twin of `kernels.search.eject`."""

from dataclasses import dataclass

import numpy as np

from bayplan.kernels.search.state import CHARGE, LIMIT, LOAD, SAFETY
from bayplan.model import FloatArray
from bayplan.search.state import SearchState
from bayplan.search.verify_state import block


@dataclass(frozen=True)
class NaiveEjection:
    """Item i comes to machine m."""

    state: SearchState
    i: int
    m: int

    def request(self, j: int) -> FloatArray:
        arrays = self.state.arrays
        return block(arrays, "request").reshape(-1, int(arrays.at["resources"][0]))[self.state.items.kind_of[j]]

    def amount(self, m: int, kind: int) -> FloatArray:
        arrays = self.state.arrays
        return block(arrays, "amount").reshape(-1, 5, int(arrays.at["resources"][0]))[m, kind]

    def missing(self) -> FloatArray:
        """(resource,) what machine m lacks for item i; negative or 0 if nothing."""
        used = self.amount(self.m, LOAD if self.state.items.home[self.i] == self.m else CHARGE)
        want = self.request(self.i)
        return np.where(want > 0, used + want - self.amount(self.m, LIMIT), 0)

    def overload_brought(self) -> FloatArray:
        """(resource,) by how much more item i overloads machine m than it relieves its own, where overload has a price."""
        want, origin = self.request(self.i), int(self.state.machine_of[self.i])

        def above(m: int, more: FloatArray) -> FloatArray:
            return np.maximum(0, self.amount(m, LOAD) + more - self.amount(m, SAFETY))

        rise = above(self.m, want) - above(self.m, 0 * want)
        fall = above(origin, 0 * want) - above(origin, -want)
        return np.where(block(self.state.arrays, "overload") > 0, np.maximum(0, rise - fall), 0)

    def freed(self, j: int, *, by_load: bool) -> FloatArray:
        """(resource,) what leaves machine m with item j."""
        charged = not by_load and self.state.items.home[j] == self.m
        return np.where(charged & (block(self.state.arrays, "joint") == 1), 0, self.request(j))

    def victims(self, on: list[int], most: int) -> list[int]:
        """The victims, from the items of machine m in the order in which they are looked at; empty if they do not do."""
        lacking, by_load = self.missing(), False
        if (lacking <= 0).all():
            lacking, by_load = self.overload_brought() if most > 1 else 0 * lacking, True
            if (lacking <= 0).all():
                return on[:1] if self.state.items.movable[on[0]] else []
        chosen: list[int] = []
        while len(chosen) < most:
            short = lacking > 0
            shares = {
                j: self.freed(j, by_load=by_load)[short] * (1.0 / lacking[short])
                for j in on
                if self.state.items.movable[j] and j not in chosen
            }
            enough = [j for j, share in shares.items() if (share >= 1.0).all()]
            relief = {j: sum(min(1.0, float(one)) for one in share) for j, share in shares.items()}
            if enough:
                return [*chosen, enough[0]]
            if not relief or max(relief.values()) <= 0.0:
                break
            chosen.append(max(relief, key=lambda j: relief[j]))
            lacking = lacking - self.freed(chosen[-1], by_load=by_load)
        return chosen if by_load else []
