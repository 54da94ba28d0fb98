"""Write what people look at: the HTML report and the bay plan of a snapshot."""

from pathlib import Path

import bayplan
from bayplan.collect.text import write_text_atomically
from bayplan.flows.inspect import Inspection
from bayplan.model import Snapshot
from bayplan.report.html import report_page
from bayplan.report.pictures import bay_plan


def write_report(path: Path, inspection: Inspection, *, command: str) -> None:
    """One self-contained HTML file about an inspection."""
    page = report_page(
        inspection.snapshot,
        inspection.summary,
        inspection.violations,
        title=inspection.snapshot.cluster.name,
        footer={"command": command, "version": f"bayplan {bayplan.__version__}"},
    )
    write_text_atomically(path, page)


def write_picture(path: Path, snapshot: Snapshot) -> None:
    """The bay plan as an SVG file."""
    write_text_atomically(path, bay_plan(snapshot.cluster, snapshot.placement))
