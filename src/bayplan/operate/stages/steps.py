"""The steps of one batch: written down, sent, watched, and confirmed by observing. Answers are hints; what is observed counts.

A step that the orchestrator does not answer for may still be on its way, and reach a cluster that has changed. So it is cancelled
at once: it has been made by then, or it never will be, and it is tried again later as a new step, judged on what runs then.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

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
from bayplan.operate.stages.observe import fresh_observation

POLL = 15.0  # seconds between two looks at what the orchestrator says
ENDED = (StepState.DONE, StepState.FAILED)
LOOK = 60.0  # seconds after which is observed even if it says that nothing has ended
TOO_LATE = "it did not end in time"


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
        shown = order.uid in observation.by_uid or order.workload in observation.incomplete
        return UNKNOWN if shown else Outcome(status=StepStatus.DONE, text="is gone")
    instance = observation.by_token.get(order.token)
    if instance is not None and instance.machine not in ("", order.machine):  # the orchestrator had the last word
        return Outcome(status=StepStatus.FAILED, text=f"missed: it is on machine '{instance.machine}'", uid=instance.uid)
    if instance is not None and instance.phase is Phase.READY:
        return Outcome(status=StepStatus.DONE, text="is ready", uid=instance.uid)
    return UNKNOWN


def last_outcome(order: StepOrder, observation: Observation, report: StepReport, why: str) -> Outcome:
    """Whether a step was made that has been cancelled, by what is observed since, and by what was said when it was cancelled.

    A delete cannot be taken back once its container is stopping. What a create has made may be gone again: then nothing but the
    orchestrator's word tells that it was made.
    """
    seen, instance = outcome(order, observation), observation.by_uid.get(order.uid)
    if seen.status is not StepStatus.BEGUN:
        return seen
    said_done = report.state is StepState.DONE
    if order.action is Action.DELETE:
        stops = instance is not None and instance.phase is Phase.STOPPING
        made, text = stops or (said_done and instance is None), "is stopping"
    else:
        made, text = said_done, "was ready, and is gone since"
    return Outcome(status=StepStatus.DONE, text=text, uid=report.uid) if made else Outcome(status=StepStatus.FAILED, text=why)


@dataclass(slots=True, kw_only=True, eq=False)
class BatchRun:
    """The steps of a batch on their way."""

    context: LoopContext
    orders: dict[str, StepOrder]  # by token
    sent: set[str] = field(default_factory=set)
    known: dict[str, Outcome] = field(default_factory=dict)
    cancelled: dict[str, StepReport] = field(default_factory=dict)  # token -> what was said then
    again: set[str] = field(default_factory=set)  # may be tried again, as a new step
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
        self._send()
        while self.open and context.now() < deadline:
            ended = self._watch()
            if ended or context.now() - looked >= LOOK:
                self._look()
                looked = context.now()
            context.renew()
        for token in self.open:
            self._cancel(token, TOO_LATE)
        if self.open:
            self._take(fresh_observation(context))

    def _send(self) -> None:
        """Send each step once."""
        for token, order in self.orders.items():
            try:
                self._hear(self.context.orchestrator.execute(order))
                self.sent.add(token)
            except TemporaryError as error:
                self._unanswered(token, str(error))
            except PermanentError as error:
                self._cancel(token, f"refused: {error}")

    def _unanswered(self, token: str, why: str) -> None:
        """It may have been begun, or may yet be: if it is not known by now, it never will be made."""
        try:
            (report,) = self.context.orchestrator.watch([token], 0.0)
        except TemporaryError:
            report = StepReport(token=token, state=StepState.UNKNOWN)
        if report.state in (StepState.RUNNING, StepState.DONE):
            self._hear(report)
            self.sent.add(token)
        else:
            self.again.add(token)
            self._cancel(token, why)

    def _watch(self) -> bool:
        """Let time pass until something has ended; is there something to look at?"""
        going_on = [token for token in self.open if token not in self.cancelled]
        waiting = [token for token in going_on if self.said.get(token) not in ENDED]
        if not waiting:
            return True
        try:
            reports = self.context.orchestrator.watch(waiting, POLL)
        except TemporaryError as error:
            self.context.wait(error.delay)
            return False
        for report in reports:
            self._hear(report)
        return all(self.said.get(token) in ENDED for token in going_on)

    def _hear(self, report: StepReport) -> None:
        self.said[report.token] = report.state
        if report.reason:
            self.words[report.token] = report.reason

    def _look(self) -> None:
        """Take what an observation shows; give up what cannot end well."""
        observation = fresh_observation(self.context)
        self._take(observation)
        machines = {machine.uid for machine in observation.machines}
        for token in self.open:
            if self.orders[token].machine_uid not in machines:
                self._cancel(token, f"machine '{self.orders[token].machine}' is gone")
            elif self.said.get(token) is StepState.FAILED:
                self._cancel(token)
        if self.open:
            self.context.wait(POLL)

    def _take(self, observation: Observation) -> None:
        """What an observation shows; of what was cancelled before it, that it was made or never will be."""
        for token in self.open:
            order, report = self.orders[token], self.cancelled.get(token)
            if report is None:
                seen = outcome(order, observation)
            else:
                seen = last_outcome(order, observation, report, self.words.get(token, TOO_LATE))
            if seen.status is not StepStatus.BEGUN:
                self.known[token] = seen

    def _cancel(self, token: str, why: str = "") -> None:
        """Give a step up: even if it was refused, it may still be on its way a second time."""
        if token not in self.cancelled:
            self.words[token] = why or self.words.get(token, TOO_LATE)
            self.cancelled[token] = self.context.patiently(lambda: self.context.orchestrator.cancel(token))


class MadeSteps(NamedTuple):
    """What became of the steps of a batch."""

    steps: list[RecordedStep]
    again: frozenset[str]  # tokens of steps that were not made, and may be tried again as new ones


def reserve(context: LoopContext, plan: str, orders: Sequence[StepOrder]) -> None:
    """Reserve for all steps that moves which have begun, or begin now, still need."""
    until = context.now() + context.settings.step_timeout + 2 * context.settings.patience
    context.patiently(lambda: context.orchestrator.prepare(plan, orders, until))


def make_steps(context: LoopContext, steps: Sequence[RecordedStep], orders: Sequence[StepOrder]) -> MadeSteps:
    """Make the steps of a batch; each as it is written down in the end. They are written down before they are sent."""
    context.begin_steps(steps)
    run = BatchRun(context=context, orders={order.token: order for order in orders})
    run.run()
    ended = [ended_step(step, run.known[step.token], context.now()) for step in steps]
    context.end_steps(ended)
    not_made = {step.token for step in ended if step.status is StepStatus.FAILED}
    return MadeSteps(ended, frozenset(run.again & not_made))


def begun_step(
    context: LoopContext, plan: str, container: str, order: StepOrder, *, number: int, batch: int, back: bool
) -> RecordedStep:
    """A step as it is written down before it is sent."""
    return RecordedStep(
        token=order.token,
        plan=plan,
        number=number,
        batch=batch,
        action=order.action,
        container=container,
        workload=order.workload,
        uid=order.uid,
        machine=order.machine,
        back=back,
        surge=order.surge,
        begun=context.now(),
    )


def ended_step(step: RecordedStep, seen: Outcome, at: float) -> RecordedStep:
    """A step with what became of it."""
    return replace(step, status=seen.status, ended=at, new_uid=seen.uid, outcome=seen.text)
