"""What every decision says: how it ended, its counts, its scores, and what is left out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from bayplan.model import Reason, Result
from bayplan.report.amounts import about, count, percent, score
from bayplan.report.answers.placement_tables import change_table, score_table
from bayplan.report.table import UNKNOWN, Cell, Facts, Report, Sentence, Table, TableColumn, facts, report, sentences, table
from bayplan.report.violations import SHOWN, verdict


def decision_report(
    result: Result[Any],
    *,
    method: str,
    counts: Mapping[str, int | str] = MappingProxyType({}),
    still_violated: Sequence[object] = (),
) -> Report:
    """What a decision prints: how it ended, the caller's counts (placed, moved, ..), its scores, and what is left out."""
    known = [*ended(result, method=method, counts=counts), *bound_facts(result)]
    left_out = reason_table(result.left_out, "left out", title=f"Left out: {len(result.left_out):,}").first(SHOWN)
    violated = sentences((f"still violated: {sentence}" for sentence in still_violated), SHOWN)
    return report(facts(*known), score_table(result.score, {}), left_out, *violated)


def ended(result: Result[Any], *, method: str, counts: Mapping[str, int | str] = MappingProxyType({})) -> list[tuple[str, str]]:
    """The facts that every decision begins with."""
    known = [("method", method), ("status", str(result.status)), ("seconds", f"{result.seconds:.2f}")]
    return [*known, *((name, value if isinstance(value, str) else f"{value:,}") for name, value in counts.items())]


def bound_facts(result: Result[Any]) -> list[tuple[str, str]]:
    """The proven bound and the gap to it, if there is one."""
    if result.bound is None:
        return []
    gap = f" (gap {percent(result.gap)})" if result.gap is not None else ""
    return [(f"bound of {result.goal}", score(result.bound) + gap)]


def reason_table(reasons: Sequence[Reason], subject: str, *, title: str) -> Table:
    """What is left out, and why."""
    columns = (TableColumn(subject, key="name"), TableColumn("why", key="reason"))
    return table(columns, ((Cell(reason.subject), Cell(reason.text)) for reason in reasons), title=title)


def move_table(moves: Iterable[tuple[str, str | None, str | None]]) -> Table:
    """Containers that change machines: container, from, to; without a machine where it is None."""
    columns = (TableColumn("container"), TableColumn("from"), TableColumn("to"))
    rows = ((Cell(container), Cell(before or UNKNOWN), Cell(after or UNKNOWN)) for container, before, after in moves)
    return table(columns, rows, title="Moves")


@dataclass(frozen=True, slots=True, kw_only=True)
class AffinityGain:
    """What a collocation gained, and for how many moves."""

    before: float  # gained affinity, of a total of 1
    after: float
    moved: int  # containers
    share: float  # of those that ran
    stays: str | None = None  # why nothing moves

    @property
    def gained_words(self) -> str:
        """'0.0700 before, 0.8720 after'."""
        return f"{self.before:.4f} before, {self.after:.4f} after"

    @property
    def moved_words(self) -> str:
        """'1,164 containers, 33 % of those that ran'."""
        if self.stays is not None:
            return f"nothing: {self.stays}"
        return f"{count(self.moved, 'container')}, {percent(self.share)} of those that ran"


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationOutline:
    """The migration to a placement, in short."""

    counts: Mapping[str, int]  # batches, steps; empty if there is no plan
    safe: bool
    stuck: int  # containers that do not arrive
    seconds: float
    alive: float  # smallest share of a workload that runs at any time

    def __str__(self) -> str:
        """'31 batches, 1,742 steps, about 12 min; safe, at least 75 % of each workload runs; all containers arrive'."""
        if not self.counts:
            return "no plan"
        counted = ", ".join(f"{number:,} {name}" for name, number in self.counts.items())
        safe = f"{'safe' if self.safe else 'UNSAFE'}, at least {percent(self.alive)} of each workload runs"
        arrive = f"{count(self.stuck, 'container')} cannot arrive" if self.stuck else "all containers arrive"
        return f"{counted}, about {about(self.seconds)}; {safe}; {arrive}"


def collocate_report(
    result: Result[Any],
    gain: AffinityGain,
    *,
    method: str,
    counts: Mapping[str, int] = MappingProxyType({}),
    notes: Sequence[str] = (),
    still_violated: Sequence[object] = (),
) -> Report:
    """How a collocation ended: what was gained and moved, the bound, the scores, and what is left out."""
    known: dict[str, int | str] = {**counts, "gained affinity": gain.gained_words, "moved": gain.moved_words}
    decision = decision_report(result, method=method, counts=known)
    violated = sentences((f"still violated: {sentence}" for sentence in still_violated), SHOWN)
    return decision + report(*map(Sentence, notes), *violated)


def collocate_outline(
    gain: AffinityGain,
    scores: tuple[Mapping[str, float], Mapping[str, float]],
    violations: Sequence[object],
    migration: MigrationOutline,
    *,
    seed: int,
) -> Report:
    """A collocation in short: what was gained, the scores before beside after, the verdict, and the migration."""
    known = (
        ("seed", f"{seed:,}"),
        ("gained affinity", gain.gained_words),
        ("moved", gain.moved_words),
        ("placement", verdict(violations)),
        ("migration", str(migration)),
    )
    before, after = scores
    return report(Facts(known), change_table(*({name: side[name] for name in before if name in after} for side in scores)))
