"""Cells of a sweep that other processes can measure, and a sweep of them as a process: `python -m tests.builders.sweep_cells`."""

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from experiments.sweeps import Runs, sweep

from bayplan.engine import engine_of

KEY = ("name", "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell that takes a while, and leaves a mark in a folder when it begins."""

    name: str
    seed: int
    seconds: float = 0.0
    marks: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        return self.name, str(self.seed)


def measured(cell: Cell) -> dict[str, str]:
    if cell.marks:
        Path(cell.marks, f"{cell.seed}-{time.monotonic_ns()}").touch()
    time.sleep(cell.seconds)
    return {"square": str(cell.seed**2), "process": str(os.getpid())}


def several(cell: Cell) -> list[dict[str, str]]:
    return [{"part": str(part), "square": str(cell.seed**2)} for part in range(2)]


def dying_once(cell: Cell) -> dict[str, str]:
    """Cell 2 kills its process the first time."""
    if cell.seed == 2 and not any(Path(cell.marks).iterdir()):
        Path(cell.marks, "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"square": str(cell.seed**2)}


def refusing(cell: Cell) -> dict[str, str]:
    """Cell 0 ends its experiment, after the others have come."""
    if cell.seed == 0:
        time.sleep(cell.seconds)
        sys.exit("cell 0: no such data")
    return {"square": str(cell.seed**2)}


def only_here() -> Callable[[Cell], dict[str, str]]:
    """What measures cells, in a module that no other process can import."""
    module = ModuleType("clone_of_mine")
    exec("def measured(cell):\n    return {'square': str(cell.seed**2)}", module.__dict__)
    sys.modules[module.__name__] = module
    measure: Callable[[Cell], dict[str, str]] = module.measured
    return measure


def main(path: str, engine: str, marks: str) -> None:
    """The first cell never ends, the next three do, the others never end."""
    cells = [Cell(name="a", seed=seed, seconds=0.0 if seed in (1, 2, 3) else 600.0, marks=marks) for seed in range(9)]
    with engine_of(engine) as on:
        sweep(Path(path), KEY, cells, measured, Runs(engine=on, workers=3))


if __name__ == "__main__":
    from tests.builders.sweep_cells import main as of_the_module  # not of __main__: workers import it

    of_the_module(*sys.argv[1:])
