"""`python -m experiments.gaussian.run [--only planetlab,...] [--out FOLDER]`

Measure what is missing, append it to shape.csv (how Gaussian are usages and their sums?), rates.csv (how often are sizes
exceeded?) and instants.csv (single peak moments), then write the tables of docs/verbs/pack-uncertainty.md. Resumable: what a file
already has is not measured again. `--quick` takes the drawn data sets and few draws, and a new folder if none is given. The
traces are read from traces/ in the folder BAYPLAN_DATA, or in ../shared/data beside the repository.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.calibration.data import real_file
from experiments.gaussian.fleets import DATA, SPLITS, Group
from experiments.gaussian.instants import MEASURES, instants
from experiments.gaussian.measures import COMMON, MOMENTS, RATES, SHAPE, apart, common, packs, rates, shape
from experiments.gaussian.tables import write_page
from experiments.results import append, commit, machine, rows

HERE = Path(__file__).parent
SHAPES, EXCEEDED, INSTANTS = "shape.csv", "rates.csv", "instants.csv"
WHERE = ("commit", "machine")
SHAPE_FIELDS = ("data", "n", "group", *SHAPE, COMMON, *WHERE)
RATE_FIELDS = ("data", "split", "n", "alpha", "group", "model", "size", "machines", *RATES, MOMENTS, *WHERE)
INSTANT_FIELDS = (*MEASURES, *WHERE)
CONTROLS = ("normal", "lognormal")
PEAKS = "instants"  # what --only calls them
SIZES, ALPHAS = (5, 10, 20), (0.99, 0.999)
MACHINES = 10  # that are drawn from a fleet of virtual machines
SEED = 0


def measure_shape(path: Path, data: str, groups: Sequence[Group], draws: int) -> None:
    """One row per group and number of containers, if there is none."""
    done = {(row["data"], row["n"]) for row in rows(path)}
    for n in (1, *SIZES):
        if (data, str(n)) not in done:
            rng, where, new = np.random.default_rng([SEED, n]), _where(), []
            for group in groups:
                for pack in packs(group, "days", n, MACHINES, rng):
                    both = tuple(np.concatenate(pair) for pair in zip(pack.fit, pack.test, strict=True))
                    total = both[0] if n == 1 else apart(both, pack.count, draws, rng)
                    seen = {**shape(total), COMMON: f"{common(group):.4f}"}
                    new.append({"data": data, "n": str(n), "group": pack.name, **seen, **where})
            append(path, SHAPE_FIELDS, new)


def measure_rates(path: Path, data: str, groups: Sequence[Group], draws: int) -> None:
    """One row per machine and belief, if there is none."""
    done = {(row["data"], row["split"], row["n"], row["alpha"]) for row in rows(path)}
    for split in SPLITS:
        for n in SIZES:
            for alpha in ALPHAS:
                key = {"data": data, "split": split, "n": str(n), "alpha": str(alpha)}
                if tuple(key.values()) not in done:
                    rng = np.random.default_rng([SEED, n])
                    some = [pack for group in groups for pack in packs(group, split, n, MACHINES, rng)]
                    new = [{**key, "group": pack.name, **row} for pack in some for row in rates(pack, alpha, draws, SEED)]
                    where = _where()
                    append(path, RATE_FIELDS, [{**row, **where} for row in new])
                    print(f"{data}, {split}, n = {n}, alpha = {alpha}: {len(some)} machines", file=sys.stderr)


def measure_instants(path: Path) -> None:
    """One row per service and day, if there is none."""
    if not rows(path):
        where = _where()
        append(path, INSTANT_FIELDS, [{**row, **where} for row in instants(real_file("traces/service_stats_replicas.csv"))])


def _where() -> dict[str, str]:
    return {"commit": commit(), "machine": machine()}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    everything = [*DATA, PEAKS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the drawn data sets, few draws")
    parser.add_argument("--only", default=",".join(everything), help=f"some of {', '.join(everything)}")
    parser.add_argument("--out", type=Path, help="the folder for the CSV files and the page")
    asked = parser.parse_args(argv)
    out = asked.out or (Path(tempfile.mkdtemp()) if asked.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    draws, only = (2_000, CONTROLS) if asked.quick else (20_000, asked.only.split(","))
    for data in (name for name in DATA if name in only):
        groups = DATA[data].read()
        measure_shape(out / SHAPES, data, groups, draws)
        measure_rates(out / EXCEEDED, data, groups, draws)
    if PEAKS in only:
        measure_instants(out / INSTANTS)
    write_page(out, rows(out / SHAPES), rows(out / EXCEEDED), rows(out / INSTANTS), in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
