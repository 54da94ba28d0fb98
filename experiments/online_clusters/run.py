"""`python -m experiments.online_clusters.run [--quick] [--only oneshot,online,grid] [--seeds 0-19] [--shard 1/2] [--engine NAME]`

Measure what is missing, append one row per cell as soon as it is measured, then write the tables and figures of
docs/verbs/admit.md: oneshot-*.csv (Figures 2 to 5), online-*.csv (Figures 6 to 11), grid-*.csv (loads, durations, values).
Resumable: a cell that a file has is not measured again. Seeds are the outer loop, so a part of them is a smaller experiment.
The Azure streams are read from traces/ in the folder BAYPLAN_DATA, or in ../shared/data beside the repository. `--quick`
takes tiny streams, one seed, and a new folder if none is given; `--out FOLDER` names one.
`--until HH:MM` begins no cell after that time. `--engine pool --threads N` measures N cells at a time.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from experiments.online_clusters import oneshot, online
from experiments.online_clusters.measured import grid_file, one_shot_file, stream_file
from experiments.online_clusters.pages import write_pages
from experiments.online_clusters.settings import QUICK, READINGS, Scope
from experiments.sweeps import Runs, arguments_of, runs_of, seeds_of, shard_of, sweep

HERE = Path(__file__).parent
PARTS = ("oneshot", "online", "grid")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    arguments, only, out = arguments_of(__doc__, PARTS, HERE, argv, parallel=True)
    whole = QUICK if arguments.quick else Scope()
    seeds = seeds_of(arguments.seeds) if arguments.seeds else None
    scope = whole if seeds is None else replace(whole, trials=seeds, grid_trials=[s for s in seeds if s in whole.grid_trials])
    runs = runs_of(arguments)
    with runs.engine:
        for part in only:
            measure(part, scope, out, shard_of(arguments.shard), runs)
    write_pages(out, whole, in_docs=out == HERE)
    print(out, file=sys.stderr)


def measure(part: str, scope: Scope, out: Path, shard: tuple[int, int], runs: Runs) -> None:
    """The cells of one part that are missing, file by file."""
    if part == "oneshot":
        placed = list(oneshot.cells(scope))[shard[0] - 1 :: shard[1]]
        for inside in READINGS:
            some = [cell for cell in placed if cell.inside == inside]
            sweep(out / one_shot_file(inside), oneshot.KEY, some, oneshot.measured, runs)
        return
    every, file_of = (online.grid_cells(scope), grid_file) if part == "grid" else (online.cells(scope), stream_file)
    admitted = list(every)[shard[0] - 1 :: shard[1]]
    for name in dict.fromkeys(file_of(cell.setting) for cell in admitted):
        of_file = [cell for cell in admitted if file_of(cell.setting) == name]
        sweep(out / name, online.KEY, of_file, partial(online.measured, scope=scope), runs)


if __name__ == "__main__":
    main()
