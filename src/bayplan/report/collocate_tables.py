"""What `collocate` prints: affinity gained for which moves, then what every decision says."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rich.console import RenderableType

from bayplan.model import Result
from bayplan.report.amounts import count, percent
from bayplan.report.tables import result_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What was gained, and for how many moves."""

    before: float  # gained affinity, of a total of 1
    after: float
    moved: int  # containers
    share: float  # of those that ran
    stays: str | None = None  # why nothing moves


def collocate_tables(
    result: Result[Any], change: Change, *, method: str, counts: Mapping[str, int] = MappingProxyType({})
) -> list[RenderableType]:
    """How it ended: what was gained and moved, the bound, the scores, and what is left out."""
    facts: dict[str, int | str] = {**counts, "gained affinity": gained_words(change), "moved": moved_words(change)}
    return result_tables(result, method=method, counts=facts)


def gained_words(change: Change) -> str:
    """'0.0700 before, 0.8720 after'."""
    return f"{change.before:.4f} before, {change.after:.4f} after"


def moved_words(change: Change) -> str:
    """'1,164 containers, 33 % of those that ran'."""
    if change.stays is not None:
        return f"nothing: {change.stays}"
    return f"{count(change.moved, 'container')}, {percent(change.share)} of those that ran"
