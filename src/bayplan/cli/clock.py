"""How long this command has been running: a user's seconds start with the process."""

import os
import time
from contextvars import ContextVar
from pathlib import Path

_started: ContextVar[float] = ContextVar("started", default=0.0)  # on the clock of time.perf_counter


def start(*, with_process: bool) -> None:
    """Start counting: from the start of the process if the command is all that the process does, else from now."""
    _started.set(time.perf_counter() - (process_seconds() if with_process else 0.0))


def seconds() -> float:
    """Wall time since the start."""
    return time.perf_counter() - _started.get()


def process_seconds() -> float:
    """How long the process has lived, to a hundredth of a second; where nobody tells, the CPU time it has used."""
    try:
        after_name = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        started = int(after_name[19]) / os.sysconf("SC_CLK_TCK")  # field 22, in ticks since boot
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()
