"""An engine for work that may be too little for it: pieces are done in this process until workers are worth their start.

Whoever uses this promises that a piece has the same answer wherever it is done, and that answers are put together in an order
that does not depend on when they came. Then neither the moment at which workers are started nor their number changes anything.
"""

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Self

from bayplan.engine.choose import engine_of
from bayplan.engine.jobs import Engine, Job, LossNotes, T
from bayplan.errors import WorldError
from bayplan.model.interrupt import stop_requested

# How much work is worth sending is chosen, not measured; no answer depends on it.
START = 1.0  # seconds of work in this process before workers are started, so that little work starts none
LEAST = 0.3  # seconds that the pieces left have to take, by what pieces took so far; else they are done in this process
JOB = 0.1  # seconds that a job should take, so that sending it is little beside it
JOBS = 4  # for each worker, at least: if they are few, one that takes long is waited for
FADING = 0.9  # of what pieces took, from piece to piece: later ones count more
LATE = 0.5  # seconds after its own deadline until a job is given up


class LazyEngine:
    """An engine that is used once that is worth it; never if there is none, or if it is this process.

    If it is lost, or cannot be reached, a note says so, and all goes on in this process.
    """

    def __init__(self, engine: str | Engine | None = None, *, workers: int = 1) -> None:
        self.losses, self.workers = LossNotes(), workers
        chosen = None if engine is None else engine_of(engine)
        self._engine = None if chosen is None or chosen.name == "here" else chosen
        self._entered = ExitStack()
        self._open = 0
        self._spent, self._rate, self._slots = 0.0, 0.0, 0

    def __enter__(self) -> Self:
        if self._engine is not None and not self._open:
            self._entered.enter_context(self._engine)
        self._open += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._open -= 1
        if not self._open:
            self._entered.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """What became of workers, for the notes of an answer."""
        return tuple(self.losses.notes)

    @property
    def slots(self) -> int:
        """How many jobs run at a time; 1 without an engine. The first question starts it, or connects to it."""
        if self._engine is not None and not self._slots:
            try:
                self._slots = self._engine.slots(self.workers)
            except WorldError as error:
                self._leave(error)
            except KeyboardInterrupt:  # a stop was requested while it started
                if not stop_requested():
                    raise
        return max(1, self._slots)

    def did(self, seconds: float) -> None:
        """Take note of how long a piece took, wherever it was done."""
        self._spent += seconds
        self._rate = seconds if not self._rate else FADING * self._rate + (1.0 - FADING) * seconds

    def worthwhile(self, pieces: int) -> bool:
        """Are there workers, and is it worth it to send them this many pieces?"""
        return pieces > 1 and self.worth_it(self._rate * pieces)

    def worth_it(self, seconds: float) -> bool:
        """Are there workers, and is it worth it to send them work of about this many seconds?"""
        if self._engine is None or self._spent < START or seconds < LEAST or stop_requested():
            return False
        return self.slots > 1

    def pieces_at_once(self, pieces: int) -> int:
        """How many pieces one job should have."""
        most = max(1, pieces // (JOBS * self.slots))
        return min(most, max(1, math.ceil(JOB / max(self._rate, 1e-9))))

    def answers(self, jobs: Iterable[Job[T]], *, ends: float = math.inf) -> Iterator[T]:
        """The answers as they come. Some are missing after a stop, a loss, or a moment of `time.perf_counter` and a bit."""
        if self._engine is None:
            return
        seconds = None if math.isinf(ends) else max(0.0, ends - time.perf_counter()) + LATE
        try:
            for _, answer in self._engine.stream(jobs, workers=self.workers, seconds=seconds, lost=self.losses.report):
                yield answer
        except WorldError as error:
            self._leave(error)
        except KeyboardInterrupt:
            if not stop_requested():
                raise

    def _leave(self, error: WorldError) -> None:
        """Go on without the engine."""
        self._engine, self._slots = None, 1
        self.losses.notes.append(f"engine: {error}; the rest was done in this process")
