"""The HTML page of a plan."""

from typing import TYPE_CHECKING

from bayplan.api.answer import PathLike
from bayplan.api.inspect import grouping
from bayplan.formats.document.text import write_text_atomically
from bayplan.report.answers.performance_words import change_section
from bayplan.report.answers.placement_tables import change_table
from bayplan.report.answers.plan_tables import batch_figures
from bayplan.report.answers.plan_words import cards, comparison_table, gains, headline, warnings
from bayplan.report.change_page import ChangePageData, change_page
from bayplan.report.page import how_made
from bayplan.report.violations import verdict

if TYPE_CHECKING:
    from bayplan.api.planning.answer import PlanAnswer


def write_plan_page(path: PathLike, answer: "PlanAnswer", *, command: str) -> None:
    """One self-contained HTML file about a plan."""
    write_text_atomically(path, change_page(plan_page_data(answer, command)))


def plan_page_data(answer: "PlanAnswer", command: str) -> ChangePageData:
    """What the page shows."""
    facts = answer.facts
    return ChangePageData(
        snapshot=answer.snapshot,
        after=answer.placement,
        headline=headline(facts),
        details=tuple(gains(facts)),
        verdict=verdict(answer.still_violated),
        valid=not answer.still_violated,
        cards=cards(facts),
        moves=answer.reasons,
        plan=answer.plan,
        timetable=answer.migration.timetable,
        batches=batch_figures(answer.migration.checked, answer.migration.timetable),
        front=answer.front,
        sections=change_section(answer.performance),
        comparisons=(comparison_table(facts),) if facts.changes else (),
        tables=(comparison_table(facts), change_table(answer.before, answer.score)),
        warnings=tuple(warnings(facts)),
        group_by=grouping(answer.snapshot.cluster, None),
        made=how_made(command),
    )
