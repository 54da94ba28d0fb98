"""docs/verbs/rasa.md: its tables and verdicts, from the CSV files, and its figures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from experiments.rasa import claims
from experiments.rasa.bounds import bound_lines
from experiments.rasa.clusters import CLUSTERS
from experiments.rasa.figures import front_figure, time_figure
from experiments.rasa.paper import STORED
from experiments.rasa.parts import BOUND, PARTS
from experiments.rasa.tables import NOTHING, QUALITY, Column, answered, comparable, highest, seeds, solvers, spread, table, valid
from experiments.rasa.targets import about_clusters, about_front, about_m3
from experiments.results import ROOT, Row, measured_on, put, rows, standing_alone
from experiments.verdicts import RULE, Claim, claim_table

HERE = Path(__file__).parent
DOCS = ROOT / "docs" / "verbs" / "rasa.md"
PICTURES = "pictures"
FRONT = "rasa-front.svg"
RASA: Mapping[str, Column] = {
    "seeds": seeds,
    "sets": spread("sets", ".0f"),
    "affinity lost": spread("lost", ".2%"),
    "affinity between masters": spread("masters_affinity", ".2%"),
    "partition s": spread("partition_seconds", ".2f"),
    "solved by": solvers,
    "gained affinity": spread("affinity"),
    "moved": spread("moved", ".1%"),
    "valid": valid,
    "wall s": highest("wall", ".1f"),
    "CPU s": spread("cpu", ".0f"),
    "GiB": highest("memory", ".2f"),
}
MASTERS: Mapping[str, Column] = {
    "seeds": seeds,
    "masters": spread("masters", ".0f"),
    "affinity between masters": spread("masters_affinity"),
    "solved by": solvers,
    "gained affinity": spread("affinity"),
    "affinity lost": spread("lost", ".2%"),
    "valid": valid,
    "CPU s": spread("cpu", ".0f"),
}
BRIEF: Mapping[str, Column] = {
    "seeds": seeds,
    "solved by": solvers,
    **{name: QUALITY[name] for name in ("gained affinity", "moved", "valid", "wall s")},
    "CPU s": spread("cpu", ".0f"),
}
EVERY: Mapping[str, Column] = {**BRIEF, "placed": QUALITY["placed"], "GiB": QUALITY["GiB"]}
AGAIN: Mapping[str, Column] = {"affinity before": spread("before"), **BRIEF}
Say = Callable[[Sequence[Row]], Iterable[str]]
Claims = Callable[[Sequence[Row]], Iterable[Claim]]


def block(measured: Sequence[Row], by: Sequence[str], columns: Mapping[str, Column], say: Say) -> list[str]:
    """A table, what follows from it, and where it was measured."""
    if not measured:
        return NOTHING
    return [*table(measured, by, columns), "", *say(measured), "", f"Measured on {measured_on(measured)}."]


def fair_block(measured: Sequence[Row], by: Sequence[str], columns: Mapping[str, Column], say: Say) -> list[str]:
    """A block whose verdicts compare rows; those that they leave out are named."""
    fair = comparable(measured)
    groups = {"late": fair.late, "its CPU is unequal": fair.unequal}
    lines = [f"- Not compared, since {why}: {', '.join(map(_name, some))}." for why, some in groups.items() if some]
    ordered = sorted(measured, key=lambda row: CLUSTERS.index(row["cluster"]) if row["cluster"] in CLUSTERS else len(CLUSTERS))
    return block(ordered, by, columns, lambda some: [*say(some), *([""] * bool(lines)), *lines])


def _name(row: Row) -> str:
    return " ".join(filter(None, (row["cluster"], row["method"], row["options"], f"seed {row['seed']}")))


def m3_lines(measured: Sequence[Row]) -> list[str]:
    """Every method on M3."""
    return block(measured, ("method", "options", "threads", "seconds"), QUALITY, about_m3)


def front_lines(measured: Sequence[Row]) -> list[str]:
    """The front, with its figure."""
    if not measured:
        return NOTHING
    shown = [f"![Gained affinity over moved containers]({PICTURES}/{FRONT})", ""]
    columns = {name: QUALITY[name] for name in ("seeds", "gained affinity", "moved", "placed", "valid", "wall s")}
    stored = f"RASA's published answer: {STORED[0]:.5f} with {STORED[1]:.1%} moved."
    return [*shown, stored, "", *block(measured, ("options", "seconds"), columns, about_front)]


def cluster_lines(measured: Sequence[Row]) -> list[str]:
    """Figure 9."""
    judged = partial(_judged, claims.clusters)
    said = fair_block(measured, ("cluster", "method"), EVERY, lambda some: [*judged(some), "", *about_clusters(some)])
    return said if said is NOTHING else [RULE, "", *said]


def _judged(claims_of: Claims, measured: Sequence[Row]) -> list[str]:
    return claim_table(claims_of(measured))


def time_lines(measured: Sequence[Row]) -> list[str]:
    """Figure 10, with its figures."""
    shown = [f"![{name}: gained affinity over time]({PICTURES}/{file})" for name, file in time_files(measured).items()]
    return [
        *shown,
        *([""] if shown else []),
        *fair_block(measured, ("cluster", "method", "seconds"), BRIEF, partial(_judged, claims.over_time)),
    ]


def fit_lines(measured: Sequence[Row]) -> list[str]:
    """Figure 5."""
    if not measured:
        return NOTHING
    head = ["cluster", "curve", "services", "beta or rate", "sum of squared errors", "R²"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in measured:
        cells = [row["cluster"], row["curve"], row["services"], row["rate"], row["squares"], row["r2"]]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", *claim_table(claims.fits(measured)), "", f"Measured on {measured_on(measured)}."]


def option_lines(columns: Mapping[str, Column], claims_of: Claims) -> Callable[[Sequence[Row]], list[str]]:
    """A part in which `rasa` has one option after the other."""
    return lambda measured: fair_block(measured, ("cluster", "options"), columns, partial(_judged, claims_of))


LINES: Mapping[str, Callable[[Sequence[Row]], list[str]]] = {
    "m3": m3_lines,
    "front": front_lines,
    "clusters": cluster_lines,
    "partitions": option_lines(RASA, claims.partitions),
    "selection": option_lines(BRIEF, claims.selection),
    "masters": option_lines(MASTERS, claims.masters),
    "time": time_lines,
    "again": option_lines(AGAIN, claims.again),
    "powerlaw": fit_lines,
}


def written(text: str, folder: Path) -> str:
    """The page with what the CSV files of a folder say."""
    for part, lines in LINES.items():
        text = put(text, f"rasa-{part}", lines(rows(folder / f"{part}.csv")))
    bounds, answers = rows(folder / f"{BOUND}.csv"), [row for part in PARTS for row in rows(folder / f"{part}.csv")]
    return put(text, f"rasa-{BOUND}", bound_lines(bounds, answers) if bounds else NOTHING)


def time_files(measured: Sequence[Row]) -> dict[str, str]:
    """Cluster -> the name of its figure."""
    return {name: f"rasa-time-{name.lower()}.svg" for name in dict.fromkeys(row["cluster"] for row in answered(measured))}


def pictures(folder: Path) -> dict[str, str]:
    """File names and SVG documents of the figures that were measured."""
    front, time = rows(folder / "front.csv"), rows(folder / "time.csv")
    drawn = {FRONT: front_figure(front)} if front else {}
    return drawn | {file: time_figure(time, name) for name, file in time_files(time).items()}


def write_pages(folder: Path, *, in_docs: bool) -> None:
    """Into docs/verbs/rasa.md and docs/pictures, or into the folder."""
    text = written(DOCS.read_text(encoding="utf-8"), folder)
    if in_docs:
        DOCS.write_text(text, encoding="utf-8")
    else:
        (folder / DOCS.name).write_text(standing_alone(text), encoding="utf-8")
    target = (DOCS.parents[1] if in_docs else folder) / PICTURES
    target.mkdir(exist_ok=True)
    for name, drawing in pictures(folder).items():
        (target / name).write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    write_pages(HERE, in_docs=True)
