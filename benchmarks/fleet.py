"""Measure a fleet of 40 clusters of about 500 machines: one budget of moves shared where it brings most, or divided evenly.

Both have the same moves in all (2 % of what runs), the same seconds and the same workers. Two fleets: clusters as they are
generated, and one in which every other cluster was planned before, so that it has less to gain. One row per fleet, arm and
seed is appended to `benchmarks/fleet.csv`, one per job to `experiments/scale/jobs.csv`; rows that this commit has are not
measured again.

    python -m benchmarks.fleet                           all cells
    python -m benchmarks.fleet --tiny --folder FOLDER    does it work? Toy sizes, into files of that folder
"""

import argparse
import os
import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from experiments.results import append, commit, machine, rows

import bayplan as bp
from bayplan.api.fleet.answer import FleetAnswer
from bayplan.engine import engine_of
from bayplan.formats import ClusterFleet
from bayplan.generate.fleet import fleet as generated_fleet
from benchmarks.engines import JOB_COLUMNS, JOBS, job_row
from benchmarks.measured_engine import MeasuredEngine
from benchmarks.processes import cpu_seconds

RESULTS = Path(__file__).parent / "fleet.csv"
FLEETS, ARMS = ("as generated", "every other planned before"), ("shared", "even")
MAX_MOVES = "2%"
COLUMNS = (
    *("commit", "machine", "fleet", "arm", "seed", "clusters", "machines", "containers", "workers", "seconds"),
    *("wall_s", "cpu_s", "driver_cpu_s", "peak_mb", "worker_peak_mb", "jobs", "bytes_sent", "bytes_received"),
    *("moves", "gain", "local_before", "local_after", "hot_before", "hot_after", "promised", "promised_evenly", "plans"),
)


class Size(NamedTuple):
    """How much is measured."""

    clusters: int = 40
    machines: int = 500
    seconds: float = 400.0  # of a run
    before: float = 8.0  # of the plan that a cluster had before
    seeds: int = 2


TINY = Size(4, 12, 6.0, 1.0, 1)


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, help="of a run")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--folder", type=Path, help="for the CSV files, instead of those of the repository")
    given = parser.parse_args()
    if given.tiny and given.folder is None:
        parser.error("--tiny: expected --folder FOLDER, so that no toy numbers get into the repository")
    size, out = TINY if given.tiny else Size(), RESULTS if given.folder is None else given.folder / RESULTS.name
    size = size._replace(seconds=given.seconds or size.seconds, seeds=given.seeds or size.seeds)
    per_job = JOBS if given.folder is None else given.folder / JOBS.name
    with tempfile.TemporaryDirectory() as temporary:
        for name in FLEETS:
            cells = [(name, arm, seed) for seed in range(size.seeds) for arm in ARMS]
            missing = [cell for cell in cells if tuple(map(str, cell)) not in _known(out)]
            fleet = _made(Path(temporary), name, size) if missing else None
            for _, arm, seed in missing:
                row, jobs = measured(fleet, name, arm, seed, size.seconds, given.workers)  # type: ignore[arg-type]
                append(per_job, JOB_COLUMNS, jobs)
                append(out, COLUMNS, [row])
                print(", ".join(f"{column} {value}" for column, value in row.items()), flush=True)


def _known(out: Path) -> set[tuple[str, str, str]]:
    return {(row["fleet"], row["arm"], row["seed"]) for row in rows(out) if row["commit"] == commit()}


def _made(folder: Path, name: str, size: Size) -> ClusterFleet:
    """A fleet in a folder of its own."""
    path = generated_fleet(folder=str(folder / name.replace(" ", "-")), clusters=size.clusters, machines=size.machines)
    fleet = bp.read_fleet(path)
    for cluster in fleet.clusters[1::2] if name == FLEETS[1] else ():
        snapshot = bp.read(cluster.file)
        answer = bp.plan(snapshot, max_moves="20%", seconds=size.before)
        bp.write(replace(snapshot, placement=answer.placement), cluster.file)
    return fleet


def measured(
    fleet: ClusterFleet, name: str, arm: str, seed: int, seconds: float, workers: int
) -> tuple[dict[str, str], list[dict[str, str]]]:
    """One row, and one for each job."""
    divided = replace(fleet, clusters=tuple(replace(cluster, max_moves=MAX_MOVES) for cluster in fleet.clusters))
    wanted, most = (fleet, MAX_MOVES) if arm == "shared" else (divided, None)
    began, cpu, alone = time.perf_counter(), cpu_seconds([os.getpid()]), time.process_time()
    with MeasuredEngine(engine_of("pool")) as engine:
        answer = bp.plan_fleet(wanted, max_moves=most, seconds=seconds, seed=seed, threads=workers, engine=engine)
        wall, used = time.perf_counter() - began, cpu_seconds([os.getpid()]) - cpu
    counted = engine.statistics
    sizes = {row.name: row.containers for row in answer.rows}
    about = dict(zip(COLUMNS[:5], (commit(), machine(), name, arm, str(seed)), strict=True))
    row = {
        **about,
        **{"clusters": str(len(fleet.clusters)), "machines": str(sum(row.machines for row in answer.rows))},
        **{"containers": str(sum(sizes.values())), "workers": str(workers), "seconds": f"{seconds:g}"},
        **{"wall_s": f"{wall:.1f}", "cpu_s": f"{used:.1f}", "driver_cpu_s": f"{time.process_time() - alone:.2f}"},
        "peak_mb": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}",
        **{"worker_peak_mb": f"{counted.worker_peak_mb:.0f}", "jobs": str(counted.jobs)},
        **{"bytes_sent": str(counted.bytes_sent), "bytes_received": str(counted.bytes_received)},
        **_quality(answer),
    }
    same = {"commit": row["commit"], "machine": row["machine"], "run": f"{name}, {arm}", "case": "fleet of 40", "engine": "pool"}
    records = sorted(counted.records, key=lambda record: record.sent)
    return row, [{**same, "repetition": str(seed), **job_row(each, sizes[each.name.split()[-1]])} for each in records]


def _quality(answer: FleetAnswer) -> dict[str, str]:
    """What the plans reach, and what the division promised."""
    division, before, after = answer.division, answer.before, answer.score
    promised: dict[str, Any] = {} if division is None else {"promised": division.gain, "promised_evenly": division.even_gain}
    scores = {f"{name}_before": before.get(name, 0.0) for name in ("local", "hot")}
    scores |= {f"{name}_after": after.get(name, 0.0) for name in ("local", "hot")}
    return {
        **{"moves": str(answer.moved), "gain": f"{answer.gain:.6f}"},
        **{name: f"{value:.4f}" for name, value in scores.items()},
        **dict.fromkeys(("promised", "promised_evenly"), ""),
        **{name: f"{list(gain.values())[-1]:.6f}" for name, gain in promised.items()},
        "plans": str(sum(row.status.has_plan for row in answer.rows)),
    }


if __name__ == "__main__":
    main()
