"""A packing in numbers. Amounts are floats in base units."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from bayplan.model import Reason, Resource, Result
from bayplan.report.amounts import human_amount, odds, percent, score
from bayplan.report.answers.decision_tables import goal_words, reason_table
from bayplan.report.table import UNKNOWN, Cell, Report, Table, TableColumn, count_cell, facts, report, sentences, table
from bayplan.report.violations import SHOWN
from bayplan.score.packing import ConfidenceLevel, PackedMachine, PackFigures
from bayplan.score.peak import PeakUsage
from bayplan.words import count, first_names

DATES = 1e8  # seconds: from here on a time counts from 1970
LEVELS = (
    TableColumn("packed at"),
    TableColumn("machines", "number"),
    TableColumn("UCaC", "number"),
    TableColumn("left out", "number", drop=1),
    TableColumn("machines saved", "number", key="saved"),
)
MACHINES = (
    TableColumn("machine"),
    TableColumn("containers", "number", drop=1),
    TableColumn("mean", "number", drop=2),
    TableColumn("UCaC", "number"),
    TableColumn("of capacity", "share", key="share"),
    TableColumn("over-commitment", "number", drop=3),
    TableColumn("predicted", "share"),
    TableColumn("simulated", "share"),
)
COMPARED: Mapping[str, tuple[str, bool]] = {  # field of PackFigures, is it an amount?
    "containers": ("containers", False),
    "machines": ("machines", False),
    "capacity of these machines": ("capacity", True),
    "UCaC": ("ucac", True),
    "mean usage": ("mean", True),
    "reserved": ("reserved", True),
    "over-commitment": ("over_commitment", False),
}


def pack_headline(result: Result[Any], figures: PackFigures, *, packed: int, left_out: int) -> str:
    """'6 containers packed, 2 left out; 8 run on 3 machines at 99 %; ucac 12.3 (at least 12.1 is possible)'."""
    if result.solution is None:
        return f"no packing: {result.status}"
    missing = f", {left_out:,} left out" if left_out else ""
    runs = f"{figures.containers:,} run on {count(figures.machines, 'machine')} at {confidence(figures.alpha)}"
    return f"{count(packed, 'container')} packed{missing}; {runs}; {goal_words(result)}"


class WorkloadChange(NamedTuple):
    """How the containers of one workload change."""

    workload: str
    before: int
    target: int
    deleted: int
    created: int
    left_out: int


CHANGES = (
    TableColumn("workload"),
    TableColumn("before", "number"),
    TableColumn("target", "number"),
    TableColumn("deleted", "number"),
    TableColumn("created", "number"),
    TableColumn("left out", "number", drop=1, key="left_out"),
)


def change_headline(deleted: int, freed: int) -> str:
    """'12 containers deleted, 3 machines become free'."""
    return f"{count(deleted, 'container')} deleted, {count(freed, 'machine')} {'becomes' if freed == 1 else 'become'} free"


def change_report(
    rows: Sequence[WorkloadChange],
    containers: Mapping[str, Sequence[tuple[str, str]]],
    *,
    freed: Sequence[str],
    opened: Sequence[str],
    over: tuple[int, int],
) -> Report:
    """What is deleted and created, which machines become free, and where the confidence held before and holds now.

    `containers`: "deleted" and "created", each with its machine, "" if it had none.
    """
    known = facts(
        *((word, _named([f"{name} on {at}" if at else name for name, at in those])) for word, those in containers.items()),
        ("machines that become free", _named(freed)),
        ("machines that were empty", _named(opened)),
        ("machines over the confidence", f"{over[0]:,} before, {over[1]:,} now"),
    )
    cells = ((Cell(row.workload), *(count_cell(number) for number in row[1:])) for row in rows)
    return report(known, table(CHANGES, cells, title=f"Workloads that change: {len(rows):,}").first(SHOWN))


def _named(names: Sequence[str]) -> str:
    return f"{len(names):,}: {first_names(names)}" if names else "0"


def peak_sentence(workload: str, usage: PeakUsage, resource: Resource, window: float) -> str:
    """'peak of web: 2024-05-01 09:30 to 10:30 UTC, mean 0.33 cores, deviation 0.04, 6 samples'."""
    begin, end = usage.start, usage.start + window
    span = f"{begin:,g} to {end:,g} s"
    if begin >= DATES:
        first, last = (datetime.fromtimestamp(time, UTC) for time in (begin, end))
        span = f"{first:%Y-%m-%d %H:%M} to {last:{'%H:%M' if first.date() == last.date() else '%Y-%m-%d %H:%M'}} UTC"
    amounts = f"mean {with_unit(usage.mean, resource)}, deviation {amount(usage.deviation, resource)}"
    return f"peak of {workload}: {span}, {amounts}, {count(len(usage.samples), 'sample')}"


def pack_report(result: Result[Any], figures: PackFigures, levels: Sequence[ConfidenceLevel]) -> Report:
    """What a packing takes, how often machines overflow, what confidence costs, what is left out, what is violated."""
    known = facts(*capacity_facts(figures), *bound_facts(result), *overflow_facts(figures))
    violated = sentences(result.still_violated, SHOWN)
    return report(known, level_table(levels, figures.resource), _left_out(result.left_out), *violated)


def needed_headline(result: Result[Any], machines: int, alpha: float, resource: Resource) -> str:
    """'22 machines needed at 99.9 % that cpu suffices; at least 21 is proven'."""
    bound = "nothing is proven" if result.bound is None else f"at least {result.bound:,.0f} is proven"
    return f"{count(machines, 'machine')} needed at {confidence(alpha)} that {resource.name} suffices; {bound}"


def needed_report(by_type: Iterable[tuple[str, int, int]], left_out: Sequence[Reason]) -> Report:
    """How many machines of each type are needed and available, and what fits on none."""
    columns = (TableColumn("type of machine", key="type"), TableColumn("needed", "number"), TableColumn("available", "number"))
    rows = ((Cell(name), count_cell(needed), count_cell(available)) for name, needed, available in by_type)
    return report(table(columns, rows, title="By type"), _left_out(left_out))


def _left_out(reasons: Sequence[Reason]) -> Table:
    return reason_table(reasons, "workload", title=f"Left out: {len(reasons):,}").first(SHOWN)


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


def times(factor: float | None) -> str:
    """'1.42 x'."""
    return UNKNOWN if factor is None else f"{factor:.2f} ×"


def level_table(levels: Sequence[ConfidenceLevel], resource: Resource) -> Table:
    """What each confidence takes, one line each."""
    return table(LEVELS, (_level(level, resource) for level in levels), title="What over-commitment buys")


def _level(level: ConfidenceLevel, resource: Resource) -> tuple[Cell, ...]:
    return (
        Cell(f"the sum of {level.by}" if level.alpha is None else confidence(level.alpha)),
        count_cell(level.machines),
        Cell(amount(level.ucac, resource), level.ucac),
        count_cell(level.left_out, "bad" if level.left_out else ""),
        Cell(_saved(level), level.saved),
    )


def _saved(level: ConfidenceLevel) -> str:
    if level.saved is None:
        return UNKNOWN
    share = f" ({percent(level.saved / (level.machines + level.saved))})" if level.saved > 0 else ""
    return f"{'at least ' if level.at_least else ''}{level.saved:,}{share}"


def machine_table(machines: Sequence[PackedMachine], resource: Resource) -> Table:
    """How full each machine is, and how often it overflows."""
    return table(MACHINES, (_machine(machine, resource) for machine in machines), title="The machines that overflow most often")


def _machine(row: PackedMachine, resource: Resource) -> tuple[Cell, ...]:
    share = row.ucac / row.capacity if row.capacity else math.inf
    reserved = row.reserved / row.capacity if row.reserved is not None and row.capacity else None
    return (
        Cell(row.machine),
        count_cell(row.containers),
        Cell(amount(row.mean, resource), row.mean),
        Cell(amount(row.ucac, resource), row.ucac),
        Cell(percent(share), share, "bad" if share > 1 + 1e-9 else ""),
        Cell(times(reserved), reserved),
        Cell(odds(row.predicted), row.predicted),
        Cell(odds(row.simulated), row.simulated),
    )


def comparison_table(before: PackFigures, after: PackFigures) -> Table:
    """What the packing takes, beside what ran before."""
    columns = (TableColumn("", key="figure"), TableColumn("before", "number"), TableColumn("after", "number"))
    return table(columns, (_compared(name, before, after, *of) for name, of in COMPARED.items()))


def _compared(name: str, before: PackFigures, after: PackFigures, field: str, is_amount: bool) -> tuple[Cell, ...]:
    def cell(figures: PackFigures) -> Cell:
        value = getattr(figures, field)
        if value is None:
            return Cell(UNKNOWN)
        if is_amount:
            return Cell(with_unit(value, figures.resource), value)
        return Cell(f"{value:,}" if isinstance(value, int) else times(value), float(value))

    by = f" ({after.reserved_by})" if field == "reserved" and after.reserved_by else ""
    return (Cell(f"{name}{by}"), cell(before), cell(after))


def capacity_facts(figures: PackFigures) -> list[tuple[str, str]]:
    """Names and values: what is used, against what would be on average and what is reserved."""
    ucac, resource = figures.ucac, figures.resource
    used = percent(ucac / figures.capacity) if figures.capacity else UNKNOWN
    lines = [
        ("confidence", f"{confidence(figures.alpha)} that a machine's {resource.name} suffices"),
        ("machines", f"{figures.machines:,}, with {with_unit(figures.capacity, resource)}"),
        ("UCaC", f"{with_unit(ucac, resource)}, {used} of these machines"),
        ("mean usage", f"{with_unit(figures.mean, resource)}{_against(ucac, figures.mean, 'UCaC is')}"),
    ]
    if figures.reserved is not None:
        reserved = f"{with_unit(figures.reserved, resource)}{_against(ucac, figures.reserved, 'UCaC is')}"
        lines += [
            (f"sum of {figures.reserved_by}", reserved),
            ("over-commitment", f"{times(figures.over_commitment)} the capacity"),
        ]
    return lines


def _against(ucac: float, other: float, words: str) -> str:
    return f"; {words} {ucac / other:.2f} times that" if other else ""


def overflow_facts(figures: PackFigures) -> list[tuple[str, str]]:
    """Names and values: how often machines overflow."""
    allowed, predicted, simulated = odds(1 - figures.alpha), figures.predicted, figures.simulated
    return [
        ("violations allowed", f"{allowed} of the time, on any machine"),
        ("predicted", f"{odds(predicted.mean)} on average, {odds(predicted.largest)} on the worst machine"),
        ("simulated", f"{odds(simulated.mean)} on average, {figures.draws:,} draws of each container"),
    ]


def bound_facts(result: Result[Any]) -> list[tuple[str, str]]:
    """The proven bound and the gap to it, if there is one."""
    if result.bound is None:
        return []
    gap = "" if result.gap is None else f", gap {odds(result.gap)}"
    return [(f"bound of {result.goal}", f"{score(result.bound)}{gap}")]
