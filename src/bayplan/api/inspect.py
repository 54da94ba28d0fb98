"""Look at a cluster: its state in numbers, the rules it violates, why a container is where it is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayplan.api.answer import PathLike
from bayplan.check import Violation, violations
from bayplan.errors import UsageError, did_you_mean
from bayplan.model import Cluster, Placement, Snapshot
from bayplan.score.explain import Explanation, WorkloadExplanation, explain_workload
from bayplan.score.explain import explain as explanation_of
from bayplan.score.summary import Summary, summarise

if TYPE_CHECKING:
    from bayplan.report.table import Report

MOST_GROUPS = 12  # more groups than this would tear a picture apart


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckResult:
    """What the referee says: true if every rule is kept, else one violation after the other."""

    name: str
    violations: tuple[Violation, ...]
    score: Mapping[str, float] = field(default_factory=dict)
    skipped: int = 0  # requests of the input that were left out because of their faults

    @property
    def valid(self) -> bool:
        """Is every rule kept?"""
        return not self.violations

    def __bool__(self) -> bool:
        return self.valid

    def __iter__(self) -> Iterator[Violation]:
        return iter(self.violations)

    def __len__(self) -> int:
        return len(self.violations)

    def content(self) -> "Report":
        """The verdict, and one sentence per violation."""
        from bayplan.report.table import Sentence, report
        from bayplan.report.violations import verdict

        head = Sentence(verdict(self.violations), "bad" if self.violations else "good")
        return report(head, *(Sentence(violation.sentence) for violation in self.violations))

    def summary(self) -> str:
        """The same in plain text."""
        from bayplan.report.terminal import text_of

        return text_of(self.content())

    def to_dict(self) -> dict[str, Any]:
        """The object that `check --json` prints."""
        from bayplan.report.json import plain

        answer = {
            "verb": "check",
            "name": self.name,
            "valid": self.valid,
            "violated": len(self.violations),
            "score": self.score,
            "violations": [{**plain(violation), "sentence": violation.sentence} for violation in self.violations],
            "skipped": self.skipped,
        }
        plain_answer: dict[str, Any] = plain(answer)
        return plain_answer

    def _repr_html_(self) -> str:
        from bayplan.report.fragment import fragment

        return fragment(self.content())


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


def check(snapshot: Snapshot, *, before: Placement | None = None) -> CheckResult:
    """What the referee says about a placement: every violated rule, one sentence each.

    With `before`, the rules about moves (transient, pinned, nothing lost) are checked too.

    >>> import bayplan as bp
    >>> verdict = bp.check(bp.generate("boutique"))
    >>> verdict.valid, len(verdict.violations)
    (True, 0)
    """
    state = summarise(snapshot, before)
    violated = tuple(violations(snapshot.cluster, snapshot.placement, before))
    return CheckResult(name=snapshot.cluster.name, violations=violated, score=state.score)


def explain(snapshot: Snapshot, name: str) -> Explanation | WorkloadExplanation:
    """Why a container is where it is, which machines could take it, and what blocks the others.

    `name` is a container or a workload. Of a workload with several containers there is one explanation per machine.

    >>> import bayplan as bp
    >>> why = bp.explain(bp.generate("boutique"), "frontend-0")
    >>> why.container, why.workload
    ('frontend-0', 'frontend')
    """
    cluster, placement = snapshot.cluster, snapshot.placement
    if name not in cluster.containers.name and name in cluster.workloads.name:
        workload = cluster.workloads.name.index(name)
        if cluster.replicas[workload] != 1:
            return explain_workload(cluster, placement, workload, snapshot.objective)
        name = cluster.containers.name[int((cluster.containers.workload == workload).argmax())]
    return explanation_of(cluster, placement, container_index(cluster, name), objective=snapshot.objective)


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


def write_comparison(path: PathLike, before: Snapshot, after: Inspection, *, command: str, group_by: str | None = None) -> None:
    """One self-contained HTML file about a change: before and after, side by side."""
    from bayplan.formats.document.text import write_text_atomically
    from bayplan.report.answers.placement_page import comparison_page
    from bayplan.report.page import how_made

    page = comparison_page(
        before,
        after.snapshot.placement,
        (summarise(before), after.state),
        violations=after.violations,
        title=before.cluster.name,
        made=how_made(command),
        group_by=grouping(before.cluster, group_by),
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
