"""Does the board still say what it would say if it were built anew? For debugging: it costs as much as a new board."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.errors import ModelError
from bayplan.kernels.search import state as layout
from bayplan.model.problem import Problem
from bayplan.search.blocks import view
from bayplan.search.game import Game, new_game

OF_THE_PATH = {"groups_needed", "slot_of", "items_on"}  # what is settled at the start, and lists in no order
TOLERANCE = 1e-9  # of the largest number of a block: floats that are added and taken away do not vanish


def audit(game: Game, problem: Problem) -> None:
    """ModelError if a sum of the board differs from that of a fresh board with the same placement."""
    fresh = new_game(replace(problem, start=game.placement()))
    for names in (layout.INTS, layout.FLOATS, layout.SMALL):
        for name in names:
            if name not in OF_THE_PATH:
                _expect_equal(name, block(game.arrays, name), block(fresh.arrays, name), _scale(fresh, name))
    _expect_lists(game)


def block(some: layout.State, name: str) -> npt.NDArray[Any]:
    """All numbers of a block; a view."""
    for names, flat in ((layout.INTS, some.ints), (layout.FLOATS, some.floats), (layout.SMALL, some.small)):
        if name in names:
            after = names.index(name) + 1
            end = int(some.at[names[after]][0]) if after < len(names) else len(flat) - 1
            return view(some, name, end - int(some.at[name][0]))
    raise ModelError(f"the board has no block '{name}'")


def _scale(fresh: Game, name: str) -> float:
    """How large the numbers are that the block was summed up from."""
    if name in layout.FLOATS:
        parts = float(np.abs(block(fresh.arrays, "cost")).sum()) if name == "total" else 0.0
        return 1.0 + parts + float(np.abs(block(fresh.arrays, name)).max(initial=0.0))
    return 0.0


def _expect_equal(name: str, have: npt.NDArray[Any], want: npt.NDArray[Any], scale: float) -> None:
    if have.shape != want.shape:
        raise ModelError(f"block '{name}' of the board has {len(have)} numbers, a fresh one {len(want)}")
    wrong = np.flatnonzero(~(np.abs(have - want) <= TOLERANCE * scale))
    if len(wrong):
        where = int(wrong[0])
        raise ModelError(f"number {where} of block '{name}' of the board is {have[where]}, on a fresh one {want[where]}")


def _expect_lists(game: Game) -> None:
    """Every item that stands is in the list of its machine, and the lists are as long as they say."""
    slots, machine_of = int(game.arrays.at["slots"][0]), game.machine_of
    on, slot_of, on_size = (block(game.arrays, name) for name in ("items_on", "slot_of", "items_on_size"))
    stands = np.flatnonzero(machine_of != layout.NOWHERE)
    lost = stands[(on[machine_of[stands] * slots + slot_of[stands]] != stands) | (slot_of[stands] >= on_size[machine_of[stands]])]
    if len(lost):
        raise ModelError(f"item {int(lost[0])} is not in the list of machine {int(machine_of[lost[0]])}, where it stands")
