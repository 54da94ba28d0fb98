"""`python -m experiments.calibration.run`: measure, append to the CSV files, write the tables of the docs.

Resumable: what a CSV file already has is not measured again; delete the file to start over. M3 is read from
the folder BAYPLAN_DATA, or from ../shared/data beside the repository.
"""

import json
from pathlib import Path

from bayplan.collect.rasa import read_rasa
from bayplan.generate.rasa import rasa_m1, rasa_m2, rasa_m3, rasa_m4
from bayplan.generate.rasa.measured import MEASURED, Fact
from bayplan.model import Snapshot
from experiments.calibration.data import real_file
from experiments.calibration.quantities import quantities
from experiments.results import ROOT, Row, append, commit, put, rows

HERE = Path(__file__).parent
DOCS = ROOT / "docs" / "generate-rasa.md"
SEEDS = range(10)
CLUSTERS = {"rasa-m1": rasa_m1, "rasa-m2": rasa_m2, "rasa-m3": rasa_m3, "rasa-m4": rasa_m4}
M3_FIELDS = ("seed", "quantity", "real", "generated", "commit")
CLUSTER_FIELDS = ("cluster", "seed", "quantity", "generated", "commit")


def real_m3() -> Snapshot:
    """The published cluster."""
    path = real_file("rasa/M3.json")
    return read_rasa(json.loads(path.read_text()), str(path))


def measure_m3(path: Path) -> None:
    """One row per seed and quantity: the real value, the generated value."""
    done = {int(row["seed"]) for row in rows(path)}
    todo = [seed for seed in SEEDS if seed not in done]
    real = quantities(real_m3()) if todo else {}
    for seed in todo:
        made = quantities(rasa_m3(seed=seed))
        at = commit()
        append(path, M3_FIELDS, (_row(seed, name, made[name], at, real=f"{real[name]:.6g}") for name in MEASURED))


def measure_clusters(path: Path) -> None:
    """One row per cluster and quantity, seed 0."""
    done = {row["cluster"] for row in rows(path)}
    for cluster, generator in CLUSTERS.items():
        if cluster not in done:
            snapshot = generator(seed=0)
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
    lines = ["| quantity, seed 0 | " + " | ".join(CLUSTERS) + " |", "|---|" + "---|" * len(CLUSTERS)]
    for name in dict.fromkeys(row["quantity"] for row in measured):
        shown = [value[cluster, name] for cluster in CLUSTERS]
        lines.append(f"| {name} | " + " | ".join(f"{v:,.0f}" if v >= 1000 else f"{v:.4g}" for v in shown) + " |")
    return lines


def main() -> None:
    """Measure what is missing, then write the tables."""
    m3, clusters = HERE / "m3.csv", HERE / "clusters.csv"
    measure_m3(m3)
    measure_clusters(clusters)
    text = put(DOCS.read_text(), "m3-table", m3_table(rows(m3)))
    DOCS.write_text(put(text, "clusters-table", clusters_table(rows(clusters))))


if __name__ == "__main__":
    main()
