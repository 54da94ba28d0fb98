"""`python -m experiments.rasa.stale [--delete]`: rows whose selector, a trained network, would choose other solvers now.

Choices depend on the weights of the networks, so new weights may make rows stale. With `--delete` they are deleted from the CSV
files, and the next run measures them again.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from bayplan.formats import read
from experiments.rasa.cells import AGAIN, Cell, options_of
from experiments.rasa.clusters import file_of
from experiments.rasa.partitioned import partitioned
from experiments.rasa.parts import PARTS
from experiments.results import Row, append, rows

HERE = Path(__file__).parent
NETWORKS = ("gcn", "mlp")


def asks_a_network(cell: Cell) -> bool:
    """Does its answer depend on the weights of a network?"""
    return cell.method == "rasa" and cell.chosen.get("select", "gcn") in NETWORKS


def cell_of(row: Row) -> Cell:
    """The cell that a row answers."""
    numbers = {"seed": int(row["seed"]), "threads": int(row["threads"]), "seconds": float(row["seconds"])}
    return Cell(cluster=row["cluster"], method=row["method"], options=row["options"], **numbers)


@cache
def choices(cluster: str, options: str, seed: int) -> str:
    """What the selector chooses now; from the cluster as it is."""
    snapshot = read(file_of(cluster))
    cell = Cell(cluster=cluster, method="rasa", options=options, seed=seed)
    return partitioned(snapshot, options_of(cell, len(snapshot.cluster.workloads.name)), seed)["choices"]


def is_stale(row: Row) -> bool:
    """Would other solvers be chosen? A second execution is as stale as the first."""
    cell = cell_of(row)
    if not asks_a_network(cell) or not row["choices"]:
        return False
    options = cell.options.replace(AGAIN, "")
    return choices(cell.cluster, options, cell.seed) != row["choices"]


def stale_in(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a file that are."""
    return (row for row in rows(path) if is_stale(row))


def main(argv: Sequence[str] | None = None) -> None:
    """Name them; delete them if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delete", action="store_true", help="delete these rows")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder of the CSV files")
    arguments = parser.parse_args(argv)
    for part in PARTS:
        path = arguments.out / f"{part}.csv"
        before, stale = rows(path), list(stale_in(path))
        for row in stale:
            print(part, *(row[name] for name in ("cluster", "options", "seed", "seconds")), f"chose {row['choices']}")
        if stale and arguments.delete:
            path.unlink()
            append(path, tuple(before[0]), [row for row in before if row not in stale])


if __name__ == "__main__":
    main()
