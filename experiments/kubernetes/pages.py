"""docs/kubernetes/compared.md, whose table is made from compared.csv."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from experiments.kubernetes.settings import ARMS
from experiments.results import ROOT, Row, measured_on, picked, put, rows, table

HERE = Path(__file__).parent
DOCS = ROOT / "docs" / "kubernetes" / "compared.md"
CELLS = "compared.csv"
HEAD = (
    "arm", "gained affinity", "deviation of CPU", "hottest node", "uneven over zones", "pods disrupted",
    "pending: end, most", "budget violations", "seconds (of CPU)",
)  # fmt: skip


def blocks(measured: Sequence[Row]) -> Mapping[str, list[str]]:
    """The lines of each marker of the page."""
    if not measured:
        return {}
    return {
        "compared-arms": [line for nodes, seed in _clusters(measured) for line in _cluster_lines(measured, nodes, seed)],
        "compared-plans": _plan_lines(measured),
        "compared-machine": [f"Measured on {measured_on(measured)}."],
    }


def _clusters(measured: Iterable[Row]) -> list[tuple[str, str]]:
    return sorted({(row["nodes"], row["seed"]) for row in measured}, key=lambda pair: (-int(pair[0]), int(pair[1])))


def _cluster_lines(measured: Sequence[Row], nodes: str, seed: str) -> list[str]:
    rows_of = picked(measured, nodes=nodes, seed=seed)
    first = rows_of[0]
    words = f"Seed {seed}: {first['nodes']} nodes, {first['deployments']} Deployments, {int(first['pods']):,} pods."
    missing = [arm for arm in ARMS if not picked(rows_of, arm=arm)]
    left = [f"{len(missing)} of {len(ARMS)} arms were not measured on it: {'; '.join(missing)}."] if missing else []
    ordered = sorted(rows_of, key=lambda row: ARMS.index(row["arm"]))
    return ["", " ".join([words, *left]), "", *table(HEAD, (_cells(row) for row in ordered))]


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row["arm"],
        _percent(row["affinity"]),
        f"{100 * float(row['deviation']):.1f} points",
        _percent(row["hottest"]),
        row["uneven"],
        row["disrupted"],
        f"{row['pending']}, {row['most_pending']}",
        row["budget_violations"],
        f"{float(row['seconds']):.0f} ({float(row['cpu_seconds']):.0f})",
    )


def _plan_lines(measured: Sequence[Row]) -> list[str]:
    head = ("nodes", "seed", "plan", "moves planned", "moves done", "gained affinity promised", "found", "ended as")
    plans = [row for row in measured if row["planned"]]
    body = [
        (
            row["nodes"],
            row["seed"],
            row["arm"],
            row["planned"],
            row["moved"],
            _percent(row["promised"], 2),
            _percent(row["affinity"], 2),
            row["status"],
        )
        for row in plans
    ]
    return table(head, body)


def _percent(share: str, digits: int = 1) -> str:
    return f"{100 * float(share):.{digits}f} %"


def write_page(folder: Path, measured: Sequence[Row], *, in_docs: bool) -> None:
    """Into docs/kubernetes, or into a page of the same name in the folder that has nothing but the tables."""
    found = blocks(measured)
    bare = "".join(f"<!-- {marker}: generated -->\n<!-- {marker}: end -->\n" for marker in found)
    text = DOCS.read_text(encoding="utf-8") if in_docs else bare
    for marker, lines in found.items():
        text = put(text, marker, lines)
    (DOCS if in_docs else folder / DOCS.name).write_text(text, encoding="utf-8")


def main() -> None:
    """Write the page anew from what was measured."""
    write_page(HERE, rows(HERE / CELLS), in_docs=True)


if __name__ == "__main__":
    main()
