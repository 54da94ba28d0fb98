"""Values of the record: short makers for tests written by hand, and Hypothesis strategies for round trips."""

from typing import Any

from hypothesis import strategies as st

from bayplan.model.plan import Action
from bayplan.model.record import (
    Event,
    Hold,
    PlannedMove,
    PlanStatus,
    RecordedPlan,
    RecordedStep,
    StepStatus,
    Turn,
    TurnVerdict,
)


def turn(started: float = 1.0, **others: Any) -> Turn:
    """A turn that has not been recorded yet."""
    return Turn(**({"id": 0, "started": started, "mode": "auto"} | others))


def plan(id: str = "plan-1", status: PlanStatus = PlanStatus.PROPOSED, at: float = 1.0, **others: Any) -> RecordedPlan:  # noqa: A002
    """A plan that was made, and got its status, at one time."""
    return RecordedPlan(**({"id": id, "turn": None, "created": at, "changed": at, "status": status} | others))


def step(token: str, number: int = 0, plan: str = "plan-1", **others: Any) -> RecordedStep:
    """A create that was begun at the time 2.0."""
    known = {"batch": 0, "action": Action.CREATE, "container": f"web-{number}", "workload": "web", "uid": f"u{number}"}
    return RecordedStep(**(known | {"token": token, "plan": plan, "number": number, "machine": "m-1", "begun": 2.0} | others))


text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
times = st.floats(allow_nan=False)
figures = st.none() | times
counts = st.integers(-(2**63), 2**63 - 1)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | times | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
moves = st.builds(PlannedMove, container=text, uid=text, workload=text, source=text, target=text, why=text)
batches = st.lists(st.lists(st.tuples(text, text, text), max_size=3).map(tuple), max_size=3).map(tuple)
turns = st.builds(
    Turn,
    id=st.just(0),
    started=times,
    mode=text,
    goal=text,
    ended=figures,
    verdict=st.sampled_from(TurnVerdict),
    why=text,
    fingerprint=text,
    containers=counts,
    local=figures,
    fullest=figures,
    hot=counts,
    unplaced=counts,
    gain=figures,
    planned_local=figures,
    moves=counts,
    moved=counts,
    seconds=times,
)
plans = st.builds(
    RecordedPlan,
    id=text,
    turn=st.none(),
    created=times,
    status=st.sampled_from([status for status in PlanStatus if not status.is_open]),
    goal=text,
    fingerprint=text,
    moves=st.lists(moves, max_size=3).map(tuple),
    batches=batches,
    expected=st.dictionaries(st.text(max_size=8), times, max_size=3),
    before=st.dictionaries(st.text(max_size=8), plain, max_size=3),
    summary=st.lists(st.text(max_size=12), max_size=3).map(tuple),
    changed=times,
    why=text,
    approved_by=text,
)
steps = st.builds(
    RecordedStep,
    token=text,
    plan=st.just(""),
    number=counts,
    batch=counts,
    action=st.sampled_from(Action),
    container=text,
    workload=text,
    uid=text,
    machine=text,
    back=st.booleans(),
    surge=st.booleans(),
    status=st.sampled_from(StepStatus),
    begun=times,
    ended=figures,
    new_uid=text,
    outcome=text,
)
holds = st.builds(Hold, workload=text, until=times, why=text, plan=text)
events = st.builds(Event, at=times, kind=text, text=text, plan=text)
