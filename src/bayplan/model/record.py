"""The record: what the running system writes down before and after everything that it does, as values.

A turn is one pass of the loop. Its decision may be a plan; a plan has steps, each written before it is sent (`begun`) and after
it is known what became of it. All times are the orchestrator's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bayplan.model.plan import Action


class TurnVerdict(StrEnum):
    """What a turn of the loop came to."""

    RUNNING = "running"  # not ended yet
    EXECUTED = "executed"
    PROPOSED = "proposed"  # there is a plan that waits for approval, or to be applied by hand
    DRY_RUN = "dry-run"  # there is a plan, and the gate or the budget is against it
    NOTHING = "nothing"  # no move was found that pays
    HELD_OFF = "held-off"  # nothing was planned: paused, outside of the window, another plan or loop is at work
    UNSOUND = "unsound"  # the observation cannot be trusted
    FAILED = "failed"


class PlanStatus(StrEnum):
    """Where a plan is in its life."""

    DRY_RUN = "dry-run"  # recorded only
    PROPOSED = "proposed"  # waits for approval
    APPROVED = "approved"
    EXECUTING = "executing"
    SETTLING = "settling"  # all steps made; waits for its verification
    ROLLING_BACK = "rolling-back"
    DONE = "done"  # verified
    STOPPED = "stopped"  # not all of it was made; what runs is safe
    ROLLED_BACK = "rolled-back"
    EXPIRED = "expired"  # never approved, or the cluster is another one by now

    @property
    def is_open(self) -> bool:
        """Is the cluster in its hands? There is at most one such plan at a time."""
        return self in (PlanStatus.EXECUTING, PlanStatus.SETTLING, PlanStatus.ROLLING_BACK)


class StepStatus(StrEnum):
    """What is known of a step."""

    BEGUN = "begun"  # written before it is sent: whether it was made is found out by observing
    DONE = "done"
    FAILED = "failed"  # it was not made and never will be


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One pass of the loop."""

    id: int
    started: float
    mode: str
    goal: str = ""
    ended: float | None = None
    verdict: TurnVerdict = TurnVerdict.RUNNING
    why: str = ""  # in a sentence
    fingerprint: str = ""  # of the observation
    containers: int = 0  # that run
    local: float | None = None  # share of the traffic that stays on one machine, at the time of the observation
    fullest: float | None = None  # the fullest machine, as a share of its capacity
    hot: int = 0  # machines above safety
    unplaced: int = 0  # containers without a machine
    gain: float | None = None  # of the plan, less the price of its moves
    planned_local: float | None = None  # what the plan was to reach
    moves: int = 0  # of the plan
    moved: int = 0  # containers that were moved in fact
    seconds: float = 0.0  # wall time that planning took


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMove:
    """One container that a plan moves, by identity."""

    container: str
    uid: str
    workload: str
    source: str
    target: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPlan:
    """A plan with all that is needed to go on with it after a crash, or to take it back."""

    id: str
    turn: int | None  # that made it; None if a person handed it in and no turn has taken it yet
    created: float
    status: PlanStatus
    goal: str = ""
    fingerprint: str = ""  # of the observation that it was made for
    moves: tuple[PlannedMove, ...] = ()
    batches: tuple[tuple[tuple[str, str, str], ...], ...] = ()  # of (action, container, machine) by name
    expected: Mapping[str, float] = field(default_factory=dict)  # figures that it was to reach: gain, local, ...
    before: Mapping[str, Any] = field(default_factory=dict)  # figures and machines' loads before it
    summary: tuple[str, ...] = ()
    changed: float = 0.0  # when the status changed last
    why: str = ""  # why it has this status
    approved_by: str = ""

    @property
    def by_name(self) -> bool:
        """Was it handed in, and has the loop not looked yet which instances its names mean?"""
        return any(not move.uid for move in self.moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """One step of a plan, from before it was sent to when its outcome is known."""

    token: str
    plan: str
    number: int  # in the order in which steps were begun
    batch: int
    action: Action
    container: str
    workload: str
    uid: str  # delete: the instance; create: the one that it stands in for
    machine: str
    back: bool = False  # does it belong to the way back?
    surge: bool = False
    status: StepStatus = StepStatus.BEGUN
    begun: float = 0.0
    ended: float | None = None
    new_uid: str = ""  # create: the instance that came of it
    outcome: str = ""  # in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A workload that is left alone until a time."""

    workload: str
    until: float
    why: str
    plan: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of the log."""

    at: float
    kind: str  # "gate", "batch", "step", "verify", "rollback", "hold", "pause", "lease", "recover", ...
    text: str
    plan: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All that there is to show of a span of time, the oldest first."""

    turns: Sequence[Turn]
    plans: Sequence[RecordedPlan]
    steps: Sequence[RecordedStep]
    holds: Sequence[Hold]
    events: Sequence[Event]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Which process may act, until when. The fence grows with every acquisition: a write with an older one is refused."""

    holder: str
    fence: int
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """The global stop switch is on: who set it, when and why."""

    by: str
    at: float
    why: str = ""
