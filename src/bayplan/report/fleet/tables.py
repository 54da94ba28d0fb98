"""A fleet of clusters in tables and words: one row for each cluster, and what the division of moves gained."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from bayplan.report.amounts import about, percent
from bayplan.report.table import UNKNOWN, Cell, Style, Table, TableColumn, count_cell, score_cell, table
from bayplan.score.goal.state_figures import StateFigures
from bayplan.words import count

RANKS = ("violated", "unplaced", "overload", "gain")  # of what a division gains


class ClusterStatus(StrEnum):
    """How a cluster of a fleet ended."""

    PLANNED = "planned"
    NO_CHANGE = "no change"
    NOT_WORTH_IT = "not worth it"
    FAILED = "failed"
    NOT_REACHED = "not reached"  # the time ended, or the user stopped it

    @property
    def has_plan(self) -> bool:
        """Was it planned, whether or not something moves?"""
        return self not in (ClusterStatus.FAILED, ClusterStatus.NOT_REACHED)


STYLES: Mapping[ClusterStatus, Style] = {
    ClusterStatus.PLANNED: "good",
    ClusterStatus.FAILED: "bad",
    ClusterStatus.NOT_REACHED: "warn",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRow:
    """One cluster of a fleet. Figures are None of a cluster without a plan."""

    name: str
    file: str
    status: ClusterStatus
    goal: str = ""
    headline: str = ""  # what `plan` says of it, or what is wrong
    machines: int = 0
    containers: int = 0
    running: int = 0
    weight: float = 1.0
    before: StateFigures | None = None
    after: StateFigures | None = None
    limit: int | None = None  # of moves, where the fleet's are divided
    moves: int = 0
    placed: int = 0
    batches: int = 0
    duration: float = 0.0  # seconds
    gain: float = 0.0  # in the third rank, less the price

    @property
    def size(self) -> float:
        """How much it counts in figures of the fleet: the containers that run, times its weight."""
        return self.running * self.weight


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveDivision:
    """How the moves of a fleet were divided, and what the same share for each cluster would gain. Gains by the fronts."""

    total: int
    chosen: Mapping[str, int]  # cluster -> moves
    even: Mapping[str, int]
    gain: Mapping[str, float]  # by rank, see RANKS
    even_gain: Mapping[str, float]


def fleet_gain(rows: Iterable[ClusterRow]) -> float:
    """The mean gain of the clusters that were planned, each by its size."""
    planned = [row for row in rows if row.status.has_plan]
    return _mean(planned, [row.gain for row in planned])


def fleet_local(rows: Iterable[ClusterRow], *, after: bool) -> float | None:
    """The mean share of traffic that can stay on one machine, each cluster by its size; None without traffic."""
    known = [(row, figures.local) for row in rows if (figures := row.after if after else row.before) is not None]
    with_traffic = [(row, local) for row, local in known if local is not None]
    return _mean([row for row, _ in with_traffic], [local for _, local in with_traffic]) if with_traffic else None


def _mean(rows: Sequence[ClusterRow], values: Sequence[float]) -> float:
    sizes = [row.size for row in rows]
    whole = sum(sizes)
    return sum(size * value for size, value in zip(sizes, values, strict=True)) / whole if whole else 0.0


def fleet_sum(rows: Iterable[ClusterRow], figure: str, *, after: bool) -> int:
    """The sum of a figure over the clusters that were planned."""
    states = [row.after if after else row.before for row in rows]
    return sum(getattr(state, figure) for state in states if state is not None)


COLUMNS = (
    TableColumn("cluster", least=6),
    TableColumn("machines", "number", drop=3),
    TableColumn("containers", "number", drop=4),
    TableColumn("hot before", "number", short="hot\nbefore"),
    TableColumn("hot after", "number", short="hot\nafter"),
    TableColumn("local before", "share", short="local\nbefore", drop=6),
    TableColumn("local after", "share", short="local\nafter", drop=6),
    TableColumn("moves", "number"),
    TableColumn("of at most", "number", drop=2),
    TableColumn("batches", "number", drop=5),
    TableColumn("gain", "number", drop=1),
    TableColumn("status", least=7),
)


def fleet_table(rows: Sequence[ClusterRow]) -> Table:
    """One row for each cluster, and one for all of them."""
    return table(COLUMNS, [*map(_cells, rows), _total(rows)] if len(rows) > 1 else map(_cells, rows))


def _cells(row: ClusterRow) -> list[Cell]:
    name, status = Cell(row.name), Cell(row.status.value, style=STYLES.get(row.status, ""))
    if row.before is None or row.after is None:
        return [name, *[Cell(UNKNOWN)] * (len(COLUMNS) - 2), status]
    return [
        name,
        count_cell(row.machines),
        count_cell(row.containers),
        count_cell(row.before.hot),
        count_cell(row.after.hot, "good" if row.after.hot < row.before.hot else ""),
        _share(row.before.local),
        _share(row.after.local),
        count_cell(row.moves),
        Cell(UNKNOWN) if row.limit is None else count_cell(row.limit),
        count_cell(row.batches),
        score_cell(row.gain),
        status,
    ]


def _total(rows: Sequence[ClusterRow]) -> list[Cell]:
    limits = [row.limit for row in rows if row.limit is not None]
    return [
        Cell("fleet", style="strong"),
        count_cell(sum(row.machines for row in rows)),
        count_cell(sum(row.containers for row in rows)),
        count_cell(fleet_sum(rows, "hot", after=False)),
        count_cell(fleet_sum(rows, "hot", after=True)),
        _share(fleet_local(rows, after=False)),
        _share(fleet_local(rows, after=True)),
        count_cell(sum(row.moves for row in rows)),
        count_cell(sum(limits)) if limits else Cell(UNKNOWN),
        count_cell(sum(row.batches for row in rows)),
        score_cell(fleet_gain(rows)),
        Cell(""),
    ]


def _share(share: float | None) -> Cell:
    return Cell(UNKNOWN) if share is None else Cell(percent(share), share)


def fleet_headline(name: str, rows: Sequence[ClusterRow]) -> str:
    """'Fleet eu: 52 of 3,400 containers of 3 clusters move (1.5 %), the longest plan takes about 4 min.'"""
    planned = [row for row in rows if row.status.has_plan]
    clusters, moves, running = count(len(rows), "cluster"), sum(row.moves for row in rows), sum(row.running for row in rows)
    if not planned:
        return f"Fleet {name}: none of {clusters} was planned."
    missing = f"; {count(len(rows) - len(planned), 'cluster')} not planned" if len(planned) < len(rows) else ""
    if not moves and not sum(row.placed for row in rows):
        return f"Fleet {name}: no change in {count(len(planned), 'cluster')}: no move was found that pays{missing}."
    acting = sum(row.status is ClusterStatus.PLANNED for row in rows)
    share = percent(moves / max(1, running))
    longest = about(max(row.duration for row in rows))
    in_clusters = f"in {acting:,} of {clusters}"
    return (
        f"Fleet {name}: {moves:,} of {count(running, 'container')} move ({share}) {in_clusters}, "
        f"the longest plan takes about {longest}{missing}."
    )


def fleet_gains(rows: Sequence[ClusterRow]) -> list[str]:
    """What changes over all clusters, one sentence each."""
    lines = []
    for figure, words in (("violated", "Violated rules"), ("unplaced", "Containers without a machine")):
        old, new = (fleet_sum(rows, figure, after=after) for after in (False, True))
        lines += [f"{words} {old:,} -> {new:,}."] if old or new else []
    old, new = (fleet_sum(rows, "hot", after=after) for after in (False, True))
    lines.append(f"Machines above safety {old:,} -> {new:,}." if old or new else "No machine is above safety.")
    before, after = fleet_local(rows, after=False), fleet_local(rows, after=True)
    if before is not None and after is not None:
        lines.append(
            f"Traffic that can stay on one machine {percent(before)} -> {percent(after)} (mean by the containers that run)."
        )
    return lines


def division_sentences(division: MoveDivision | None, rows: Sequence[ClusterRow]) -> list[str]:
    """How the moves were divided, beside the same share for each cluster; and what the plans gain."""
    if division is None:
        return []
    used = [moves for moves in division.chosen.values() if moves]
    lines = [
        f"{division.total:,} moves, shared where they bring most: {count(len(used), 'cluster')} of {len(division.chosen):,} "
        f"get {sum(used):,} of them. The gain of a cluster counts by its containers."
    ]
    chosen, even = ({rank: gains[rank] for rank in RANKS} for gains in (division.gain, division.even_gain))
    repaired = [f"{rank} {chosen[rank]:g} less (against {even[rank]:g})" for rank in RANKS[:-1] if chosen[rank] or even[rank]]
    lines.append(
        f"By the fronts this gains {percent(chosen['gain'])}; the same share of moves for each cluster {percent(even['gain'])}"
        + (f"; before that: {', '.join(repaired)}." if repaired else ".")
        + f" The plans gain {percent(fleet_gain(rows))}."
    )
    return lines


def row_details(row: ClusterRow) -> dict[str, Any]:
    """A row for JSON."""
    details = asdict(row) | {"status": row.status.value, "cluster": row.name}
    del details["name"]
    return details
