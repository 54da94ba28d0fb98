"""Jobs for the engines: functions that another process can import."""

import os
import signal
import time
from pathlib import Path

from bayplan.errors import UsageError


def doubled(number: int, *, after: float = 0.0) -> int:
    time.sleep(after)
    return 2 * number


def my_process() -> int:
    time.sleep(0.2)
    return os.getpid()


def refused(text: str) -> None:
    raise UsageError(text)


def dying(number: int) -> None:
    os.kill(os.getpid(), number)


def leaving() -> None:
    os._exit(7)


def asleep() -> None:
    time.sleep(600)


def asleep_in(folder: str) -> None:
    """Says that it is there, then sleeps."""
    Path(folder, str(os.getpid())).touch()
    time.sleep(600)


class StubbornError(Exception):
    """An error that cannot be built from its own text."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def stubborn() -> None:
    raise StubbornError("cannot", "travel")


def answers_to_interrupts() -> bool:
    return signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
