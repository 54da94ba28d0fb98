"""A migration plan in numbers: its batches, what does not arrive, and how a simulated run of it went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bayplan.model import Plan, Reason, Result
from bayplan.report.amounts import percent
from bayplan.report.answers.decision_tables import bound_facts, decision_report, ended, reason_table
from bayplan.report.table import (
    Cell,
    Facts,
    Report,
    Sentence,
    Table,
    TableColumn,
    count_cell,
    duration_cell,
    facts,
    report,
    sentences,
    share_cell,
    table,
)
from bayplan.report.violations import SHOWN
from bayplan.words import count, first_names

MOST_BATCHES = 12  # batches of a longer plan are shown from both ends
FIRST = 6

BATCHES = (
    TableColumn("batch", "number", key="number"),
    TableColumn("starts at", "duration", short="starts\nat", drop=1, key="start"),
    TableColumn("takes", "duration", drop=4, key="seconds"),
    TableColumn("steps", "number"),
    TableColumn("creates", "number", drop=6),
    TableColumn("deletes", "number", drop=5),
    TableColumn("stopovers", "number", drop=3),
    TableColumn("running twice", "number", short="running\ntwice", drop=2, key="doubled"),
    TableColumn("least alive", "share", short="least\nalive", key="alive"),
    TableColumn("peak use", "share", short="peak\nuse", key="peak"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFigures:
    """One batch of a plan."""

    number: int  # from 1
    start: float  # seconds
    end: float
    steps: int
    creates: int
    deletes: int
    stopovers: int
    doubled: int  # containers that run on two machines when it has ended
    alive: float  # smallest share of a workload that runs meanwhile
    peak: float  # highest use of a machine meanwhile


def plan_report(
    result: Result[Plan],
    batches: Sequence[BatchFigures],
    *,
    method: str,
    counts: Mapping[str, int | str],
    files: Mapping[str, str],
) -> Report:
    """What `migrate` prints: how it ended, its scores, its batches, what does not arrive and why, and what was written."""
    if result.solution is None:
        known = facts(("method", method), ("status", str(result.status)))
        return report(known, *sentences((f"refused: {sentence}" for sentence in result.still_violated), SHOWN))
    frame = facts(*ended(result, method=method, counts=counts), *bound_facts(result))
    decision = report(frame) + decision_report(replace(result, left_out=()), {})
    ends = both_ends(batch_table(batches), batches)
    return decision + report(ends, stuck_table(result.left_out).first(SHOWN, "reasons"), Facts(tuple(files.items())))


def batch_table(batches: Sequence[BatchFigures]) -> Table:
    """One line for each batch."""
    return table(BATCHES, map(_batch, batches), title=f"Batches: {len(batches):,}")


def _batch(batch: BatchFigures) -> tuple[Cell, ...]:
    counts = (batch.steps, batch.creates, batch.deletes, batch.stopovers, batch.doubled)
    return (
        count_cell(batch.number),
        duration_cell(batch.start),
        duration_cell(batch.end - batch.start),
        *map(count_cell, counts),
        share_cell(batch.alive),
        share_cell(batch.peak),
    )


def both_ends(batches: Table, figures: Sequence[BatchFigures]) -> Table:
    """The first and the last batches of a long plan, and one line for those between; all of a short one."""
    last = len(figures) - (MOST_BATCHES - FIRST - 1)
    if len(figures) <= MOST_BATCHES:
        return batches
    hidden, blank = figures[FIRST:last], Cell("")
    sums = (sum(batch.steps for batch in hidden), sum(batch.creates for batch in hidden), sum(batch.deletes for batch in hidden))
    between = (Cell(f"{len(hidden):,} more", style="soft"), blank, blank, *(count_cell(number, "soft") for number in sums))
    rows = (*batches.rows[:FIRST], (*between, *[blank] * (len(BATCHES) - len(between))), *batches.rows[last:])
    return replace(batches, rows=rows)


def stuck_table(reasons: Sequence[Reason]) -> Table:
    """What does not arrive, and why; containers that share a reason on one line."""
    return reason_table(aggregated(reasons), "container", title=f"Do not arrive: {len(reasons):,}")


def aggregated(reasons: Sequence[Reason]) -> tuple[Reason, ...]:
    """One reason for all containers that have the same; those of most containers first."""
    containers: dict[str, list[str]] = {}
    for reason in reasons:
        containers.setdefault(reason.text, []).append(reason.subject)
    groups = sorted(containers.items(), key=lambda group: -len(group[1]))
    return tuple(Reason(subject=first_names(names), text=text) for text, names in groups)


def run_report(run: Mapping[str, Any]) -> Report:
    """What `simulate` prints, from the object that it says as JSON."""
    violations, events = run["breaches"], run["events"]
    done = run["stopped"] is None
    unsafe = f"unsafe: {count(len(violations), 'rule violation')} on the way"
    numbers = [(name, f"{run[name]:,}") for name in ("batches", "steps", "done", "skipped", "failed", "hung", "running", "twice")]
    names = [(label, first_names(run[key]) or "none") for label, key in (("down", "down"), ("not at the target", "stuck"))]
    shares = [("least alive", percent(run["score"]["alive"])), ("peak use", percent(run["score"]["peak"]))]
    return report(
        Sentence("safe: no rule is violated on the way" if run["safe"] else unsafe, "good" if run["safe"] else "bad"),
        *sentences((violation["sentence"] for violation in violations), SHOWN),
        Sentence("carried out" if done else f"stopped in {run['why']}", "good" if done else "bad"),
        *sentences(events, SHOWN),
        Facts((*numbers, *names, *shares)),
    )
