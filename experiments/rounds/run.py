"""`python -m experiments.rounds.run [--quick] [--out FOLDER]`: one round, several, several with noise, each in the same steps.

Budgets are steps, so the load of the machine does not matter, and there are no integer programs at the end. Appends one row per
run to results.csv, then writes the table of docs/verbs/rebalance.md. Resumable. Seeds are others than those of reported results.
GMRP models are read from gmrp/ in the folder BAYPLAN_DATA, or in ../shared/data beside the repository.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bayplan.check import check
from bayplan.formats import read
from bayplan.generate.boutique import boutique
from bayplan.model import Budget, Snapshot
from bayplan.model.problem import Problem
from bayplan.score.terms import weighted
from bayplan.search import cooling
from bayplan.search.anneal import search
from bayplan.search.state import new_search_state
from bayplan.search.walker import ENOUGH
from experiments.calibration.data import real_file
from experiments.freecontainer.instances import running
from experiments.freecontainer.settings import SMALL
from experiments.results import append, commit, machine, rows
from experiments.rounds.table import write_page

HERE = Path(__file__).parent
CSV = "results.csv"
FIELDS = ("instance", "steps", "variant", "seed", "ease", "cost", "commit", "machine")
NEVER = float("inf")
VARIANTS: Mapping[str, tuple[float, float]] = {"one": (NEVER, 0.0), "several": (0.0, 0.0), "noise": (0.0, cooling.NOISY)}


@dataclass(frozen=True, slots=True)
class Set:
    """Runs of one instance."""

    instance: str
    steps: int
    seeds: range


FULL = (
    Set("boutique", 500_000, range(31, 71)),
    Set("10 servers", 100_000, range(31, 41)),
    Set("10 servers", 500_000, range(31, 91)),
    Set("10 servers", 2_000_000, range(31, 61)),
    Set("30 servers", 500_000, range(31, 41)),
    Set("30 servers", 2_500_000, range(31, 41)),
    Set("a1_1", 500_000, range(31, 41)),
    Set("a1_5", 6_000_000, range(31, 34)),
    Set("a2_1", 2_000_000, range(31, 36)),
    Set("a2_4", 2_000_000, range(31, 36)),
)
QUICK = (Set("boutique", 2_000, range(31, 32)),)


def instance(name: str, seed: int) -> Snapshot:
    """The shop, a small data centre in the manner of DC_A, or a GMRP model."""
    if name == "boutique":
        return boutique(seed=seed)
    if name.endswith(" servers"):
        servers = int(name.removesuffix(" servers"))
        shape = replace(SMALL.shape, containers=4 * servers, new=servers // 2)
        return running(replace(SMALL, servers=servers, shape=shape), seed)
    return read(real_file("gmrp") / f"model_{name}.txt")


@contextmanager
def variant(name: str) -> Iterator[None]:
    """Within, walks have one round, or several however few steps there are, with or without noise."""
    before = cooling.PLENTY, cooling.NOISY
    cooling.PLENTY, cooling.NOISY = VARIANTS[name]
    yield
    cooling.PLENTY, cooling.NOISY = before


def row(some: Set, name: str, seed: int) -> dict[str, str]:
    """A run, without commit and machine; ends the experiment if the answer breaks a rule."""
    snapshot = instance(some.instance, seed)
    problem = Problem.of(snapshot)
    game = new_search_state(problem)
    movable = int(np.count_nonzero(game.items.movable & (game.machine_of >= 0)))
    with variant(name):
        found = search(problem, budget=Budget(iterations=some.steps), seed=seed)
    if check(snapshot.cluster, found, snapshot.placement):
        sys.exit(f"{some.instance}, seed {seed}, {name}: the answer breaks a rule")
    cost = weighted(snapshot.cluster, found, snapshot.objective, snapshot.placement)
    ease = some.steps / (ENOUGH * movable * len(snapshot.cluster.machines.name))
    fixed = {"instance": some.instance, "steps": str(some.steps), "variant": name, "seed": str(seed)}
    return {**fixed, "ease": f"{ease:.4g}", "cost": f"{cost:.10g}"}


def measure(path: Path, sets: Sequence[Set]) -> None:
    """One row per run that is not there yet."""
    done = {tuple(measured[name] for name in FIELDS[:4]) for measured in rows(path)}
    for some in sets:
        for seed in some.seeds:
            for name in VARIANTS:
                if (some.instance, str(some.steps), name, str(seed)) not in done:
                    new = {**row(some, name, seed), "commit": commit(), "machine": machine()}
                    print(f"{some.instance} {some.steps} {name} {seed}: {new['cost']}", file=sys.stderr)
                    append(path, FIELDS, [new])


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one small cluster, few steps")
    parser.add_argument("--out", type=Path, help="the folder for the CSV file and the page")
    asked = parser.parse_args(argv)
    out = asked.out or (Path(tempfile.mkdtemp()) if asked.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    measure(out / CSV, QUICK if asked.quick else FULL)
    write_page(out, rows(out / CSV), in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
