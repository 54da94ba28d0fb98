"""One HTML page about a plan: in which order containers move, and where they end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayplan.model import Placement, Plan, Result, Snapshot
from bayplan.report.amounts import about, percent, scale_of
from bayplan.report.answers.plan_tables import BatchFigures, aggregated, batch_table
from bayplan.report.markup import Tile, card, first_items, html_table, paragraph, tag, tiles
from bayplan.report.names import name_of
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures import before_after
from bayplan.report.pictures.gantt import gantt
from bayplan.report.pictures.placement.before_after import change_words
from bayplan.report.pictures.step_bars import StepBars
from bayplan.report.violations import SHOWN
from bayplan.words import count

MOST_ROWS = 500  # batches in the table


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPageData:
    """What the page about a plan shows."""

    snapshot: Snapshot  # before
    after: Placement
    result: Result[Plan]
    bars: StepBars
    batches: Sequence[BatchFigures]
    held_back: int = 0  # containers that were to stay, among those that do not arrive


def plan_page(data: PlanPageData, *, made: Mapping[str, str], group_by: str | None = None) -> str:
    """The page. `made` says how it came about: {"command": ..., "version": ...}."""
    cluster, before = data.snapshot.cluster, data.snapshot.placement
    stuck = len(data.result.left_out) - data.held_back
    verdict = f"{count(stuck, 'container')} stuck" if stuck else "complete: every container arrives"
    body = [
        header(name_of(cluster), verdict, not stuck, f"{scale_of(cluster)}: {change_words(before, data.after)}"),
        _numbers(data),
        tag("h2", "In which order"),
        figure(gantt(cluster, data.bars)),
        _stuck(data) if data.result.left_out else "",
        tag("h2", "Batches"),
        card("", _batches(data.batches)),
        tag("h2", "Before and after"),
        figure(before_after(cluster, before, data.after, group_by=group_by)),
        footer(made, data.snapshot.notes),
    ]
    return page(name_of(cluster), body)


def _numbers(data: PlanPageData) -> str:
    score = data.result.score
    number = {name: int(score.get(name, 0)) for name in ("batches", "steps", "moves", "stopovers", "surges")}
    bound = data.result.bound
    twice = f"{count(number['surges'], 'container')} {'runs' if number['surges'] == 1 else 'run'} twice meanwhile"
    return tiles(
        [
            Tile("batches", f"{number['batches']:,}", f"at least {bound:.0f} are needed" if bound is not None else ""),
            Tile("steps", f"{number['steps']:,}", f"{count(number['moves'], 'create')} of containers that ran before"),
            Tile("takes about", about(float(data.bars.end.max(initial=0.0)))),
            Tile("least alive", percent(score.get("alive", 1.0)), "of a workload, at any time"),
            Tile("peak use", percent(score.get("peak", 0.0)), "of a machine, at any time"),
            Tile("stopovers", f"{number['stopovers']:,}", f"on third machines; {twice}"),
        ]
    )


def _stuck(data: PlanPageData) -> str:
    left_out = data.result.left_out
    return card(f"{count(len(left_out), 'container')} not at the target", first_items(aggregated(left_out), SHOWN, "reasons"))


def _batches(batches: Sequence[BatchFigures]) -> str:
    return html_table(batch_table(batches).first(MOST_ROWS)) if batches else paragraph("None: nothing has to move.")
