"""A cell in processes of its own, watched: memory of all of them together, an end where it takes too much."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from experiments.processes import end_with_parent, environment
from experiments.rasa.cells import MEASURES, Cell, described

EVERY = 0.2  # seconds between two looks
MOST_MEMORY = 12.0  # GiB
LATE = 2.0, 60.0  # a cell is given up after so many times its seconds, and these
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)  # of libraries
PAGE = os.sysconf("SC_PAGE_SIZE")


def in_a_process(cell: Cell, file: Path, keep: Path | None = None) -> dict[str, str]:
    """The measures of a cell, its peak memory in GiB, and its fault if it has no answer."""
    words = [sys.executable, "-m", "experiments.rasa.cells", described(cell, file, keep)]
    variables = environment(**dict.fromkeys(THREADS, str(cell.threads)))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            words,
            stdout=out,
            stderr=err,
            start_new_session=True,
            env=variables,
            preexec_fn=end_with_parent,  # noqa: PLW1509 (one system call, of a library that is loaded)
        )
        try:
            memory, fault = _watched(process, LATE[0] * cell.seconds + LATE[1])
        finally:
            _end(process)
        out.seek(0)
        err.seek(0)
        if not fault and process.returncode != 0:
            fault = (err.read().decode(errors="replace").strip().splitlines() or ["no word"])[-1][:200]
        found = dict.fromkeys(MEASURES, "") | {"valid": "no"} if fault else json.loads(out.read())
    return {**found, "memory": f"{memory:.2f}", "fault": fault}


def _watched(process: "subprocess.Popen[bytes]", seconds: float) -> tuple[float, str]:
    """The peak in GiB, and why the process was not waited for any longer."""
    most, began = 0.0, time.monotonic()
    while process.poll() is None:
        most = max(most, memory_of(process.pid))
        if most > MOST_MEMORY:
            return most, f"more than {MOST_MEMORY:g} GiB"
        if time.monotonic() - began > seconds:
            return most, f"no answer after {seconds:g} s"
        time.sleep(EVERY)
    return most, ""


def memory_of(session: int) -> float:
    """GiB of all processes of a session together; pages that they share count for each."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):  # it has ended meanwhile
            after_name = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(after_name[3]) == session:
                total += int(after_name[21]) * PAGE
    return total / 2**30


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End what still runs of the cell's own group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
