"""Measure how `plan --max-moves 2%` grows with the cluster, from a thousand containers to nearly a million, by iterations.

Clusters are like M2, from Parquet files. Every container brings the same number of iterations, so twice the cluster is twice the
search. Each cell runs in a process of its own: read, checked, scored, planned; with wall seconds by stage, processor seconds of
all processes, peak memory, and jobs, messages and bytes between the driver and its workers. Two series:

- default: as `plan` does it, whole up to 200,000 containers and in parts above;
- parts of 10,000: in parts that small, where the whole would also do, so that both can be compared.

One row per cell is appended to `benchmarks/laws.csv`, one per job to `experiments/scale/jobs.csv`; cells that this commit has on
this machine are not measured again.

    python -m benchmarks.laws                            all cells
    python -m benchmarks.laws --scale 0.2                those of one size
    python -m benchmarks.laws --tiny --folder FOLDER     does it work? Toy sizes, into files of that folder
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from experiments.results import append, commit, machine, rows

import bayplan as bp
from bayplan.check import check
from bayplan.engine import engine_of
from bayplan.model import Tick
from bayplan.score.terms import score
from bayplan.search.parts import number_of_parts
from benchmarks.engines import JOB_COLUMNS, JOBS, job_row
from benchmarks.large import MAX_MOVES, STAGES, StageClock
from benchmarks.measured_engine import MeasuredEngine
from benchmarks.processes import cpu_seconds

RESULTS = Path(__file__).parent / "laws.csv"
SCALES = (0.01, 0.02, 0.0655, 0.2, 0.655, 2.0, 6.0)  # times M2: 1,500 to nearly 10^6 containers
SMALL, IN_SMALL_PARTS = 10_000, (0.2, 0.655, 2.0)
ITERATIONS = 50  # for each container
SEVERAL = {0.01: 3, 0.02: 3, 0.0655: 3}  # repetitions: small ones vary most
COLUMNS = (
    *("commit", "machine", "series", "scale", "repetition", "machines", "workloads", "containers", "workers", "parts"),
    *(
        "iterations",
        "file_mb",
        "load_s",
        "check_s",
        "score_s",
        "plan_s",
        "preparing_s",
        "search_s",
        "streaming_s",
        *STAGES.values(),
    ),
    *("wall_s", "cpu_s", "driver_cpu_s", "peak_mb", "worker_peak_mb", "jobs", "messages"),
    *("bytes_shared", "bytes_sent", "bytes_received", "moves", "local_before", "local_after", "violations", "batches"),
)


class Cell(NamedTuple):
    """One thing to measure."""

    series: str
    scale: float
    repetition: int
    part_size: int | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.series, f"{self.scale:g}", str(self.repetition)


def cells(scales: tuple[float, ...], in_small_parts: tuple[float, ...], small: int) -> list[Cell]:
    """All cells, small clusters first."""
    listed = [Cell("default", scale, n) for scale in scales for n in range(SEVERAL.get(scale, 1))]
    listed += [Cell(f"parts of {small:,}", scale, 0, small) for scale in in_small_parts]
    return sorted(listed, key=lambda cell: cell.scale)


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, help="only this size")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--iterations", type=int, default=ITERATIONS, help="for each container")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--folder", type=Path, help="for the CSV files, instead of those of the repository")
    parser.add_argument("--cell", help=argparse.SUPPRESS)  # within the fresh process
    given = parser.parse_args()
    if given.cell is not None:
        print(json.dumps(measured(Cell(*json.loads(given.cell)), given.folder, given.workers, given.iterations)))
        return
    if given.tiny and given.folder is None:
        parser.error("--tiny: expected --folder FOLDER, so that no toy numbers get into the repository")
    wanted = cells((0.01, 0.02, 0.04), (0.04,), 3_000) if given.tiny else cells(SCALES, IN_SMALL_PARTS, SMALL)
    out = RESULTS if given.folder is None else given.folder / RESULTS.name
    per_job = JOBS if given.folder is None else given.folder / JOBS.name
    with tempfile.TemporaryDirectory() as temporary:
        for cell in wanted:
            here = {(row["series"], row["scale"], row["repetition"]) for row in rows(out) if row["commit"] == commit()}
            if cell.key not in here and given.scale in (None, cell.scale):
                row, jobs = _in_fresh_process(cell, Path(temporary), given.workers, given.iterations)
                append(per_job, JOB_COLUMNS, jobs)
                append(out, COLUMNS, [row])
                print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)


def _in_fresh_process(cell: Cell, folder: Path, workers: int, iterations: int) -> tuple[dict[str, str], list[dict[str, str]]]:
    file = folder / f"m2-{cell.scale:g}.zip"
    if not file.exists():
        code = f"import bayplan as bp; bp.write(bp.generate('rasa-m2', scale={cell.scale}), {str(file)!r})"
        subprocess.run([sys.executable, "-c", code], check=True)  # not here: its memory would count
    command = [sys.executable, "-m", "benchmarks.laws", f"--cell={json.dumps(cell)}", f"--folder={folder}"]
    command += [f"--workers={workers}", f"--iterations={iterations}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    row, jobs = json.loads(done.stdout.splitlines()[-1])
    return row, jobs


def measured(cell: Cell, folder: Path, workers: int, iterations: int) -> tuple[dict[str, str], list[dict[str, str]]]:
    """One row, and one for each job. Kernels are compiled before."""
    file = folder / f"m2-{cell.scale:g}.zip"
    bp.plan(bp.generate("boutique"), budget=bp.Budget(iterations=1))
    took, clock = {}, StageClock()
    began, cpu, alone = time.perf_counter(), cpu_seconds([os.getpid()]), time.process_time()

    def timed(name: str, call: Any) -> Any:
        before = time.perf_counter()
        value = call()
        took[name] = time.perf_counter() - before
        return value

    snapshot = timed("load_s", lambda: bp.read(file))
    cluster, before = snapshot.cluster, snapshot.placement
    timed("check_s", lambda: check(cluster, before))
    timed("score_s", lambda: score(cluster, before, snapshot.objective))
    containers = len(cluster.containers.name)
    parts = None if cell.part_size is None else max(2, ceil(containers / cell.part_size))
    with MeasuredEngine(engine_of("pool")) as engine:
        threads = 1 if number_of_parts(containers, parts) == 1 else workers
        budget = bp.Budget(iterations=iterations * containers, threads=threads)
        asked = {"max_moves": MAX_MOVES, "budget": budget, "parts": parts, "engine": engine, "progress": clock}
        answer = timed("plan_s", lambda: bp.plan(snapshot, **asked))
        took["wall_s"] = time.perf_counter() - began
        took["cpu_s"], took["driver_cpu_s"] = cpu_seconds([os.getpid()]) - cpu, time.process_time() - alone
    clock(Tick(stage="", done=1.0))  # the end of the last stage
    counted = engine.statistics
    took |= {column: clock.seconds[stage] for stage, column in STAGES.items()} | {"streaming_s": counted.streaming}
    rest = took["plan_s"] - sum(took[name] for name in ("dropping_s", "ordering_s", "explaining_s"))
    took["search_s"] = took["parts_s"] + took["borders_s"] if counted.jobs else rest
    took["preparing_s"] = rest - took["search_s"]
    in_parts = [note.split()[1] for note in answer.result.notes if note.startswith("in ")]
    row = {
        **dict(zip(("commit", "machine", "series", "scale", "repetition"), (commit(), machine(), *cell.key), strict=True)),
        **{"machines": str(len(cluster.machines.name)), "workloads": str(len(cluster.workloads.name))},
        **{"containers": str(containers), "workers": str(threads), "parts": in_parts[0] if in_parts else "1"},
        **{"iterations": str(budget.iterations), "file_mb": f"{file.stat().st_size / 2**20:.3f}"},
        **{name: f"{value:.3f}" for name, value in took.items()},
        "peak_mb": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}",
        "worker_peak_mb": f"{counted.worker_peak_mb:.0f}",
        **{"jobs": str(counted.jobs), "messages": str(2 * counted.jobs), "bytes_shared": str(counted.bytes_shared)},
        **{"bytes_sent": str(counted.bytes_sent), "bytes_received": str(counted.bytes_received)},
        **{"moves": str(answer.moved), "batches": str(len(answer.plan.batches))},
        **{"local_before": f"{answer.figures.before.local:.4f}", "local_after": f"{answer.figures.after.local:.4f}"},
        "violations": str(len(check(answer.snapshot.cluster, answer.placement, before))),
    }
    mean_size = round(containers / int(row["parts"]))
    about = {"commit": row["commit"], "machine": row["machine"], "run": cell.series, "case": f"plan, M2 x {cell.scale:g}"}
    about |= {"engine": "pool", "repetition": str(cell.repetition)}
    return row, [{**about, **job_row(record, mean_size)} for record in sorted(counted.records, key=lambda record: record.sent)]


if __name__ == "__main__":
    main()
