"""`python -m experiments.online_clusters.run [--quick] [--only oneshot,online] [--seeds 0-19] [--until HH:MM] [--out FOLDER]`

Measure what is missing, append one row per cell to oneshot.csv (Figures 2 to 5) and online.csv (Figures 6 to 11) as soon as
it is measured, then write the tables and figures of docs/verbs/admit.md. Resumable: a cell that a file has is not measured again.
The Azure streams are read from traces/ in the folder BAYPLAN_DATA, or in ../shared/data beside the repository. `--quick` takes
tiny streams, one seed, and a new folder if none is given.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from experiments.online_clusters import oneshot, online
from experiments.online_clusters.pages import write_pages
from experiments.online_clusters.settings import QUICK, Scope
from experiments.sweeps import arguments_of, seeds_of, sweep

HERE = Path(__file__).parent
PARTS = ("oneshot", "online")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    arguments, only, out = arguments_of(__doc__, PARTS, HERE, argv)
    whole = QUICK if arguments.quick else Scope()
    scope = replace(whole, trials=seeds_of(arguments.seeds)) if arguments.seeds else whole
    if "oneshot" in only:
        sweep(out / "oneshot.csv", oneshot.KEY, oneshot.cells(scope), oneshot.measured, arguments.until)
    if "online" in only:
        sweep(out / "online.csv", online.KEY, online.cells(scope), lambda cell: online.measured(cell, scope), arguments.until)
    write_pages(out, whole, in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
