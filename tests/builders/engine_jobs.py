"""Jobs for the engines: functions that another process can import."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.errors import UsageError


class LoadCount:
    """Counts in each process how often it is unpickled there."""

    loaded = 0

    def __setstate__(self, state: object) -> None:
        LoadCount.loaded += 1

    def __getstate__(self) -> dict[str, int]:
        return {"any": 1}


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


def dying_once(mark: str, number: int) -> int:
    """Dies where no one has died before."""
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return 2 * number
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


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


def summed(arrays: dict[str, npt.NDArray[np.float64]], more: float = 0.0) -> float:
    return float(sum(array.sum() for array in arrays.values())) + more


def loads_of(shared: LoadCount, seconds: float = 0.2) -> tuple[int, int]:
    """This process, and how often it has loaded what is shared."""
    time.sleep(seconds)
    return os.getpid(), LoadCount.loaded


def host() -> tuple[str, int]:
    """The session that this process belongs to: another one on each node of a Ray cluster."""
    time.sleep(0.5)
    return str(os.getsid(0)), os.getpid()


def busy(seconds: float) -> None:
    """Use a core for as long."""
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass


def echoed(text: bytes, *_: object) -> bytes:
    return text


def block_rates_dying_once(draws: Any, block: int) -> npt.NDArray[np.float64]:
    """Rates of a block; dies where no one has died before."""
    try:
        Path(draws.mark).touch(exist_ok=False)
    except FileExistsError:
        rates: npt.NDArray[np.float64] = draws.rates(block)
        return rates
    os.kill(os.getpid(), signal.SIGKILL)
    return np.zeros(0)
