"""What the stages of the loop share: the orchestrator, the store, the settings, and the right to act."""

import gzip
import math
import os
import socket
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from bayplan.model import Progress, silent
from bayplan.model.record import Event, Hold, RecordedPlan, RecordedStep, Turn
from bayplan.operate.listener import LoopListener
from bayplan.operate.orchestrator import Observation, Orchestrator, TemporaryError
from bayplan.operate.settings import LoopSettings
from bayplan.operate.store import Store

V = TypeVar("V")
LONGEST_DELAY = 60.0  # seconds between two tries
SHOWN_EVERY = 10.0  # seconds of this process between two observations that are written down
LEVEL = 5  # of compression: as small as the best in half the time


def this_process() -> str:
    """A name for this process that no other has."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:6]}"


@dataclass(slots=True, kw_only=True, eq=False)
class LoopContext:
    """One process that may act on one cluster: it holds the lease, and has seen the cluster at some version."""

    orchestrator: Orchestrator
    store: Store
    settings: LoopSettings
    holder: str = field(default_factory=this_process)
    progress: Progress = silent
    tell: Callable[[Event], None] = lambda event: None  # called with each event of the log
    stop: Callable[[], bool] = lambda: False  # was this process asked to end? It does, when nothing is half-moved
    listener: LoopListener = field(default_factory=LoopListener)  # told what was written down
    notice: float = math.inf  # seconds within which it sees, while it rests, that it was asked to end
    fence: int = 0  # 0 while it may not act
    renewed: float = 0.0  # when the lease was acquired or renewed last
    seen: Observation | None = None  # the newest observation that was sound
    show_every: float = SHOWN_EVERY
    shown: float = 0.0  # when one is written down again, by the clock of this process

    def acquire(self) -> bool:
        """Take the lease, or keep it; False while another process has it."""
        now = self.now()
        fence = self.store.acquire(self.holder, now, self.settings.lease)
        self.fence, self.renewed = fence or 0, now
        return fence is not None

    def renew(self) -> None:
        """Keep the lease; LostLeaseError if another process has it: then nothing more may be done."""
        now = self.now()
        self.store.renew(self.fence, now, self.settings.lease)
        self.renewed = now

    def release(self) -> None:
        """Free the lease, if it is ours: another process may act at once."""
        if self.fence:
            self.store.release(self.fence)
            self.fence = 0

    def now(self) -> float:
        """The orchestrator's time."""
        return self.patiently(self.orchestrator.now)

    def wait(self, seconds: float) -> None:
        """Let time pass without losing the lease; LostLeaseError if another process has it by then."""
        left = seconds
        while left > 0:
            part = min(left, self.settings.lease / 3)
            self.orchestrator.wait(part)
            left -= part
            self._keep()

    def rest(self, seconds: float) -> None:
        """Let time pass where nothing is under way: it ends soon if this process is asked to end."""
        left = seconds
        while left > 0 and not self.stop():
            part = min(left, self.settings.lease / 3, self.notice)
            self.wait(part)
            left -= part

    def _keep(self) -> None:
        """Renew the lease, if it is ours and a good part of it has run out."""
        with suppress(TemporaryError):
            now = self.orchestrator.now()
            if self.fence and abs(now - self.renewed) >= self.settings.lease / 4:
                self.store.renew(self.fence, now, self.settings.lease)
                self.renewed = now

    # ---- what is written down, and told ---------------------------------------------------------------------------------------

    def begin_turn(self, turn: Turn) -> Turn:
        """Write a turn down; returned with its id."""
        begun = self.store.begin_turn(turn, self.fence)
        self.listener.turn_begun(begun)
        return begun

    def keep_observed(self, observation: Observation) -> None:
        """Write down what was seen, for people to look at and to plan on; at most every few seconds of a person's time."""
        if not self.fence or time.monotonic() < self.shown:
            return
        from bayplan.formats.native.write import native_document, text_of

        document = native_document(observation.snapshot)
        seen = datetime.fromtimestamp(observation.at, UTC)
        text = text_of({**document, "name": f"{document.get('name', 'cluster')}, seen {seen:%a %d %b %H:%M}"})
        self.store.keep_observed(observation.at, gzip.compress(text.encode("utf-8", "backslashreplace"), LEVEL), self.fence)
        self.shown = time.monotonic() + self.show_every

    def end_turn(self, turn: Turn) -> None:
        """Write down what a turn came to."""
        self.store.end_turn(turn, self.fence)
        self.listener.turn_ended(turn)

    def save_plan(self, plan: RecordedPlan) -> None:
        """Write a plan as it is now."""
        self.store.save_plan(plan, self.fence)
        self.listener.plan_saved(plan)

    def begin_steps(self, steps: Sequence[RecordedStep]) -> None:
        """Write steps down before they are sent."""
        self.store.begin_steps(steps, self.fence)
        self.listener.steps_begun(steps)

    def end_steps(self, steps: Sequence[RecordedStep]) -> None:
        """Write down what became of steps."""
        self.store.end_steps(steps, self.fence)
        self.listener.steps_ended(steps)

    def hold(self, holds: Sequence[Hold]) -> None:
        """Hold workloads until a time."""
        self.store.hold(holds, self.fence)
        self.listener.held(holds)

    def log(self, kind: str, text: str, plan: RecordedPlan | None = None) -> None:
        """Write one line to the log."""
        event = Event(at=self.now(), kind=kind, text=text, plan="" if plan is None else plan.id)
        self.store.log(event)
        self.tell(event)

    def patiently(self, call: Callable[[], V]) -> V:
        """The result of a call to the orchestrator, tried again while it does not answer; TemporaryError after long enough."""
        waited, delay = 0.0, 1.0
        while True:
            try:
                return call()
            except TemporaryError as error:
                if waited >= self.settings.patience:
                    raise
                delay = min(LONGEST_DELAY, max(error.delay, 2 * delay))
                self.wait(delay)
                waited += delay
