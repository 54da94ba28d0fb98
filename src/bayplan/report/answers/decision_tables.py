"""What every decision says: how it ended, its counts, its scores, and what is left out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from bayplan.model import GAINS, UNPLACED, Placement, Reason, Result, Snapshot
from bayplan.report.amounts import percent, score, seconds
from bayplan.report.answers.placement_tables import change_table, score_table
from bayplan.report.table import UNKNOWN, Cell, Facts, Report, Sentence, Table, TableColumn, facts, report, sentences, table
from bayplan.report.violations import SHOWN
from bayplan.words import count


def placement_headline(snapshot: Snapshot, after: Placement, result: Result[Any], before: Mapping[str, float]) -> str:
    """'7 of 77 containers move (9.1 %), 2 placed; objective 1.2 -> 1.1'."""
    if result.solution is None:
        return f"no placement: {result.status}"
    ran, moved = len(snapshot.placement.placed), len(after.moved_from(snapshot.placement))
    placed = int(((snapshot.placement.machine_of == UNPLACED) & (after.machine_of != UNPLACED)).sum())
    parts = [
        f"{moved:,} of {count(ran, 'container')} {'moves' if moved == 1 else 'move'} ({percent(moved / max(1, ran))})",
        f"{placed:,} placed" if placed else "",
        f"{len(after.unplaced):,} without a machine" if len(after.unplaced) else "",
    ]
    return f"{', '.join(filter(None, parts))}; {goal_words(result, before)}"


def goal_words(result: Result[Any], before: Mapping[str, float] = MappingProxyType({})) -> str:
    """'affinity 0.07 -> 0.6 (at most 0.88 is possible)': the score that the method was after."""
    values = [score(scores[result.goal]) for scores in (before, result.score) if result.goal in scores]
    side = "most" if result.goal in GAINS else "least"
    limit = "" if result.bound is None else f" (at {side} {score(result.bound)} is possible)"
    return f"{result.goal} {' -> '.join(values)}{limit}"


def frame(result: Result[Any], *, method: str, seed: int, wall: float, more: Iterable[tuple[str, str]] = ()) -> Facts:
    """By which method, how it ended, how far from the best it may be, and how long it took."""
    return facts(
        ("method", method),
        ("status", f"{result.status}{_gap_words(result)}"),
        *more,
        ("seed", f"{seed:,}"),
        ("time", f"{seconds(wall)}, of which {seconds(result.seconds)} for the method"),
    )


def _gap_words(result: Result[Any]) -> str:
    """', at most 12 % from the best possible (proven)'; nothing where nothing is proven."""
    if not result.gap:
        return ""
    return f", at most {percent(result.gap)} from the best possible (proven)"


def decision_report(result: Result[Any], before: Mapping[str, float], *, subject: str = "container") -> Report:
    """What every decision shows below its facts: the scores before and after, what is left out, what stays violated, notes."""
    known = {name: value for name, value in before.items() if name in result.score}
    scores = change_table(known, result.score) if known else score_table(result.score, {})
    left_out = reason_table(result.left_out, subject, title=f"Left out: {len(result.left_out):,}").first(SHOWN, "reasons")
    violated = sentences((f"still violated: {sentence}" for sentence in result.still_violated), SHOWN)
    return report(scores, left_out, *violated, *note_sentences(result))


def note_sentences(result: Result[Any]) -> tuple[Sentence, ...]:
    """What a user should know about how the answer was made."""
    return tuple(Sentence(f"note: {note}") for note in result.notes)


def reason_table(reasons: Sequence[Reason], subject: str, *, title: str) -> Table:
    """What is left out, and why."""
    columns = (TableColumn(subject, key="name"), TableColumn("why", key="reason"))
    return table(columns, ((Cell(reason.subject), Cell(reason.text)) for reason in reasons), title=title)


def move_table(moves: Iterable[tuple[str, str | None, str | None]]) -> Table:
    """Containers that change machines: container, from, to; without a machine where it is None."""
    columns = (TableColumn("container"), TableColumn("from"), TableColumn("to"))
    rows = ((Cell(container), Cell(before or UNKNOWN), Cell(after or UNKNOWN)) for container, before, after in moves)
    listed = table(columns, rows)
    return replace(listed, title=f"Moves: {len(listed.rows):,}").first(SHOWN, "moves")
