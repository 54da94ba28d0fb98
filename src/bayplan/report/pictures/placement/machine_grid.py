"""All machines of a big cluster: one cell each, coloured by how full it is."""

from collections.abc import Iterator

import numpy as np

from bayplan.model import Cluster, IntArray
from bayplan.report.amounts import percent
from bayplan.report.loads import MachineUse
from bayplan.report.pictures.colours import CLASSES, NONE, WORDS, fullness_legend, steps
from bayplan.report.pictures.placement.bay_plan_data import group_index
from bayplan.report.svg import element, escaped, number, shortened, text
from bayplan.words import count

_AREA = 210.0  # pixels of height that the cells of a big cluster take together, about
_NAMED_GROUPS = 24  # more groups than this have no space for names


def draw_grid(
    cluster: Cluster, use: MachineUse, group_by: str | None, *, left: float, top: float, space: float
) -> tuple[str, float]:
    """The cells, the groups' names and the legend; and how far down they reach."""
    step = np.where(use.containers == 0, NONE, steps(use.level, use.hot, use.full))
    legend = fullness_legend(np.unique(step).tolist(), left=left, top=top, none="no containers")
    cell = float(np.clip(np.floor(np.sqrt(space * _AREA / max(1, len(step)))), 3.0, 16.0))
    cells_at, names, below = _cells(cluster, use, group_by, cell, (left, top + 24, space))
    return "".join([legend, *_paths(step, cells_at, cell), names]), below


def _cells(
    cluster: Cluster, use: MachineUse, group_by: str | None, cell: float, at: tuple[float, float, float]
) -> tuple[dict[int, tuple[float, float]], str, float]:
    """Where every machine's cell is, the names of the groups, and where the grid ends."""
    left, y, space = at
    across = max(1, int(space // cell))
    of, name = group_index(cluster, group_by)
    named = group_by is not None and len(name) <= _NAMED_GROUPS
    cells_at: dict[int, tuple[float, float]] = {}
    labels, column = [], 0
    for z, members in _groups(of):
        if named:
            y += (cell + 4 if column else 0) + 12
            words = f"{name[z]}: {count(len(members), 'machine')}, {percent(float(use.level[members].mean()))} full on average"
            labels.append(text(left, y, shortened(words, space), "soft small"))
            y, column = y + 6, 0
        for m in members.tolist():
            if column == across:
                y, column = y + cell, 0
            cells_at[m] = (left + column * cell, y)
            column += 1
        column = min(across, column + 1) if group_by and not named else column
    return cells_at, "".join(labels), y + cell


def _groups(of: IntArray) -> Iterator[tuple[int, IntArray]]:
    for z in np.unique(of).tolist():
        yield z, np.flatnonzero(of == z)


def _paths(step: IntArray, cells_at: dict[int, tuple[float, float]], cell: float) -> Iterator[str]:
    """One path per colour: thousands of cells stay a small file."""
    side = number(cell - (1 if cell >= 5 else 0.5))
    for colour in np.unique(step).tolist():
        machines = np.flatnonzero(step == colour).tolist()
        path = "".join(f"M{number(cells_at[m][0])} {number(cells_at[m][1])}h{side}v{side}h-{side}z" for m in machines)
        words = "no containers" if colour == NONE else WORDS[colour]
        title = element("title", escaped(f"{words}: {count(len(machines), 'machine')}"))
        yield element("path", title, d=path, class_=CLASSES[colour])
