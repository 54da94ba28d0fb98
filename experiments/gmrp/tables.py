"""The tables of docs/verbs/gmrp.md, from the rows of results.csv."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from experiments.gmrp.figures import FAIR, KNOWN, SINGLE_PROCESS
from experiments.results import ROOT, Row, measured_on, put, table
from experiments.verdicts import yes

DOCS = ROOT / "docs" / "verbs" / "gmrp.md"
MARKER = "gmrp-table"
SHORT, LONG = ("60", "1"), ("300", "2")  # seconds, threads
NONE = "-"
ABOUT = (
    "*Winner*: S41, 300 s, 2 processes. *Best peer*: the best of the others in 60 CPU s. *Ours*: the median (of that many "
    "seeds), in 60 s with 1 thread and in 300 s with 2. The lower bound is that of the literature; ours is what `bayplan` proves."
)


def lines_of(measured: Sequence[Row]) -> list[str]:
    """The tables; nothing if nothing was measured."""
    if not measured:
        return []
    return [*known_table(measured), "", ABOUT, "", *_fair(measured), *all_table(measured), "", _where(measured)]


def costs(measured: Sequence[Row], instance: str, method: str, budget: tuple[str, str]) -> list[int]:
    """Of all seeds."""
    key = (instance, method, *budget)
    return [int(row["cost"]) for row in measured if (row["instance"], row["method"], row["seconds"], row["threads"]) == key]


def known_table(measured: Sequence[Row]) -> list[str]:
    """Our medians beside what others reached, and a verdict for each; then the costs at the start and the bounds."""
    head = ["instance", "winner", "best peer", "ours, 60 s", "at or below the peer?", "ours, 300 s", "at or below the winner?"]
    reached, limits = [], []
    for name, known in KNOWN.items():
        bounds = [float(row["bound"]) for row in measured if row["instance"] == name and row["bound"]]
        short, long = (costs(measured, name, "search", budget) for budget in (SHORT, LONG))
        others = [f"{known.winner:,}", f"{known.peer:,} ({known.peer_name})"]
        reached.append([name, *others, *_beside(short, known.peer), *_beside(long, known.winner)])
        limits.append([name, f"{known.initial:,}", f"{known.bound:,}", f"{max(bounds):,.0f}" if bounds else NONE])
    return [*table(head, reached), "", *table(["instance", "initial", "lower bound", "our lower bound"], limits)]


def _beside(ours: Sequence[int], theirs: int) -> tuple[str, str]:
    """Our median (of how many seeds), and whether it is no more than theirs."""
    if not ours:
        return NONE, NONE
    middle = median(ours)
    return f"{middle:,.0f} (of {len(ours)})", f"{yes(middle <= theirs)}, {100 * (middle / theirs - 1):+.2f} %"


def _fair(measured: Sequence[Row]) -> Iterator[str]:
    """Is the baseline `nls` near what it is modelled on?"""
    for name, theirs in SINGLE_PROCESS.items():
        ours = costs(measured, name, "nls", SHORT)
        if ours:
            above = median(ours) / theirs - 1
            word = yes(above <= FAIR)
            yield (
                f"- Is `nls` within 10 % of S41's single process at 60 s on {name}? {word}: median {median(ours):,.0f} "
                f"of {len(ours)} seeds against {theirs:,} ({100 * above:+.1f} %)."
            )
            yield ""


def all_table(measured: Sequence[Row]) -> list[str]:
    """Every instance, method and budget: the span over seeds, the gap, wall and CPU time."""
    head = ["instance", "method", "seconds", "threads", "seeds", "least", "median", "most", "gap of the median", "wall", "CPU"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    keys = sorted({tuple(row[name] for name in ("instance", "method", "seconds", "threads")) for row in measured})
    for key in keys:
        mine = [row for row in measured if tuple(row[name] for name in ("instance", "method", "seconds", "threads")) == key]
        ours = sorted(int(row["cost"]) for row in mine)
        bounds = [float(row["bound"]) for row in mine if row["bound"]]
        gap = f"{100 * (1 - max(bounds) / median(ours)):.2f} %" if bounds and median(ours) else NONE
        wall, cpu = (max(float(row[name]) for row in mine) for name in ("wall", "cpu"))
        cells = [*key, str(len(mine)), f"{ours[0]:,}", f"{median(ours):,.0f}", f"{ours[-1]:,}", gap, f"{wall:.1f}", f"{cpu:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _where(measured: Sequence[Row]) -> str:
    return f"Wall and CPU: the longest of the seeds, in seconds, of the whole process. Measured on {measured_on(measured)}."


def write_page(folder: Path, measured: Sequence[Row], *, in_docs: bool) -> None:
    """Into docs/verbs/gmrp.md, or into a page of the same name in the folder."""
    page = DOCS if in_docs else folder / DOCS.name
    page.write_text(put(DOCS.read_text(encoding="utf-8"), MARKER, lines_of(measured)), encoding="utf-8")
