"""A schedule in numbers."""

from typing import Any

from bayplan.model import Result
from bayplan.report.amounts import odds, percent, score
from bayplan.report.answers.decision_tables import frame, note_sentences, reason_table
from bayplan.report.table import (
    UNKNOWN,
    Cell,
    Report,
    Table,
    TableColumn,
    count_cell,
    report,
    score_cell,
    share_cell,
    table,
)
from bayplan.report.violations import SHOWN
from bayplan.score.schedule_figures import ScheduleFigures, ServedClass
from bayplan.words import count

CLASSES = (
    TableColumn("class", key="name"),
    TableColumn("requests", "number"),
    TableColumn("served", "number"),
    TableColumn("share", "share"),
    TableColumn("value requested", "number", drop=1, key="requested"),
    TableColumn("value served", "number", key="value"),
    TableColumn("share of value", "share", drop=2, key="value_share"),
)
KINDS = (
    TableColumn("kind of machine", key="name"),
    TableColumn("machines", "number"),
    TableColumn("requests served", "number", key="served"),
    TableColumn("value served", "number", key="value"),
)


def schedule_headline(figures: ScheduleFigures) -> str:
    """'serves 3 of 5 requests on 1 machine, worth 5, 71 % of what is requested'."""
    value = f"worth {score(figures.value)}, {percent(share_of(figures.value, figures.requested))} of what is requested"
    return f"serves {figures.served:,} of {count(figures.requests, 'request')} on {count(figures.machines, 'machine')}, {value}"


def schedule_report(result: Result[Any], figures: ScheduleFigures, *, method: str, seed: int, wall: float) -> Report:
    """What `schedule` prints: how it ended, what it is worth, which classes are served where, and why others are not."""
    shown = frame(result, method=method, seed=seed, wall=wall, more=[pair for pair in schedule_facts(figures, result) if pair[1]])
    kinds = kind_table(figures) if len(figures.kinds) > 1 else Table(columns=KINDS, rows=())
    left_out = reason_table(result.left_out, "request", title="Not served").first(SHOWN)
    return report(shown, class_table(figures).first(SHOWN, "classes"), kinds, left_out, *note_sentences(result))


def share_of(part: float, whole: float) -> float:
    """A share; NaN of nothing."""
    return part / whole if whole else float("nan")


def schedule_facts(figures: ScheduleFigures, result: Result[Any]) -> list[tuple[str, str]]:
    """Names and values: what is served, what it is worth, how near the best, how much is requested and used."""
    of_value = percent(share_of(figures.value, figures.requested))
    lines = [
        ("value", f"{score(figures.value)}, {of_value} of {score(figures.requested)}"),
        (
            "served",
            f"{count(figures.served, 'request')} of {figures.requests:,}, {percent(share_of(figures.served, figures.requests))}",
        ),
        ("proven bound", _bound(result)),
        ("machines", f"{figures.machines:,}" + (f" of {len(figures.kinds)} kinds" if len(figures.kinds) > 1 else "")),
        ("load factor", f"{figures.load:.3g}" if figures.load == figures.load else UNKNOWN),
        ("utilisation", percent(figures.utilisation)),
        ("narrow, wide", f"{figures.narrow:,}, {figures.wide:,}"),
    ]
    lines += [
        (f"{row.name}", f"requested {percent(row.requested)}, used {percent(row.used)} of all machine time")
        for row in figures.resources
    ]
    return lines


def _bound(result: Result[Any]) -> str:
    if result.bound is None:
        return "none"
    gap = "" if result.gap is None else f", gap {odds(result.gap)}"
    return f"no schedule is worth more than {score(result.bound)}{gap}"


def class_table(figures: ScheduleFigures) -> Table:
    """What is served of each class."""
    return table(CLASSES, map(_class, figures.classes), title="By class")


def _class(row: ServedClass) -> tuple[Cell, ...]:
    return (
        Cell(row.name),
        count_cell(row.requests),
        count_cell(row.served),
        share_cell(share_of(row.served, row.requests)),
        score_cell(row.requested),
        score_cell(row.value),
        share_cell(share_of(row.value, row.requested)),
    )


def kind_table(figures: ScheduleFigures) -> Table:
    """What each kind of machine serves."""
    rows = ((Cell(k.name), count_cell(k.machines), count_cell(k.served), score_cell(k.value)) for k in figures.kinds)
    return table(KINDS, rows, title="By kind of machine")
