"""Look at a cluster: its state in numbers, the rules it violates, why a container is where it is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayplan.api.answer import PathLike
from bayplan.api.problem import objective_of
from bayplan.check import Violation, violations
from bayplan.errors import UsageError, did_you_mean
from bayplan.model import UNPLACED, Cluster, ClusterRequests, Placement, Plan, Running, Snapshot, TimedRequests
from bayplan.score.explain import Explanation, WorkloadExplanation, explain_workload
from bayplan.score.explain import explain as explanation_of
from bayplan.score.summary import Summary, summarise

if TYPE_CHECKING:
    from bayplan.formats.requests import RequestsFile
    from bayplan.report.table import Report

MOST_GROUPS = 12  # more groups than this would tear a picture apart


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inspection:
    """The state of one placement of one cluster; `inspection["overload"]` is one of its scores."""

    snapshot: Snapshot
    state: Summary
    violations: tuple[Violation, ...]

    @property
    def score(self) -> Mapping[str, float]:
        """The scores by term."""
        return self.state.score

    @property
    def valid(self) -> bool:
        """Is every rule kept?"""
        return not self.violations

    @property
    def headline(self) -> str:
        """'12 of 12 machines used, 77 containers, ...; 4 machines above safety capacity; valid: every rule is kept'."""
        from bayplan.report.answers.placement_tables import counts_words
        from bayplan.report.violations import verdict
        from bayplan.score.gmrp import machine_overload
        from bayplan.words import count

        hot = int(machine_overload(self.snapshot.cluster, self.snapshot.placement).any(axis=1).sum())
        return f"{counts_words(self.state)}; {count(hot, 'machine')} above safety capacity; {verdict(self.violations)}"

    def __getitem__(self, name: str) -> float:
        return self.state.score[name]

    def content(self) -> "Report":
        """Counts, use of the machines, the fullest of them, the scores and the verdict."""
        from bayplan.report.answers.placement_tables import show_report

        return show_report(self.state, self.snapshot.cluster.resources, self.violations)

    def summary(self) -> str:
        """The same in plain text."""
        from bayplan.report.terminal import text_of

        return text_of(self.content())

    def to_dict(self) -> dict[str, Any]:
        """The object that `show --json` prints."""
        from bayplan.report.json import plain

        state: dict[str, Any] = plain(self.state)
        return {"verb": "show", **state, "valid": self.valid, "violated": len(self.violations)}

    def report(self, path: PathLike, *, command: str = "", group_by: str | None = None) -> None:
        """Write one self-contained HTML page."""
        write_report(path, self, command=command, group_by=group_by)

    def _repr_html_(self) -> str:
        from bayplan.report.fragment import fragment

        return fragment(self.content())


def score(snapshot: Snapshot, *, before: Placement | None = None) -> Inspection:
    """The state of a cluster in numbers: counts, use of the machines, hot machines, scores by term, violated rules.

    `before` is where the containers ran, if the snapshot is the result of moves: then these have a cost.

    >>> import bayplan as bp
    >>> state = bp.score(bp.generate("boutique"))
    >>> round(state["overload"], 3), state.valid
    (0.229, True)
    """
    return inspect(snapshot, before=before)


def explain(
    snapshot: Snapshot, name: str, *, plan: Plan | None = None, why: Mapping[str, str] | None = None
) -> Explanation | WorkloadExplanation:
    """Why a container is where it is, which machines could take it, what blocks the others, and whether a move would pay.

    `name` is a container or a workload. Of a workload with several containers there is one explanation per machine. With a `plan`
    it is about where everything runs after it; `why` are the plan's reasons by container.

    >>> import bayplan as bp
    >>> why = bp.explain(bp.generate("boutique"), "frontend-0")
    >>> why.container, why.workload
    ('frontend-0', 'frontend')
    """
    cluster, objective = snapshot.cluster, objective_of(snapshot, "file")
    placement = snapshot.placement if plan is None else Running.of(snapshot.placement).after(plan).placement
    if name not in cluster.containers.name and name in cluster.workloads.name:
        workload = cluster.workloads.name.index(name)
        if cluster.replicas[workload] != 1:
            return explain_workload(cluster, placement, workload, objective)
        name = cluster.containers.name[int((cluster.containers.workload == workload).argmax())]
    c = container_index(cluster, name)
    explanation = explanation_of(cluster, placement, c, objective=objective)
    return explanation if plan is None else replace(explanation, planned=_planned(snapshot, placement, c, why or {}))


def _planned(snapshot: Snapshot, after: Placement, c: int, why: Mapping[str, str]) -> str:
    """What a plan does with a container, in words."""
    name, machine = snapshot.cluster.containers.name[c], snapshot.cluster.machines.name
    old, new = int(snapshot.placement.machine_of[c]), int(after.machine_of[c])
    if old == new:
        return "the plan does not move it" if new != UNPLACED else "the plan finds no machine for it"
    way = f"moves it from '{machine[old]}'" if old != UNPLACED else "brings it"
    reason = f": {why[name]}" if name in why else ""
    return f"the plan {way} to '{machine[new]}'{reason}" if new != UNPLACED else "the plan deletes it"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RequestInspection:
    """How much timed requests or a stream of cluster requests ask for, and when."""

    figures: Mapping[str, Any]

    def content(self) -> "Report":
        """Counts, load over time, the busiest times."""
        from bayplan.report.answers.request_tables import requests_report

        return requests_report(self.figures)

    def to_dict(self) -> dict[str, Any]:
        """The object that `show --json` prints."""
        from bayplan.report.json import plain

        figures: dict[str, Any] = plain(self.figures)
        return {"verb": "show", **figures}


def inspect_requests(value: "RequestsFile | TimedRequests | ClusterRequests", *, name: str = "") -> RequestInspection:
    """How much is requested, and when."""
    from bayplan.formats.requests import RequestsFile
    from bayplan.report.amounts import human_amount
    from bayplan.score.request_summary import request_summary, stream_summary

    if isinstance(value, ClusterRequests):
        return RequestInspection(figures=stream_summary(value, name, written=human_amount))
    timed = value if isinstance(value, RequestsFile) else RequestsFile(requests=value)
    return RequestInspection(figures=request_summary(timed.requests, timed.fleet, name, written=human_amount))


def show(value: "Snapshot | RequestsFile | TimedRequests | ClusterRequests") -> "Inspection | RequestInspection":
    """The state of a cluster in numbers; of timed requests and streams, how much they request, and when."""
    return inspect(value) if isinstance(value, Snapshot) else inspect_requests(value)


def inspect(snapshot: Snapshot, *, before: Placement | None = None, counted_from: Placement | None = None) -> Inspection:
    """Score and check a snapshot; `before` is where the containers ran, for costs and rules of moves.

    `counted_from` is for the costs alone: the snapshot's placement is taken as it is, not as the end of moves.
    """
    return Inspection(
        snapshot=snapshot,
        state=summarise(snapshot, counted_from if before is None else before),
        violations=tuple(violations(snapshot.cluster, snapshot.placement, before)),
    )


def container_index(cluster: Cluster, name: str) -> int:
    """The index of the container called `name`; UsageError with the nearest name if there is none."""
    if name in cluster.containers.name:
        return cluster.containers.name.index(name)
    hint = did_you_mean(name, [*cluster.containers.name, *cluster.workloads.name])
    raise UsageError(f"no container or workload '{name}' in cluster '{cluster.name}'{hint}")


def write_report(path: PathLike, inspection: Inspection, *, command: str, group_by: str | None = None) -> None:
    """One self-contained HTML file about an inspection."""
    from bayplan.formats.document.text import write_text_atomically
    from bayplan.report.answers.placement_page import report_page
    from bayplan.report.page import how_made

    snapshot = inspection.snapshot
    page = report_page(
        snapshot,
        inspection.state,
        inspection.violations,
        title=snapshot.cluster.name,
        made=how_made(command),
        group_by=grouping(snapshot.cluster, group_by),
    )
    write_text_atomically(path, page)


def write_comparison(path: PathLike, before: Snapshot, after: Inspection, *, command: str, headline: str = "") -> None:
    """One self-contained HTML file about a change: before and after, side by side."""
    from bayplan.formats.document.text import write_text_atomically
    from bayplan.report.answers.placement_page import comparison_page
    from bayplan.report.page import how_made

    page = comparison_page(
        before,
        after.snapshot.placement,
        (summarise(before), after.state),
        violations=after.violations,
        headline=headline,
        made=how_made(command),
        group_by=grouping(before.cluster, None),
    )
    write_text_atomically(path, page)


def write_picture(path: PathLike, snapshot: Snapshot, *, group_by: str | None = None) -> None:
    """The bay plan as an SVG file."""
    from bayplan.formats.document.text import write_text_atomically
    from bayplan.report.pictures import bay_plan

    write_text_atomically(path, bay_plan(snapshot.cluster, snapshot.placement, group_by=grouping(snapshot.cluster, group_by)))


def grouping(cluster: Cluster, level: str | None) -> str | None:
    """The level by which pictures group machines: the stated one, else the one with the fewest groups (2 to 12)."""
    names = [known.name for known in cluster.levels[1:]]
    if level is not None:
        if level not in names:
            expected = " or ".join(names) or "no grouping"
            raise UsageError(f"no level '{level}' in cluster '{cluster.name}'; expected {expected}{did_you_mean(level, names)}")
        return level
    few = [known for known in cluster.levels[1:] if 2 <= len(known.group) <= MOST_GROUPS]
    return min(few, key=lambda known: len(known.group)).name if few else None
