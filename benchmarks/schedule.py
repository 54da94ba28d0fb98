"""Measure `cradle` and `cradle+` up to a million requests, and draw how the time grows.

Every size runs in a fresh process, kernels warm, one thread; the seconds are those of the whole method: choosing, the referee's
check, the reasons. The fastest of several runs counts. Processor seconds are given beside wall seconds, which grow when
other processes use the machine. Rows are appended to `benchmarks/schedule.csv`.

    python -m benchmarks.schedule [--quick] [--picture]     --quick: up to 100,000 requests; --picture: draw only
"""

import argparse
import json
import subprocess
import sys
from math import log
from pathlib import Path
from typing import NamedTuple

from experiments.curves import Axis, chart
from experiments.results import append, commit, machine, rows

RESULTS = Path(__file__).parent / "schedule.csv"
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
COLUMNS = (
    "commit",
    "machine",
    "method",
    "n",
    "machines",
    "load",
    "horizon",
    "reached",
    "served",
    "cpu_seconds",
    "wall_seconds",
    "peak_mb",
    "limit",
)
GROWTH = (10_000, 30_000, 100_000, 300_000, 1_000_000)  # requests, at 1,000 for each machine
FIXED = 100  # machines of the other series, in which time goes on and on
PER_MACHINE, HORIZON, SHORT_HORIZON, SEED = 1000, 5612.0, 1000.0, 1
TIMES = 3

_PROBE = """
import json, resource, sys, time
import numpy as np
from bayplan.decide.schedule import SCHEDULERS, ScheduleOptions, ScheduleProblem
from bayplan.generate.requests import requests
from bayplan.kernels.schedule import warm_up
from bayplan.model import Budget, silent

n, machines, load, horizon, seed, times = json.loads(sys.argv[1])
warm_up()
timed = requests(machines=machines, load=load, n=n, horizon=horizon, seed=seed)
area = ((timed.demand / timed.capacity).mean(axis=1) * (timed.end - timed.start)).sum()
reached = area / (machines * (timed.end.max() - timed.start.min()))
problem = ScheduleProblem.alike(timed, machines)
for method in ("cradle", "cradle+"):
    cpu, wall = [], []
    for _ in range(times):
        began = time.process_time(), time.perf_counter()
        result = SCHEDULERS[method](problem, ScheduleOptions(bound=False), budget=Budget(), seed=0, progress=silent)
        cpu.append(time.process_time() - began[0])
        wall.append(time.perf_counter() - began[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([method, reached, result.score["served"], min(cpu), min(wall), peak]), flush=True)
"""


class Size(NamedTuple):
    """The size of a run; limits: seconds for each method."""

    n: int
    machines: int
    load: float
    horizon: float = HORIZON
    limits: tuple[str, str] = ("", "")


def sizes(quick: bool) -> list[Size]:
    """Both series for both loads, the largest with its limits; a thousand machines for a hundred thousand requests.

    The latter are too few for load 12 on the usual horizon even if each took a whole machine, so theirs is shorter.
    """
    listed = [
        Size(n, n // PER_MACHINE, load, limits=("3", "15") if n == GROWTH[-1] else ("", ""))
        for load in (3.0, 12.0)
        for n in GROWTH
    ]
    listed += [Size(n, FIXED, load, longer(n)) for load in (3.0, 12.0) for n in GROWTH if n != PER_MACHINE * FIXED]
    listed.append(Size(100_000, 1000, 12.0, SHORT_HORIZON, ("", "3")))
    return [size for size in listed if not quick or size.n <= 100_000]


def longer(n: int) -> float:
    """The horizon on which the fixed machines have as many requests a second as in the other series."""
    return HORIZON * n / (PER_MACHINE * FIXED)


def measure(size: Size) -> list[dict[str, str]]:
    """One row for each method."""
    arguments = json.dumps([size.n, size.machines, size.load, size.horizon, SEED, TIMES])
    done = subprocess.run([sys.executable, "-c", _PROBE, arguments], capture_output=True, text=True, check=True)
    measured = []
    for line, limit in zip(done.stdout.splitlines(), size.limits, strict=True):
        method, reached, served, cpu, wall, peak = json.loads(line)
        cells = (commit(), machine(), method, str(size.n), str(size.machines), f"{size.load:g}", f"{size.horizon:g}")
        cells += (f"{reached:.4f}", f"{served:.4f}", f"{cpu:.3f}", f"{wall:.3f}", f"{peak:.0f}", limit)
        measured.append(dict(zip(COLUMNS, cells, strict=True)))
    return measured


def series(fixed: bool) -> dict[tuple[str, str], dict[int, float]]:
    """(method, load) -> requests -> processor seconds, the newest; for the fixed machines, or for 1,000 requests on each."""
    seconds_of: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows(RESULTS):
        n, machines = int(row["n"]), int(row["machines"])
        if (machines == FIXED and float(row["horizon"]) == longer(n)) if fixed else n == PER_MACHINE * machines:
            seconds_of.setdefault((row["method"], row["load"]), {})[n] = float(row["cpu_seconds"])
    return seconds_of


def draw(fixed: bool) -> str:
    """Processor seconds over the number of requests, by ratio, beside the line of n log n through the last point of Cradle+."""
    measured = series(fixed)
    times = [seconds for by_size in measured.values() for seconds in by_size.values()]
    sizes_of = sorted({n for by_size in measured.values() for n in by_size})
    curves = {
        f"{method}, load {load}": [(float(n), s) for n, s in by_size.items()] for (method, load), by_size in measured.items()
    }
    anchor = measured["cradle+", "3"][sizes_of[-1]]
    curves["n log n"] = [(float(n), anchor * n_log_n(n) / n_log_n(sizes_of[-1])) for n in sizes_of]
    kind = f"{FIXED} machines, a longer and longer time" if fixed else "1,000 requests for each machine, so 10 to 1,000 machines"
    return chart(
        "Cradle and Cradle+: time over the number of requests",
        f"{kind}; one thread; both axes by ratio",
        Axis(least=float(sizes_of[0]), most=float(sizes_of[-1]), name="requests", logarithmic=True),
        Axis(least=min(times) / 1.5, most=max(times) * 1.5, name="processor seconds", logarithmic=True),
        curves,
    )


def n_log_n(n: int) -> float:
    """The law."""
    return n * log(n)


def main() -> None:
    """Measure, print, append, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 100,000 requests")
    parser.add_argument("--picture", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    for size in [] if arguments.picture else sizes(arguments.quick):
        measured = measure(size)
        append(RESULTS, COLUMNS, measured)
        for row in measured:
            print(*row.values(), sep="\t", flush=True)
    for name, fixed in (("schedule-time", True), ("schedule-time-machines", False)):
        (PICTURES / f"{name}.svg").write_text(draw(fixed), encoding="utf-8")


if __name__ == "__main__":
    main()
