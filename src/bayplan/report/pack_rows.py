"""A packing in numbers, for tables on a screen and on a page. Amounts are floats in base units."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayplan.model import Resource, Result
from bayplan.report.amounts import human_amount, percent, score
from bayplan.report.markup import Cell

LEVEL_HEADS = ("packed at", "machines", "UCaC", "left out", "machines saved")
MACHINE_HEADS = ("machine", "containers", "mean", "UCaC", "of capacity", "over-commitment", "predicted", "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
    """How probable it is that a machine uses more than it has."""

    largest: float  # of all machines
    mean: float  # over the machines that run something


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one placement takes of the resource that counts."""

    resource: Resource
    alpha: float
    machines: int  # that run something
    containers: int
    capacity: float  # of these machines
    ucac: float
    mean: float
    reserved: float | None  # the sum of the limits, or of the requests where no limits are stated; None if neither is
    reserved_by: str  # "limits" or "requests"
    predicted: Odds
    simulated: Odds
    draws: int  # for each machine

    @property
    def over_commitment(self) -> float | None:
        """How many times the capacity in use is promised; None if nobody has promised anything."""
        return self.reserved / self.capacity if self.reserved is not None and self.capacity else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRow:
    """The same containers packed at another confidence, by a quick method."""

    alpha: float | None  # None: by limits or requests, as if all were used at once
    by: str  # "limits", "requests" or "" for a confidence
    machines: int
    ucac: float  # at this confidence; by limits: what is reserved
    left_out: int
    saved: int | None  # machines fewer than by limits; None if there are none to compare with
    at_least: bool = False  # by limits some are left out, so more would be saved


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRow:
    """One machine."""

    machine: str
    containers: int
    capacity: float
    mean: float
    ucac: float
    reserved: float | None
    predicted: float
    simulated: float


def amount(value: float, resource: Resource) -> str:
    """Written units, with more digits than `human_amount` has: '32,190.8' cores."""
    if resource.unit == "bytes":
        return human_amount(value, resource)
    return score(value / resource.scale)


def with_unit(value: float, resource: Resource) -> str:
    """'32,190.8 cores'."""
    unit = "" if resource.unit in ("", "bytes") else f" {resource.unit}"
    return f"{amount(value, resource)}{unit}"


def confidence(alpha: float) -> str:
    """'99.9 %', as many digits as it was stated with."""
    return f"{100 * alpha:.10g} %"


def odds(probability: float) -> str:
    """'0.041 %'; what is below a millionth is shown as such."""
    if probability == 0:
        return "0"
    if probability < 1e-8:
        return "< 0.000001 %"
    digits = max(0, 1 - math.floor(math.log10(100 * probability)))  # two that count
    return f"{100 * probability:.{digits}f}".rstrip("0").rstrip(".") + " %" if digits else f"{100 * probability:.0f} %"


def times(factor: float | None) -> str:
    """'1.42 x'."""
    return "–" if factor is None else f"{factor:.2f} ×"


def level_cells(row: LevelRow, resource: Resource) -> tuple[Cell, ...]:
    """As in `LEVEL_HEADS`."""
    name = f"the sum of {row.by}" if row.alpha is None else confidence(row.alpha)
    return (
        Cell(name),
        Cell(f"{row.machines:,}", row.machines),
        Cell(amount(row.ucac, resource), row.ucac),
        Cell(f"{row.left_out:,}", row.left_out, class_="worse" if row.left_out else ""),
        Cell(_saved(row), float("nan") if row.saved is None else row.saved),
    )


def _saved(row: LevelRow) -> str:
    if row.saved is None:
        return "–"
    share = f" ({percent(row.saved / (row.machines + row.saved))})" if row.saved > 0 else ""
    return f"{'at least ' if row.at_least else ''}{row.saved:,}{share}"


def machine_cells(row: MachineRow, resource: Resource) -> tuple[Cell, ...]:
    """As in `MACHINE_HEADS`."""
    share = row.ucac / row.capacity if row.capacity else float("inf")
    promised = row.reserved / row.capacity if row.reserved is not None and row.capacity else None
    return (
        Cell(row.machine),
        Cell(f"{row.containers:,}", row.containers),
        Cell(amount(row.mean, resource), row.mean),
        Cell(amount(row.ucac, resource), row.ucac),
        Cell(percent(share), share, class_="worse" if share > 1 + 1e-9 else ""),
        Cell(times(promised), float("nan") if promised is None else promised),
        Cell(odds(row.predicted), row.predicted),
        Cell(odds(row.simulated), row.simulated),
    )


def capacity_lines(figures: Figures) -> Sequence[tuple[str, str]]:
    """Names and values: what is used, against what would be on average and what was promised."""
    ucac, resource = figures.ucac, figures.resource
    used = percent(ucac / figures.capacity) if figures.capacity else "–"
    lines = [
        ("confidence", f"{confidence(figures.alpha)} that a machine's {resource.name} suffices"),
        ("machines", f"{figures.machines:,}, with {with_unit(figures.capacity, resource)}"),
        ("UCaC", f"{with_unit(ucac, resource)}, {used} of these machines"),
        ("mean usage", f"{with_unit(figures.mean, resource)}{_against(ucac, figures.mean, 'UCaC is')}"),
    ]
    if figures.reserved is not None:
        promise = f"{with_unit(figures.reserved, resource)}{_against(ucac, figures.reserved, 'UCaC is')}"
        lines += [
            (f"sum of {figures.reserved_by}", promise),
            ("over-commitment", f"{times(figures.over_commitment)} the capacity"),
        ]
    return lines


def _against(ucac: float, other: float, words: str) -> str:
    return f"; {words} {ucac / other:.2f} times that" if other else ""


def violation_lines(figures: Figures) -> Sequence[tuple[str, str]]:
    """Names and values: how often machines overflow."""
    allowed, predicted, simulated = odds(1 - figures.alpha), figures.predicted, figures.simulated
    return (
        ("violations allowed", f"{allowed} of the time, on any machine"),
        ("predicted", f"{odds(predicted.mean)} on average, {odds(predicted.largest)} on the worst machine"),
        ("simulated", f"{odds(simulated.mean)} on average, {figures.draws:,} draws of each container"),
    )


def bound_lines(result: Result[Any]) -> list[tuple[str, str]]:
    """The proven bound and the gap to it, if there is one."""
    if result.bound is None:
        return []
    gap = "" if result.gap is None else f", gap {odds(result.gap)}"
    return [(f"bound of {result.goal}", f"{score(result.bound)}{gap}")]
