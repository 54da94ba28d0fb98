"""The tables of docs/verbs/migrate.md, from the rows of plans.csv and backwards.csv."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean, median

from experiments.migrate.cells import INSTANCES
from experiments.results import ROOT, Row, measured_on, put
from experiments.verdicts import yes

DOCS = ROOT / "docs" / "verbs" / "migrate.md"
PLANS_MARKER, BACKWARDS_MARKER = "migrate-plans", "migrate-backwards"
OURS, THEIRS = "waves", "rasa"
M3_SECONDS, M2_SECONDS, M2_MEMORY = 10.0, 60.0, 3.0  # what was asked for
HALF, MOST_HOPS, SOLVED = 0.5, 1.2, 0.95

ABOUT = (
    "*Moves*: creates per container that had to move, the most over the seeds. *Alive*: the smallest share of a workload that "
    "runs at any time. *Peak*: the highest use of a machine at any time."
)


# ---- real and generated clusters -----------------------------------------------------------------------------------------------


def plan_lines(measured: Sequence[Row]) -> list[str]:
    """The table and what follows from it; nothing if nothing was measured."""
    if not measured:
        return []
    return [*plan_table(measured), "", ABOUT, "", *claims(measured), "", f"Measured on {measured_on(measured)}."]


def plan_table(measured: Sequence[Row]) -> list[str]:
    """One line per instance and method: medians over the seeds, and the worst where that is what counts."""
    head = ["instance", "method", "seeds", "moved", "complete", "stuck", "batches", "bound", "steps", "moves"]
    head += ["stopovers", "surges", "alive", "peak", "seconds", "GiB", "safe"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, instance in INSTANCES.items():
        for method in (OURS, THEIRS):
            mine = _of(measured, name, method)
            if mine:
                lines.append(f"| {' | '.join([instance.about, f'`{method}`', *_cells(mine)])} |")
    return lines


def _cells(mine: Sequence[Row]) -> list[str]:
    stuck, bounds = _numbers(mine, "stuck"), [float(row["bound"]) for row in mine if row["bound"]]
    complete = sum(not count for count in stuck)
    per_container = max(map(_hops, mine))
    return [
        str(len(mine)),
        f"{median(_numbers(mine, 'moved')):,.0f}",
        f"{complete} of {len(mine)}",
        _span(stuck),
        _span(_numbers(mine, "batches")),
        f"{median(bounds):g}" if bounds else "-",
        f"{median(_numbers(mine, 'steps')):,.0f}",
        f"{per_container:.3f}",
        _span(_numbers(mine, "stopovers")),
        f"{median(_numbers(mine, 'surges')):,.0f}",
        f"{min(_numbers(mine, 'alive')):.0%}",
        f"{max(_numbers(mine, 'peak')):.2%}",
        f"{max(_numbers(mine, 'seconds')):.1f}",
        f"{max(_numbers(mine, 'memory')):.1f}",
        _all_safe(mine),
    ]


def _of(measured: Sequence[Row], instance: str, method: str) -> list[Row]:
    return [row for row in measured if (row["instance"], row["method"]) == (instance, method)]


def _numbers(mine: Sequence[Row], column: str) -> list[float]:
    return [float(row[column]) for row in mine]


def _hops(row: Row) -> float:
    """Creates per container that moved; those that are stuck did not."""
    moved = float(row["moved"]) - float(row["stuck"])
    return float(row["hops"]) / moved if moved else 0.0


def _span(numbers: Sequence[float]) -> str:
    """The median, and least and most if they differ."""
    least, most = min(numbers), max(numbers)
    return f"{least:,.0f}" if least == most else f"{median(numbers):,.0f} ({least:,.0f} to {most:,.0f})"


def _all_safe(mine: Sequence[Row]) -> str:
    unsafe = sum(row["safe"] != "yes" for row in mine)
    return "yes" if not unsafe else f"**no**: {unsafe} of {len(mine)}"


def claims(measured: Sequence[Row]) -> Iterator[str]:
    """What was asked for, and whether it is so."""
    yield f"- Is every plan safe in every state on the way? {_all_safe(measured)}."
    m3 = [row for row in measured if row["instance"].startswith("m3-") and row["method"] == OURS]
    if m3:
        most, hops = max(_numbers(m3, "seconds")), max(map(_hops, m3))
        complete = sum(row["stuck"] == "0" for row in m3)
        good = yes(complete == len(m3) and most < M3_SECONDS)
        how = f"{complete} of {len(m3)} plans are complete, the slowest took {most:.1f} s"
        yield f"- M3, a complete plan of `{OURS}` within {M3_SECONDS:g} s? {good}: {how}."
        yield f"- M3, at most {MOST_HOPS:g} moves per moved container? {yes(hops <= MOST_HOPS)}: at most {hops:.3f}."
        yield from _half(measured, m3)
    m2 = _of(measured, "m2-fifth", OURS)
    if m2:
        seconds, memory = max(_numbers(m2, "seconds")), max(_numbers(m2, "memory"))
        good = yes(seconds < M2_SECONDS and memory < M2_MEMORY)
        how = f"at most {seconds:.1f} s and {memory:.2f} GiB"
        yield f"- `rasa-m2` within {M2_SECONDS:g} s and {M2_MEMORY:g} GiB? {good}: {how}."


def _half(measured: Sequence[Row], ours: Sequence[Row]) -> Iterator[str]:
    theirs = {(row["instance"], row["seed"]): float(row["batches"]) for row in measured if row["method"] == THEIRS}
    pairs = [(float(row["batches"]), theirs[key]) for row in ours if (key := (row["instance"], row["seed"])) in theirs]
    if pairs:
        ratios = [a / b for a, b in pairs if b]
        how = f"{median(ratios):.2f} of them in the median, {max(ratios):.2f} at most, over {len(ratios)} pairs of plans"
        yield f"- M3, at most half the batches of `{THEIRS}`? {yes(max(ratios) <= HALF)}: {how}."


# ---- instances that are built backwards ----------------------------------------------------------------------------------------


def backwards_lines(measured: Sequence[Row]) -> list[str]:
    """How many are solved, by how full the machines are; nothing if nothing was measured."""
    if not measured:
        return []
    ours = [row for row in measured if row["method"] == OURS]
    solved = _solved(ours)
    claim = f"- Does `{OURS}` solve at least {SOLVED:.0%} completely? {yes(solved >= SOLVED)}: {solved:.1%} of {len(ours)}."
    where = f"Measured on {measured_on(measured)}."
    return [*backwards_table(measured), "", claim, f"- Is every plan safe? {_all_safe(measured)}.", "", where]


def backwards_table(measured: Sequence[Row]) -> list[str]:
    """One line per style of containers and fullness, with both methods side by side; then all together."""
    head = ["containers", "cpu requested", "instances"]
    for method in (OURS, THEIRS):
        head += [f"`{method}` complete", f"`{method}` batches", f"`{method}` moves"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for style, full in sorted({(row["style"], row["full"]) for row in measured}):
        some = [row for row in measured if (row["style"], row["full"]) == (style, full)]
        lines.append(_backwards_line([style, f"{float(full):.0%}"], some))
    return [*lines, _backwards_line(["all", ""], measured)]


def _backwards_line(first: list[str], some: Sequence[Row]) -> str:
    cells = [*first, str(len({row["seed"] for row in some}))]
    for method in (OURS, THEIRS):
        mine = [row for row in some if row["method"] == method]
        cells += [_or_none(mine, lambda mine: f"{_solved(mine):.1%}")]
        cells += [_or_none(mine, lambda mine: f"{mean(_numbers(mine, 'batches')):.1f}")]
        cells += [_or_none(mine, lambda mine: f"{mean(map(_hops, mine)):.3f}")]
    return f"| {' | '.join(cells)} |"


def _or_none(mine: list[Row], say: Callable[[list[Row]], str]) -> str:
    return say(mine) if mine else "-"


def _solved(mine: Sequence[Row]) -> float:
    return sum(row["stuck"] == "0" for row in mine) / len(mine) if mine else 0.0


# ---- the page ------------------------------------------------------------------------------------------------------------------


def written(text: str, plans: Sequence[Row], backwards: Sequence[Row]) -> str:
    """A page with both tables."""
    return put(put(text, PLANS_MARKER, plan_lines(plans)), BACKWARDS_MARKER, backwards_lines(backwards))


def write_page(folder: Path, plans: Sequence[Row], backwards: Sequence[Row], *, in_docs: bool) -> None:
    """Into docs/verbs/migrate.md, or into a page of the same name in the folder that has nothing but the tables."""
    page = DOCS if in_docs else folder / DOCS.name
    bare = "".join(f"<!-- {marker}: generated -->\n<!-- {marker}: end -->\n" for marker in (PLANS_MARKER, BACKWARDS_MARKER))
    text = DOCS.read_text(encoding="utf-8") if in_docs else bare
    page.write_text(written(text, plans, backwards), encoding="utf-8")
