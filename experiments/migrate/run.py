"""`python -m experiments.migrate.run [--only m3-anneal,...] [--seeds 0-9] [--methods waves,rasa] [--shard 1/2] [--out FOLDER]`

Make the plans that are missing, judge each, append one row per plan to plans.csv (real and generated clusters, one process
per plan) and to backwards.csv (random clusters that have a known order), then write the tables of docs/verbs/migrate.md.
Resumable: what a file already has is not measured again. `--quick` takes Figure 2 and two random clusters, and a new folder
if none is given. M3 is read from rasa/M3.json in the folder BAYPLAN_DATA, or in ../shared/data beside the repository.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bayplan.migrate import MIGRATORS
from bayplan.model import Budget, Migration
from experiments.migrate.backwards import FULLNESS, backwards, style_of
from experiments.migrate.cells import INSTANCES, MEASURES, in_a_process, measured, planned
from experiments.migrate.drawn import load_of
from experiments.migrate.tables import write_page
from experiments.results import append, commit, machine, rows
from experiments.sweeps import seeds_of, shard_of

HERE = Path(__file__).parent
PLANS, BACKWARDS = "plans.csv", "backwards.csv"
KEY = ("instance", "seed", "method")
FIELDS = (*KEY, *MEASURES, "memory", "commit", "machine")
SHAPE = ("style", "machines", "containers", "full", "rules")
BACK_FIELDS = ("seed", "method", *SHAPE, *MEASURES, "commit", "machine")
SEEDS = {"figure-2": (0,), "m2-fifth": (0, 1, 2)}  # of the others: 0-9
MANY = 1_000  # instances that are built backwards
FIRST = 10_000  # their first seed: far from those of the tests, on which the planner was made
ONE_BY_ONE = "backwards"  # what --only calls them


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is to be measured."""

    cells: tuple[tuple[str, ...], ...]  # instance, seed, method
    backwards: tuple[tuple[int, str], ...]  # seed, method


def scope_of(asked: argparse.Namespace) -> Scope:
    """What the user asked for."""
    if asked.quick:
        return Scope(
            cells=tuple(("figure-2", "0", method) for method in MIGRATORS),
            backwards=tuple((seed, method) for seed in range(2) for method in MIGRATORS),
        )
    methods, only = asked.methods.split(","), asked.only.split(",")
    cells = [cell for name in only if name in INSTANCES for cell in _cells(name, asked.seeds, methods)]
    many = [(FIRST + i, method) for i in range(MANY) for method in methods] if ONE_BY_ONE in only else []
    part, parts = shard_of(asked.shard)
    return Scope(cells=tuple(cells[part - 1 :: parts]), backwards=tuple(many[part - 1 :: parts]))


def _cells(name: str, seeds: str | None, methods: Sequence[str]) -> Iterator[tuple[str, ...]]:
    some = seeds_of(seeds) if seeds else SEEDS.get(name, range(10))
    return ((name, str(seed), method) for seed in some for method in methods)


def measure(path: Path, cells: Sequence[tuple[str, ...]]) -> None:
    """One row per cell that is not there yet."""
    done = {tuple(row[name] for name in KEY) for row in rows(path)}
    todo = [cell for cell in cells if cell not in done]
    for number, (instance, seed, method) in enumerate(todo):
        print(f"{number + 1}/{len(todo)}: {instance} {seed} {method}", file=sys.stderr)
        new = in_a_process(instance, int(seed), method)
        print(f"  {new['batches']} batches, {new['stuck']} stuck, {new['seconds']} s, safe: {new['safe']}", file=sys.stderr)
        append(path, FIELDS, [{"instance": instance, "seed": seed, "method": method, **new, **_where()}])


def measure_backwards(path: Path, pairs: Sequence[tuple[int, str]]) -> None:
    """One row per instance and method that is not there yet."""
    done = {(int(row["seed"]), row["method"]) for row in rows(path)}
    where = _where()
    for number, (seed, method) in enumerate(pair for pair in pairs if pair not in done):
        migration = backwards(seed)
        new = measured(migration, *planned(migration, method, Budget(), seed))
        append(path, BACK_FIELDS, [{"seed": str(seed), "method": method, **_shape(seed, migration), **new, **where}])
        if number % 100 == 0:
            print(f"{number + 1} of at most {len(pairs)}: seed {seed}, {method}, {new['stuck']} stuck", file=sys.stderr)


def _shape(seed: int, migration: Migration) -> dict[str, str]:
    cluster = migration.cluster
    load, has = load_of(cluster, migration.start.machine_of)[:, 0].sum(), cluster.machines.capacity[:, 0].sum()
    nearest = FULLNESS[int(np.abs(np.array(FULLNESS) - load / has).argmin())]
    rules = "yes" if len(cluster.rules) > 1 else "no"
    sizes = str(len(cluster.machines.name)), str(len(cluster.containers.name))
    return dict(zip(SHAPE, (style_of(seed), *sizes, f"{nearest:.2f}", rules), strict=True))


def _where() -> dict[str, str]:
    return {"commit": commit(), "machine": machine()}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    everything = [*INSTANCES, ONE_BY_ONE]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="Figure 2 and two random clusters")
    parser.add_argument("--only", default=",".join(everything), help=f"some of {', '.join(everything)}")
    parser.add_argument("--seeds", help="such as 0-9, or 3")
    parser.add_argument("--methods", default=",".join(MIGRATORS), help=f"some of {', '.join(MIGRATORS)}")
    parser.add_argument("--shard", default="1/1", help="k/n: the k-th of n parts")
    parser.add_argument("--out", type=Path, help="the folder for the CSV files and the page")
    asked = parser.parse_args(argv)
    out = asked.out or (Path(tempfile.mkdtemp()) if asked.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    scope = scope_of(asked)
    measure(out / PLANS, scope.cells)
    measure_backwards(out / BACKWARDS, scope.backwards)
    write_page(out, rows(out / PLANS), rows(out / BACKWARDS), in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
