"""Faults as they happen: between a caller and the steps and observations of a simulated cluster."""

import contextlib
import random
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

import numpy as np

from bayplan.api.what_if.replicas import with_containers
from bayplan.operate.orchestrator import (
    Observation,
    PermanentError,
    StepOrder,
    StepReport,
    StepState,
    TemporaryError,
)
from bayplan.operate.simulated.event_queue import EventQueue
from bayplan.operate.simulated.faults import Faults, FaultyTime, ObservationFault, StepFault
from bayplan.operate.simulated.settings import DAY
from bayplan.operate.simulated.steps import StepTracker

ENDED = (StepState.DONE, StepState.FAILED)
KEPT = 256  # observations that a stale one is taken from
Kind = TypeVar("Kind", bound=StrEnum)


class FaultInjector:
    """Hands steps on and answers back, and does either wrongly where a fault says so."""

    def __init__(self, steps: StepTracker, queue: EventQueue, faults: Faults) -> None:
        self.steps, self.queue, self.start = steps, queue, queue.time
        self.set(faults)
        self._late: dict[str, float] = {}  # token -> until when it is said to be running
        self._untrue: dict[str, StepReport] = {}  # token -> what is said about it, whatever is true
        self._old: deque[Observation] = deque(maxlen=KEPT)

    def set(self, faults: Faults) -> None:
        """From now on these faults; numbers of steps and observations start at 0 again."""
        self.faults = faults
        self._steps = self._observations = 0
        self._random = random.Random(f"{faults.seed}:faults")
        self._outage_random = random.Random(f"{faults.seed}:outages")
        self._outages: list[FaultyTime] = list(faults.outages)
        self._drawn_until = self.queue.time - self.start

    # ---- the connection and the clock ---------------------------------------------------------------------------------------

    def reach(self) -> None:
        """TemporaryError, if the orchestrator is unreachable now."""
        passed = self.queue.time - self.start
        if self.faults.outages_per_day:
            while self._drawn_until <= passed:
                self._drawn_until += self._outage_random.expovariate(self.faults.outages_per_day / DAY)
                seconds = self._outage_random.expovariate(1.0 / self.faults.outage_seconds)
                self._outages.append(FaultyTime(self._drawn_until, seconds))
        if any(outage.after <= passed < outage.after + outage.seconds for outage in self._outages):
            raise TemporaryError("the orchestrator does not answer")

    def clock(self) -> float:
        """The time as it is told."""
        passed = self.queue.time - self.start
        slow = (span.by for span in self.faults.slow_clocks if span.after <= passed < span.after + span.seconds)
        return self.queue.time - sum(slow)

    # ---- steps --------------------------------------------------------------------------------------------------------------

    def execute(self, order: StepOrder) -> StepReport:
        """Begin a step, with the fault that it has drawn."""
        token = order.token
        if token in self.steps.steps or token in self._untrue:
            report = self.steps.execute(order) if token in self.steps.steps else self._untrue[token]
            return self._told(report)
        fault = _drawn(self.faults.steps, self.faults.step_script, self._steps, self._random)
        self._steps += 1
        return self._told(self._begin(order, fault))

    def _begin(self, order: StepOrder, fault: StepFault | None) -> StepReport:
        faults, accepted = self.faults, StepReport(token=order.token, state=StepState.RUNNING)
        match fault:
            case StepFault.FAILS | StepFault.DELAYED:
                if fault is StepFault.DELAYED:
                    self.queue.after(faults.again_seconds, self._deliver, order)
                raise TemporaryError(f"step '{order.token}': the request timed out")
            case StepFault.REFUSED:
                self.steps.refuse(order, "the orchestrator refuses this step")
            case StepFault.SAYS_DONE:
                self._untrue[order.token] = replace(accepted, state=StepState.DONE)
                return self._untrue[order.token]
            case StepFault.LOST:
                return accepted
        report = self.steps.execute(order, faults.hang_seconds if fault is StepFault.HANGS else None)
        match fault:
            case StepFault.NO_ANSWER:
                raise TemporaryError(f"step '{order.token}': the connection broke before the answer came")
            case StepFault.TWICE:
                self.queue.after(faults.again_seconds, self._deliver, order)
            case StepFault.LATE:
                self._late[order.token] = self.queue.time + faults.late_seconds
                self.queue.after(faults.late_seconds, lambda: None)  # so that a watch looks again
            case StepFault.SAYS_READY:
                self._untrue[order.token] = replace(report, state=StepState.DONE)
        return report

    def _deliver(self, order: StepOrder) -> None:
        """A request that arrives when its sender does not wait for it any more."""
        with contextlib.suppress(TemporaryError, PermanentError):
            self.steps.execute(order)

    def report(self, token: str) -> StepReport:
        """What is said about a step."""
        return self._told(self.steps.report(token))

    def has_ended(self, token: str) -> bool:
        """Is the step said to be done, or to have failed?"""
        if token in self._untrue or token in self._late:
            return self.report(token).state in ENDED
        step = self.steps.steps.get(token)
        return step is not None and step.state in ENDED

    def _told(self, report: StepReport) -> StepReport:
        if report.token in self._untrue:
            return self._untrue[report.token]
        if self.queue.time < self._late.get(report.token, 0.0):
            return replace(report, state=StepState.RUNNING, reason="")
        return report

    def cancel(self, token: str) -> StepReport:
        """Give a step up; the answer is true."""
        self._untrue.pop(token, None)
        self._late.pop(token, None)
        return self.steps.cancel(token)

    # ---- observations -------------------------------------------------------------------------------------------------------

    def shown(self, observation: Observation) -> Observation:
        """The observation, or what a fault makes of it."""
        faults, number = self.faults, self._observations
        self._observations += 1
        fault = _drawn(faults.observations, faults.observation_script, number, self._random)
        if self.clock() != observation.at:
            observation = replace(observation, at=self.clock())
        if faults.observations or faults.observation_script:
            self._old.append(observation)
        match fault:
            case ObservationFault.STALE:
                old = [other for other in self._old if other.at <= observation.at - faults.stale_seconds]
                return old[-1] if old else self._old[0]
            case ObservationFault.EMPTY:
                return _without(observation, np.zeros(len(observation.containers), dtype=np.bool_))
            case ObservationFault.HALF:
                kept = [self._random.random() < 0.5 for _ in observation.containers]
                return _without(observation, np.array(kept, dtype=np.bool_))
        return observation


def _drawn(chances: Mapping[Kind, float], script: Mapping[int, Kind], number: int, source: random.Random) -> Kind | None:
    """The fault of one occasion: by its number, else by chance."""
    if number in script:
        return script[number]
    if not chances:
        return None
    drawn = source.random()
    for kind, chance in chances.items():
        drawn -= chance
        if drawn < 0:
            return kind
    return None


def _without(observation: Observation, keep: "np.typing.NDArray[np.bool_]") -> Observation:
    """The observation in which only the marked containers are to be seen."""
    containers = tuple(state for state, kept in zip(observation.containers, keep.tolist(), strict=True) if kept)
    names = {state.name for state in containers}
    return replace(
        observation,
        snapshot=with_containers(observation.snapshot, keep=keep),
        containers=containers,
        second={name: state for name, state in observation.second.items() if name in names},
    )
