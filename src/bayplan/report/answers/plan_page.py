"""The page about a plan: in which order containers move, and where they end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayplan.model import Placement, Plan, Result, Running, Snapshot
from bayplan.report.amounts import about, percent
from bayplan.report.answers.plan_tables import BatchFigures, aggregated
from bayplan.report.change_page import Card, ChangePageData, PageSection, change_page
from bayplan.report.page import figure
from bayplan.report.pictures.gantt import gantt
from bayplan.report.pictures.step_bars import step_bars
from bayplan.report.violations import SHOWN
from bayplan.score.duration import StepCosts, Timetable
from bayplan.words import and_more, count


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPageData:
    """What the page about a plan shows."""

    snapshot: Snapshot  # before
    after: Placement
    headline: str
    result: Result[Plan]
    timetable: Timetable
    costs: StepCosts
    batches: Sequence[BatchFigures]
    running: Running | None = None  # at the start
    held_back: int = 0  # containers that were to stay, among those that do not arrive


def plan_page(data: PlanPageData, *, made: Mapping[str, str], group_by: str | None = None) -> str:
    """The page. `made` says how it came about: {"command": ..., "version": ...}."""
    cluster, plan = data.snapshot.cluster, data.result.solution or Plan(batches=())
    stuck = len(data.result.left_out) - data.held_back
    picture = figure(gantt(cluster, step_bars(cluster, plan, data.timetable, data.costs)))
    page = ChangePageData(
        snapshot=data.snapshot,
        after=data.after,
        headline=data.headline,
        verdict=f"{count(stuck, 'container')} stuck" if stuck else "complete: every container arrives",
        valid=not stuck,
        cards=_cards(data),
        plan=plan,
        running=data.running,
        timetable=data.timetable,
        batches=data.batches,
        sections=(PageSection(title="In which order", parts=(picture,)),),
        warnings=_stuck(data),
        group_by=group_by,
        made=made,
    )
    return change_page(page)


def _cards(data: PlanPageData) -> tuple[Card, ...]:
    score, bound = data.result.score, data.result.bound
    number = {name: int(score.get(name, 0)) for name in ("batches", "steps", "moves", "stopovers", "surges")}
    twice = f"{count(number['surges'], 'container')} {'runs' if number['surges'] == 1 else 'run'} twice meanwhile"
    numbers = (
        ("batches", f"{number['batches']:,}", f"at least {bound:.0f} are needed" if bound is not None else ""),
        ("steps", f"{number['steps']:,}", f"{count(number['moves'], 'create')} of containers that ran before"),
        ("takes about", about(data.timetable.seconds), ""),
        ("least alive", percent(score.get("alive", 1.0)), "of a workload, at any time"),
        ("peak use", percent(score.get("peak", 0.0)), "of a machine, at any time"),
        ("stopovers", f"{number['stopovers']:,}", f"on third machines; {twice}"),
    )
    return tuple(Card(label=label, before="", after=after, note=note) for label, after, note in numbers)


def _stuck(data: PlanPageData) -> tuple[str, ...]:
    """Which containers are not at the target, and why."""
    reasons = aggregated(data.result.left_out)
    more = and_more(len(reasons) - SHOWN, "reasons")
    return (*(f"not at the target: {reason}" for reason in reasons[:SHOWN]), *([more] if more else ()))
