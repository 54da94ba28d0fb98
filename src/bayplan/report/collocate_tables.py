"""What `collocate` prints: affinity gained for which moves, then what every decision says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from bayplan.model import Result
from bayplan.report.amounts import about, count, percent, score
from bayplan.report.broken import verdict
from bayplan.report.lines import facts, plain_table, plain_text, spaced
from bayplan.report.meanings import higher_is_better, meaning_of
from bayplan.report.tables import result_tables

ROUNDING = 1e-12  # a smaller change is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What was gained, and for how many moves."""

    before: float  # gained affinity, of a total of 1
    after: float
    moved: int  # containers
    share: float  # of those that ran
    stays: str | None = None  # why nothing moves


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """The order of moves to a placement."""

    counts: Mapping[str, int]  # batches, steps; empty if there is no plan
    safe: bool
    stuck: int  # containers that do not arrive
    seconds: float
    alive: float  # smallest share of a workload that runs at any time


def collocate_tables(
    result: Result[Any], change: Change, *, method: str, counts: Mapping[str, int] = MappingProxyType({})
) -> list[RenderableType]:
    """How it ended: what was gained and moved, the bound, the scores, and what is left out."""
    known: dict[str, int | str] = {**counts, "gained affinity": gained_words(change), "moved": moved_words(change)}
    return result_tables(result, method=method, counts=known)


def stop_tables(
    change: Change, scores: tuple[Mapping[str, float], Mapping[str, float]], violations: Sequence[object], way: Way, *, seed: int
) -> list[RenderableType]:
    """A collocation in short: what was gained, the scores before beside after, the verdict, and the way there."""
    known = [("seed", f"{seed:,}"), ("gained affinity", gained_words(change)), ("moved", moved_words(change))]
    known += [("placement", verdict(violations)), ("way there", way_words(way))]
    return spaced([facts(known), side_by_side(*scores)])


def side_by_side(before: Mapping[str, float], after: Mapping[str, float]) -> Table:
    """Scores that both sides have, one beside the other; green where it is better, red where it is worse."""
    table = plain_table("score", title="Before and after")
    for name in ("before", "after"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("what it means", overflow="fold")
    for name in (name for name in before if name in after):
        old, new = before[name], after[name]
        same = abs(new - old) <= ROUNDING * max(1.0, abs(old)) or new != new or old != old
        style = "" if same else "green" if (new > old) == higher_is_better(name) else "red"
        table.add_row(plain_text(name), score(old), plain_text(score(new), style), plain_text(meaning_of(name), "dim"))
    return table


def way_words(way: Way) -> str:
    """'31 batches, 1,742 steps, about 12 min; safe, at least 75 % of each workload runs; everybody arrives'."""
    if not way.counts:
        return "no plan"
    counted = ", ".join(f"{number:,} {name}" for name, number in way.counts.items())
    safe = f"{'safe' if way.safe else 'UNSAFE'}, at least {percent(way.alive)} of each workload runs"
    arrive = f"{count(way.stuck, 'container')} cannot arrive" if way.stuck else "everybody arrives"
    return f"{counted}, about {about(way.seconds)}; {safe}; {arrive}"


def gained_words(change: Change) -> str:
    """'0.0700 before, 0.8720 after'."""
    return f"{change.before:.4f} before, {change.after:.4f} after"


def moved_words(change: Change) -> str:
    """'1,164 containers, 33 % of those that ran'."""
    if change.stays is not None:
        return f"nothing: {change.stays}"
    return f"{count(change.moved, 'container')}, {percent(change.share)} of those that ran"
