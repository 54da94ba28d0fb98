"""Faults on demand: what can go wrong between us and an orchestrator, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import NamedTuple

from bayplan.errors import ModelError


class StepFault(StrEnum):
    """What goes wrong with a step."""

    FAILS = "fails"  # a temporary error; nothing is done
    REFUSED = "refused"  # a permanent error; nothing is ever done
    HANGS = "hangs"  # it is begun and does not end: never ready, never gone
    TWICE = "twice"  # it is delivered again, later
    DELAYED = "delayed"  # a temporary error; yet it is delivered later
    NO_ANSWER = "no-answer"  # a temporary error; yet it is begun
    LATE = "late"  # it is said to be running long after it has ended
    SAYS_DONE = "says-done"  # it is said to be done, and nothing was done
    SAYS_READY = "says-ready"  # it is said to be done from the beginning
    LOST = "lost"  # it is accepted, and never heard of again


class ObservationFault(StrEnum):
    """What is wrong with an observation."""

    STALE = "stale"  # an old one
    EMPTY = "empty"  # without containers
    HALF = "half"  # half of the containers are missing


class FaultyTime(NamedTuple):
    """A span of time."""

    after: float  # seconds from the start of the simulation
    seconds: float
    by: float = 0.0  # of a clock: how many seconds it is slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Which faults occur: each kind with a probability, or by number. Tokens that are known already are not counted."""

    steps: Mapping[StepFault, float] = field(default_factory=dict)  # probability for each step
    step_script: Mapping[int, StepFault] = field(default_factory=dict)  # number of the step, from 0
    observations: Mapping[ObservationFault, float] = field(default_factory=dict)  # probability for each observation
    observation_script: Mapping[int, ObservationFault] = field(default_factory=dict)  # number of the observation, from 0
    outages: tuple[FaultyTime, ...] = ()  # every call raises a temporary error
    outages_per_day: float = 0.0  # further ones at random times
    outage_seconds: float = 180.0  # of each of those, on average
    slow_clocks: tuple[FaultyTime, ...] = ()  # the clock goes back, and forward again at the end
    hang_seconds: float = inf  # a step that hangs ends after that
    late_seconds: float = 120.0  # a late answer comes that long after the step was begun
    again_seconds: float = 30.0  # a second or delayed delivery comes after that
    stale_seconds: float = 600.0  # a stale observation is at least that old, if there is one
    seed: int = 0  # random numbers of their own: faults do not change churn

    def __post_init__(self) -> None:
        for chances in (self.steps.values(), self.observations.values()):
            if min(chances, default=0.0) < 0 or sum(chances) > 1:
                raise ModelError("faults: expected probabilities of 0 or more that add up to 1 at most")


NO_FAULTS = Faults()
