"""Threads in virtual time: one runs at a time, the one whose sleep ends first, so that every run with one seed is the same."""

import heapq
import itertools
import threading
from collections.abc import Callable


class _Over(BaseException):
    """The end of virtual time: no handler of an actor may catch it."""


class VirtualTime:
    """A clock, and actors that sleep by it."""

    def __init__(self) -> None:
        self.time = 0.0
        self.after_each: Callable[[], None] = lambda: None  # called whenever an actor goes to sleep
        self._queue: list[tuple[float, int, threading.Semaphore]] = []
        self._number = itertools.count()
        self._scheduler = threading.Semaphore(0)
        self._over = False
        self._threads: list[threading.Thread] = []
        self._failure: BaseException | None = None

    def actor(self, run: Callable[[], None], at: float = 0.0) -> None:
        """Something that runs from a time on."""
        turn = threading.Semaphore(0)
        heapq.heappush(self._queue, (at, next(self._number), turn))
        thread = threading.Thread(target=self._run, args=(run, turn), daemon=True)
        self._threads.append(thread)
        thread.start()

    def sleep(self, seconds: float) -> None:
        """Let time pass; called by an actor."""
        turn = threading.Semaphore(0)
        heapq.heappush(self._queue, (self.time + max(0.0, seconds), next(self._number), turn))
        self._scheduler.release()
        turn.acquire()
        if self._over:
            raise _Over

    def run(self, until: float) -> None:
        """Let all actors live until a time; what one of them raises is raised here."""
        while self._queue and self._queue[0][0] <= until and self._failure is None:
            self.time, _, turn = heapq.heappop(self._queue)
            turn.release()
            self._scheduler.acquire()
            self.after_each()
        self.time = max(self.time, until)

    def end(self) -> None:
        """End all actors."""
        self._over = True
        for _, _, turn in self._queue:
            turn.release()
        for thread in self._threads:
            thread.join(5)
        if self._failure is not None:
            raise self._failure

    def _run(self, run: Callable[[], None], turn: threading.Semaphore) -> None:
        turn.acquire()
        try:
            if not self._over:
                run()
        except _Over:
            pass
        except BaseException as error:
            self._failure = error
        finally:
            self._scheduler.release()
