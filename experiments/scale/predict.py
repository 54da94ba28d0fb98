"""From measured runs to clusters that nobody here has: parameters of the simulated Ray cluster, its validation, its predictions.

Everything measured comes from CSV rows. What is assumed stands in `Assumed`, and is said on the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mean, median
from typing import NamedTuple

import numpy as np

from bayplan.engine import ATTEMPTS
from experiments.results import Row, picked
from experiments.scale.laws import Law, fitted
from experiments.scale.simulated_cluster import RayModel, Work, simulate

RUNS = 20  # simulated, with different seeds
WORKERS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
CLUSTERS, CONTAINERS = 100, 10_000_000
VARY = 0.5  # clusters differ in size as those of the generator `fleet` do
PART_SIZE = 40_000
ROUNDS = 2  # in which parts are solved
BEFORE, AFTER = ("load", "prepare", "divide"), ("drop", "order", "explain")  # stages of the driver alone


class Assumed(NamedTuple):
    """What was not measured."""

    network: float = 1.25e9  # bytes a second: 10 Gbit/s
    hours_between_failures: float = 24.0  # of a worker
    seconds_to_notice: float = 30.0
    seconds_to_restart: float = 120.0
    straggler_share: float = 0.05
    straggler_factor: float = 3.0


ASSUMED = Assumed()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCosts:
    """What Ray itself costs, measured with jobs that do nothing."""

    driver_seconds: float  # processor seconds of the driver for each job
    round_trip: float  # wall seconds of a worker for each job, beside the call
    driver_bandwidth: float  # bytes that the driver packs, sends or receives in a second of its time


def engine_costs(engines: Sequence[Row], engine: str = "ray") -> EngineCosts | None:
    """From the cases `jobs`; None if they were not measured."""
    empty, filled = picked(engines, case="jobs: empty", engine=engine), picked(engines, case="jobs: input", engine=engine)
    if not empty or not filled:
        return None
    each = median(float(row["driver_cpu_s"]) / float(row["jobs"]) for row in empty)
    trip = median(float(row["parallel_s"]) * float(row["workers"]) / float(row["jobs"]) for row in empty)
    more = median(float(row["driver_cpu_s"]) for row in filled) - each * float(filled[0]["jobs"])
    bandwidth = float(filled[0]["bytes_sent"]) / more if more > 0 else float("inf")
    return EngineCosts(driver_seconds=each, round_trip=max(0.0, trip - each), driver_bandwidth=bandwidth)


def model_of(costs: EngineCosts, workers: int, *, network: float = float("inf"), disturbed: bool = False) -> RayModel:
    """A cluster of this many workers; disturbed by failures and stragglers, or by nothing."""
    model = RayModel(
        workers=workers,
        dispatch_seconds=costs.driver_seconds / 2,
        receive_seconds=costs.driver_seconds / 2,
        bandwidth=min(network, costs.driver_bandwidth, 1e12),
        seconds_to_notice=ASSUMED.seconds_to_notice,
        seconds_to_restart=ASSUMED.seconds_to_restart,
    )
    if not disturbed:
        return model
    return replace(
        model,
        mean_seconds_between_failures=3600.0 * ASSUMED.hours_between_failures,
        straggler_share=ASSUMED.straggler_share,
        straggler_factor=ASSUMED.straggler_factor,
    )


# ---- validation ----------------------------------------------------------------------------------------------------------------


class Validated(NamedTuple):
    """One measured run on three nodes, and what the model says of it."""

    case: str
    repetition: str
    measured: float  # wall seconds of the parallel part
    from_own_jobs: float  # predicted from the times of the jobs of that run
    from_here: float  # predicted from the times of the same jobs in one process, and the number of cores


def validations(engines: Sequence[Row], jobs: Sequence[Row], costs: EngineCosts) -> list[Validated]:
    """Every run by iterations on the Ray cluster."""
    found = []
    for row in engines:
        if row["engine"] != "ray" or row["same"] == "" or row["case"].startswith("jobs"):
            continue
        same = {key: row[key] for key in ("commit", "machine", "run", "case", "repetition")}
        own, here = picked(jobs, engine="ray", **same), picked(jobs, engine="here", **same)
        if own and here:
            crowded = max(1.0, int(row["workers"]) / int(row["machine"].split()[0]))
            predicted = _predicted(own, costs, row, 1.0), _predicted(here, costs, row, crowded)
            found.append(Validated(row["case"], row["repetition"], float(row["parallel_s"]), *predicted))
    return found


def _predicted(jobs: Sequence[Row], costs: EngineCosts, row: Row, crowded: float) -> float:
    """Wall seconds of the parallel part: stages one after the other, each on all workers."""
    stages: dict[str, list[Row]] = {}
    for job in jobs:
        stages.setdefault(job["job"].split()[0], []).append(job)
    total, many = 0.0, max(1, int(row["jobs"]))
    for number, stage in enumerate(stages.values()):
        work = Work(
            job_seconds=[_seconds(job) * crowded + costs.round_trip for job in stage],
            shared_bytes=0.0 if number else float(row["bytes_shared"]),
            input_bytes=float(row["bytes_sent"]) / many,
            make_seconds=mean(float(job["made_s"]) for job in stage),
            output_bytes=float(row["bytes_received"]) / many,
        )
        total += simulate(work, model_of(costs, int(row["workers"])), seed=0).seconds
    return total


def _seconds(job: Row) -> float:
    return float(job["seconds"]) + float(job["unpacked_s"])


# ---- 10^7 containers in 100 clusters -------------------------------------------------------------------------------------------


class Prediction(NamedTuple):
    """A number of workers, and what becomes of the work on them: medians over seeds."""

    workers: int
    seconds: float
    worker_busy: float
    driver_busy: float
    disturbed: float  # seconds with failures and stragglers
    slowest: float  # the slowest of these runs
    lost: float  # jobs, on average


def predictions(work_of_seed: Sequence[Work], costs: EngineCosts) -> list[Prediction]:
    """On 1 to 1,000 workers; each seed has its own draw of the jobs."""
    found = []
    for workers in WORKERS:
        calm, hard = (
            [
                simulate(work, model_of(costs, workers, network=ASSUMED.network, disturbed=disturbed), seed)
                for seed, work in enumerate(work_of_seed)
            ]
            for disturbed in (False, True)
        )
        found.append(
            Prediction(
                workers=workers,
                seconds=median(run.seconds for run in calm),
                worker_busy=median(run.worker_busy for run in calm),
                driver_busy=median(run.driver_busy for run in calm),
                disturbed=median(run.seconds for run in hard),
                slowest=max(run.seconds for run in hard),
                lost=mean(run.lost for run in hard),
            )
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFacts:
    """What one job of a fleet is, by measured rows."""

    law: Law  # seconds to read and plan a cluster of that many containers, whole
    spread: tuple[float, ...]  # of measured cluster jobs around their own law
    bytes_in: float  # of a job
    bytes_out: float  # of an answer, for each container
    merge_seconds: float  # of the driver, for each container of an answer

    def work(self, seed: int, clusters: int = CLUSTERS, containers: int = CONTAINERS) -> Work:
        """A fleet of clusters of different sizes, one job each."""
        rng = np.random.default_rng(seed)
        sizes = rng.uniform(1 - VARY, 1 + VARY, clusters)
        sizes *= containers / sizes.sum()
        times = [self.law.beyond(size) * rng.choice(self.spread) for size in sizes.tolist()]
        mean_size = containers / clusters
        return Work(
            job_seconds=times,
            shared_bytes=0.0,
            input_bytes=self.bytes_in,
            output_bytes=self.bytes_out * mean_size,
            merge_seconds=self.merge_seconds * mean_size,
        )


def fleet_facts(law: Law | None, engines: Sequence[Row], jobs: Sequence[Row], costs: EngineCosts | None) -> FleetFacts | None:
    """From the case `fleet` on Ray and the law of whole plans; None if one of them is missing."""
    plans = [job for job in picked(jobs, case="fleet", engine="here") if job["job"].startswith("plan")]
    runs = picked(engines, case="fleet", engine="ray")
    own = fitted((float(job["containers"]), _seconds(job)) for job in plans)
    if law is None or own is None or costs is None or not runs:
        return None
    sent = [job for job in picked(jobs, case="fleet", engine="ray") if job["job"].startswith("plan")]
    return FleetFacts(
        law=law,
        spread=tuple(_seconds(job) / own.at(float(job["containers"])) for job in plans),
        bytes_in=mean(float(job["bytes_sent"]) for job in sent),
        bytes_out=mean(float(job["bytes_received"]) / float(job["containers"]) for job in sent),
        merge_seconds=mean(float(job["merged_s"]) / float(job["containers"]) for job in sent),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFacts:
    """What planning one cluster in parts takes, by measured rows and their laws."""

    driver: dict[str, Law]  # stages of the driver: read, drop, order and so on
    seconds: tuple[float, ...]  # of measured jobs of parts, for each container
    made: float  # seconds of the driver to make a part, for each container
    bytes_in: float  # of a part, for each container
    bytes_out: float

    def work(self, seed: int, containers: int = CONTAINERS) -> Work:
        """One cluster in parts of 40,000 containers, solved in two rounds, which are taken as one here."""
        rng, parts = np.random.default_rng(seed), ROUNDS * -(-containers // PART_SIZE)
        size = containers * ROUNDS / parts
        return Work(
            job_seconds=(rng.choice(self.seconds, parts) * size).tolist(),
            shared_bytes=0.0,
            input_bytes=self.bytes_in * size,
            make_seconds=self.made * size,
            output_bytes=self.bytes_out * size,
            prepare_seconds=sum(law.beyond(containers) for name, law in self.driver.items() if name in BEFORE),
            finish_seconds=sum(law.beyond(containers) for name, law in self.driver.items() if name in AFTER),
        )


def part_facts(laws: dict[str, Law], jobs: Sequence[Row]) -> PartFacts | None:
    """From the parts of the largest cluster that was measured; None if none was."""
    parts = [job for job in jobs if job["case"].startswith("plan, M2") and job["job"].startswith("part ")]
    if not parts or not {"load", "order"} <= laws.keys():
        return None
    largest = max(parts, key=lambda job: float(job["case"].split()[-1]))
    own = picked(parts, case=largest["case"], run=largest["run"])
    size = [float(job["containers"]) for job in own]
    return PartFacts(
        driver=laws,
        seconds=tuple(_seconds(job) / n for job, n in zip(own, size, strict=True)),
        made=mean(float(job["made_s"]) / n for job, n in zip(own, size, strict=True)),
        bytes_in=mean(float(job["bytes_sent"]) / n for job, n in zip(own, size, strict=True)),
        bytes_out=mean(float(job["bytes_received"]) / n for job, n in zip(own, size, strict=True)),
    )


def given_up(job_seconds: float, jobs: int) -> float:
    """How likely it is that a job of a run is lost three times, and with it its answer."""
    once = 1.0 - float(np.exp(-job_seconds / (3600.0 * ASSUMED.hours_between_failures)))
    return 1.0 - (1.0 - once**ATTEMPTS) ** jobs
