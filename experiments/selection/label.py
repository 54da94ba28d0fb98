"""`python -m experiments.selection.label [--clusters 250] [--seconds 2] [--minutes 40] [--only cg]`: measure subproblems.

Every subproblem is given to both algorithms of the pool, with the same seconds and one thread each. One row per subproblem and
algorithm is appended to runs.csv as soon as it is measured, and the feature graph to graphs.zip. Resumable: what runs.csv has is
not measured again. `experiments.selection.examples` makes labels of the rows.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from bayplan.decide.collocate.rasa import SOLVERS
from bayplan.decide.collocate.select.features import FeatureGraph, feature_graph
from bayplan.decide.collocate.select.selector import LABELS
from bayplan.decide.collocate.subproblem import Subproblem, gained, violations
from experiments.results import append, commit, machine, rows
from experiments.selection.examples import GRAPHS, HERE, RUNS, SUBPROBLEM, name_of
from experiments.selection.graphs import keep
from experiments.selection.sources import FIRST_SEED, Source, parts, source

SMALL = 1004  # the seed of a source with one small subproblem
FIELDS = (*SUBPROBLEM, "algorithm", "budget", "gained", "seconds", "cpu", "commit", "machine")


def measured(subproblem: Subproblem, name: str, seconds: float) -> dict[str, str]:
    """What an algorithm gains, its seconds by the clock and of the processor; ends all if its answer violates a rule."""
    begin, busy = time.perf_counter(), time.process_time()
    counts = SOLVERS[name](subproblem, seconds=seconds, seed=0, threads=1)
    took, used = time.perf_counter() - begin, time.process_time() - busy
    if violated := violations(subproblem, counts):
        sys.exit(f"{name}: {violated}")
    return {"gained": f"{gained(subproblem, counts):.8g}", "seconds": f"{took:.3f}", "cpu": f"{used:.3f}"}


@cache
def _warm_up(name: str) -> None:
    """Nothing, but the algorithm's code is compiled: that is not part of its time."""
    ((_, subproblem), *_) = parts(source(SMALL))
    SOLVERS[name](subproblem, seconds=1.0, seed=0, threads=1)


def subproblem_row(origin: Source, part: int, subproblem: Subproblem, graph: FeatureGraph) -> dict[str, str]:
    """What a subproblem is."""
    values = (
        origin.settings.name, origin.seed, origin.masters, origin.trivial, part, subproblem.shape[0], subproblem.demand.sum(),
        graph.machines, graph.types, len(graph.a), f"{graph.weight.sum():.8g}",
    )  # fmt: skip
    return dict(zip(SUBPROBLEM, map(str, values), strict=True))


def measure(folder: Path, clusters: range, algorithms: Sequence[str], seconds: float, until: float) -> None:
    """Rows that are missing, until the time is over."""
    done, where = {(name_of(one), one["algorithm"]) for one in rows(folder / RUNS)}, {"commit": commit(), "machine": machine()}
    for seed in clusters:
        origin = source(seed)
        for part, subproblem in parts(origin):
            graph = feature_graph(subproblem)
            about = subproblem_row(origin, part, subproblem, graph)
            keep(folder / GRAPHS, name_of(about), graph)
            for name in algorithms:
                if time.monotonic() > until:
                    return
                if (name_of(about), name) not in done:
                    _warm_up(name)
                    run = {"algorithm": name, "budget": f"{seconds:g}", **measured(subproblem, name, seconds)}
                    append(folder / RUNS, FIELDS, [{**about, **run, **where}])
                    print(*about.values(), *run.values(), file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", type=int, default=250, help="how many clusters")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each algorithm and subproblem")
    parser.add_argument("--minutes", type=float, default=40.0, help="no new run after so many")
    parser.add_argument("--only", choices=LABELS, help="one of the algorithms")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder for runs.csv and graphs.zip")
    asked = parser.parse_args(argv)
    clusters = range(FIRST_SEED, FIRST_SEED + asked.clusters)
    algorithms = (asked.only,) if asked.only else LABELS
    measure(asked.out, clusters, algorithms, asked.seconds, time.monotonic() + 60 * asked.minutes)


if __name__ == "__main__":
    main()
