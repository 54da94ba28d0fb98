"""Measure packers at the paper's largest request and at ten times of it, on an empty and on a nonempty cluster.

Appends one row per measurement to `benchmarks/pack.csv`: commit, machine, name, seconds on the wall and of the processor (the
fewest of several runs, kernels warm), the ratio to `bf-nsigma` of the same cluster in seconds of the processor, what the paper
took ([UCaC] §6.1.4), and the target.

    python -m benchmarks.pack [--quick]     --quick leaves out the ten times larger clusters
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from experiments.results import append, commit, machine
from experiments.ucac.figures import LARGEST_REQUEST, MACHINES, SECONDS

from bayplan.decide.pack import PACKERS, PackOptions, PackProblem, pack_problem
from bayplan.generate.ucac import base, layout_of, share_evicted, towards
from bayplan.model import Budget, Placement, ints, silent

RESULTS = Path(__file__).parent / "pack.csv"
COLUMNS = ("commit", "machine", "name", "seconds", "cpu_seconds", "ratio", "paper", "limit")
LIMITS = {("bf-ucac", 1): 0.1, ("bf-ucac", 10): 1.0, ("bi-level", 1): 0.05}  # seconds, the targets
METHODS = ("bf-nsigma", "bf-ucac", "bi-level")
SERVICES, ALPHA, SEED = 17, 0.999, 0
TIMES = 5


def problem(times: int, *, nonempty: bool) -> PackProblem:
    """`times` the largest request of the paper, of the services of Table 5; nonempty: Table 5 runs, less its remove rates."""
    cluster, rate = base(services=SERVICES, alpha=ALPHA, scale=float(times), machines=times * MACHINES, seed=SEED)
    rng = np.random.default_rng(SEED)
    layout = np.zeros((times * MACHINES, SERVICES), dtype=np.int64)
    if nonempty:
        start = pack_problem(cluster, Placement.empty(len(cluster.containers.name)))
        packed = PACKERS["bi-level"](start, PackOptions(), budget=Budget(), seed=SEED, progress=silent).solution
        assert packed is not None
        layout = share_evicted(layout_of(cluster, packed), rate, rng)
    share = cluster.replicas / cluster.replicas.sum()
    request = np.floor(share * times * LARGEST_REQUEST).astype(np.int64)
    request[: times * LARGEST_REQUEST - int(request.sum())] += 1
    snapshot = towards(cluster, ints(layout), ints(layout.sum(axis=0) + request), rng)
    return pack_problem(snapshot.cluster, snapshot.placement)


def seconds_of(method: str, stated: PackProblem) -> tuple[float, float]:
    """On the wall and of the processor, each the fewest of several runs: the machine's other work only ever adds."""
    wall, processor = [], []
    for _ in range(TIMES):
        began, began_processor = time.perf_counter(), time.process_time()
        result = PACKERS[method](stated, PackOptions(), budget=Budget(), seed=SEED, progress=silent)
        wall.append(time.perf_counter() - began)
        processor.append(time.process_time() - began_processor)
        if result.solution is None or len(result.solution.unplaced):
            raise ValueError(f"{method}: not everything is placed: {result.left_out[:1]}")
    return min(wall), min(processor)


def measurements(sizes: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    """Name, seconds, those of the processor, ratio, paper's seconds and limit."""
    for times in sizes:
        for nonempty in (False, True):
            stated = problem(times, nonempty=nonempty)
            kind = "nonempty" if nonempty else "empty"
            size = f"{int(stated.unplaced.sum()):,} containers onto {len(stated.running):,} {kind} machines"
            yardstick = 0.0
            for method in METHODS:
                seconds, processor = seconds_of(method, stated)
                yardstick = yardstick or processor
                paper, limit = (f"{SECONDS[method]:g}" if times == 1 else ""), LIMITS.get((method, times))
                yield (
                    f"{method}: {size}",
                    f"{seconds:.4f}",
                    f"{processor:.4f}",
                    f"{processor / yardstick:.2f}",
                    paper,
                    "" if limit is None else f"{limit:g}",
                )


def main() -> None:
    """Measure, print, append."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the paper's size only")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the CSV to append to")
    arguments = parser.parse_args()
    for row in measurements((1,) if arguments.quick else (1, 10)):
        append(arguments.out, COLUMNS, [dict(zip(COLUMNS, (commit(), machine(), *row), strict=True))])
        print(*row, sep="\t")


if __name__ == "__main__":
    main()
