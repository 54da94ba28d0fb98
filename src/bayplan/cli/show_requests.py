"""`bayplan show` of files that hold requests instead of a cluster."""

from pathlib import Path
from typing import TYPE_CHECKING

from bayplan.cli.screen import print_object, print_report
from bayplan.cli.terminal import note
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.formats.requests import RequestsFile
    from bayplan.model import ClusterRequests, TimedRequests


def expect_nothing_else(file: Path, **options: object) -> None:
    """UsageError for options that are about clusters."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if given:
        raise UsageError(f"'{file}' holds requests, not a cluster; expected no {' and no '.join(given)}")


def show_requests(
    whole: "RequestsFile | TimedRequests | ClusterRequests", file: Path, *, quiet: bool, as_json: bool, out: Path | None
) -> None:
    """How much is requested, and when."""
    from bayplan.formats.requests import RequestsFile
    from bayplan.model import ClusterRequests
    from bayplan.report.amounts import human_amount
    from bayplan.report.answers.request_tables import requests_report
    from bayplan.score.request_summary import request_summary, stream_summary

    if isinstance(whole, ClusterRequests):
        answer = stream_summary(whole, file.name, written=human_amount)
    else:
        timed = whole if isinstance(whole, RequestsFile) else RequestsFile(requests=whole)
        note(timed.notes, quiet=quiet)
        answer = request_summary(timed.requests, timed.fleet, file.name, written=human_amount)
    if as_json:
        print_object(answer, out)
    else:
        print_report(requests_report(answer), out)
