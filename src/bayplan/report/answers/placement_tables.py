"""A placement in numbers: use of the machines, the fullest ones, scores and their change, violated rules, heavy traffic."""

import math
from collections.abc import Iterable, Mapping, Sequence

from bayplan.model import Cluster, Placement, Resource
from bayplan.report.amounts import fullness, human_amount, of_capacity
from bayplan.report.pictures.placement.traffic import heaviest_pairs
from bayplan.report.score_help import higher_is_better, meaning_of
from bayplan.report.table import (
    UNKNOWN,
    Cell,
    Report,
    Sentence,
    Style,
    Table,
    TableColumn,
    count_cell,
    report,
    score_cell,
    share_cell,
    table,
)
from bayplan.report.violations import SHOWN, verdict
from bayplan.score.summary import HotMachine, ResourceUse, Summary
from bayplan.words import count

ROUNDING = 1e-12  # a smaller change is none
HEAVIEST = 30  # pairs in a table

USE = (
    TableColumn("resource"),
    TableColumn("load", "number", drop=7),
    TableColumn("capacity", "number", drop=6),
    TableColumn("mean", "share"),
    TableColumn("median", "share", short="p50", drop=4, key="p50"),
    TableColumn("95th percentile", "share", short="p95", drop=5, key="p95"),
    TableColumn("highest", "share", short="max", key="maximum"),
    TableColumn("top 1 %", "share", short="top\n1 %", drop=3, key="top1"),
    TableColumn("top 5 %", "share", short="top\n5 %", drop=1, key="top5"),
    TableColumn("top 10 %", "share", short="top\n10 %", drop=2, key="top10"),
)
SCORE = TableColumn("score", least=40)
RANK = TableColumn("0 best, 1 worst", "number", short="0 best\n1 worst", drop=2, key="rank")
MEANING = TableColumn("what it means", least=16, drop=1, key="meaning")
CHANGE = (
    SCORE,
    TableColumn("before", "number"),
    TableColumn("after", "number"),
    TableColumn("change", "number", drop=2),
    MEANING,
)
PAIRS = (
    TableColumn("workload"),
    TableColumn("talks to"),
    TableColumn("share of traffic", "share", key="traffic"),
    TableColumn("local before", "share", key="before"),
    TableColumn("local after", "share", key="after"),
    TableColumn("change in points", "number", key="change"),
)


def show_report(summary: Summary, resources: Sequence[Resource] = (), violations: Sequence[object] | None = None) -> Report:
    """What `show` prints: counts, use per resource, the fullest machines, the scores and what they mean, the verdict."""
    name = Sentence(summary.name.strip() or "cluster", "strong")
    scores = score_table(summary.score, summary.normalised)
    state = report(name, Sentence(counts_words(summary)), use_table(summary, resources), hot_table(summary, resources), scores)
    return state if violations is None else state + check_report(violations)


def check_report(violations: Sequence[object], *, shown: int = SHOWN) -> Report:
    """The verdict, then the first sentences about violated rules."""
    head = Sentence(verdict(violations), "bad" if violations else "good")
    more = Sentence("`bayplan check` lists them all", "soft") if len(violations) > shown else Sentence("")
    return report(head, violation_table(violations).first(shown), more)


def counts_words(summary: Summary) -> str:
    """'12 of 12 machines used, 3 services, ...'."""
    counts = summary.counts
    words = [_counted(name, number) for name, number in counts.items() if name != "machines_used"]
    if "machines_used" in counts and "machines" in counts:
        words[0] = f"{counts['machines_used']:,} of {count(counts['machines'], 'machine')} used"
    return ", ".join(words)


def _counted(name: str, number: int) -> str:
    return count(number, name.removesuffix("s")) if name.endswith("s") else f"{number:,} {name}"


def violation_table(violations: Iterable[object]) -> Table:
    """One sentence about each violated rule."""
    columns = (TableColumn("", "number", key="number"), TableColumn("what is wrong", key="sentence"))
    return table(columns, ((count_cell(k), Cell(str(violation))) for k, violation in enumerate(violations, start=1)))


def use_table(summary: Summary, resources: Sequence[Resource]) -> Table:
    """How much of each resource is used, over the machines that have it."""
    by_name = {resource.name: resource for resource in resources}
    rows = []
    for use in summary.use:
        resource = by_name.get(use.resource, Resource(name=use.resource))
        shares = (use.mean, use.p50, use.p95, use.maximum, use.top1, use.top5, use.top10)
        amounts = (Cell(human_amount(amount, resource), amount) for amount in (use.load, use.capacity))
        rows.append([Cell(use.resource), *amounts, *(_share_of_use(share, use) for share in shares)])
    return table(USE, rows, title="Use of the machines, by requests")


def _share_of_use(share: float, use: ResourceUse) -> Cell:
    """A share; where it is the highest, and more than there is, it is marked."""
    return Cell(fullness(share), share, "bad" if use.over_capacity > 0 and share == use.maximum else "")


def hot_table(summary: Summary, resources: Sequence[Resource] = ()) -> Table:
    """The fullest machines."""
    worth_saying = any(hot.over_safety or hot.over_capacity for hot in summary.hot)
    columns = (
        TableColumn("machine"),
        TableColumn("fullest resource", drop=2, key="resource"),
        TableColumn("use", "share", key="utilisation"),
        TableColumn("containers", "number", drop=1),
        *((TableColumn("state", least=13),) if worth_saying else ()),
    )
    rows = []
    for hot in summary.hot:
        style: Style = "bad" if hot.over_capacity else "warn" if hot.over_safety else ""
        state = (Cell(_state(hot, resources), style=style),) if worth_saying else ()
        cells = (Cell(hot.machine), Cell(hot.resource), share_cell(hot.utilisation, style), count_cell(hot.containers))
        rows.append((*cells, *state))
    return table(columns, rows, title="The fullest machines")


def _state(hot: HotMachine, resources: Sequence[Resource]) -> str:
    if hot.over_capacity:
        return "over capacity" + (f" ({amounts_words(hot, resources)})" if hot.capacity == 0 else "")
    return "over safety" if hot.over_safety else ""


def amounts_words(hot: HotMachine, resources: Sequence[Resource]) -> str:
    """'memory: 3Gi of 0'."""
    by_name = {resource.name: resource for resource in resources}
    return of_capacity(hot.load, hot.capacity, by_name.get(hot.resource, Resource(name=hot.resource)))


def score_table(scores: Mapping[str, float], normalised: Mapping[str, float]) -> Table:
    """The scores and what they mean; their rank between the best and the worst possible where it is known."""
    rows = []
    for name, value in scores.items():
        rank = (_rank(normalised.get(name)),) if normalised else ()
        rows.append((Cell(name), score_cell(value), *rank, Cell(meaning_of(name), style="soft")))
    columns = (SCORE, TableColumn("value", "number"), *((RANK,) if normalised else ()), MEANING)
    return table(columns, rows, title="Scores")


def _rank(value: float | None) -> Cell:
    if value is None:
        return Cell("")
    return Cell(UNKNOWN if math.isnan(value) else f"{value:.3f}", value)


def change_table(before: Mapping[str, float], after: Mapping[str, float]) -> Table:
    """The scores before and after, and whether that is better."""
    rows = []
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name, math.nan), after.get(name, math.nan)
        change = 0.0 if abs(new - old) <= ROUNDING * max(1.0, abs(old)) else new - old
        style = _direction(change if higher_is_better(name) else -change)
        sign = "+" if change > 0 else ""
        cells = (score_cell(old), score_cell(new, style), Cell(f"{sign}{score_cell(change).text}", change, style))
        rows.append((Cell(name), *cells, Cell(meaning_of(name), style="soft")))
    return table(CHANGE, rows, title="Before and after")


def _direction(gain: float) -> Style:
    return "good" if gain > 0 else "bad" if gain < 0 else ""


def pair_table(cluster: Cluster, before: Placement, after: Placement) -> Table:
    """The heaviest pairs of workloads: their traffic, and the part of it that stays on one machine."""
    rows = []
    for edge in heaviest_pairs(cluster, before, after, HEAVIEST):
        change = edge.after - edge.before
        style = "" if abs(change) <= ROUNDING else _direction(change)
        points = Cell(f"{100 * change:+.1f}" if style else "0", change, style)
        rows.append((Cell(edge.a), Cell(edge.b), *map(share_cell, (edge.traffic, edge.before, edge.after)), points))
    return table(PAIRS, rows, title="The heaviest pairs")
