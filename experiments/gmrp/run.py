"""`python -m experiments.gmrp.run [--seconds 60] [--threads 1] [--seeds 0-4] [--instances a1_4,...] [--shard 1/2]`

Run the command line as a user does, check what it wrote, append one row per run to results.csv, then write the table of
docs/verbs/gmrp.md. Resumable: a run that the file has is not repeated. Run alone, so that wall time and CPU time agree; on a
machine that others use, with `--by-cpu`; so do with `--engine pool --workers N`, which makes N runs at a time.
Models are read from gmrp/ in the folder BAYPLAN_DATA, or in ../shared/data beside the repository. `--quick` takes the
example of the repository and half a second, and a new folder if none is given with `--out`.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from experiments.gmrp.cells import KEY, TINY, Run, measured
from experiments.gmrp.figures import KNOWN
from experiments.gmrp.tables import write_page
from experiments.results import rows
from experiments.sweeps import add_engine_options, moment, runs_of, seeds_of, shard_of, sweep

HERE = Path(__file__).parent
CSV = "results.csv"


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the example of the repository, half a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=1, help="of each run")
    parser.add_argument("--seeds", default="0-4", help="such as 0-4, or 3")
    parser.add_argument("--instances", default=",".join(KNOWN), help="such as a1_4,b_1")
    parser.add_argument("--method", default="search", help="search or nls")
    parser.add_argument("--shard", default="1/1", help="k/n: the k-th of n parts")
    add_engine_options(parser, threads=False)
    parser.add_argument("--until", type=moment, metavar="HH:MM", help="begin no run after this time")
    parser.add_argument("--by-cpu", action="store_true", help="count CPU seconds of each thread, on a machine that others use")
    parser.add_argument("--out", type=Path, help="the folder for the CSV file and the page")
    arguments = parser.parse_args(argv)
    out = arguments.out or (Path(tempfile.mkdtemp()) if arguments.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    names, seeds = ([TINY], (0,)) if arguments.quick else (arguments.instances.split(","), seeds_of(arguments.seeds))
    fixed = {"method": arguments.method, "threads": arguments.threads, "seconds": 0.5 if arguments.quick else arguments.seconds}
    runs = [Run(instance=name, seed=seed, by_cpu=arguments.by_cpu, **fixed) for seed in seeds for name in names]
    part, parts = shard_of(arguments.shard)
    on = runs_of(arguments)
    with on.engine:
        sweep(out / CSV, KEY, runs[part - 1 :: parts], measured, on)
    write_page(out, rows(out / CSV), in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
