"""What the turns of a simulated week come to."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from experiments.production.week_settings import ALONE, KEY, PER_DAY
from experiments.results import Row, picked


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFigures:
    """What the turns of a cell come to. 'Later' is after the first day, or the second half of a shorter cell."""

    end: Row  # of week-cells.csv
    turns: Sequence[Row]
    alone: Sequence[Row]  # turns of the same days without a loop

    @property
    def first_later(self) -> int:
        """The first turn that counts as later."""
        last = len(self.turns) - 1
        return PER_DAY if last > PER_DAY else last // 2

    @property
    def later(self) -> Sequence[Row]:
        """The turns after the first day."""
        return self.turns[self.first_later :]

    @property
    def shares(self) -> list[float]:
        """Of the containers, moved by each execution."""
        return [int(row["moved"]) / int(row["containers"]) for row in self.turns if int(row["moved"])]

    @property
    def later_shares(self) -> list[float]:
        """The same, of later ones."""
        return [int(row["moved"]) / int(row["containers"]) for row in self.later if int(row["moved"])]

    @property
    def below_fresh(self) -> list[float]:
        """Points of local traffic by which a fresh optimisation would be ahead, at later instants."""
        return [float(row["fresh"]) - float(row["local"]) for row in self.later if row["fresh"]]

    @property
    def executions_first(self) -> int:
        """On the first day."""
        return sum(int(row["moved"]) > 0 for row in self.turns[: self.first_later])

    @property
    def executions_later(self) -> float:
        """A day, after the first one."""
        return sum(int(row["moved"]) > 0 for row in self.later) * PER_DAY / max(1, len(self.later) - 1)

    @property
    def held(self) -> int:
        """Workloads that were held at one time, at most."""
        return max((int(row["held"] or 0) for row in self.turns), default=0)

    @property
    def name(self) -> str:
        """The cell in words."""
        return f"{self.end['cluster']}, {self.end['variant']}, seed {self.end['seed']}"


def figures_of(turns: Sequence[Row], cells: Sequence[Row]) -> list[CellFigures]:
    """Each cell with its turns, and with those of the same cluster and seed without a loop."""
    figures = []
    for cell in cells:
        own = picked(turns, **{name: cell[name] for name in KEY})
        alone = [
            row for row in picked(turns, cluster=cell["cluster"], seed=cell["seed"], variant=ALONE) if int(row["turn"]) < len(own)
        ]
        figures.append(CellFigures(end=cell, turns=own, alone=alone))
    return figures


def local_mean(rows: Sequence[Row]) -> float:
    """Mean share of local traffic."""
    return mean(float(row["local"]) for row in rows)


def weeks_of(figures: Sequence[CellFigures], variant: str) -> list[CellFigures]:
    """The cells of a goal that last two days or more."""
    return [each for each in figures if each.end["variant"] == variant and float(each.end["days"]) >= 2]
