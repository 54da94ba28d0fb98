"""`python -m experiments.selection.label [--clusters 420] [--seconds 20] [--shard 1/2] [--until HH:MM] [--out FOLDER]`

Every subproblem is given to both algorithms of the pool, one after the other, with the same seconds of one core. The integer
program is never left out for its size: `ran` says that HiGHS searched, `improved` that the answer is better than the greedy
start, `proven` that no answer is better. Both algorithms look at the wall clock. One that had less of a core than that is
tried again with more of it, and its row is written only if it had its seconds of the processor: wall * cpu / seconds.

One row per subproblem and algorithm is appended to runs.csv as soon as it is measured, and the feature graph to graphs.zip.
Resumable: what runs.csv has is not measured again. Sizes are drawn cluster by cluster, so any first part of the clusters has
the whole spread. `experiments.selection.examples` makes labels of the rows.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from bayplan.decide.collocate.assignment_mip import MipRun, greedy_start, run_mip
from bayplan.decide.collocate.columns.solve import solve_columns
from bayplan.decide.collocate.select.features import FeatureGraph, feature_graph
from bayplan.decide.collocate.select.selector import CG, LABELS, MIP
from bayplan.decide.collocate.subproblem import Subproblem, gained, violations
from bayplan.model import IntArray
from experiments.results import append, commit, machine, rows
from experiments.selection.examples import GRAPHS, HERE, RUNS, SUBPROBLEM, name_of
from experiments.selection.graphs import keep
from experiments.selection.sources import FIRST_SEED, Source, parts, source
from experiments.sweeps import moment, shard_of

SMALL = 1004  # the seed of a source with one small subproblem
FIELDS = (
    *SUBPROBLEM, "algorithm", "budget", "start", "gained", "ran", "improved", "proven", "entries", "wall", "seconds", "cpu",
    "commit", "machine",
)  # fmt: skip
ENOUGH = 0.9, 1.3  # of its seconds of the processor: with less or more, a run is tried again
EARLY = 0.6  # of its time: column generation stops pricing at 0.7, so one that takes less has nothing more to find
TRIES = 4
LONGEST = 8.0  # times the budget, by the wall clock
YES, NO, UNKNOWN = "yes", "no", ""


def _mip(subproblem: Subproblem, seconds: float) -> MipRun:
    return run_mip(subproblem, seconds=seconds)


def _cg(subproblem: Subproblem, seconds: float) -> IntArray:
    return solve_columns(subproblem, seconds=seconds)


ALGORITHMS: Mapping[str, Callable[[Subproblem, float], MipRun | IntArray]] = {MIP: _mip, CG: _cg}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocked:
    """An answer, the seconds by the wall clock that it was given and took, and those of the processor."""

    answer: MipRun | IntArray
    wall: float
    seconds: float
    cpu: float

    @property
    def share(self) -> float:
        """The part of a core that it had."""
        return min(1.0, self.cpu / max(self.seconds, 1e-9))

    def had(self, budget: float) -> bool:
        """Did it have its seconds of the processor, or end before they were over?"""
        low, high = ENOUGH
        return self.seconds < EARLY * self.wall or low * budget <= self.wall * self.share <= high * budget


def clocked(subproblem: Subproblem, name: str, wall: float) -> Clocked:
    """One run."""
    began, used = time.perf_counter(), time.process_time()
    answer = ALGORITHMS[name](subproblem, wall)
    return Clocked(answer=answer, wall=wall, seconds=time.perf_counter() - began, cpu=time.process_time() - used)


def measured(subproblem: Subproblem, name: str, budget: float) -> dict[str, str] | None:
    """What an algorithm gains; None if others took its core every time. Ends all if its answer violates a rule."""
    wall = budget
    for _ in range(TRIES):
        run = clocked(subproblem, name, wall)
        if run.had(budget):
            return {**_gains(subproblem, name, run.answer), **_times(run)}
        wall = min(LONGEST * budget, max(budget, budget / run.share))
    return None


def _times(run: Clocked) -> dict[str, str]:
    return {"wall": f"{run.wall:.3f}", "seconds": f"{run.seconds:.3f}", "cpu": f"{run.cpu:.3f}"}


def _gains(subproblem: Subproblem, name: str, answer: MipRun | IntArray) -> dict[str, str]:
    counts = answer.counts if isinstance(answer, MipRun) else answer
    if violated := violations(subproblem, counts):
        sys.exit(f"{name}: {violated}")
    start, gain = gained(subproblem, greedy_start(subproblem)), gained(subproblem, counts)
    ran, proven, entries = YES, UNKNOWN, UNKNOWN
    if isinstance(answer, MipRun):
        ran, proven, entries = _said(answer.searched), _said(answer.proven), str(answer.entries)
    improved = _said(gain > start + 1e-9)
    return {
        "start": f"{start:.8g}",
        "gained": f"{gain:.8g}",
        "ran": ran,
        "improved": improved,
        "proven": proven,
        "entries": entries,
    }


def _said(fact: bool) -> str:
    return YES if fact else NO


@cache
def _warm_up(name: str) -> None:
    """Nothing, but the algorithm's code is compiled: that is not part of its time."""
    ((_, subproblem), *_) = parts(source(SMALL))
    ALGORITHMS[name](subproblem, 1.0)


def subproblem_row(origin: Source, part: int, subproblem: Subproblem, graph: FeatureGraph) -> dict[str, str]:
    """What a subproblem is."""
    values = (
        origin.settings.name, origin.seed, origin.masters, origin.trivial, part, subproblem.shape[0], subproblem.demand.sum(),
        graph.machines, graph.types, len(graph.a), f"{graph.weight.sum():.8g}",
    )  # fmt: skip
    return dict(zip(SUBPROBLEM, map(str, values), strict=True))


def measure(folder: Path, clusters: Sequence[int], algorithms: Sequence[str], seconds: float, until: datetime | None) -> None:
    """Rows that are missing, until the time is over."""
    done, where = {(name_of(one), one["algorithm"]) for one in rows(folder / RUNS)}, {"commit": commit(), "machine": machine()}
    for seed in clusters:
        origin = source(seed)
        for part, subproblem in parts(origin):
            graph = feature_graph(subproblem)
            about = subproblem_row(origin, part, subproblem, graph)
            keep(folder / GRAPHS, name_of(about), graph)
            for name in algorithms:
                if until is not None and datetime.now() >= until:
                    return
                if (name_of(about), name) not in done:
                    _warm_up(name)
                    run = measured(subproblem, name, seconds)
                    print(*about.values(), name, *(run.values() if run else ("disturbed",)), file=sys.stderr, flush=True)
                    if run:
                        row = {**about, "algorithm": name, "budget": f"{seconds:g}", **run, **where}
                        append(folder / RUNS, FIELDS, [row])


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", type=int, default=420, help="how many clusters")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each algorithm and subproblem")
    parser.add_argument("--shard", default="1/1", help="k/n: the k-th of n parts of the clusters")
    parser.add_argument("--until", type=moment, metavar="HH:MM", help="begin no run after this time")
    parser.add_argument("--only", choices=LABELS, help="one of the algorithms")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder for runs.csv and graphs.zip")
    arguments = parser.parse_args(argv)
    part, shards = shard_of(arguments.shard)
    clusters = range(FIRST_SEED, FIRST_SEED + arguments.clusters)[part - 1 :: shards]
    arguments.out.mkdir(parents=True, exist_ok=True)
    measure(arguments.out, clusters, (arguments.only,) if arguments.only else LABELS, arguments.seconds, arguments.until)


if __name__ == "__main__":
    main()
