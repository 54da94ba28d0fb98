"""The page about a change: what moves, what that gains, and in which order. A tool as much as a report."""

from bayplan.report.change_page.data import Card, ChangePageData, FrontPoint, MoveNote, PageSection, change_words, number_card
from bayplan.report.change_page.page import change_page

__all__ = ["Card", "ChangePageData", "FrontPoint", "MoveNote", "PageSection", "change_page", "change_words", "number_card"]
