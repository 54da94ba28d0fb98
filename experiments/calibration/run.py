"""`python -m experiments.calibration.run [--quick] [--out FOLDER]`: measure, write the tables of docs/verbs/generate-rasa.md.

Resumable: what a CSV file already has is not measured again; delete the file to start over. M3 is read from
the folder BAYPLAN_DATA, or from ../shared/data beside the repository. `--quick` makes rasa-m3 with one seed, takes M3's
values as they were noted, and writes to a temporary folder unless one is given.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bayplan.formats.rasa import read_rasa
from bayplan.generate.rasa import rasa_m1, rasa_m2, rasa_m3, rasa_m4
from bayplan.model import Snapshot
from experiments.calibration.data import real_file
from experiments.calibration.losses import losses_table, measure_losses
from experiments.calibration.measured import MEASURED, Fact
from experiments.calibration.quantities import quantities
from experiments.results import ROOT, Row, append, commit, put, rows

HERE = Path(__file__).parent
DOCS = ROOT / "docs" / "verbs" / "generate-rasa.md"
M3, ALL, LOSSES = "m3.csv", "clusters.csv", "losses.csv"
SEEDS = range(10)
CLUSTERS = {"rasa-m1": rasa_m1, "rasa-m2": rasa_m2, "rasa-m3": rasa_m3, "rasa-m4": rasa_m4}
M3_FIELDS = ("seed", "quantity", "real", "generated", "commit")
CLUSTER_FIELDS = ("cluster", "seed", "quantity", "generated", "commit")


def real_m3() -> Snapshot:
    """The published cluster."""
    path = real_file("rasa/M3.json")
    return read_rasa(json.loads(path.read_text()), str(path))


def noted_m3() -> dict[str, float]:
    """The published cluster's values without its file."""
    return {name: fact.value for name, fact in MEASURED.items()}


def measure_m3(path: Path, seeds: Sequence[int] = SEEDS, *, noted: bool = False) -> None:
    """One row per seed and quantity: the real value (`noted`: not measured again), the generated value."""
    done = {int(row["seed"]) for row in rows(path)}
    todo = [seed for seed in seeds if seed not in done]
    real = noted_m3() if noted or not todo else quantities(real_m3())
    for seed in todo:
        made = quantities(rasa_m3(seed=seed))
        at = commit()
        append(path, M3_FIELDS, (_row(seed, name, made[name], at, real=f"{real[name]:.6g}") for name in MEASURED))


def measure_clusters(path: Path, names: Sequence[str] = tuple(CLUSTERS)) -> None:
    """One row per cluster and quantity, seed 0."""
    done = {row["cluster"] for row in rows(path)}
    for cluster in names:
        if cluster not in done:
            snapshot = CLUSTERS[cluster](seed=0)
            made = {**sizes(snapshot), **quantities(snapshot)}
            at = commit()
            append(path, CLUSTER_FIELDS, (_row(0, name, value, at, cluster=cluster) for name, value in made.items()))


def sizes(snapshot: Snapshot) -> dict[str, float]:
    """How many of what."""
    cluster = snapshot.cluster
    counted = {"services": cluster.services.name, "containers": cluster.containers.name, "machines": cluster.machines.name}
    return {name: float(len(things)) for name, things in {**counted, "rules": cluster.rules}.items()}


def _row(seed: int, quantity: str, generated: float, at: str, **more: str) -> Row:
    return {"seed": str(seed), "quantity": quantity, "generated": f"{generated:.6g}", "commit": at, **more}


def m3_table(measured: list[dict[str, str]]) -> list[str]:
    """Side by side: the real value, and the mean and range over seeds."""
    lines = ["| quantity | M3 | generated: mean (least .. most) | must agree within | seeds that do |", "|---|---|---|---|---|"]
    for name, fact in MEASURED.items():
        made = [float(row["generated"]) for row in measured if row["quantity"] == name]
        real = next(row["real"] for row in measured if row["quantity"] == name)
        span = f"{sum(made) / len(made):.4g} ({min(made):.4g} .. {max(made):.4g})"
        agree = [fact.agrees(value) for value in made]
        kept = "" if agree[0] is None else f"{sum(map(bool, agree))} of {len(agree)}"
        lines.append(f"| {name} | {float(real):.4g} | {span} | {tolerance(fact)} | {kept} |")
    return lines


def tolerance(fact: Fact) -> str:
    """As people say it."""
    if fact.points is not None:
        return f"{100 * fact.points:g} points"
    if fact.relative is None:
        return "-"
    return f"{100 * fact.relative:g} %" if fact.relative else "equal"


def clusters_table(measured: list[dict[str, str]]) -> list[str]:
    """One column per cluster."""
    value = {(row["cluster"], row["quantity"]): float(row["generated"]) for row in measured}
    clusters = list(dict.fromkeys(row["cluster"] for row in measured))
    lines = ["| quantity, seed 0 | " + " | ".join(clusters) + " |", "|---|" + "---|" * len(clusters)]
    for name in dict.fromkeys(row["quantity"] for row in measured):
        shown = [value[cluster, name] for cluster in clusters]
        lines.append(f"| {name} | " + " | ".join(f"{v:,.0f}" if v >= 1000 else f"{v:.4g}" for v in shown) + " |")
    return lines


def written(page: str, folder: Path) -> str:
    """The page with the tables of the CSV files of a folder."""
    tables = {"m3": (m3_table, M3), "clusters": (clusters_table, ALL), "losses": (losses_table, LOSSES)}
    for name, (lines, file) in tables.items():
        page = put(page, f"{name}-table", lines(rows(folder / file)))
    return page


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="rasa-m3 alone, one seed, without M3's file")
    parser.add_argument("--out", type=Path, help="the folder for the CSV files and the page")
    arguments = parser.parse_args(argv)
    out = arguments.out or (Path(tempfile.mkdtemp()) if arguments.quick else None)
    if out:
        out.mkdir(parents=True, exist_ok=True)
    folder, page = (out, out / DOCS.name) if out else (HERE, DOCS)
    names, seeds = (("rasa-m3",), SEEDS[:1]) if arguments.quick else (tuple(CLUSTERS), SEEDS)
    measure_m3(folder / M3, seeds, noted=arguments.quick)
    measure_clusters(folder / ALL, names)
    measure_losses(folder / LOSSES, names, seeds)
    page.write_text(written(DOCS.read_text(encoding="utf-8"), folder), encoding="utf-8")
    print(folder, page, sep="\n")


if __name__ == "__main__":
    main()
