"""One run: a call of the command line as a user makes it, whose answer is checked."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bayplan.check import check
from bayplan.formats import read, read_placement
from bayplan.score.gmrp import gmrp_cost
from experiments.calibration.data import real_file
from experiments.processes import end_with_parent, environment
from experiments.results import ROOT

KEY = ("instance", "method", "seconds", "threads", "seed")
TINY = "tiny"  # in examples/gmrp


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One call of the command line."""

    instance: str
    method: str
    seconds: float
    threads: int
    seed: int
    by_cpu: bool = False  # count CPU seconds of each thread instead of those of the wall

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its row."""
        return self.instance, self.method, f"{self.seconds:g}", str(self.threads), str(self.seed)


def files(instance: str) -> tuple[Path, Path]:
    """The model and its assignment."""
    folder = ROOT / "examples" / "gmrp" if instance == TINY else real_file("gmrp")
    return folder / f"model_{instance}.txt", folder / f"assignment_{instance}.txt"


def measured(run: Run) -> dict[str, str]:
    """The measures of a run. Ends the experiment if the command fails or its answer is not what it says."""
    with tempfile.TemporaryDirectory() as folder:
        return solve(run, Path(folder) / "solution.txt")


def solve(run: Run, out: Path) -> dict[str, str]:
    """The measures of a run, whose solution is written to a file."""
    model, assignment = files(run.instance)
    words = ["rebalance", model, "--start", assignment, "--objective", "gmrp", "--method", run.method, "--out", out]
    words += ["--seconds", run.seconds, "--threads", run.threads, "--seed", run.seed, "--json", "--quiet"]
    command = ["experiments.gmrp.cpu_clock", run.threads] if run.by_cpu else ["bayplan"]
    started, used = time.perf_counter(), cpu_of_children()
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command + words)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
        preexec_fn=end_with_parent,
    )
    wall, cpu = time.perf_counter() - started, cpu_of_children() - used
    if done.returncode != 0:
        sys.exit(f"{run.key}: exit code {done.returncode}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    cost = verified(model, assignment, out)
    if cost != answer["score"]["gmrp"]:
        sys.exit(f"{run.key}: the answer costs {cost}, but the command says {answer['score']['gmrp']}")
    numbers = {"cost": str(cost), "bound": _number(answer["bound"]), "gap": _number(answer["gap"])}
    return {**numbers, "wall": f"{wall:.2f}", "cpu": f"{cpu:.2f}"}


def verified(model: Path, assignment: Path, solution: Path) -> int:
    """The cost of a written solution, scored and checked from the files; ends the experiment if it violates a rule."""
    snapshot = read(model)
    before = read_placement(assignment, snapshot.cluster)
    after = read_placement(solution, snapshot.cluster)
    violations = check(snapshot.cluster, after, before)
    if violations:
        sys.exit(f"{solution}: {violations[0].sentence}, and {len(violations) - 1} more")
    return int(gmrp_cost(snapshot.cluster, after, snapshot.objective, before).total)


def cpu_of_children() -> float:
    """CPU seconds of the processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"
