"""The steps of one batch: written down, sent, watched, and confirmed by observing. Answers are hints; what is observed counts."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from bayplan.model import Action
from bayplan.model.record import RecordedStep, StepStatus
from bayplan.operate.context import LoopContext
from bayplan.operate.orchestrator import (
    Observation,
    PermanentError,
    Phase,
    StepOrder,
    StepReport,
    StepState,
    TemporaryError,
)
from bayplan.operate.stages.observe import sound_observation

POLL = 15.0  # seconds between two looks at what the orchestrator says
ENDED = (StepState.DONE, StepState.FAILED)
LOOK = 60.0  # seconds after which is observed even if it says that nothing has ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an observation shows of a step."""

    status: StepStatus  # BEGUN: not known yet
    text: str = ""
    uid: str = ""


UNKNOWN = Outcome(status=StepStatus.BEGUN)


def outcome(order: StepOrder, observation: Observation) -> Outcome:
    """Whether a step has been made, as far as an observation shows it."""
    if order.action is Action.DELETE:
        instance = observation.by_uid.get(order.uid)
        return UNKNOWN if instance is not None else Outcome(status=StepStatus.DONE, text="is gone")
    instance = observation.by_token.get(order.token)
    if instance is not None and instance.phase is Phase.READY:
        return Outcome(status=StepStatus.DONE, text="is ready", uid=instance.uid)
    if order.machine_uid and all(machine.uid != order.machine_uid for machine in observation.machines):
        return Outcome(status=StepStatus.FAILED, text=f"machine '{order.machine}' is gone")
    return UNKNOWN


@dataclass(slots=True, kw_only=True, eq=False)
class BatchRun:
    """The steps of a batch on their way."""

    context: LoopContext
    orders: dict[str, StepOrder]  # by token
    unsafe_now: Callable[[Observation, str], str]  # why a step must not be sent on what runs now, by token; empty if it may
    sent: set[str] = field(default_factory=set)
    retry_at: dict[str, float] = field(default_factory=dict)  # token -> when it is sent again
    known: dict[str, Outcome] = field(default_factory=dict)
    cancelled: dict[str, float] = field(default_factory=dict)  # token -> when: an observation since then shows what became of it
    said: dict[str, StepState] = field(default_factory=dict)  # token -> what the orchestrator said last, and
    words: dict[str, str] = field(default_factory=dict)  # why

    @property
    def open(self) -> list[str]:
        """Tokens of which it is not known what became of them."""
        return [token for token in self.orders if token not in self.known]

    def run(self) -> None:
        """Send and watch until all is known, or the time is over: then what is left is cancelled."""
        context, looked = self.context, self.context.now()
        deadline = looked + context.settings.step_timeout
        while self.open and context.now() < deadline:
            self._send()
            ended = self._watch()
            if self.open and (ended or context.now() - looked >= LOOK):
                self._look()
                looked = context.now()
            context.renew()
        if self.open:
            self._give_up()

    def _send(self) -> None:
        """Send what has not been accepted yet. What is sent again, since time has passed, is judged again before."""
        now = self.context.now()
        waiting = [token for token in self.open if token not in self.sent and token not in self.cancelled]
        due = [token for token in waiting if self.retry_at.get(token, 0.0) <= now]
        again = sound_observation(self.context) if any(token in self.retry_at for token in due) else None
        for token in due:
            unsafe = "" if again is None else self.unsafe_now(again, token)
            if unsafe:
                self._cancel(token, f"not sent again: {unsafe}")
                continue
            try:
                self._hear(self.context.orchestrator.execute(self.orders[token]))
                self.sent.add(token)
            except TemporaryError as error:
                self.words[token] = str(error)
                self.retry_at[token] = self.context.now() + error.delay
            except PermanentError as error:
                self._cancel(token, f"refused: {error}")

    def _watch(self) -> bool:
        """Let time pass until something has ended; whether it has."""
        going_on = [token for token in self.open if token not in self.cancelled]
        waiting = [token for token in going_on if token in self.sent and self.said.get(token) not in ENDED]
        if not waiting:
            unsent = any(token not in self.sent for token in going_on)
            if unsent:
                self.context.orchestrator.wait(POLL)
            return not unsent
        try:
            reports = self.context.orchestrator.watch(waiting, POLL)
        except TemporaryError as error:
            self.context.orchestrator.wait(error.delay)
            return False
        for report in reports:
            self._hear(report)
        return all(self.said.get(token) in ENDED for token in going_on)

    def _hear(self, report: StepReport) -> None:
        self.said[report.token] = report.state
        if report.reason:
            self.words[report.token] = report.reason

    def _look(self) -> None:
        """Take what an observation shows."""
        observation = sound_observation(self.context)
        self._take(observation)
        failed = [token for token in self.open if self.said.get(token) is StepState.FAILED]
        for token in failed:
            self._cancel(token)
        if self.open:
            self.context.orchestrator.wait(POLL)

    def _take(self, observation: Observation) -> None:
        """What an observation shows; of what was cancelled before it, that it was made or never will be."""
        for token in self.open:
            seen = outcome(self.orders[token], observation)
            if seen.status is StepStatus.BEGUN and self.cancelled.get(token, math.inf) <= observation.at:
                seen = Outcome(status=StepStatus.FAILED, text=self.words.get(token, "it did not end in time"))
            if seen.status is not StepStatus.BEGUN:
                self.known[token] = seen

    def _cancel(self, token: str, why: str = "") -> None:
        """Give a step up: even if it was refused, it may still be on its way a second time."""
        if token not in self.cancelled:
            self._hear(self.context.patiently(lambda: self.context.orchestrator.cancel(token)))
            self.cancelled[token] = self.context.now()
            self.words[token] = why or self.words.get(token, "it did not end in time")

    def _give_up(self) -> None:
        """Cancel what has not ended; after that an observation shows whether it was made."""
        for token in self.open:
            self._cancel(token)
        self._take(sound_observation(self.context, since=self.context.now()))


def make_steps(
    context: LoopContext,
    steps: Sequence[RecordedStep],
    orders: Sequence[StepOrder],
    reserved: Sequence[StepOrder],
    unsafe_now: Callable[[Observation, str], str],
) -> list[RecordedStep]:
    """Make the steps of a batch; each as it is written down in the end.

    They are written down before they are sent. `reserved` are the steps that moves which have begun still need, those of the
    batch among them; `unsafe_now` judges a step that has to be sent again.
    """
    context.store.begin_steps(steps, context.fence)
    until = context.now() + context.settings.step_timeout + 2 * context.settings.patience
    context.patiently(lambda: context.orchestrator.prepare(steps[0].plan, reserved, until))
    run = BatchRun(context=context, orders={order.token: order for order in orders}, unsafe_now=unsafe_now)
    run.run()
    ended = [ended_step(step, run.known[step.token], context.now()) for step in steps]
    context.store.end_steps(ended, context.fence)
    return ended


def ended_step(step: RecordedStep, seen: Outcome, at: float) -> RecordedStep:
    """A step with what became of it."""
    return replace(step, status=seen.status, ended=at, new_uid=seen.uid, outcome=seen.text)
