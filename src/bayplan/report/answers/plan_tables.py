"""A migration plan in numbers: its batches, what does not arrive, and how a simulated run of it went."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bayplan.check import PlanCheck
from bayplan.model import Plan, Reason, Result
from bayplan.report.amounts import percent, seconds
from bayplan.report.answers.decision_tables import decision_report, reason_table
from bayplan.report.table import (
    Cell,
    Facts,
    Report,
    Table,
    TableColumn,
    count_cell,
    duration_cell,
    report,
    sentences,
    share_cell,
    table,
)
from bayplan.report.violations import SHOWN
from bayplan.score.duration import Timetable
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


def batch_figures(checked: PlanCheck | None, timetable: Timetable | None) -> list[BatchFigures]:
    """One for each batch of a plan, as the referee saw it."""
    if checked is None or timetable is None:
        return []
    times = zip(timetable.batch_start.tolist(), timetable.batch_end.tolist(), strict=True)
    return [
        BatchFigures(
            number=number,
            start=start,
            end=end,
            steps=batch.steps,
            creates=batch.creates,
            deletes=batch.deletes,
            stopovers=batch.stopovers,
            doubled=batch.doubled,
            alive=batch.least_alive,
            peak=batch.peak,
        )
        for number, (batch, (start, end)) in enumerate(zip(checked.batches, times, strict=True), start=1)
    ]


def plan_headline(result: Result[Plan], *, moved: int, held_back: int, duration: float | None) -> str:
    """'4 containers move in 3 batches (8 steps), in about 1 min; 2 containers do not arrive'."""
    if result.solution is None:
        return f"refused: {result.still_violated[0] if result.still_violated else result.status}"
    missing = len(result.left_out) - held_back
    batches, steps = len(result.solution.batches), len(result.solution)
    if not steps and not missing:
        return "nothing has to move: every container is on its target"
    frame = f"{count(batches, 'batch')} ({count(steps, 'step')}), in about {seconds(duration or 0.0)}"
    change = f"{count(moved, 'container')} {'changes' if moved == 1 else 'change'} machines"
    return f"{change} in {frame}" + (f"; {count(missing, 'container')} cannot arrive" if missing else "")


def plan_report(result: Result[Plan], batches: Sequence[BatchFigures]) -> Report:
    """The scores of a plan, its batches, what does not arrive and why; or why the target is refused."""
    if result.solution is None:
        return report(*sentences((f"refused: {sentence}" for sentence in result.still_violated), SHOWN))
    decision = decision_report(replace(result, left_out=()), {})
    ends = both_ends(batch_table(batches), batches)
    return decision + report(ends, stuck_table(result.left_out).first(SHOWN, "reasons"))


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


def run_headline(checked: PlanCheck, why: str) -> str:
    """'safe: no rule is violated on the way; carried out'; `why` a run stopped is empty if it did not."""
    unsafe = f"unsafe: {count(len(checked.violations), 'rule violation')} on the way"
    safe = "safe: no rule is violated on the way" if checked.safe else unsafe
    return f"{safe}; stopped in {why}" if why else f"{safe}; carried out"


def run_report(checked: PlanCheck, failures: Sequence[str], numbers: Iterable[tuple[str, str]]) -> Report:
    """What `simulate` prints below its headline: rules that are violated on the way, steps that failed, and the end."""
    shares = (("least alive", percent(checked.least_alive)), ("peak use", percent(checked.peak)))
    return report(
        *sentences((violation.sentence for violation in checked.violations), SHOWN),
        *sentences(failures, SHOWN),
        Facts((*numbers, *shares)),
    )
