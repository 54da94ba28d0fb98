"""`python -m experiments.production.performance [--quick] [--only rasa,freecontainer] [--out FOLDER]`

Evaluate the performance model in both studies, append each cell to performance.csv and each pair or service to parts.csv, then
write the tables of docs/verbs/production.md. Resumable; methods have iterations, not seconds, so a second run finds the same
placements. Data is read from the folder BAYPLAN_DATA or from ../shared/data beside the repository; without M3 a generated cluster
stands in. About two minutes on one core.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from experiments.production.measures import measured, parts_of
from experiments.production.pages import write_page
from experiments.production.settings import BASE, FREECONTAINER, KEY, QUICK, RASA, STATED, STATES, Cell, Scope, cells
from experiments.results import rows
from experiments.sweeps import Runs, arguments_of, sweep

HERE = Path(__file__).parent
CELLS, PARTS = "performance.csv", "parts.csv"
PART_KEY = ("study", "state", "load", "part")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCell:
    """A pair or a service in one state."""

    cell: Cell
    part: str

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes it from other rows."""
        return (self.cell.study, self.cell.state, self.cell.load, self.part)


def part_cells(study: str, scope: Scope) -> Iterator[PartCell]:
    """Pairs or services in every state, under the stated assumptions; services also at the stated load."""
    loads = (BASE[study].load,) if study == RASA else (BASE[study].load, STATED)
    for load in loads:
        for state in STATES[study]:
            cell = replace(BASE[study], state=state, load=load)
            yield from (PartCell(cell=cell, part=name) for name, _ in parts_of(cell, scope))


def main(argv: Sequence[str] | None = None) -> None:
    """Evaluate what is missing, then write the tables."""
    arguments, only, out = arguments_of(__doc__, (RASA, FREECONTAINER), HERE, argv)
    scope = QUICK if arguments.quick else Scope()
    for study in only:
        sweep(out / CELLS, KEY, cells(study), partial(measured, scope=scope), Runs(until=arguments.until))
        found = {part.key: dict(parts_of(part.cell, scope))[part.part] for part in part_cells(study, scope)}
        sweep(
            out / PARTS,
            PART_KEY,
            part_cells(study, scope),
            lambda part, found=found: found[part.key],
            Runs(until=arguments.until),
        )
    write_page(out, rows(out / CELLS), rows(out / PARTS), in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
