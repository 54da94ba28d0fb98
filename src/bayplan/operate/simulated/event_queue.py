"""Virtual time: a queue of what will happen, and the time of what happened last."""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any


class EventQueue:
    """Events in the order of their time; of equal times, in the order in which they were planned."""

    def __init__(self, start: float) -> None:
        self.time = start
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._number = count()

    @property
    def next_time(self) -> float:
        """When the next event is due; infinity if there is none."""
        return self._heap[0][0] if self._heap else inf

    def at(self, time: float, action: Callable[..., None], *arguments: Any) -> None:
        """Plan an event for a time; a time in the past means now."""
        if time < inf:
            heappush(self._heap, (max(time, self.time), next(self._number), action, arguments))

    def after(self, seconds: float, action: Callable[..., None], *arguments: Any) -> None:
        """Plan an event in a number of seconds."""
        self.at(self.time + seconds, action, *arguments)

    def run_next(self) -> None:
        """Let the next event happen, at its time."""
        self.time, _, action, arguments = heappop(self._heap)
        action(*arguments)
