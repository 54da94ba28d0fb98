"""Measure a live admission: 42 zones, all links, 8 members, 3 resources, requests of up to 100 slots: Amazon's size.

The stream is long: 500 requests in each 100 slots, as `container-clusters` draws them, one hundred slots after the other.
Appends one row per measurement to `benchmarks/admit.csv`: commit, machine, name, offers, seconds (wall and processor), offers a
second, the median and the 99th percentile of one offer (wall time; the latter also of processor time, since other work on the
machine shows in the tail), the ratio of offers a second to the obvious way of only reading prices and peaks, and the target.

    python -m benchmarks.admit [--quick]     --quick: a stream of 5,000 instead of 100,000
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from experiments.results import append, commit, machine

from bayplan.check import check_admission
from bayplan.decide.admit import Admission, AdmitOptions
from bayplan.generate import GENERATORS
from bayplan.kernels.admit.warmup import warm_up
from bayplan.model import Acceptance, ClusterRequest, ClusterRequests

RESULTS = Path(__file__).parent / "admit.csv"
COLUMNS = (
    "commit",
    "machine",
    "name",
    "offers",
    "seconds",
    "cpu_seconds",
    "per_second",
    "p50_ms",
    "p99_ms",
    "cpu_p99_ms",
    "ratio",
    "limit",
)
ZONES, RESOURCES, MEMBERS, SLOTS, CROWD, DRAWN = 42, 3, 8, 100, 500, 10_000
TARGET = "p99 below 1 ms, 1,000 a second"


def stream(count: int) -> ClusterRequests:
    """`DRAWN` different requests, again and again, later and later."""
    sizes = {"zones": ZONES, "resources": RESOURCES, "members_least": MEMBERS, "members_most": MEMBERS, "slots": SLOTS}
    drawn = GENERATORS["container-clusters"].make(**sizes, count=min(count, DRAWN), seed=1)
    epochs = max(1, len(drawn.requests) // CROWD)
    made = [_later(drawn.requests[i % DRAWN], i, (i // DRAWN * epochs + i % epochs) * SLOTS) for i in range(count)]
    return ClusterRequests(zones=drawn.zones, requests=tuple(sorted(made, key=lambda request: request.arrival)))


def _later(request: ClusterRequest, number: int, by: float) -> ClusterRequest:
    times = {"arrival": request.arrival + by, "start": request.start + by, "end": request.end + by}
    return replace(request, name=f"r{number}", **times)


class Measured(NamedTuple):
    """What one measurement gave."""

    name: str
    seconds: float
    wall: list[int]  # (offer,) nanoseconds
    cpu: list[int]
    limit: str = ""

    def columns(self, yardstick: float) -> tuple[str, ...]:
        """The last columns of its row; `yardstick`: a second, the obvious way."""
        rate, tail = len(self.wall) / self.seconds, (f"{np.percentile(self.cpu, 99) / 1e6:.4f}" if self.cpu else "")
        shown = [f"{np.percentile(self.wall, q) / 1e6:.4f}" for q in (50, 99)]
        return (
            self.name,
            str(len(self.wall)),
            f"{self.seconds:.4f}",
            f"{sum(self.cpu) / 1e9:.4f}" if self.cpu else "",
            f"{rate:.0f}",
            *shown,
            tail,
            f"{rate / yardstick:.2f}",
            self.limit,
        )


def offered(
    name: str, requests: ClusterRequests, method: str, options: AdmitOptions, limit: str = ""
) -> tuple[Measured, Acceptance]:
    """All offers, one after the other, on one thread."""
    admission, wall, cpu, zone_of = Admission(requests.zones, options, method), [], [], []
    began = time.perf_counter()
    for request in requests.requests:
        started, used = time.perf_counter_ns(), time.thread_time_ns()
        zone_of.append(admission.offer(request).zone)
        cpu.append(time.thread_time_ns() - used)
        wall.append(time.perf_counter_ns() - started)
    return Measured(name, time.perf_counter() - began, wall, cpu, limit), Acceptance(zone_of=tuple(zone_of))


def obvious(requests: ClusterRequests) -> Measured:
    """Sums of prices and peaks over each request's slots with NumPy, and nothing else."""
    width = ZONES * RESOURCES + ZONES * ZONES
    rng = np.random.default_rng(0)
    price, load = rng.random((SLOTS, width)), rng.integers(0, 9, size=(SLOTS, width))
    wall = []
    for request in requests.requests[:1000]:
        first = int(request.start) % SLOTS
        last = first + int(request.end - request.start)
        started = time.perf_counter_ns()
        price[first:last].sum(axis=0)
        load[first:last].max(axis=0)
        wall.append(time.perf_counter_ns() - started)
    return Measured("NumPy: sums of prices and peaks of a request's slots, nothing else", sum(wall) / 1e9, wall, [])


def checked(requests: ClusterRequests, acceptance: Acceptance) -> Measured:
    """The referee over all of the stream."""
    began = time.perf_counter()
    violations = check_admission(requests, acceptance)
    seconds = time.perf_counter() - began
    if violations:
        raise ValueError(f"over-committed: {violations[0].sentence}")
    each = [int(seconds * 1e9 / len(requests.requests))] * len(requests.requests)
    return Measured(f"the referee of the same, {len(acceptance.accepted):,} accepted", seconds, each, [])


def measurements(count: int) -> Iterator[Measured]:
    """The obvious way first, which is the yardstick."""
    warm_up()
    requests = stream(count)
    yield obvious(requests)
    given = AdmitOptions(one_shot="greedy", value_ratio=50.0, alpha=2.0)
    short = replace(requests, requests=requests.requests[:5000])
    offered("", replace(requests, requests=requests.requests[:50]), "primal-dual", AdmitOptions())  # compiles what is left
    measured, acceptance = offered("primal-dual, greedy, U and alpha given", requests, "primal-dual", given, TARGET)
    yield measured
    yield checked(requests, acceptance)
    yield offered("primal-dual, greedy, U and alpha estimated", requests, "primal-dual", AdmitOptions(one_shot="greedy"), TARGET)[
        0
    ]
    yield offered("swmoa, greedy, U = 50, T = 100", short, "swmoa", replace(given, slots=SLOTS))[0]
    yield offered("available", short, "available", given)[0]
    yield offered("learned, greedy, U estimated", short, "learned", AdmitOptions(one_shot="greedy"))[0]
    short = replace(requests, requests=requests.requests[:1000])
    yield offered("primal-dual, local, U and alpha given", short, "primal-dual", replace(given, one_shot="local"))[0]
    yield offered("learned, local, U estimated: the default", short, "learned", AdmitOptions())[0]


def main() -> None:
    """Measure, print, append."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short stream")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the CSV to append to")
    arguments = parser.parse_args()
    yardstick = 0.0
    for measured in measurements(5_000 if arguments.quick else 100_000):
        yardstick = yardstick or len(measured.wall) / measured.seconds
        row = (commit(), machine(), *measured.columns(yardstick))
        append(arguments.out, COLUMNS, [dict(zip(COLUMNS, row, strict=True))])
        print(*row[2:], sep="\t", flush=True)


if __name__ == "__main__":
    main()
