"""The command as it was typed, and how long it has been running: a user's seconds start with the process."""

import os
import shlex
import sys
import time
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path

_started: ContextVar[float] = ContextVar("started", default=0.0)  # on the clock of time.perf_counter


_command: ContextVar[str] = ContextVar("command", default="bayplan")


def start(arguments: Sequence[str] | None) -> None:
    """Start counting: from the start of the process if the command is all that the process does (None), else from now."""
    _started.set(time.perf_counter() - (process_seconds() if arguments is None else 0.0))
    _command.set(shlex.join(["bayplan", *(sys.argv[1:] if arguments is None else arguments)]))


def command() -> str:
    """The whole command, as one can paste it into a shell."""
    return _command.get()


def seconds() -> float:
    """Wall time since the start."""
    return time.perf_counter() - _started.get()


def left(seconds_allowed: float) -> float:
    """What is left of a user's seconds."""
    return max(0.0, seconds_allowed - seconds())


def process_seconds() -> float:
    """How long the process has lived, to a hundredth of a second; where the system does not tell, the CPU time it has used."""
    try:
        after_name = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        started = int(after_name[19]) / os.sysconf("SC_CLK_TCK")  # field 22, in ticks since boot
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()
