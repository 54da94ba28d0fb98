"""The batches of a plan in numbers, for tables on a screen and on a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from bayplan.model import Reason
from bayplan.report.amounts import percent, seconds
from bayplan.report.markup import Cell

SHOWN = 12  # batches of a longer plan are shown from both ends
FIRST = 6
NAMES = 3  # containers that share a reason and are named

HEADS = ("batch", "starts at", "takes", "steps", "creates", "deletes", "stopovers", "running twice", "least alive", "peak use")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """One batch."""

    number: int  # from 1
    start: float  # seconds
    end: float
    steps: int
    creates: int
    deletes: int
    stopovers: int
    doubled: int  # containers that run on two machines when it has ended
    alive: float  # smallest share of a workload that runs meanwhile
    peak: float  # highest use of a machine meanwhile

    def cells(self) -> tuple[Cell, ...]:
        """As in `HEADS`."""
        times = (Cell(seconds(self.start), self.start), Cell(seconds(self.end - self.start), self.end - self.start))
        counts = (self.steps, self.creates, self.deletes, self.stopovers, self.doubled)
        return (
            Cell(str(self.number), self.number),
            *times,
            *(Cell(f"{number:,}", number) for number in counts),
            Cell(percent(self.alive), self.alive),
            Cell(percent(self.peak), self.peak),
        )


def collapsed(rows: Sequence[BatchRow]) -> tuple[Sequence[BatchRow], Sequence[BatchRow]]:
    """The first and the last batches of a long plan; all and none of a short one."""
    if len(rows) <= SHOWN:
        return rows, ()
    return rows[:FIRST], rows[len(rows) - (SHOWN - FIRST - 1) :]


def aggregated(reasons: Sequence[Reason]) -> tuple[Reason, ...]:
    """One reason for all containers that have the same; those of most containers first."""
    who: dict[str, list[str]] = {}
    for reason in reasons:
        who.setdefault(reason.text, []).append(reason.subject)
    groups = sorted(who.items(), key=lambda group: -len(group[1]))
    return tuple(Reason(subject=named(names), text=text) for text, names in groups)


def named(names: Sequence[str]) -> str:
    """'web-0, web-1, web-2 and 7 more'."""
    more = len(names) - NAMES
    shown = ", ".join(names[:NAMES])
    return f"{shown} and {more:,} more" if more > 0 else shown
