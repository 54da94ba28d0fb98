"""How many moves a second the search can judge, with every kind of rule present: 2,513 machines, over 10,000 containers.

A move counts if its rules were tested, they hold, and its exact price was computed; what a rule forbids takes time but does not
count. One thread. Appends to `benchmarks/kernel.csv`: commit, machine, name, moves, seconds, moves a second, and the ratio
to the obvious way, which scores the whole placement after each move (`score.terms.weighted`, rules not even tested).

    python -m benchmarks.kernel [--quick]     --quick looks at fewer moves
"""

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from experiments.results import append, commit, machine

from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.generate.freecontainer import freecontainer_dcb
from bayplan.kernels.search.evaluate_all import new_evaluation
from bayplan.kernels.search.scan import scan_shifts, scan_swaps
from bayplan.model import Budget, IntArray, Placement, Snapshot, silent
from bayplan.model.problem import Problem
from bayplan.score.terms import weighted
from bayplan.search.state import SearchState, new_search_state
from benchmarks.all_rules import all_rules

RESULTS = Path(__file__).parent / "kernel.csv"
COLUMNS = ("commit", "machine", "name", "moves", "seconds", "per_second", "ratio")
TIMES = 5  # the fastest counts: the machine's other work only ever adds


class Counted(NamedTuple):
    """What one measurement gave."""

    name: str
    moves: int
    seconds: float
    naive: float | None = None  # moves a second of the obvious way

    def columns(self) -> tuple[str, ...]:
        """The last columns of its row."""
        rate = self.moves / self.seconds
        ratio = "" if self.naive is None else f"{rate / self.naive:,.0f}".replace(",", "")
        return self.name, str(self.moves), f"{self.seconds:.6f}", f"{rate:.0f}", ratio


def fastest(work: Callable[[], int]) -> tuple[int, float]:
    """What the work counts, and the seconds of its fastest run; the first run compiles."""
    work()
    taken, moves = [], 0
    for _ in range(TIMES):
        started = time.perf_counter()
        moves = work()
        taken.append(time.perf_counter() - started)
    return moves, min(taken)


def measurements(items: int) -> Iterator[Counted]:
    """The obvious way first, then the kernels."""
    snapshot = all_rules()
    state = new_search_state(Problem.of(snapshot))
    standing = np.random.default_rng(0).permutation(np.flatnonzero(state.items.movable & (state.machine_of >= 0)))
    moves, seconds = fastest(lambda: score_all(snapshot, 20))
    naive = Counted("score the whole placement after each move", moves, seconds)
    yield naive
    yield from scans(state, standing, items, naive.moves / naive.seconds)
    yield placing()


def scans(state: SearchState, standing: IntArray, items: int, naive: float) -> Iterator[Counted]:
    """Shifts of some items to every machine; swaps with every other item."""
    best, view = np.zeros(1), new_evaluation(len(state.cluster.machines.name), len(state.cluster.resources))
    some = standing[:items]
    yield Counted("kernel: shifts", *fastest(lambda: int(scan_shifts(state.arrays, some, view, best))), naive)
    few = standing[: max(1, items // 50)]
    yield Counted("kernel: swaps", *fastest(lambda: int(scan_swaps(state.arrays, few, standing, best))), naive)


def score_all(snapshot: Snapshot, moves: int) -> int:
    """Score that many placements that differ from the start by one move."""
    for c in range(moves):
        machine_of = snapshot.placement.machine_of.copy()
        machine_of[c] = (machine_of[c] + 1) % len(snapshot.cluster.machines.name)
        weighted(snapshot.cluster, Placement(machine_of=machine_of), snapshot.objective, snapshot.placement)
    return moves


def placing() -> Counted:
    """CA-WFD on DC_B: 5,000 new containers beside 25,000, with referee and scores."""
    problem = Problem.of(freecontainer_dcb())
    new = len(problem.before.unplaced)

    def work() -> int:
        found = PLACERS["ca-wfd"](problem, PlaceOptions(), budget=Budget(), seed=0, progress=silent)
        return new - len(found.solution.unplaced) if found.solution is not None else 0

    return Counted("place --method ca-wfd, freecontainer-dcb: containers placed", *fastest(work))


def main() -> None:
    """Measure, print, append."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer moves, for a first look")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the CSV to append to")
    arguments = parser.parse_args()
    for counted in measurements(100 if arguments.quick else 2_000):
        row = (commit(), machine(), *counted.columns())
        append(arguments.out, COLUMNS, [dict(zip(COLUMNS, row, strict=True))])
        print(*row[2:], sep="\t")


if __name__ == "__main__":
    main()
