"""Measure pricing of machine types on an engine against this process, in the same run.

The subproblem is a whole generated cluster with its trivial workloads pinned, so that nearly every machine is a type of its own.
Both price the same round and must end with the same patterns and the same bound. Both have priced once before the clock runs, so
that neither pays for loading kernels or for starting workers. Give the run as many free cores as there are workers: on fewer, the
ratio says nothing. One row per cluster, number of workers and repetition is appended to `benchmarks/pricing_engines.csv`.

    python -m benchmarks.pricing_engines                                             all cells
    python -m benchmarks.pricing_engines --cluster rasa-m3 --boxes 50 --repeat 1     a quick look
    python -m benchmarks.pricing_engines --engine ray:auto --workers 4               another engine
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from experiments.results import append, commit, machine

import bayplan as bp
from bayplan.api.collocate import affinity_wanted
from bayplan.api.problem import problem_of
from bayplan.decide.collocate.columns.integer_master import patterns_of
from bayplan.decide.collocate.columns.pattern_master import AffinityMaster, DualPrices, machine_types_of
from bayplan.decide.collocate.columns.rounds import PricingRounds
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import Subproblem, whole_cluster, workloads_with_traffic
from bayplan.engine import lazy
from bayplan.engine.lazy import LazyEngine

RESULTS = Path(__file__).parent / "pricing_engines.csv"
COLUMNS = ("commit", "machine", "cluster", "types", "workloads", "boxes", "engine", "workers", "here_s", "engine_s", "ratio")
CLUSTERS = ("rasa-m3", "rasa-m1")


class Priced(NamedTuple):
    """What pricing all types once took, and what came of it."""

    seconds: float
    patterns: list[tuple[int, bytes]]
    bound: float


def main() -> None:
    """Measure all cells that are wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cluster", choices=CLUSTERS)
    parser.add_argument("--engine", default="pool")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--boxes", type=int, default=3_000, help="of one branch and bound")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    for name in CLUSTERS if given.cluster is None else [given.cluster]:
        subproblem = _subproblem(name)
        for _ in range(given.repeat):
            append(RESULTS, COLUMNS, [_cell(name, subproblem, given)])


def _subproblem(name: str) -> Subproblem:
    wanted = affinity_wanted(bp.generate(name))
    problem = problem_of(wanted, objective=wanted.objective)
    return whole_cluster(problem, workloads=workloads_with_traffic(problem.cluster), free=None)


def _cell(name: str, subproblem: Subproblem, given: argparse.Namespace) -> dict[str, str]:
    _priced(subproblem, 1, LazyEngine())  # loads the kernels
    here = _priced(subproblem, given.boxes, LazyEngine())
    with bp.engine(given.engine) as chosen:
        lazy.START = lazy.LEAST = 0.0  # all of it goes to workers
        _priced(subproblem, 1, LazyEngine(chosen, workers=given.workers))  # starts them, and loads the kernels there
        there = _priced(subproblem, given.boxes, LazyEngine(chosen, workers=given.workers))
    if here[1:] != there[1:]:
        raise SystemExit(f"{name}: the engine '{given.engine}' gives other patterns or another bound than this process")
    return {
        "commit": commit(),
        "machine": machine(),
        "cluster": name,
        "types": str(len(machine_types_of(subproblem).number)),
        "workloads": str(len(subproblem.workload)),
        "boxes": str(given.boxes),
        "engine": given.engine,
        "workers": str(given.workers),
        "here_s": f"{here.seconds:.2f}",
        "engine_s": f"{there.seconds:.2f}",
        "ratio": f"{here.seconds / there.seconds:.2f}",
    }


def _priced(subproblem: Subproblem, boxes: int, engine: LazyEngine) -> Priced:
    """One round of branch and bound over all types, at the prices of the greedy patterns."""
    master = AffinityMaster(subproblem=subproblem, types=machine_types_of(subproblem))
    for t, pattern in patterns_of(master.types, greedy_counts(subproblem)):
        master.add(t, pattern)
    rounds = PricingRounds(master=master, seed=0, boxes=boxes, engine=engine)
    prices: DualPrices = master.solve()
    began = time.perf_counter()
    rounds.branch(prices, prices, lambda: False)
    seconds = time.perf_counter() - began
    patterns = [(t, np.ascontiguousarray(pattern).tobytes()) for t, pattern in zip(master.type, master.pattern, strict=True)]
    return Priced(seconds, patterns, rounds.bound)


if __name__ == "__main__":
    main()
