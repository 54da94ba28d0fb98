"""Table 4 and the search for n of docs/verbs/ucac.md, from the rows of week.csv."""

from collections.abc import Iterator, Sequence
from statistics import mean

from experiments.results import Row, measured_on
from experiments.ucac.calibrate import THEIR_WEEK
from experiments.ucac.figures import BEST_N, TABLE_4, Days
from experiments.ucac.tables import judged
from experiments.ucac.weeks import ALPHA, NSIGMA

BASE = "bf-3.09sigma"


def week_lines(measured: Sequence[Row]) -> list[str]:
    """Table 4, the search for the best n, and what follows; nothing if nothing was measured."""
    if not measured:
        return []
    return [*table_4(measured), "", *search(measured), "", *claims(measured), "", f"Measured on {measured_on(measured)}."]


def totals(measured: Sequence[Row]) -> dict[str, Days]:
    """By method: the means over days and seeds, and violations in machine-days a week."""
    by_label: dict[str, list[Row]] = {}
    for row in measured:
        by_label.setdefault(_label(row), []).append(row)
    return {label: _total(rows) for label, rows in by_label.items()}


def _label(row: Row) -> str:
    return f"bf-{float(row['n']):.2f}sigma" if row["method"] == NSIGMA else row["method"]


def _total(rows: Sequence[Row]) -> Days:
    weeks = len({row["seed"] for row in rows})
    ucac, machines = (mean(float(row[name]) for row in rows) for name in ("ucac", "machines"))
    return Days(ucac, machines, sum(float(row["violations"]) for row in rows) / weeks)


def table_4(measured: Sequence[Row]) -> list[str]:
    """Our numbers, the paper's, and both over those of BF-3.09σ."""
    head = [
        "method",
        "UCaC",
        "paper",
        "machines",
        "paper",
        "violations",
        "paper",
        "UCaC over BF-3.09σ",
        "paper",
        "machines over it",
    ]
    head += ["paper", "verdict"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    ours = totals(measured)
    for label, theirs in TABLE_4.items():
        if label in ours and BASE in ours:
            mine, base, his = ours[label], ours[BASE], TABLE_4[BASE]
            over = (mine.ucac / base.ucac, theirs.ucac / his.ucac, mine.machines / base.machines, theirs.machines / his.machines)
            cells = [f"`{label}`", f"{mine.ucac:,.1f}", f"{theirs.ucac:,.1f}", f"{mine.machines:,.0f}", f"{theirs.machines:,}"]
            cells += [f"{mine.violations:.1f}", f"{theirs.violations}", *(f"{value:.3f}" for value in over), _verdict(over)]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _verdict(over: Sequence[float]) -> str:
    return judged({"UCaC": over[0] - over[1], "machines": over[2] - over[3]})


def search(measured: Sequence[Row]) -> list[str]:
    """Every n that was tried."""
    lines = ["| n | UCaC | machines | violations | machine-days over the chance constraint |", "|---|---|---|---|---|"]
    for n in tried(measured):
        rows = [row for row in measured if row["method"] == NSIGMA and float(row["n"]) == n]
        total, over = _total(rows), sum(int(row["over"]) for row in rows) / len({row["seed"] for row in rows})
        lines.append(f"| {n:.2f} | {total.ucac:,.1f} | {total.machines:,.1f} | {total.violations:.2f} | {over:,.1f} |")
    return lines


def tried(measured: Sequence[Row]) -> list[float]:
    """The n of bf-nsigma, ascending."""
    return sorted({float(row["n"]) for row in measured if row["method"] == NSIGMA})


def best_n(measured: Sequence[Row]) -> float | None:
    """The n of the fewest machines whose violations are no more than 1 - alpha of all machine-days; None if there is none."""
    ours = totals(measured)
    good = [n for n in tried(measured) if _rate(ours[f"bf-{n:.2f}sigma"], measured) <= 1 - ALPHA]
    return min(good, key=lambda n: ours[f"bf-{n:.2f}sigma"].machines) if good else None


def _rate(total: Days, measured: Sequence[Row]) -> float:
    """Violations per machine-day."""
    return total.violations / (total.machines * len({row["day"] for row in measured}))


def claims(measured: Sequence[Row]) -> Iterator[str]:
    """What the paper says of its week, and whether ours agrees."""
    ours, best = totals(measured), best_n(measured)
    left = sum(int(row["left_out"]) for row in measured)
    yield f"- Was every container placed on every day? {_yes(not left)}."
    if best is not None:
        label = f"bf-{best:.2f}sigma"
        detail = f"{ours[label].machines:,.0f} machines, {ours[label].ucac:,.1f} cores, {ours[label].violations:.1f} violations"
        yield f"- The best n of those tried, by the rule above: {best:.2f} (paper {BEST_N}): {detail}."
        rival = ours.get("csp-ucac")
        if rival:
            good = rival.ucac <= ours[label].ucac and rival.machines <= ours[label].machines
            detail = f"{rival.machines:,.0f} machines, {rival.ucac:,.1f} cores, {rival.violations:.1f} violations"
            yield f"- Is `csp-ucac` better in UCaC and machines than `bf-nsigma` with that n? {_yes(good)}: {detail}."
    for method in ("csp-machines", "csp-mac"):
        other, rival = ours.get(method), ours.get("csp-ucac")
        if other and rival:
            good = rival.ucac < other.ucac and rival.machines <= other.machines
            off = f"{rival.ucac / other.ucac - 1:+.2%} UCaC, {rival.machines / other.machines - 1:+.2%} machines"
            detail = f"{off} (paper {1 / THEIR_WEEK[0] - 1:+.2%}, {1 / THEIR_WEEK[1] - 1:+.2%})"
            yield f"- Does `csp-ucac` need less UCaC and no more machines than `{method}`? {_yes(good)}: {detail}."


def _yes(holds: bool) -> str:
    return "yes" if holds else "**no**"
