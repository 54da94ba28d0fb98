"""An admission in numbers and words, for tables on a screen and on a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from bayplan.model import Acceptance, Result
from bayplan.report.amounts import percent, score
from bayplan.report.markup import Cell

WHY_HEADS = ("why", "requests", "value")


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyRow:
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
    why: Sequence[WhyRow]

    @property
    def kinds(self) -> str:
        """'31 too dear, 3 no room': the reasons without their places."""
        count: dict[str, int] = {}
        for row in self.why:
            count[row.kind] = count.get(row.kind, 0) + row.requests
        return ", ".join(f"{number:,} {kind}" for kind, number in sorted(count.items(), key=lambda one: -one[1]))

    @property
    def winners(self) -> float:
        """The share that was let in."""
        return self.accepted / self.requests if self.requests else 0.0


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


def why_cells(row: WhyRow) -> tuple[Cell, ...]:
    """As in `WHY_HEADS`."""
    return Cell(row.why), Cell(f"{row.requests:,}", row.requests), Cell(score(row.value), row.value)
