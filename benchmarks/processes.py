"""What processes and all those below them have used, from /proc."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tests.builders.ray_cluster import descendants

TICKS = os.sysconf("SC_CLK_TCK")
USER, SYSTEM, USER_OF_ENDED, SYSTEM_OF_ENDED = 11, 12, 13, 14  # fields of /proc/PID/stat after the name


def cpu_seconds(roots: Iterable[int]) -> float:
    """Processor seconds of these processes and of all below them, with those that have ended there."""
    return sum(_own(pid) for root in roots for pid in (root, *descendants(root)))


def _own(pid: int) -> float:
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(int(fields[number]) for number in (USER, SYSTEM, USER_OF_ENDED, SYSTEM_OF_ENDED)) / TICKS
    return 0.0


def peak_mb(roots: Iterable[int]) -> float:
    """The largest memory that one of the processes below these has had, if it still runs."""
    return max((_peak(pid) for root in roots for pid in descendants(root)), default=0.0)


def _peak(pid: int) -> float:
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)
    return 0.0
