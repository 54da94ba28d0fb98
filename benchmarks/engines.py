"""Measure engines against each other in one run: this process, a pool of two processes, a Ray cluster of three nodes.

The Ray cluster is real: three nodes on loopback, each a process group of its own with one CPU. Arms alternate, repetition by
repetition. One row per arm and repetition is appended to `benchmarks/engines.csv`, one per job to `experiments/scale/jobs.csv`;
rows that this commit has on this machine are not measured again, so a run that was stopped goes on where it was.

- collocate: `collocate --method rasa` on rasa-m2, by iterations: the same work everywhere, so the same answer;
- fleet: `plan` of 20 clusters like M3 that share one budget of moves, by iterations;
- collocate by seconds, fleet by seconds: one process for 2 T seconds against two for T, seed by seed: the same processor time;
- jobs: 200 jobs that do nothing, that bring and return a megabyte, that share 32 megabytes: what an engine itself costs.

    python -m benchmarks.engines                  all cases
    python -m benchmarks.engines --case fleet     one of them
    python -m benchmarks.engines --tiny --folder FOLDER    does it work? In seconds, into files of that folder
"""

import argparse
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from experiments.results import append, commit, machine, rows
from tests.builders.ray_cluster import RayCluster, connected, missing, ray_cluster

import bayplan as bp
from bayplan.engine import Engine, Job, Shared, engine_of
from bayplan.generate.fleet import fleet as generated_fleet
from benchmarks.measured_engine import MeasuredEngine, warmed_up
from benchmarks.processes import cpu_seconds

RESULTS = Path(__file__).parent / "engines.csv"
JOBS = Path(__file__).parents[1] / "experiments" / "scale" / "jobs.csv"
ARMS = ("here", "pool", "ray")
WORKERS = {"here": 1, "pool": 2, "ray": 3}
REPETITIONS = 3
SETTLE = 3.0  # seconds until workers of the arm before have ended
SAME = (*("commit", "machine", "run", "case", "engine", "repetition"),)
COLUMNS = (
    *SAME,
    *(
        "workers",
        "iterations",
        "seconds",
        "containers",
        "start_s",
        "start_cpu_s",
        "wall_s",
        "cpu_s",
        "driver_cpu_s",
        "parallel_s",
    ),
    *("jobs", "job_s", "job_cpu_s", "bytes_shared", "bytes_sent", "bytes_received", "peak_mb", "quality", "digest", "same"),
)
JOB_COLUMNS = (
    *SAME,
    *(
        "job",
        "containers",
        "made_s",
        "seconds",
        "cpu_s",
        "unpacked_s",
        "overhead_s",
        "merged_s",
        "bytes_sent",
        "bytes_received",
        "peak_mb",
    ),
)


class Size(NamedTuple):
    """How much is measured."""

    scale: float = 1.0  # of rasa-m2
    masters: int = 1_500  # crucial workloads, which make about nine subproblems
    rounds: int = 8  # iterations of each of them
    clusters: int = 20
    machines: int = 96  # as M3 has
    iterations: int = 150_000  # of each search of a cluster
    collocate_seconds: float = 40.0  # T
    fleet_seconds: float = 40.0
    jobs: int = 200
    megabyte: int = 2**20
    shared: int = 32 * 2**20


TINY = Size(0.02, 60, 1, 3, 12, 2_000, 4.0, 6.0, 12, 2**12, 2**20)


class Found(NamedTuple):
    """What a run of a case came to."""

    quality: float
    digest: str  # of the answer
    containers: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class Case:
    """One thing that is done on several engines."""

    name: str
    run: Callable[[Engine, int, int, float | None], Found]  # engine, workers, seed, seconds
    arms: Sequence[str] = ARMS
    iterations: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)  # of each arm
    seeded: bool = False  # has each repetition a seed of its own?
    sizes: dict[str, int] = field(default_factory=dict)  # job -> containers


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", help="only the cases whose names begin so")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--tiny", action="store_true", help="in seconds, to see that it works")
    parser.add_argument("--folder", type=Path, help="for the two CSV files, instead of those of the repository")
    given = parser.parse_args()
    if given.tiny and given.folder is None:
        parser.error("--tiny: expected --folder FOLDER, so that no toy numbers get into the repository")
    if words := missing():
        parser.error(words)
    out, per_job = (RESULTS, JOBS) if given.folder is None else (given.folder / RESULTS.name, given.folder / JOBS.name)
    warmed_up()
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(out, per_job, run=time.strftime("%Y%m%d-%H%M%S"))
        cases = [
            case for case in cases_of(TINY if given.tiny else Size(), Path(temporary)) if case.name.startswith(given.case or "")
        ]
        with ray_cluster() as cluster:
            bench.cluster = cluster
            for case in cases:
                bench.measure(case, given.repetitions)


@dataclass(slots=True, eq=False)
class Bench:
    """Where rows go, and the cluster that is there."""

    out: Path
    per_job: Path
    run: str
    cluster: RayCluster | None = None
    digests: dict[tuple[str, str], str] = field(default_factory=dict)  # of the first answer to a case and seed

    def measure(self, case: Case, repetitions: int) -> None:
        """All arms of each repetition, one after the other, unless they are known already."""
        here = commit(), machine()
        known = {
            (row["case"], row["engine"], row["repetition"]): row
            for row in rows(self.out)
            if (row["commit"], row["machine"]) == here
        }
        for repetition in range(repetitions):
            arms = [arm for arm in case.arms if (case.name, arm, str(repetition)) not in known]
            if len(arms) < len(case.arms) and arms:
                arms = list(case.arms)  # arms of one repetition are compared: all of them again
            for arm in arms:
                self._measure_arm(case, arm, repetition)

    def _measure_arm(self, case: Case, arm: str, repetition: int) -> None:
        same = dict(zip(SAME, (commit(), machine(), self.run, case.name, arm, str(repetition)), strict=True))
        seed, seconds = repetition if case.seeded else 0, case.seconds.get(arm)
        time.sleep(SETTLE)
        before, began = self._cpu(), time.perf_counter()
        with self._engine(arm) as inner:
            engine = MeasuredEngine(inner)
            inner.run([Job(name="start", call=warmed_up)] * max(2, inner.slots(WORKERS[arm])), workers=WORKERS[arm])
            start, ready, alone = time.perf_counter() - began, self._cpu(), time.process_time()
            started = time.perf_counter()
            found = case.run(engine, WORKERS[arm], seed, seconds)
            wall, alone = time.perf_counter() - started, time.process_time() - alone
            after = self._cpu()
        counted, who = engine.statistics, slice(None) if arm == "ray" else slice(1)  # nodes count for Ray alone
        first = self.digests.setdefault((case.name, str(seed)), found.digest)
        row = {
            **same,
            "workers": str(WORKERS[arm]),
            "iterations": "" if case.iterations is None else str(case.iterations),
            "seconds": "" if seconds is None else f"{seconds:g}",
            "containers": str(found.containers),
            "start_s": f"{start:.3f}",
            "wall_s": f"{wall:.3f}",
            "start_cpu_s": f"{sum(ready[who]) - sum(before[who]):.2f}",
            "cpu_s": f"{sum(after[who]) - sum(ready[who]):.2f}",
            "driver_cpu_s": f"{after[0] - ready[0] if arm == 'ray' else alone:.3f}",  # with the process that speaks with Ray
            "parallel_s": f"{counted.streaming:.3f}",
            "jobs": str(counted.jobs),
            "job_s": f"{counted.seconds:.3f}",
            "job_cpu_s": f"{counted.cpu:.3f}",
            "bytes_shared": str(counted.bytes_shared),
            "bytes_sent": str(counted.bytes_sent),
            "bytes_received": str(counted.bytes_received),
            "peak_mb": f"{counted.worker_peak_mb:.0f}",
            "quality": f"{found.quality:.6f}",
            "digest": found.digest,
            "same": "" if case.seconds else "yes" if found.digest == first else "no",
        }
        self._append_jobs(case, same, counted.records)
        append(self.out, COLUMNS, [row])
        print(
            ", ".join(f"{name} {row[name]}" for name in COLUMNS if name not in ("commit", "machine", "run", "digest")), flush=True
        )

    def _append_jobs(self, case: Case, same: dict[str, str], records: Sequence[Any]) -> None:
        """Distributions of job times; of jobs that do nothing there is no need to keep each."""
        if case.name.startswith("jobs"):
            return
        in_order = sorted(records, key=lambda record: record.sent)
        append(self.per_job, JOB_COLUMNS, [{**same, **job_row(record, case.sizes.get(record.name, 0))} for record in in_order])

    @contextmanager
    def _engine(self, arm: str) -> Iterator[Engine]:
        if arm == "ray" and self.cluster is not None:
            with connected(self.cluster) as engine:
                yield engine
            return
        with engine_of(arm) as engine:
            yield engine

    def _cpu(self) -> tuple[float, float]:
        """Processor seconds of this process and all below it but for the nodes of Ray, and of those."""
        nodes = cpu_seconds(node.process.pid for node in self.cluster.nodes) if self.cluster is not None else 0.0
        return cpu_seconds([os.getpid()]) - nodes, nodes


def job_row(record: Any, containers: int) -> dict[str, str]:
    """A row about one job."""
    return {
        "job": record.name,
        "containers": str(containers),
        "made_s": f"{record.sent - record.taken:.4f}",
        "seconds": f"{record.seconds:.4f}",
        "cpu_s": f"{record.cpu:.4f}",
        "unpacked_s": f"{record.unpacked:.4f}",
        "overhead_s": f"{record.overhead:.4f}",
        "merged_s": f"{record.merged:.5f}",
        "bytes_sent": str(record.bytes_sent),
        "bytes_received": str(record.bytes_received),
        "peak_mb": f"{record.peak_mb:.0f}",
    }


# ---- the cases -----------------------------------------------------------------------------------------------------------------


def cases_of(size: Size, folder: Path) -> list[Case]:
    """All cases, and a fleet in a folder."""
    snapshot = bp.generate("rasa-m2", scale=size.scale)
    fleet = bp.read_fleet(generated_fleet(folder=str(folder / "fleet"), clusters=size.clusters, machines=size.machines))
    sizes = {cluster.name: len(bp.read(cluster.file).cluster.containers.name) for cluster in fleet.clusters}
    of_jobs = {f"{stage} of cluster {name}": count for name, count in sizes.items() for stage in ("front", "plan")}
    collocate, plan = partial(collocated, snapshot, size), partial(planned, fleet, size, sum(sizes.values()))
    twice = {"here": 2 * size.collocate_seconds, "pool": size.collocate_seconds}
    of_fleet = {"here": 2 * size.fleet_seconds, "pool": size.fleet_seconds}
    return [
        *jobs_cases(size),
        Case(name="collocate", run=collocate, iterations=size.rounds),
        Case(name="fleet", run=plan, iterations=size.iterations, sizes=of_jobs),
        Case(name="collocate by seconds", run=collocate, arms=("here", "pool"), seconds=twice, seeded=True),
        Case(name="fleet by seconds", run=plan, arms=("here", "pool"), seconds=of_fleet, seeded=True, sizes=of_jobs),
    ]


def collocated(snapshot: bp.Snapshot, size: Size, engine: Engine, workers: int, seed: int, seconds: float | None) -> Found:
    """[RASA] on a cluster like M2."""
    budget = {"budget": bp.Budget(iterations=size.rounds, threads=workers)} if seconds is None else {"threads": workers}
    answer = bp.collocate(
        snapshot, method="rasa", masters=size.masters, seed=seed, seconds=seconds or 0.0, engine=engine, **budget
    )
    return Found(answer.score["affinity"], digest(answer.placement.machine_of), len(answer.placement.machine_of))


def planned(fleet: Any, size: Size, containers: int, engine: Engine, workers: int, seed: int, seconds: float | None) -> Found:
    """The plans of a fleet that shares its moves."""
    budget = {"budget": bp.Budget(iterations=size.iterations)} if seconds is None else {}
    answer = bp.plan_fleet(fleet, max_moves="2%", seed=seed, seconds=seconds, threads=workers, engine=engine, **budget)
    assert answer.complete, answer.failures()
    return Found(answer.gain, digest(np.array([str(move) for move in answer.moves])), containers)


def jobs_cases(size: Size) -> list[Case]:
    """Jobs that do nothing but travel."""
    some = b"x" * size.megabyte
    kinds: dict[str, Callable[[int], Job[Any]]] = {
        "empty": lambda n: Job(name=f"{n}", call=len, arguments=(b"",)),
        "input": lambda n: Job(name=f"{n}", call=len, arguments=(some + bytes([n % 256]),)),
        "output": lambda n: Job(name=f"{n}", call=bytes, arguments=(size.megabyte,)),
        "shared": lambda n: Job(name=f"{n}", call=len, arguments=(large,)),
    }
    large = Shared(np.arange(size.shared // 8))

    def run(kind: str, engine: Engine, workers: int, seed: int, seconds: float | None) -> Found:
        for _ in engine.stream([kinds[kind](n) for n in range(size.jobs)], workers=workers):
            pass
        return Found(0.0, "")

    return [Case(name=f"jobs: {kind}", run=partial(run, kind), arms=("pool", "ray"), iterations=size.jobs) for kind in kinds]


def digest(array: Any) -> str:
    """A few letters that differ where answers do."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:12]


if __name__ == "__main__":
    main()
