"""Everything that can be read of the record. Every call sees what all processes have written until then."""

import math
from typing import Any, TypeVar

import sqlalchemy as sa

from bayplan.errors import UsageError, did_you_mean, escaped
from bayplan.model.plan import Action
from bayplan.model.record import Event, History, Hold, Lease, Pause, PlanStatus, RecordedPlan, RecordedStep, StepStatus, Turn
from bayplan.operate.store.database import Database
from bayplan.operate.store.schema import (
    TIMES,
    Number,
    Words,
    columns_of,
    events,
    holds,
    lease,
    observed,
    pause,
    plans,
    rollback_requests,
    step_time,
    steps,
    turns,
    values_of,
)

V = TypeVar("V")
SHOWN = 5  # plans that an ambiguous beginning of an id is said to mean


class RecordReader:
    """The reads of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def lease(self) -> Lease | None:
        """The lease as it was acquired or renewed last, even if it has run out; None if it is free."""
        query = sa.select(*columns_of(Lease, lease)).where(lease.c.holder.is_not(None))
        return self._first(Lease, query)

    def paused(self) -> Pause | None:
        """Who set the global stop switch, when and why; None if it is off."""
        return self._first(Pause, sa.select(*columns_of(Pause, pause)))

    def observed(self) -> tuple[float, bytes] | None:
        """When the loop last wrote down what it saw, and that snapshot as compressed JSON; None if it never did."""
        with self._database.reading() as connection:
            row = connection.execute(sa.select(observed.c.at, observed.c.snapshot)).one_or_none()
        return None if row is None else (float(row.at), bytes(row.snapshot))

    def observed_at(self) -> float | None:
        """When the loop last wrote down what it saw."""
        at: float | None = self._scalar(sa.select(observed.c.at))
        return at

    def open_plan(self) -> RecordedPlan | None:
        """The plan that the cluster is in the hands of."""
        return self._first(RecordedPlan, sa.select(*columns_of(RecordedPlan, plans)).where(plans.c.is_open))

    def plan(self, id: str) -> RecordedPlan:  # noqa: A002
        """The plan with this id, or with the only id that begins so."""
        with self._database.reading() as connection:
            return find_plan(connection, id)

    def plans(self, status: PlanStatus | None = None, last: int | None = None) -> list[RecordedPlan]:
        """Plans, the oldest first; only those of a status, only the last ones."""
        query = sa.select(*columns_of(RecordedPlan, plans))
        if status is not None:
            query = query.where(plans.c.status == status)
        return self._latest(RecordedPlan, query, [plans.c.created, plans.c.id], last)

    def steps(self, plan: str) -> list[RecordedStep]:
        """The steps of a plan, in the order in which they were begun."""
        query = sa.select(*columns_of(RecordedStep, steps)).where(steps.c.plan == plan)
        return self._all(RecordedStep, query.order_by(steps.c.number))

    def turns(self, last: int | None = None) -> list[Turn]:
        """Turns, the oldest first; only the last ones."""
        return self._latest(Turn, sa.select(*columns_of(Turn, turns)), [turns.c.id], last)

    def holds(self, now: float) -> dict[str, Hold]:
        """The holds that are in force, by workload."""
        query = sa.select(*columns_of(Hold, holds)).where(holds.c.until > now).order_by(holds.c.workload)
        return {hold.workload: hold for hold in self._all(Hold, query)}

    def rollback_asked(self, plan: str) -> bool:
        """Has a person asked that this plan be taken back?"""
        return self._scalar(sa.select(rollback_requests.c.plan).where(rollback_requests.c.plan == plan)) is not None

    def requested_rollback(self) -> RecordedPlan | None:
        """The newest plan that a person has asked to be taken back, and that has not been."""
        query = sa.select(*columns_of(RecordedPlan, plans)).join(rollback_requests, rollback_requests.c.plan == plans.c.id)
        query = query.where(plans.c.status.not_in((PlanStatus.ROLLED_BACK, PlanStatus.ROLLING_BACK)))
        return self._first(RecordedPlan, query.order_by(plans.c.created.desc(), plans.c.id.desc()))

    def events(self, last: int) -> list[Event]:
        """The last lines of the log, the oldest first."""
        return self._latest(Event, sa.select(*columns_of(Event, events)), [events.c.at, events.c.id], last)

    def last_event(self, kind: str) -> Event | None:
        """The newest event of a kind."""
        query = sa.select(*columns_of(Event, events)).where(events.c.kind == kind)
        return self._first(Event, query.order_by(events.c.id.desc()).limit(1))

    def last_moved(self, since: float) -> dict[str, float]:
        """When a done step last touched a workload, for those that one touched since a time."""
        query = sa.select(steps.c.workload, sa.func.max(step_time)).where(_done_since(since)).group_by(steps.c.workload)
        with self._database.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query.order_by(steps.c.workload))}

    def moved_since(self, at: float) -> int:
        """How many containers done creates have moved since then; those of the way back do not count."""
        forward = sa.and_(steps.c.action == Action.CREATE, sa.not_(steps.c.back))
        return int(self._scalar(sa.select(sa.func.count()).select_from(steps).where(_done_since(at), forward)))

    def executions_since(self, at: float) -> int:
        """How many plans began to be executed since then."""
        return int(self._scalar(sa.select(sa.func.count()).select_from(plans).where(plans.c.execution_began >= at)))

    def last_time(self) -> float | None:
        """The latest time that was written anywhere; a clock that shows less went backwards."""
        with self._database.reading() as connection:
            latest = connection.execute(sa.select(*(sa.select(sa.func.max(time)).scalar_subquery() for time in TIMES))).one()
        return max((time for time in latest if time is not None), default=None)

    def history(self, start: float | None = None, end: float | None = None) -> History:
        """What there is of a span of time, both ends included: all that began before its end and had not ended at its start."""
        with self._database.reading() as connection:

            def read(kind: type[V], table: sa.Table, first: Any, last: Any, *order: Any) -> list[V]:
                query = sa.select(*columns_of(kind, table)).order_by(*order)
                query = query if end is None or first is None else query.where(first <= end)
                return values_of(kind, connection.execute(query if start is None else query.where(last >= start)))

            t, p, s, h, e = turns.c, plans.c, steps.c, holds.c, events.c
            return History(
                turns=read(Turn, turns, t.started, sa.func.coalesce(t.ended, t.started), t.id),
                plans=read(RecordedPlan, plans, p.created, _plan_end(), p.created, p.id),
                steps=read(RecordedStep, steps, s.begun, step_time, s.begun, s.plan, s.number),
                holds=read(Hold, holds, None, h.until, h.until, h.workload),
                events=read(Event, events, e.at, e.at, e.at, e.id),
            )

    def _all(self, kind: type[V], query: sa.Select[Any]) -> list[V]:
        with self._database.reading() as connection:
            return values_of(kind, connection.execute(query))

    def _first(self, kind: type[V], query: sa.Select[Any]) -> V | None:
        return next(iter(self._all(kind, query)), None)

    def _latest(self, kind: type[V], query: sa.Select[Any], order: list[sa.Column[Any]], last: int | None) -> list[V]:
        """The last rows of an order, in that order."""
        query = query.order_by(*(column.desc() for column in order))
        return self._all(kind, query.limit(None if last is None else max(last, 0)))[::-1]

    def _scalar(self, query: sa.Select[Any]) -> Any:
        with self._database.reading() as connection:
            return connection.scalar(query)


def find_plan(connection: sa.Connection, id: str) -> RecordedPlan:  # noqa: A002
    """The plan with this id, or with the only id that begins so."""
    query = sa.select(plans.c.id).where(sa.func.substr(plans.c.id, 1, len(id), type_=Words()) == id)
    ids = connection.scalars(query.order_by(plans.c.id)).all() if id else []
    if id not in ids and len(ids) != 1:
        raise UsageError(_unknown(connection, id, ids))
    match = id if id in ids else ids[0]
    whole = sa.select(*columns_of(RecordedPlan, plans)).where(plans.c.id == match)
    (plan,) = values_of(RecordedPlan, connection.execute(whole))
    return plan


def _unknown(connection: sa.Connection, id: str, ids: Any) -> str:  # noqa: A002
    if ids:
        more = ", ..." if len(ids) > SHOWN else ""
        return escaped(f"more than one plan begins with '{id}': {', '.join(ids[:SHOWN])}{more}; write more of it")
    known = connection.scalars(sa.select(plans.c.id)).all()
    return escaped(f"no plan '{id}' in the record{did_you_mean(id, known)}")


def _done_since(at: float) -> sa.ColumnElement[bool]:
    return sa.and_(steps.c.status == StepStatus.DONE, step_time >= at)


def _plan_end() -> sa.ColumnElement[float]:
    """Until when there is something to tell of a plan: without end if it is open."""
    changed = (plans.c.changed > plans.c.created, plans.c.changed)
    return sa.case((plans.c.is_open, sa.literal(math.inf, Number)), changed, else_=plans.c.created)
