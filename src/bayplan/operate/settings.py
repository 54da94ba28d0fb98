"""What may be said about a loop, with defaults that a careful engineer would choose."""

from dataclasses import dataclass
from enum import StrEnum

from bayplan.errors import UsageError, expect_one_of
from bayplan.model import Budget, Way
from bayplan.model.goal import Goal
from bayplan.operate.windows import ActingWindow

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


class Mode(StrEnum):
    """Who decides whether a plan is carried out."""

    MANUAL = "manual"  # plans only
    APPROVE = "approve"  # a plan waits until a person approves it
    AUTO = "auto"  # a plan that passes the gate is carried out


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings:
    """How a loop plans, what it may do, and when it takes things back. Times in seconds.

    >>> import bayplan as bp
    >>> nights = bp.LoopSettings(mode="auto", max_moves="2%", cooldown=6 * 3600)
    >>> nights.min_gain, nights.every
    (0.03, 1800.0)
    """

    mode: Mode | str = Mode.MANUAL
    goal: Goal | str = "steady"
    every: float = 30 * MINUTE  # from one turn to the next ([RASA] §III-B)
    seconds: float = 60.0  # for planning
    budget: Budget | None = None  # instead of `seconds`: iterations, so that a simulation gives the same answer again
    threads: int | None = None  # that plan; None: one for each core
    seed: int = 0
    planning_takes: float = 0.0  # of a simulated orchestrator's time; a real one has its own clock

    max_moves: str | None = None  # in one plan; None: 5 % ([RASA] §III-C: less than 5 %), but ten in any case
    min_gain: float = 0.03  # a plan that gains less, the price of its moves taken off, is a dry run ([RASA] §III-C)
    alive: float = 0.75  # share of each workload that is ready at any time
    way: Way | str = Way.AUTO  # how containers move: an orchestrator may be unable to create before it deletes, then "replace"
    freeze: tuple[str, ...] = ()  # names or patterns of containers or workloads that are never moved
    moves_per_hour: str | None = None  # None: twice, and ...
    moves_per_day: str | None = None  # ... ten times what one plan may move
    executions_per_hour: int | None = None
    executions_per_day: int | None = None
    windows: tuple[ActingWindow, ...] = ()  # in which acting is allowed; none: always

    young: float = 10 * MINUTE  # a container is left alone for as long after it was created
    cooldown: float = 2 * HOUR  # a workload is left alone for as long after it was moved ...
    large_gain: float = 0.10  # ... unless there is that much to gain
    cooldown_of: str = "workload"  # or "container": only the replicas that were moved are left alone, which gains sooner
    hold: float = 3 * DAY  # for what made a machine skewed ([RASA] §III-C)
    fresh: float = 2 * HOUR  # older measurements of traffic and usage are not planned with
    keep: float = 90 * DAY  # what is older is removed from the record
    expires: float = HOUR  # a plan that has not been approved by then is out of date

    settle: float = 10 * MINUTE  # from the last step to the verification
    margin: float = 0.2  # of a machine's capacity: more than that above what was expected is skewed
    least_gain: float = 0.5  # of what was promised: with less, the gain did not come
    failing: float = 0.1  # of a plan's moves: when more have failed, no further one is begun

    step_timeout: float = 10 * MINUTE  # a step that has not ended by then is cancelled
    patience: float = 5 * MINUTE  # for an orchestrator that does not answer
    lease: float = 5 * MINUTE  # the right to act: renewed all the time, free for another loop when it has run out

    def __post_init__(self) -> None:
        expect_one_of(self.cooldown_of, ("workload", "container"), "cooldown of a")
        expect_one_of(self.mode, [mode.value for mode in Mode], "mode")
        object.__setattr__(self, "mode", Mode(self.mode))
        expect_one_of(self.way, [way.value for way in Way], "way")
        object.__setattr__(self, "way", Way(self.way))
        shares = ("min_gain", "alive", "large_gain", "margin", "least_gain", "failing")
        for name in shares:
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name.replace('_', ' ')} {getattr(self, name)}: expected a share from 0 to 1")
        for name in ("every", "seconds", "step_timeout", "patience", "lease"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name.replace('_', ' ')} {getattr(self, name)}: expected more than 0 seconds")
        for name in ("young", "cooldown", "hold", "fresh", "keep", "expires", "settle", "planning_takes"):
            if not getattr(self, name) >= 0:
                raise UsageError(f"{name.replace('_', ' ')} {getattr(self, name)}: expected 0 seconds or more")

    @property
    def acts(self) -> bool:
        """Are plans carried out without asking?"""
        return self.mode is Mode.AUTO

    @property
    def goal_name(self) -> str:
        """The goal in a word."""
        return self.goal if isinstance(self.goal, str) else self.goal.name
