"""A plan in a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from bayplan.model import Plan, Result
from bayplan.report.amounts import count, percent
from bayplan.report.broken import SHOWN
from bayplan.report.lines import facts, plain_table, plain_text, spaced
from bayplan.report.narrow import Narrowing
from bayplan.report.plan_batches import HEADS, BatchRow, aggregated, collapsed, named
from bayplan.report.tables import result_tables

DROP = ("starts at", "running twice", "stopovers", "takes", "deletes", "creates")


def plan_tables(
    result: Result[Plan], rows: Sequence[BatchRow], *, method: str, counts: Mapping[str, int | str], files: Mapping[str, str]
) -> list[RenderableType]:
    """What `migrate` prints: how it ended, its scores, its batches, who is stuck on what, and what was written."""
    if result.solution is None:
        return refused_tables(result, method=method)
    parts = result_tables(replace(result, left_out=()), method=method, counts=counts)
    more: list[RenderableType] = [""]
    more += [batch_table(rows)] if rows else []
    more += [stuck_table(result)] if result.left_out else []
    more += [facts(files.items())] if files else []
    return [*parts, *spaced(more)[1:]]


def refused_tables(result: Result[Plan], *, method: str) -> list[RenderableType]:
    """Why there is no plan."""
    count = len(result.still_violated)
    lines = [plain_text(f"refused: {sentence}") for sentence in result.still_violated[:SHOWN]]
    more = [plain_text(f"and {count - SHOWN:,} more", "dim")] if count > SHOWN else []
    return [facts([("method", method), ("status", str(result.status))]), *lines, *more]


def run_tables(run: Mapping[str, Any]) -> list[RenderableType]:
    """What `simulate` prints, from the object that it says as JSON."""
    breaches, events = run["breaches"], run["events"]
    ended = "carried out" if run["stopped"] is None else f"stopped in {run['why']}"
    safe = "safe: nothing can break on the way" if run["safe"] else f"unsafe: {count(len(breaches), 'broken rule')} on the way"
    parts: list[RenderableType] = [plain_text(safe, "bold green" if run["safe"] else "bold red")]
    parts += [plain_text(breach["sentence"]) for breach in breaches[:SHOWN]]
    parts += [plain_text(f"and {len(breaches) - SHOWN:,} more", "dim")] if len(breaches) > SHOWN else []
    parts.append(plain_text(ended, "bold green" if run["stopped"] is None else "bold red"))
    parts += [plain_text(sentence) for sentence in events[:SHOWN]]
    parts += [plain_text(f"and {len(events) - SHOWN:,} more", "dim")] if len(events) > SHOWN else []
    numbers = {name: run[name] for name in ("batches", "steps", "done", "skipped", "failed", "hung", "running", "twice")}
    known = [(name, f"{number:,}") for name, number in numbers.items()]
    known += [("down", _names(run["down"])), ("not at the target", _names(run["stuck"]))]
    known += [("least alive", percent(run["score"]["alive"])), ("peak use", percent(run["score"]["peak"]))]
    return [*parts, facts(known)]


def _names(names: Sequence[str]) -> str:
    return named(names) if names else "none"


def batch_table(rows: Sequence[BatchRow]) -> Narrowing:
    """One line per batch; of a long plan the first and the last ones."""
    table = plain_table(title=f"Batches: {len(rows):,}")
    for head in HEADS:
        table.add_column(head.replace(" ", "\n", 1), justify="right", no_wrap=True)
    first, last = collapsed(rows)
    for row in first:
        table.add_row(*(cell.text for cell in row.cells()))
    if last:
        hidden = rows[len(first) : len(rows) - len(last)]
        counts = (sum(row.steps for row in hidden), sum(row.creates for row in hidden), sum(row.deletes for row in hidden))
        table.add_row(f"{len(hidden):,} more", "", "", *(f"{number:,}" for number in counts), style="dim")
        for row in last:
            table.add_row(*(cell.text for cell in row.cells()))
    return Narrowing(table, drop=[head.replace(" ", "\n", 1) for head in DROP])


def stuck_table(result: Result[Plan]) -> Table:
    """Who does not arrive, and why; those that share a reason on one line."""
    groups = aggregated(result.left_out)
    table = plain_table("container", "why", title=f"Do not arrive: {len(result.left_out):,}")
    for reason in groups[:SHOWN]:
        table.add_row(plain_text(reason.subject), plain_text(reason.text))
    if len(groups) > SHOWN:
        table.add_row(f"and {len(groups) - SHOWN:,} more reasons", "", style="dim")
    return table
