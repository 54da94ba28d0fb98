"""Measure how large clusters are read, scored, checked and written: rasa-m2 scaled to 10^4, 10^5 and 10^6 containers.

Each file is read in fresh processes; the one with the fewest processor seconds counts. Containers are numbered (`web-0`), or
each has a name in the file as a pod has. Peak memory is that of the process up to the end of the step. `ratio` is to
`json.loads` of the numbered JSON file of the same size. Reading Parquet includes loading pyarrow. Rows are appended to
`benchmarks/reading.csv`, one process at a time.

    python -m benchmarks.reading [--containers 1000000] [--file json] [--folder FOLDER]

FOLDER keeps the files of one run for the next: the million containers take minutes to generate.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from experiments.results import append, commit, machine

RESULTS = Path(__file__).parent / "reading.csv"
COLUMNS = ("commit", "machine", "containers", "workloads", "machines", "file", "file_mb", "step")
COLUMNS += ("cpu_seconds", "wall_seconds", "peak_mb", "ratio")
CONTAINERS = (10_000, 100_000, 1_000_000)
M2 = 152_833  # containers of rasa-m2
FILES = {  # what is in the table -> the file's name
    "json": "numbered.json",
    "json.gz": "numbered.json.gz",
    "json, names listed": "listed.json",
    "parquet": "numbered.zip",
    "parquet, names listed": "listed.zip",
}
TIMES = 2
LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # of which Kubernetes makes the ends of names

PROBE = """
import json, resource, sys, time

steps = []

def measured(step, run):
    wall, cpu = time.perf_counter(), time.process_time()
    answer = run()
    spent = time.process_time() - cpu, time.perf_counter() - wall
    steps.append([step, *spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024])
    return answer

"""
PARSE = PROBE + "measured('json.loads', lambda: json.loads(open(sys.argv[1], encoding='utf-8').read()))\nprint(json.dumps(steps))"
USE = PROBE + (
    "from bayplan.check import violations\n"
    "from bayplan.formats import read, write\n"
    "from bayplan.score.terms import score\n"
    "s = measured('read', lambda: read(sys.argv[1]))\n"
    "measured('score', lambda: score(s.cluster, s.placement, s.objective))\n"
    "broken = measured('check', lambda: list(violations(s.cluster, s.placement)))\n"
    "measured('write', lambda: write(s, sys.argv[2]))\n"
    "assert not broken\n"
    "print(json.dumps(steps))\n"
)
MAKE = PROBE + (
    "from bayplan.formats import write\n"
    "from bayplan.generate.rasa import rasa_m2\n"
    "s = measured('generate', lambda: rasa_m2(scale=float(sys.argv[1])))\n"
    "write(s, sys.argv[2])\n"
    "print(json.dumps(steps))\n"
)
COPY = "import pathlib, sys; from benchmarks.reading import write_forms; write_forms(pathlib.Path(sys.argv[1])); print('[]')"


class Step(NamedTuple):
    """One thing that was done."""

    name: str
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float


def run(code: str, *arguments: str) -> list[Step]:
    """The steps of one fresh process."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return [Step(*step) for step in json.loads(done.stdout.splitlines()[-1])]


def best(code: str, *arguments: str) -> list[Step]:
    """Those of the cheapest of several processes: the machine's other work only ever adds."""
    return min((run(code, *arguments) for _ in range(TIMES)), key=lambda steps: sum(step.cpu_seconds for step in steps))


def make_files(folder: Path, containers: int) -> Iterator[Step]:
    """Write every file that is not there yet; what generating the cluster cost, if that was done."""
    folder.mkdir(parents=True, exist_ok=True)
    numbered = folder / FILES["json"]
    if not numbered.exists():
        yield from run(MAKE, str(containers / M2), str(numbered))
    if any(not (folder / name).exists() for name in FILES.values()):
        run(COPY, str(folder))  # not here: the memory of a process starts at that of the one that starts it


def write_forms(folder: Path) -> None:
    """Write the file of the folder in every form."""
    from bayplan.formats import read, write

    snapshot = read(folder / FILES["json"])
    for name in FILES.values():
        if not (folder / name).exists():
            write(listed(snapshot) if name.startswith("listed") else snapshot, folder / name)


def listed(snapshot):  # type: ignore[no-untyped-def]  # bayplan is imported by those who call this
    """The snapshot with containers that are called as pods are."""
    from dataclasses import replace

    rng, containers = random.Random(0), snapshot.cluster.containers
    ends = ["".join(rng.choices(LETTERS, k=10)) for _ in snapshot.cluster.workloads.name]
    names = (f"shop/svc-{w}-{ends[w]}-{''.join(rng.choices(LETTERS, k=8))}" for w in containers.workload.tolist())
    named = replace(containers, name=tuple(names))
    return replace(snapshot, cluster=replace(snapshot.cluster, containers=named))


def measurements(folder: Path, containers: int, files: Sequence[str]) -> Iterator[tuple[str, Step]]:
    """(what is in the table, step); the first is the yardstick."""
    made = [*make_files(folder, containers)]
    yield "json", best(PARSE, str(folder / FILES["json"]))[0]
    yield from (("", step) for step in made)
    for file in files:
        path = folder / FILES[file]
        for step in best(USE, str(path), str(folder / f"copy-{path.name}")):
            yield file, step


def main() -> None:
    """Measure, print, append."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--containers", type=int, nargs="*", default=CONTAINERS)
    parser.add_argument("--file", choices=FILES, nargs="*", default=list(FILES))
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for containers in given.containers:
            folder = (given.folder or Path(temporary)) / str(containers)
            _measure(folder, containers, given.file)


def _measure(folder: Path, containers: int, files: Sequence[str]) -> None:
    yardstick = 0.0
    for file, step in measurements(folder, containers, files):
        yardstick = yardstick or step.cpu_seconds
        size = f"{(folder / FILES[file]).stat().st_size / 1e6:.1f}" if file else ""
        sizes = (str(containers), str(round(10_180 * containers / M2)), str(round(5_284 * containers / M2)))
        seconds = (f"{step.cpu_seconds:.3f}", f"{step.wall_seconds:.3f}")
        costs = (*seconds, f"{step.peak_mb:.0f}", f"{step.cpu_seconds / yardstick:.2f}")
        row = (commit(), machine(), *sizes, file, size, step.name, *costs)
        append(RESULTS, COLUMNS, [dict(zip(COLUMNS, row, strict=True))])
        print(*row[2:], sep="\t", flush=True)


if __name__ == "__main__":
    main()
