"""`python -m experiments.calibration.generators [--quick] [--out FOLDER]`: measure, write the tables of docs/verbs/generate.md.

Resumable: what generators.csv already has is not measured again; delete the file to start over. The trace is
read from the folder BAYPLAN_DATA, or from ../shared/data beside the repository. `--quick` takes one seed, few machines
and no trace, and writes to FOLDER (a new one if none is given): for a first look, and for tests.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bayplan.generate import GENERATORS
from bayplan.generate.freecontainer import freecontainer_dca, freecontainer_dcb
from experiments.calibration.arrivals import Loads, of_container_clusters, of_google2011, of_requests
from experiments.calibration.data import real_file
from experiments.calibration.generator_tables import NOT_MEASURED, SECONDS, written
from experiments.calibration.snapshots import of_boutique, of_freecontainer, of_ucac
from experiments.results import ROOT, append, commit, machine, rows

CSV, PAGE = "generators.csv", "generate.md"
FIELDS = ("generator", "seed", "quantity", "value", "commit", "machine")
TRACE = "google2011"
TIMES = 2  # the first run may import or compile

Cell = tuple[str, str, Callable[[], Mapping[str, float]]]  # generator, seed, what measures it


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much is measured."""

    seeds: range
    loads: Loads
    timed: tuple[str, ...]
    trace: bool


FULL = Scope(seeds=range(10), loads=Loads(), timed=tuple(name for name in GENERATORS if name not in NOT_MEASURED), trace=True)
QUICK = Scope(
    seeds=range(1), loads=Loads(machines=5, factors=(1, 2)), timed=("boutique", "ucac", "container-clusters"), trace=False
)


def cells(scope: Scope) -> Iterator[Cell]:
    """Everything there is to measure; seconds are cells of their own."""
    for name in scope.timed:
        yield name, SECONDS, partial(seconds, name)
    if scope.trace:
        yield TRACE, "", lambda: of_google2011(real_file("traces/google2011"))
    for seed in scope.seeds:
        yield "boutique", str(seed), partial(of_boutique, seed)
        yield "freecontainer-dca", str(seed), partial(of_freecontainer, freecontainer_dca, seed)
        yield "freecontainer-dcb", str(seed), partial(of_freecontainer, freecontainer_dcb, seed)
        yield "ucac", str(seed), partial(of_ucac, seed)
        yield "requests", str(seed), partial(of_requests, seed, scope.loads)
        yield "container-clusters", str(seed), partial(of_container_clusters, seed)


def seconds(name: str) -> dict[str, float]:
    """Wall time of the fastest of some runs with seed 0: the machine's other work only ever adds."""
    taken = []
    for _ in range(TIMES):
        started = time.perf_counter()
        GENERATORS[name].make(seed=0)
        taken.append(time.perf_counter() - started)
    return {SECONDS: min(taken)}


def measure(path: Path, scope: Scope) -> None:
    """One row per generator, seed and quantity, for the cells that are not there yet."""
    done = {(row["generator"], SECONDS if row["quantity"] == SECONDS else row["seed"]) for row in rows(path)}
    for generator, cell, measured in cells(scope):
        if (generator, cell) not in done:
            seed = "0" if cell == SECONDS else cell
            fixed = {"generator": generator, "seed": seed, "commit": commit(), "machine": machine()}
            append(path, FIELDS, [{**fixed, "quantity": name, "value": f"{value:.6g}"} for name, value in measured().items()])


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one seed, few machines, no trace")
    parser.add_argument("--out", type=Path, help="the folder for the CSV and the page")
    arguments = parser.parse_args(argv)
    out = arguments.out or (Path(tempfile.mkdtemp()) if arguments.quick else None)
    if out:
        out.mkdir(parents=True, exist_ok=True)
    csv, page = (out / CSV, out / PAGE) if out else (Path(__file__).parent / CSV, ROOT / "docs" / "verbs" / PAGE)
    measure(csv, QUICK if arguments.quick else FULL)
    page.write_text(written((ROOT / "docs" / "verbs" / PAGE).read_text(encoding="utf-8"), rows(csv)), encoding="utf-8")
    print(f"{csv}\n{page}")


if __name__ == "__main__":
    main()
