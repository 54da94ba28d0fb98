"""`python -m experiments.gmrp.run [--seconds 60] [--threads 1] [--seeds 0-4] [--instances a1_4,...] [--shard 1/2]`

Run the command line as a user does, check what it wrote, append one row per run to results.csv, then write the table of
docs/verbs/gmrp.md. Resumable: a run that the file has is not repeated. Run alone, so that wall time and CPU time agree; on a
machine that others use, with `--by-cpu`.
Models are read from gmrp/ in the folder BAYPLAN_DATA, or in ../shared/data beside the repository. `--quick` takes the
example of the repository and half a second, and a new folder if none is given with `--out`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bayplan.check import check
from bayplan.formats import read, read_placement
from bayplan.score.gmrp import gmrp_cost
from experiments.calibration.data import real_file
from experiments.gmrp.figures import KNOWN
from experiments.gmrp.tables import write_page
from experiments.results import ROOT, append, commit, machine, rows
from experiments.sweeps import seeds_of, shard_of

HERE = Path(__file__).parent
CSV = "results.csv"
FIELDS = ("instance", "method", "seconds", "threads", "seed", "cost", "bound", "gap", "wall", "cpu", "commit", "machine")
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


def solve(run: Run, out: Path) -> dict[str, str]:
    """A row, without commit and machine. Ends the experiment if the command fails or its answer is not what it says."""
    model, assignment = files(run.instance)
    words = ["rebalance", model, "--start", assignment, "--objective", "gmrp", "--method", run.method, "--out", out]
    words += ["--seconds", run.seconds, "--threads", run.threads, "--seed", run.seed, "--json", "--quiet"]
    command = ["experiments.gmrp.cpu_clock", run.threads] if run.by_cpu else ["bayplan"]
    started, used = time.perf_counter(), cpu_of_children()
    done = subprocess.run([sys.executable, "-m", *map(str, command + words)], capture_output=True, text=True, check=False)
    wall, cpu = time.perf_counter() - started, cpu_of_children() - used
    if done.returncode != 0:
        sys.exit(f"{run.key}: exit code {done.returncode}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    cost = verified(model, assignment, out)
    if cost != answer["score"]["gmrp"]:
        sys.exit(f"{run.key}: the answer costs {cost}, but the command says {answer['score']['gmrp']}")
    numbers = {"cost": str(cost), "bound": _number(answer["bound"]), "gap": _number(answer["gap"])}
    return {**dict(zip(FIELDS, run.key, strict=False)), **numbers, "wall": f"{wall:.2f}", "cpu": f"{cpu:.2f}"}


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


def measure(path: Path, runs: Sequence[Run]) -> None:
    """One row per run that is not there yet."""
    done = {tuple(row[name] for name in FIELDS[:5]) for row in rows(path)}
    todo = [run for run in runs if run.key not in done]
    with tempfile.TemporaryDirectory() as folder:
        for number, run in enumerate(todo):
            print(f"{number + 1}/{len(todo)}: {' '.join(run.key)}", file=sys.stderr)
            new = solve(run, Path(folder) / "solution.txt")
            print(f"  {int(new['cost']):,} in {new['wall']} s", file=sys.stderr)
            append(path, FIELDS, [{**new, "commit": commit(), "machine": machine()}])


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the example of the repository, half a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seeds", default="0-4", help="such as 0-4, or 3")
    parser.add_argument("--instances", default=",".join(KNOWN), help="such as a1_4,b_1")
    parser.add_argument("--method", default="search", help="search or nls")
    parser.add_argument("--shard", default="1/1", help="k/n: the k-th of n parts")
    parser.add_argument("--by-cpu", action="store_true", help="count CPU seconds of each thread, on a machine that others use")
    parser.add_argument("--out", type=Path, help="the folder for the CSV file and the page")
    arguments = parser.parse_args(argv)
    out = arguments.out or (Path(tempfile.mkdtemp()) if arguments.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    names, seeds = ([TINY], (0,)) if arguments.quick else (arguments.instances.split(","), seeds_of(arguments.seeds))
    fixed = {"method": arguments.method, "threads": arguments.threads, "seconds": 0.5 if arguments.quick else arguments.seconds}
    runs = [Run(instance=name, seed=seed, by_cpu=arguments.by_cpu, **fixed) for seed in seeds for name in names]
    part, parts = shard_of(arguments.shard)
    measure(out / CSV, runs[part - 1 :: parts])
    write_page(out, rows(out / CSV), in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
