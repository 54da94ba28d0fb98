"""What the running system did, why, and what it brought: a story, tables, a page, and JSON."""

from bayplan.report.history.page import history_page
from bayplan.report.history.story import history_story
from bayplan.report.history.tables import history_details, history_headline, history_report

__all__ = ["history_details", "history_headline", "history_page", "history_report", "history_story"]
