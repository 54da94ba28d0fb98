"""Write what people look at: the HTML report and the bay plan of a snapshot."""

from pathlib import Path

from bayplan.api.inspect import Inspection
from bayplan.errors import UsageError
from bayplan.formats.document.text import write_text_atomically
from bayplan.model import Cluster, Snapshot
from bayplan.report.answers.placement_page import comparison_page, report_page
from bayplan.report.page import how_made
from bayplan.report.pictures import bay_plan
from bayplan.score.summary import summarise

MOST_GROUPS = 12  # more groups than this would tear a picture apart


def write_report(path: Path, inspection: Inspection, *, command: str, group_by: str | None = None) -> None:
    """One self-contained HTML file about an inspection."""
    snapshot = inspection.snapshot
    page = report_page(
        snapshot,
        inspection.summary,
        inspection.violations,
        title=snapshot.cluster.name,
        made=how_made(command),
        group_by=grouping(snapshot.cluster, group_by),
    )
    write_text_atomically(path, page)


def write_comparison(path: Path, before: Snapshot, after: Inspection, *, command: str, group_by: str | None = None) -> None:
    """One self-contained HTML file about a change: before and after, side by side."""
    page = comparison_page(
        before,
        after.snapshot.placement,
        (summarise(before), after.summary),
        violations=after.violations,
        title=before.cluster.name,
        made=how_made(command),
        group_by=grouping(before.cluster, group_by),
    )
    write_text_atomically(path, page)


def write_picture(path: Path, snapshot: Snapshot, *, group_by: str | None = None) -> None:
    """The bay plan as an SVG file."""
    write_text_atomically(path, bay_plan(snapshot.cluster, snapshot.placement, group_by=grouping(snapshot.cluster, group_by)))


def grouping(cluster: Cluster, asked: str | None) -> str | None:
    """The level by which pictures group machines: the asked one, else the one with the fewest groups (2 to 12)."""
    names = [level.name for level in cluster.levels[1:]]
    if asked is not None:
        if asked not in names:
            raise UsageError(f"no level '{asked}' in cluster '{cluster.name}'; expected {' or '.join(names) or 'no grouping'}")
        return asked
    few = [level for level in cluster.levels[1:] if 2 <= len(level.group) <= MOST_GROUPS]
    return min(few, key=lambda level: len(level.group)).name if few else None
