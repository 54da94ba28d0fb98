"""Waiting for a condition, with a deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
SHORTEST = 0.05  # seconds between two looks
SHARE = 0.2  # of the time that looking may take, so that an expensive look does not slow down what is waited for


def wait_until(condition: Callable[[], T], what: str, *, seconds: float = 60.0, longest: float = 2.0) -> T:
    """The first answer of `condition` that is true; an AssertionError that says what was waited for after the deadline.

    `longest` are the most seconds between two looks.
    """
    deadline = time.monotonic() + seconds
    while True:
        start = time.monotonic()
        if answer := condition():
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}; last seen: {answer!r}")
        took = time.monotonic() - start
        time.sleep(min(longest, max(SHORTEST, took * (1 - SHARE) / SHARE)))
