"""A schedule in numbers, for tables on a screen and on a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bayplan.model import Result
from bayplan.report.amounts import count, percent, score
from bayplan.report.markup import Cell
from bayplan.report.pack_rows import odds

CLASS_HEADS = ("class", "requests", "served", "share", "value asked for", "value served", "share of value")
KIND_HEADS = ("kind of machine", "machines", "requests served", "value served")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRow:
    """The requests of one class."""

    name: str
    requests: int
    served: int
    asked: float  # value of all
    value: float  # of those that are served


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRow:
    """The machines of one kind."""

    name: str
    machines: int
    served: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRow:
    """One resource over time, as shares of all machines."""

    name: str
    asked: float  # the load factor of this resource alone
    used: float  # of what is served
    peak: float  # the most that is asked for at one time
    peak_used: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFigures:
    """What a schedule comes to."""

    requests: int
    served: int
    machines: int
    asked: float  # value of all requests
    value: float  # of those that are served
    load: float  # 002 (5); NaN without machines
    utilisation: float  # the same of what is served
    span: float  # T of (5)
    narrow: int
    wide: int
    too_large: int  # requests that no machine could hold
    resources: tuple[ResourceRow, ...]
    classes: tuple[ClassRow, ...]
    kinds: tuple[KindRow, ...]


def share_of(part: float, whole: float) -> float:
    """A share; NaN of nothing."""
    return part / whole if whole else float("nan")


def schedule_lines(figures: ScheduleFigures, result: Result[Any]) -> list[tuple[str, str]]:
    """Names and values: what is served, what it is worth, how near the best, how much is asked for and used."""
    of_value = percent(share_of(figures.value, figures.asked))
    lines = [
        ("value", f"{score(figures.value)}, {of_value} of {score(figures.asked)}"),
        (
            "served",
            f"{count(figures.served, 'request')} of {figures.requests:,}, {percent(share_of(figures.served, figures.requests))}",
        ),
        ("proven bound", _bound(result)),
        ("machines", f"{figures.machines:,}" + (f" of {len(figures.kinds)} kinds" if len(figures.kinds) > 1 else "")),
        ("load factor", f"{figures.load:.3g}" if figures.load == figures.load else "–"),
        ("utilisation", percent(figures.utilisation)),
        ("narrow, wide", f"{figures.narrow:,}, {figures.wide:,}"),
    ]
    lines += [
        (f"{row.name}", f"asked for {percent(row.asked)}, used {percent(row.used)} of all machine time")
        for row in figures.resources
    ]
    return lines


def _bound(result: Result[Any]) -> str:
    if result.bound is None:
        return "none"
    gap = "" if result.gap is None else f", gap {odds(result.gap)}"
    return f"no schedule is worth more than {score(result.bound)}{gap}"


def class_cells(row: ClassRow) -> tuple[Cell, ...]:
    """As in `CLASS_HEADS`."""
    return (
        Cell(row.name),
        Cell(f"{row.requests:,}", row.requests),
        Cell(f"{row.served:,}", row.served),
        _share(share_of(row.served, row.requests)),
        Cell(score(row.asked), row.asked),
        Cell(score(row.value), row.value),
        _share(share_of(row.value, row.asked)),
    )


def kind_cells(row: KindRow) -> tuple[Cell, ...]:
    """As in `KIND_HEADS`."""
    return (
        Cell(row.name),
        Cell(f"{row.machines:,}", row.machines),
        Cell(f"{row.served:,}", row.served),
        Cell(score(row.value), row.value),
    )


def _share(share: float) -> Cell:
    return Cell(percent(share), share)


SWEEP_HEADS = ("machines", "served", "share", "value", "proven bound", "gap", "one more adds", "the bound gains at most")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """The answer on so many machines."""

    machines: int
    served: int
    value: float
    bound: float | None  # no schedule on so many machines is worth more
    price: float | None  # by so much at most a proven bound rises with each machine more
    seconds: float

    @property
    def gap(self) -> float | None:
        """As in every result."""
        if self.bound is None:
            return None
        return max(0.0, self.bound - self.value) / self.value if self.value else (0.0 if self.bound <= 0 else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest:
    """The fewest machines that serve a stated share."""

    share: float  # that was asked for
    machines: int | None  # None: not even the most that were tried
    served: float  # the share that they serve; the largest that was seen if there are none
    one_less: float | None  # the share that one machine less serves; None for no machines
    at_least: int | None  # proven: no schedule on fewer machines serves the share; None if nothing is proven


def slopes(points: Sequence[SweepPoint]) -> list[float | None]:
    """What each machine more adds to the value, from each point to the next; None at the last."""
    steps = [(b.value - a.value) / (b.machines - a.machines) for a, b in pairwise(points)]
    return [*steps, *([None] if points else [])]


def sweep_cells(point: SweepPoint, slope: float | None, requests: int) -> tuple[Cell, ...]:
    """As in `SWEEP_HEADS`."""
    return (
        Cell(f"{point.machines:,}", point.machines),
        Cell(f"{point.served:,}", point.served),
        _share(share_of(point.served, requests)),
        Cell(score(point.value), point.value),
        _maybe(point.bound),
        Cell("–" if point.gap is None else odds(point.gap), float("nan") if point.gap is None else point.gap),
        _maybe(slope),
        _maybe(point.price),
    )


def _maybe(value: float | None) -> Cell:
    return Cell("–", float("nan")) if value is None else Cell(score(value), value)


def smallest_line(smallest: Smallest) -> str:
    """'95 % needs 412 machines: they serve 95.02 %, 411 serve 94.9 %; proven: fewer than 380 never do'."""
    asked = _exact(smallest.share)
    if smallest.machines is None:
        return f"{asked}: not reached; the most that was served is {_exact(smallest.served)}"
    less = "" if smallest.one_less is None else f", one less serves {_exact(smallest.one_less)}"
    proven = "" if smallest.at_least is None else f"; proven: fewer than {smallest.at_least:,} never do"
    return f"{count(smallest.machines, 'machine')} for {asked}: they serve {_exact(smallest.served)}{less}{proven}"


def _exact(share: float) -> str:
    return f"{100 * share:.4g} %"
