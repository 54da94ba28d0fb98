"""Does the state still say what it would say if it were built anew? For debugging: it costs as much as a new state."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.errors import ModelError
from bayplan.kernels.search import state as layout
from bayplan.model.problem import Problem
from bayplan.search.array_layout import view
from bayplan.search.state import SearchState, new_search_state

OF_THE_PATH = {"groups_needed", "row_placed", "row_size", "slot_of", "items_on"}  # settled at the start, and lists in no order
TOLERANCE = 1e-9  # of the largest number of a block: floats that are added and taken away do not vanish


def verify_state(state: SearchState, problem: Problem) -> None:
    """ModelError if a sum of the state differs from that of a fresh state with the same placement."""
    fresh = new_search_state(replace(problem, start=state.placement()))
    for names in (layout.INTS, layout.FLOATS, layout.SMALL):
        for name in names:
            if name not in OF_THE_PATH:
                _expect_equal(name, block(state.arrays, name), block(fresh.arrays, name), _scale(fresh, name))
    for name in ("row_placed", "row_size"):
        here, anew = (block(each.arrays, name) + each.missing for each in (state, fresh))
        _expect_equal(name, here, anew, 0.0)
    _expect_lists(state)


def block(arrays: layout.State, name: str) -> npt.NDArray[Any]:
    """All numbers of a block; a view."""
    for names, flat in ((layout.INTS, arrays.ints), (layout.FLOATS, arrays.floats), (layout.SMALL, arrays.small)):
        if name in names:
            after = names.index(name) + 1
            end = int(arrays.at[names[after]][0]) if after < len(names) else len(flat) - 1
            return view(arrays, name, end - int(arrays.at[name][0]))
    raise ModelError(f"the state has no block '{name}'")


def _scale(fresh: SearchState, name: str) -> float:
    """How large the numbers are that the block was summed up from."""
    if name in layout.FLOATS:
        parts = float(np.abs(block(fresh.arrays, "cost")).sum()) if name == "total" else 0.0
        return 1.0 + parts + float(np.abs(block(fresh.arrays, name)).max(initial=0.0))
    return 0.0


def _expect_equal(name: str, actual: npt.NDArray[Any], expected: npt.NDArray[Any], scale: float) -> None:
    if actual.shape != expected.shape:
        raise ModelError(f"block '{name}' of the state has {len(actual)} numbers, a fresh one {len(expected)}")
    wrong = np.flatnonzero(~(np.abs(actual - expected) <= TOLERANCE * scale))
    if len(wrong):
        where = int(wrong[0])
        raise ModelError(f"number {where} of block '{name}' of the state is {actual[where]}, on a fresh one {expected[where]}")


def _expect_lists(state: SearchState) -> None:
    """Every item that is is in the list of its machine, and the lists are as long as they say."""
    slots, machine_of = int(state.arrays.at["slots"][0]), state.machine_of
    on, slot_of, on_size = (block(state.arrays, name) for name in ("items_on", "slot_of", "items_on_size"))
    placed = np.flatnonzero(machine_of != layout.NOWHERE)
    missing = placed[
        (on[machine_of[placed] * slots + slot_of[placed]] != placed) | (slot_of[placed] >= on_size[machine_of[placed]])
    ]
    if len(missing):
        raise ModelError(
            f"item {int(missing[0])} is not in the list of machine {int(machine_of[missing[0]])}, where it is placed"
        )
