"""The table of docs/verbs/rebalance.md about rounds, from the rows of results.csv."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

from experiments.results import ROOT, Row, measured_on, put

DOCS = ROOT / "docs" / "verbs" / "rebalance.md"
MARKER = "rounds"
BESIDE = ("several", "noise")  # compared with one round


def lines_of(measured: Sequence[Row]) -> list[str]:
    """One line per instance and steps: the mean change of the cost against one round, and in how many seeds it falls."""
    if not measured:
        return []
    lines = [
        "| instance | steps | times those of one annealing | seeds | several rounds | and noise |",
        "|---|---|---|---|---|---|",
    ]
    names = list(dict.fromkeys(row["instance"] for row in measured))
    for key in sorted({(row["instance"], row["steps"]) for row in measured}, key=lambda key: (names.index(key[0]), int(key[1]))):
        mine = [row for row in measured if (row["instance"], row["steps"]) == key]
        cost = {name: {row["seed"]: float(row["cost"]) for row in mine if row["variant"] == name} for name in ("one", *BESIDE)}
        ease = mean(float(row["ease"]) for row in mine)
        cells = [
            key[0],
            f"{int(key[1]):,}",
            f"{ease:.0f}",
            str(len(cost["one"])),
            *(_change(cost["one"], cost[b]) for b in BESIDE),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    about = "Change of the cost against one round, mean over seeds; in brackets the seeds that are better and worse."
    return [*lines, "", f"{about} On {measured_on(measured)}."]


def _change(one: Mapping[str, float], other: Mapping[str, float]) -> str:
    pairs = [(cost, other[seed]) for seed, cost in one.items() if seed in other]
    if not pairs:
        return "-"
    change = mean(100 * (after / before - 1) if before else 0.0 for before, after in pairs)
    better, worse = sum(after < before for before, after in pairs), sum(after > before for before, after in pairs)
    return f"{change:+,.2f} % ({better} : {worse})"


def write_page(folder: Path, measured: Sequence[Row], *, in_docs: bool) -> None:
    """Into docs/verbs/rebalance.md, or into rounds.md in the folder."""
    lines = lines_of(measured)
    if in_docs:
        DOCS.write_text(put(DOCS.read_text(encoding="utf-8"), MARKER, lines), encoding="utf-8")
        return
    (folder / "rounds.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
