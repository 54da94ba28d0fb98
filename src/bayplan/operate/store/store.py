"""The record's store: one acts, and writes down everything before and after; people approve, pause and take back.

Each write is one transaction. Those of the process that acts first check its fence, with the lease locked until the transaction
ends, so a process that slept while another took over can write nothing. All times are the orchestrator's. A store belongs to the
process that opened it.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa

from bayplan.errors import UsageError, escaped
from bayplan.model.record import Event, Hold, PlanStatus, RecordedPlan, RecordedStep, Turn
from bayplan.operate.store import schema
from bayplan.operate.store.database import Database, location
from bayplan.operate.store.failures import LostLeaseError, StoreError, cannot_use
from bayplan.operate.store.reader import RecordReader, find_plan
from bayplan.operate.store.schema import ONE_ROW, row_of, step_time

AT_ONCE = 500  # values in one query; databases have a limit
OUTCOME = ("status", "ended", "new_uid", "outcome")  # columns of a step that its end changes
WAITING = (PlanStatus.PROPOSED, PlanStatus.APPROVED)  # not begun
STARTED = (PlanStatus.EXECUTING, PlanStatus.SETTLING, PlanStatus.ROLLING_BACK, PlanStatus.DONE, PlanStatus.STOPPED)


class Store(RecordReader):
    """The record of a running system, in an SQLite file or a PostgreSQL database.

    >>> from bayplan.operate.store import Store
    >>> with Store.open(":memory:") as store:
    ...     fence = store.acquire("loop-1", now=100.0, seconds=60)
    ...     print(fence, store.acquire("loop-2", now=130.0, seconds=60), store.acquire("loop-2", now=161.0, seconds=60))
    1 None 2
    """

    @classmethod
    def open(cls, where: str | os.PathLike[str]) -> Self:
        """The store at a path, `sqlite:///path`, `postgresql://...` or `:memory:`; its tables are made if there are none."""
        return cls(Database(location(where)))

    def close(self) -> None:
        """End the connection. Nothing is waiting to be written: what a call wrote was kept when it returned."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # ---- only one acts --------------------------------------------------------------------------------------------------------

    def acquire(self, holder: str, now: float, seconds: float) -> int | None:
        """A new fence for this holder, or None while another holder's lease has not run out."""
        with self._database.writing() as connection:
            current = _locked_lease(connection)
            if current.holder not in (None, holder) and current.until > now:
                return None
            fence = int(current.fence) + 1
            connection.execute(sa.update(schema.lease).values(holder=holder, fence=fence, until=now + seconds, at=now))
            return fence

    def renew(self, fence: int, now: float, seconds: float) -> None:
        """Keep the lease for that long from now; LostLeaseError if it is no longer ours."""
        with self._fenced(fence) as connection:
            connection.execute(sa.update(schema.lease).values(until=now + seconds, at=now))

    def release(self, fence: int) -> None:
        """Free the lease, if it is still ours; no write with this fence is accepted from then on."""
        with self._writing() as connection:
            connection.execute(sa.update(schema.lease).values(holder=None).where(schema.lease.c.fence == fence))

    # ---- writes of the one that acts ------------------------------------------------------------------------------------------

    def begin_turn(self, turn: Turn, fence: int) -> Turn:
        """Write a turn down when it begins; returned with the id that the store gives it."""
        row = row_of(turn)
        del row["id"]
        with self._fenced(fence) as connection:
            key = connection.execute(sa.insert(schema.turns).values(row)).inserted_primary_key
            assert key is not None
            return replace(turn, id=int(key[0]))

    def end_turn(self, turn: Turn, fence: int) -> None:
        """Write down what a turn came to."""
        with self._fenced(fence) as connection:
            if not _changed(connection, schema.turns.c.id, turn.id, row_of(turn)):
                raise self._refusal(f"turn {turn.id} was never begun")

    def save_plan(self, plan: RecordedPlan, fence: int) -> None:
        """Write a plan as it is now. Refused: a second open plan, and what would undo a person's approval or rejection."""
        key = schema.plans.c.id
        with self._fenced(fence) as connection:
            known = connection.execute(sa.select(schema.plans).where(key == plan.id)).one_or_none()
            if known is not None and _undoes(known.status, plan.status):
                raise self._refusal(f"plan '{plan.id}' is {known.status} by now ({known.why}), and cannot become {plan.status}")
            if plan.status.is_open:
                self._expect_no_other_open(connection, plan.id)
            row = row_of(plan) | {"is_open": plan.status.is_open, "execution_began": _execution_began(plan, known)}
            if not _changed(connection, key, plan.id, row):
                connection.execute(sa.insert(schema.plans).values(row))

    def begin_steps(self, steps: Sequence[RecordedStep], fence: int) -> None:
        """Write steps down before they are sent; a token that is recorded already is refused."""
        with self._fenced(fence) as connection:
            for token in _known_tokens(connection, [step.token for step in steps]):
                raise self._refusal(f"step '{token}' was begun before, and a step is never begun twice")
            if steps:
                connection.execute(sa.insert(schema.steps), [row_of(step) for step in steps])

    def end_steps(self, steps: Sequence[RecordedStep], fence: int) -> None:
        """Write down what became of steps: status, end, new instance and outcome; the rest stays as it was begun."""
        with self._fenced(fence) as connection:
            tokens = [step.token for step in steps]
            for token in set(tokens).difference(_known_tokens(connection, tokens)):
                raise self._refusal(f"step '{token}' was never begun")
            if steps:
                update = sa.update(schema.steps).where(schema.steps.c.token == sa.bindparam("key"))
                connection.execute(
                    update.values({name: sa.bindparam(name) for name in OUTCOME}),
                    [{"key": step.token} | {name: getattr(step, name) for name in OUTCOME} for step in steps],
                )

    def hold(self, holds: Sequence[Hold], fence: int) -> None:
        """Hold workloads; of two holds of one workload the later one wins."""
        with self._fenced(fence) as connection:
            for hold in holds:
                key = schema.holds.c.workload
                until = connection.scalar(sa.select(schema.holds.c.until).where(key == hold.workload))
                if until is None:
                    connection.execute(sa.insert(schema.holds).values(row_of(hold)))
                elif until < hold.until:
                    _changed(connection, key, hold.workload, row_of(hold))

    def keep_observed(self, at: float, snapshot: bytes, fence: int) -> None:
        """Keep a snapshot, as compressed JSON, as what the loop saw last: for people to look at and to plan on."""
        with self._fenced(fence) as connection:
            if not _changed(connection, schema.observed.c.id, ONE_ROW, {"at": at, "snapshot": snapshot}):
                connection.execute(sa.insert(schema.observed).values(id=ONE_ROW, at=at, snapshot=snapshot))

    # ---- writes of people -----------------------------------------------------------------------------------------------------

    def approve(self, plan: str, by: str, at: float) -> RecordedPlan:
        """Approve a plan that is proposed."""
        with self._writing() as connection:
            event = Event(at=at, kind="approve", text=f"approved by {by}")
            return _decide(connection, plan, (PlanStatus.PROPOSED,), event, {"status": PlanStatus.APPROVED, "approved_by": by})

    def hand_in(self, plan: RecordedPlan) -> RecordedPlan:
        """Write down a plan that a person made and approved: the loop takes it. One with the same steps that waits is as good."""
        with self._writing() as connection:
            waits = sa.select(schema.plans.c.id).where(
                schema.plans.c.status == PlanStatus.APPROVED, schema.plans.c.batches == plan.batches
            )
            known = connection.scalar(waits)
            if known is not None:
                return find_plan(connection, known)
            connection.execute(sa.insert(schema.plans).values(row_of(plan) | {"is_open": False, "execution_began": None}))
            _log(connection, Event(at=plan.created, kind="approve", text=f"handed in by {plan.approved_by}", plan=plan.id))
            return plan

    def reject(self, plan: str, by: str, at: float, why: str = "") -> RecordedPlan:
        """Reject a plan that has not begun: it expires."""
        with self._writing() as connection:
            event = Event(at=at, kind="reject", text=_because(f"rejected by {by}", why))
            return _decide(connection, plan, WAITING, event, {"status": PlanStatus.EXPIRED})

    def pause(self, by: str, at: float, why: str = "") -> None:
        """Set the global stop switch."""
        with self._writing() as connection:
            connection.execute(sa.delete(schema.pause))
            connection.execute(sa.insert(schema.pause).values(id=ONE_ROW, by=by, at=at, why=why))
            _log(connection, Event(at=at, kind="pause", text=_because(f"paused by {by}", why)))

    def resume(self, by: str, at: float) -> None:
        """Take the global stop switch back."""
        with self._writing() as connection:
            if connection.execute(sa.delete(schema.pause)).rowcount:
                _log(connection, Event(at=at, kind="resume", text=f"resumed by {by}"))

    def ask_rollback(self, plan: str, by: str, at: float) -> None:
        """Ask that a plan be taken back; the loop looks at it."""
        with self._writing() as connection:
            known = find_plan(connection, plan)
            if known.status not in STARTED:
                raise UsageError(escaped(f"plan '{known.id}' is {known.status}: there is nothing of it to take back"))
            connection.execute(sa.delete(schema.rollback_requests).where(schema.rollback_requests.c.plan == known.id))
            connection.execute(sa.insert(schema.rollback_requests).values(plan=known.id, by=by, at=at))
            _log(connection, Event(at=at, kind="rollback", text=f"asked for by {by}", plan=known.id))

    def release_hold(self, workload: str) -> bool:
        """End the hold of a workload; was there one?"""
        with self._writing() as connection:
            return connection.execute(sa.delete(schema.holds).where(schema.holds.c.workload == workload)).rowcount > 0

    def log(self, event: Event) -> None:
        """Add a line to the log."""
        with self._writing() as connection:
            _log(connection, event)

    def prune(self, before: float) -> int:
        """Delete what ended before a time, except what is open or still needed; how many rows that were."""
        with self._writing() as connection:
            return sum(connection.execute(deletion).rowcount for deletion in _deletions(before))

    # ---- inside ---------------------------------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """A write of a person: with the lease locked too, so that writes come one after the other in every database."""
        with self._database.writing() as connection:
            _locked_lease(connection)
            yield connection

    @contextmanager
    def _fenced(self, fence: int) -> Iterator[sa.Connection]:
        """A write of the one that acts: with the lease locked, and only if it is still ours."""
        with self._database.writing() as connection:
            current = _locked_lease(connection)
            if current.holder is None:
                raise LostLeaseError(f"the lease with fence {fence} was released: nothing may be done without a new one")
            if current.fence != fence:
                fences = f"fence {current.fence}, ours is {fence}"
                raise LostLeaseError(escaped(f"'{current.holder}' has taken over ({fences}): this process must stop acting"))
            yield connection

    def _expect_no_other_open(self, connection: sa.Connection, plan: str) -> None:
        other = connection.execute(
            sa.select(schema.plans.c.id, schema.plans.c.status).where(schema.plans.c.is_open, schema.plans.c.id != plan)
        ).first()
        if other is not None:
            raise self._refusal(f"plan '{other.id}' is {other.status}, so '{plan}' cannot begin: one plan at a time")

    def _refusal(self, text: str) -> StoreError:
        return StoreError(f"{cannot_use(self._database.name)}: {escaped(text)}")


def _locked_lease(connection: sa.Connection) -> sa.Row[Any]:
    return connection.execute(sa.select(schema.lease).with_for_update()).one()


def _changed(connection: sa.Connection, key: sa.Column[Any], value: Any, row: dict[str, Any]) -> bool:
    """Change the row that has this key; is there one?"""
    return connection.execute(sa.update(key.table).where(key == value).values(row)).rowcount == 1


def _log(connection: sa.Connection, event: Event) -> None:
    connection.execute(sa.insert(schema.events).values(row_of(event)))


def _decide(
    connection: sa.Connection, plan: str, allowed: tuple[PlanStatus, ...], event: Event, decided: dict[str, Any]
) -> RecordedPlan:
    """Change a plan as a person has decided, with a line in the log."""
    known = find_plan(connection, plan)
    if known.status not in allowed:
        expected = " or ".join(allowed)
        raise UsageError(escaped(f"cannot {event.kind} plan '{known.id}': it is {known.status}; expected one that is {expected}"))
    _changed(connection, schema.plans.c.id, known.id, decided | {"changed": event.at, "why": event.text})
    _log(connection, replace(event, plan=known.id))
    return find_plan(connection, known.id)


def _undoes(known: PlanStatus, new: PlanStatus) -> bool:
    """Would this write of the loop overwrite what a person decided since it read the plan?"""
    rejected = known is PlanStatus.EXPIRED and new is not PlanStatus.EXPIRED
    return rejected or (known is PlanStatus.APPROVED and new is PlanStatus.PROPOSED)


def _execution_began(plan: RecordedPlan, known: sa.Row[Any] | None) -> float | None:
    """When the plan was first open."""
    began: float | None = None if known is None else known.execution_began
    return plan.changed if began is None and plan.status.is_open else began


def _known_tokens(connection: sa.Connection, tokens: Sequence[str]) -> Iterator[str]:
    for first in range(0, len(tokens), AT_ONCE):
        yield from connection.scalars(
            sa.select(schema.steps.c.token).where(schema.steps.c.token.in_(tokens[first : first + AT_ONCE]))
        )


def _because(text: str, why: str) -> str:
    return f"{text}: {why}" if why else text


def _deletions(before: float) -> Iterator[sa.Delete]:
    """What `prune` deletes, in an order that keeps foreign keys."""
    plans, steps, turns = schema.plans, schema.steps, schema.turns
    recent = sa.select(steps.c.plan).where(step_time >= before)  # the limits on moves still count these
    ended = (sa.not_(plans.c.is_open), plans.c.created < before, plans.c.changed < before)
    old = sa.select(plans.c.id).where(*ended, plans.c.id.not_in(recent))
    needed = sa.select(plans.c.turn).where(plans.c.turn.is_not(None))
    last = sa.select(sa.func.max(turns.c.id)).scalar_subquery()  # it may still run
    yield sa.delete(steps).where(steps.c.plan.in_(old))
    yield sa.delete(plans).where(plans.c.id.in_(old))
    past = sa.func.coalesce(turns.c.ended, turns.c.started) < before
    yield sa.delete(turns).where(past, turns.c.id.not_in(needed), turns.c.id < last)
    yield sa.delete(schema.events).where(schema.events.c.at < before)
    yield sa.delete(schema.holds).where(schema.holds.c.until < before)
