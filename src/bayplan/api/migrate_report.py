"""A route as people look at it: its batches in numbers, and its page."""

from dataclasses import replace
from pathlib import Path

from bayplan.api.inspect import grouping
from bayplan.api.migrate import Route
from bayplan.formats.document.text import write_text_atomically
from bayplan.report.answers.plan_page import PlanPageData, plan_page
from bayplan.report.answers.plan_tables import BatchFigures
from bayplan.report.page import how_made
from bayplan.report.pictures.step_bars import step_bars
from bayplan.score.duration import StepCosts


def batch_rows(route: Route) -> list[BatchFigures]:
    """One row per batch of the plan, as the referee saw it."""
    if route.verdict is None or route.timetable is None:
        return []
    times = zip(route.timetable.batch_start.tolist(), route.timetable.batch_end.tolist(), strict=True)
    return [
        BatchFigures(
            number=number,
            start=start,
            end=end,
            steps=record.steps,
            creates=record.creates,
            deletes=record.deletes,
            stopovers=record.stopovers,
            doubled=record.doubled,
            alive=record.least_alive,
            peak=record.peak,
        )
        for number, (record, (start, end)) in enumerate(zip(route.verdict.batches, times, strict=True), start=1)
    ]


def write_plan_page(path: Path, route: Route, costs: StepCosts, *, command: str) -> None:
    """One self-contained HTML file about a plan."""
    if route.plan is None or route.verdict is None or route.timetable is None:
        return
    trip = route.trip
    cluster = trip.migration.cluster
    data = PlanPageData(
        snapshot=replace(trip.snapshot, placement=trip.migration.start.placement, notes=(*trip.snapshot.notes, *trip.notes)),
        after=route.verdict.running.placement,
        result=route.result,
        bars=step_bars(cluster, route.plan, route.timetable, costs),
        batches=batch_rows(route),
        held_back=route.by_wish,
    )
    write_text_atomically(path, plan_page(data, made=how_made(command), group_by=grouping(cluster, None)))
