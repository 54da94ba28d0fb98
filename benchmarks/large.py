"""Measure `plan --max-moves 2%` on clusters like M2 of 10^4, 10^5 and nearly 10^6 containers, stage by stage.

Each size in a process of its own, from a Parquet file: read, checked, scored, planned. Wall seconds by stage, processor seconds
of all processes, the peak memory of the process and of its largest worker. Rows are appended to `benchmarks/large.csv`.

    python -m benchmarks.large                          all sizes, on as many cores as there are
    python -m benchmarks.large --scale 6 --seconds 300  one of them
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from experiments.results import append, commit, machine

import bayplan as bp
from bayplan.check import check
from bayplan.engine import engine_of
from bayplan.model import Tick
from bayplan.score.terms import score
from benchmarks.measured_engine import MeasuredEngine
from benchmarks.processes import cpu_seconds

RESULTS = Path(__file__).parent / "large.csv"
SCALES = {0.0655: 30.0, 0.655: 60.0, 6.0: 300.0}  # times M2 -> seconds of the plan
MAX_MOVES = "2%"
STAGES = {  # of progress -> column
    "solving parts": "parts_s",
    "solving over the borders of parts": "borders_s",
    "dropping moves that do not pay": "dropping_s",
    "planning": "ordering_s",
    "explaining the moves": "explaining_s",
}
COLUMNS = (
    *("commit", "machine", "scale", "machines", "containers", "workers", "parts", "seconds"),
    *("load_s", "check_s", "score_s", "plan_s", *STAGES.values(), "wall_s", "cpu_s", "peak_mb", "worker_peak_mb"),
    *("max_moves", "moves", "local_before", "local_after", "bound", "violations", "batches"),
)


def main() -> None:
    """Measure the sizes that are wanted, each in a fresh process, and append the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, help="times M2; all sizes by default")
    parser.add_argument("--seconds", type=float, help="of the plan")
    parser.add_argument("--parts", type=int, help="instead of the default")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--folder", type=Path, help="where clusters are kept; a temporary folder by default")
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)  # within the fresh process
    given = parser.parse_args()
    if given.file is not None:
        print(json.dumps(measured(given.file, given.scale, given.seconds, given.parts, given.workers)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        for scale, seconds in SCALES.items() if given.scale is None else [(given.scale, SCALES.get(given.scale, 60.0))]:
            row = _in_fresh_process(folder, scale, given.seconds or seconds, given.parts, given.workers)
            append(RESULTS, COLUMNS, [row])
            print(", ".join(f"{name} {value}" for name, value in row.items()))


def _in_fresh_process(folder: Path, scale: float, seconds: float, parts: int | None, workers: int) -> dict[str, str]:
    file = folder / f"m2-{scale:g}.zip"
    if not file.exists():
        bp.write(bp.generate("rasa-m2", scale=scale), file)
    command = [sys.executable, "-m", "benchmarks.large", f"--file={file}", f"--scale={scale}", f"--seconds={seconds}"]
    command += [f"--workers={workers}", *([] if parts is None else [f"--parts={parts}"])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    row: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return row


def measured(file: Path, scale: float, seconds: float, parts: int | None, workers: int) -> dict[str, str]:
    """One row: everything from the file to the plan. Kernels are compiled before."""
    bp.plan(bp.generate("boutique"), budget=bp.Budget(iterations=1))
    began = time.perf_counter()
    took: dict[str, float] = {}
    snapshot = _timed(took, "load_s", lambda: bp.read(file))
    violated = _timed(took, "check_s", lambda: check(snapshot.cluster, snapshot.placement))
    _timed(took, "score_s", lambda: score(snapshot.cluster, snapshot.placement, snapshot.objective))
    stages, engine = StageClock(), MeasuredEngine(engine_of("pool"))
    answer = _timed(
        took,
        "plan_s",
        lambda: bp.plan(
            snapshot, max_moves=MAX_MOVES, seconds=seconds, parts=parts, threads=workers, engine=engine, progress=stages
        ),
    )
    wall = time.perf_counter() - began
    violated = check(answer.snapshot.cluster, answer.placement, snapshot.placement)
    took |= {column: stages.seconds[stage] for stage, column in STAGES.items()} | {"wall_s": wall}
    used = resource.getrusage(resource.RUSAGE_SELF)
    in_parts = [note.split()[1] for note in answer.result.notes if note.startswith("in ")]
    return {
        "commit": commit(),
        "machine": machine(),
        "scale": f"{scale:g}",
        "machines": str(len(snapshot.cluster.machines.name)),
        "containers": str(len(snapshot.cluster.containers.name)),
        "workers": str(workers),
        "parts": in_parts[0] if in_parts else "1",
        "seconds": f"{seconds:g}",
        **{name: f"{value:.1f}" for name, value in took.items()},
        "cpu_s": f"{cpu_seconds([os.getpid()]):.1f}",
        "peak_mb": f"{used.ru_maxrss / 1024:.0f}",
        "worker_peak_mb": f"{engine.statistics.worker_peak_mb:.0f}",
        "max_moves": MAX_MOVES,
        "moves": str(answer.moved),
        "local_before": f"{answer.figures.before.local:.4f}",
        "local_after": f"{answer.figures.after.local:.4f}",
        "bound": "" if answer.most_local is None else f"{answer.most_local:.4f}",
        "violations": str(len(violated)),
        "batches": str(len(answer.plan.batches)),
    }


def _timed(took: dict[str, float], name: str, call):  # type: ignore[no-untyped-def]
    before = time.perf_counter()
    value = call()
    took[name] = time.perf_counter() - before
    return value


class StageClock:
    """Wall seconds by stage, from reports of progress."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.stage, self.since = "", time.perf_counter()

    def __call__(self, tick: Tick) -> None:
        """Take note of a report."""
        now = time.perf_counter()
        self.seconds[self.stage] += now - self.since
        if tick.stage != self.stage:
            print(f"{tick.stage}: {self.seconds[self.stage]:.1f} s of '{self.stage}' before", file=sys.stderr, flush=True)
        self.stage, self.since = tick.stage, now


if __name__ == "__main__":
    main()
