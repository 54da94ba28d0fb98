"""One self-contained HTML page per report."""

from collections.abc import Iterable, Mapping

from bayplan.model import Placement, Snapshot
from bayplan.score.summary import Summary


def report_page(
    snapshot: Snapshot,
    summary: Summary,
    violations: Iterable[object],
    *,
    title: str = "",
    footer: Mapping[str, str] | None = None,
    group_by: str | None = None,
) -> str:
    """The page about one placement. `footer` says how it was made: {"version": ..., "seed": ..., "command": ...}."""
    raise NotImplementedError


def comparison_page(
    before: Snapshot,
    after: Placement,
    summaries: tuple[Summary, Summary],
    *,
    violations: Iterable[object] = (),
    title: str = "",
    footer: Mapping[str, str] | None = None,
    group_by: str | None = None,
) -> str:
    """The page about a change: `summaries` are before and after, `violations` those of the placement after."""
    raise NotImplementedError
