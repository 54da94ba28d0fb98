"""Measure the first command on a machine: with nothing compiled, with everything compiled, and from the wheel with machine code.

Every command runs in a process of its own on one core, with one second to search. Its processor seconds, those of the processes
that it starts included, are those that a user waits for; a compiled kernel leaves a file. Rows are appended to
`benchmarks/start.csv`.

    python -m benchmarks.start [--wheel FILE]     --wheel: install that wheel into an empty environment and measure it, too
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.results import append, commit, machine

RESULTS = Path(__file__).parent / "start.csv"
COLUMNS = ("commit", "machine", "start", "command", "cpu_seconds", "wall_seconds", "compiled")
ONE_CORE = """
import os, runpy
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
runpy.run_module("bayplan", run_name="__main__")
"""
INPUTS: Mapping[str, Sequence[str]] = {
    "boutique.json": ("generate", "boutique"),
    "ucac.json": ("generate", "ucac", "--set", "services=10", "--set", "scale=0.05", "--set", "machines=40"),
    "stream.jsonl": ("generate", "container-clusters", "--set", "zones=3", "--set", "count=60", "--set", "members_most=4"),
    "requests.json": ("generate", "requests", "--set", "n=2000", "--set", "machines=10", "--set", "load=3"),
}
COMMANDS: Mapping[str, Sequence[str]] = {
    "place": ("place", "boutique.json", "--seconds", "1"),
    "rebalance": ("rebalance", "boutique.json", "--seconds", "1"),
    "collocate": ("collocate", "boutique.json", "--seconds", "1"),
    "pack": ("pack", "ucac.json", "--confidence", "0.99", "--seconds", "1"),
    "admit": ("admit", "stream.jsonl", "--seconds", "1"),
    "schedule": ("schedule", "requests.json", "--machines", "10", "--seconds", "1"),
    "warmup": ("warmup",),
}


def main() -> None:
    """Measure every command, and append the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="a wheel with machine code, from `make wheel`")
    wheel = parser.parse_args().wheel
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, command in INPUTS.items():
            _run(Path(sys.executable), folder, folder / "inputs", *command, "--out", file)
        for verb, command in COMMANDS.items():
            cache = folder / f"cache-{verb}"
            for start in ("nothing compiled", "compiled before"):
                _measure(start, verb, command, Path(sys.executable), folder, cache)
        if wheel is not None:
            python = _installed(wheel.resolve(), folder)
            for verb, command in COMMANDS.items():
                _measure("wheel", verb, command, python, folder, folder / f"wheel-{verb}")


def _measure(start: str, verb: str, command: Sequence[str], python: Path, folder: Path, cache: Path) -> None:
    before = len(list(cache.glob("*.kernel")))
    began, used = time.perf_counter(), _used()
    _run(python, folder, cache, *command, "--quiet")
    values = (f"{_used() - used:.1f}", f"{time.perf_counter() - began:.1f}", len(list(cache.glob("*.kernel"))) - before)
    append(RESULTS, COLUMNS, [dict(zip(COLUMNS, (commit(), machine(), start, verb, *values), strict=True))])
    print(start, verb, *values, flush=True)


def _used() -> float:
    """Processor seconds of all processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _run(python: Path, folder: Path, cache: Path, *command: str) -> None:
    """Run a command of bayplan on one core, with an empty HOME."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA", "BAYPLAN"))}
    variables |= {"HOME": str(home), "BAYPLAN_CACHE_DIR": str(cache)}
    subprocess.run([str(python), "-c", ONE_CORE, *command], cwd=folder, env=variables, check=True, stdout=subprocess.DEVNULL)


def _installed(wheel: Path, folder: Path) -> Path:
    """The Python of an empty environment that has the wheel."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "environment")], check=True)
    python = folder / "environment" / "bin" / "python"
    constraints = Path(__file__).parents[1] / "constraints.txt"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint", str(constraints)]
    subprocess.run([*install, str(wheel)], check=True)
    return python


if __name__ == "__main__":
    main()
