"""An admission in numbers and words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayplan.model import Acceptance, ClusterRequest, Result
from bayplan.report.amounts import percent, score
from bayplan.report.answers.decision_tables import frame, note_sentences
from bayplan.report.table import Cell, Report, Table, TableColumn, count_cell, report, score_cell, table
from bayplan.report.violations import SHOWN
from bayplan.words import count

REFUSALS = (TableColumn("why"), TableColumn("requests", "number"), TableColumn("value", "number", drop=1))
REFUSED = (
    TableColumn("request", key="name"),
    TableColumn("members", "number", drop=1),
    TableColumn("arrives", "number", drop=2, key="arrival"),
    TableColumn("from", "number", drop=3, key="start"),
    TableColumn("until", "number", drop=4, key="end"),
    TableColumn("value", "number"),
    TableColumn("why", key="reason"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedGroup:
    """Requests that were refused for one kind of reason."""

    kind: str  # its first words
    why: str
    requests: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitFigures:
    """What became of a stream."""

    method: str
    requests: int
    accepted: int
    skipped: int  # left out because of faults
    offered: float  # value of all requests
    parameters: Sequence[tuple[str, str]]  # U, alpha, lambda, T: in words
    use: Sequence[tuple[str, float, float]]  # resource or links, mean and highest share
    ratio: float | None  # bound by value
    why: Sequence[RefusedGroup]

    @property
    def kinds(self) -> str:
        """'31 too expensive, 3 no capacity': the reasons without their places."""
        requests: Counter[str] = Counter()
        for row in self.why:
            requests[row.kind] += row.requests
        return ", ".join(f"{number:,} {kind}" for kind, number in requests.most_common())

    @property
    def accepted_share(self) -> float:
        """The share of the requests that was accepted."""
        return self.accepted / self.requests if self.requests else 0.0


def admit_report(result: Result[Acceptance], figures: AdmitFigures, *, seed: int, wall: float) -> Report:
    """What `admit` prints: how it ended, what was accepted, by which prices, how full it was, why others were refused."""
    known = (
        ("accepted", f"{figures.accepted:,} of {figures.requests:,} requests, {percent(figures.accepted_share)}"),
        ("value", value_words(result, figures)),
        ("bound of value", bound_words(result, figures)),
        *figures.parameters,
        ("use over time", use_words(figures.use)),
        ("left out", f"{figures.skipped:,} more requests had faults" if figures.skipped else ""),
    )
    shown = frame(result, method=figures.method, seed=seed, wall=wall, more=[pair for pair in known if pair[1]])
    return report(shown, refusal_table(figures).first(SHOWN, "kinds of reasons"), *note_sentences(result))


def admit_headline(result: Result[Acceptance], figures: AdmitFigures) -> str:
    """'accepts 12 of 30 requests, worth 345, 61 % of what was offered'."""
    return f"accepts {figures.accepted:,} of {count(figures.requests, 'request')}, worth {value_words(result, figures)}"


def parameter_facts(known: Mapping[str, Any]) -> list[tuple[str, str]]:
    """U, alpha, lambda and T by name, each given or estimated; nothing where there are no prices."""
    if known["base"] == 1.0:
        return []
    lines = [("U, value by use", f"{score(known['value_ratio'])} ({known['value_ratio_from']})")]
    if known["alpha_from"] != "not used":
        source = "the one-shot method is exact" if known["alpha_from"] == "exact" else known["alpha_from"]
        lines.append(("alpha, divides the cost", f"{score(known['alpha'])} ({source})"))
    if known["slots"] is not None:
        lines.append(("T, slots", f"{known['slots']:,} ({known['slots_from']})"))
    return [*lines, ("lambda, base of prices", score(known["base"]))]


def value_words(result: Result[Acceptance], figures: AdmitFigures) -> str:
    """'12,345, 61 % of what was offered'."""
    value = result.score.get("value", 0.0)
    share = f", {percent(value / figures.offered)} of what was offered" if figures.offered else ""
    return f"{score(value)}{share}"


def bound_words(result: Result[Acceptance], figures: AdmitFigures) -> str:
    """'12,345: the best possible is worth at most 1.21 times as much'; nothing if there is no bound."""
    if result.bound is None:
        return ""
    ratio = "" if figures.ratio is None else f": the best possible is worth at most {figures.ratio:.4g} times as much"
    return f"{score(result.bound)}{ratio}"


def use_words(use: Sequence[tuple[str, float, float]]) -> str:
    """'cpu 43 % (at most 91 %), links 12 % (at most 30 %)'."""
    return ", ".join(f"{name} {percent(mean)} (at most {percent(peak)})" for name, mean, peak in use)


def refusal_table(figures: AdmitFigures) -> Table:
    """Why requests were refused, kind by kind."""
    rows = ((Cell(row.why), count_cell(row.requests), score_cell(row.value)) for row in figures.why)
    return table(REFUSALS, rows, title=f"Refused: {figures.kinds}")


def refused_table(refused: Sequence[tuple[ClusterRequest, str]]) -> Table:
    """The requests that were refused, one by one."""
    return table(REFUSED, (_refused(request, why) for request, why in refused), title="The most valuable first")


def _refused(request: ClusterRequest, why: str) -> tuple[Cell, ...]:
    times = (Cell(f"{moment:,.6g}", moment) for moment in (request.arrival, request.start, request.end))
    return (Cell(request.name), count_cell(len(request.members)), *times, score_cell(request.value), Cell(why))
