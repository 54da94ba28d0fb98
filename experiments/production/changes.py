"""What changes from one state to another, from the rows of performance.csv and parts.csv."""

from collections.abc import Sequence
from typing import NamedTuple

from experiments.production.settings import AFTER, BEFORE, COLLOCATED, FREECONTAINER, PAIRS, RASA, Cell
from experiments.results import Row, picked


class Change(NamedTuple):
    """A figure before and after."""

    old: float
    new: float

    @property
    def share(self) -> float:
        """-0.2 is a fifth less."""
        return self.new / self.old - 1.0 if self.old else 0.0


def signed(share: float) -> str:
    """'-18.0 %'."""
    return f"{100 * share:+.1f} %"


def row_of(measured: Sequence[Row], cell: Cell, state: str) -> Row:
    """The row of a cell's assumptions in a state."""
    router, queue, network, ipc, peer_calls, load = cell.key[2:]
    where = {"router": router, "queue": queue, "network_ms": network, "ipc_ms": ipc, "peer_calls": peer_calls, "load": load}
    return picked(measured, study=cell.study, state=state, **where)[0]


def change_of(measured: Sequence[Row], cell: Cell, column: str, states: tuple[str, str] = (BEFORE, AFTER)) -> Change:
    """A column before and after, under a cell's assumptions."""
    old, new = (float(row_of(measured, cell, state)[column]) for state in states)
    return Change(old, new)


def gap_of(measured: Sequence[Row], cell: Cell, column: str) -> float:
    """From WITH to ONLY COLLOCATED, in points of the metric normalised to WITHOUT, as the paper's figures are."""
    without, with_ours, only = (float(row_of(measured, cell, state)[column]) for state in (BEFORE, AFTER, COLLOCATED))
    return (with_ours - only) / without


def pair_changes(parts: Sequence[Row]) -> list[tuple[Change, Change]]:
    """Latency and error rate of each of the four pairs."""
    found = []
    for number in range(1, PAIRS + 1):
        old, new = (picked(parts, study=RASA, state=state, part=f"pair {number}")[0] for state in (BEFORE, AFTER))
        both = [Change(float(old[name]), float(new[name])) for name in ("latency_ms", "error_rate")]
        found.append((both[0], both[1]))
    return found


def pair_gaps(parts: Sequence[Row], column: str) -> dict[str, float]:
    """Pair -> from WITH to ONLY COLLOCATED, in points of the metric normalised to WITHOUT; without a sign."""
    gaps = {}
    for number in range(1, PAIRS + 1):
        name = f"pair {number}"
        without, with_ours, only = (
            float(picked(parts, study=RASA, state=state, part=name)[0][column]) for state in (BEFORE, AFTER, COLLOCATED)
        )
        gaps[name] = abs(with_ours - only) / without
    return gaps


def service_changes(parts: Sequence[Row], load: str) -> dict[str, tuple[float, Change]]:
    """Service -> its containers, and the most traffic before and after."""
    found = {}
    for row in picked(parts, study=FREECONTAINER, state=BEFORE, load=load):
        after = picked(parts, study=FREECONTAINER, state=AFTER, load=load, part=row["part"])[0]
        found[row["part"]] = float(row["size"]), Change(float(row["max_load"]), float(after["max_load"]))
    return found
