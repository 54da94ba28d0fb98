"""The tables of the record, and the column types that turn its values into what a database keeps and back.

Columns are called as the fields of the values in `bayplan.model.record`, so a row is a value and a value is a row.
"""

import json
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, TypeVar

import sqlalchemy as sa

from bayplan.errors import ModelError
from bayplan.model.plan import Action
from bayplan.model.record import PlannedMove, PlanStatus, StepStatus, TurnVerdict

VERSION = 2  # of the schema; a release that adds tables counts on, and they are made when an older record is opened
PART = "record"  # what the version belongs to: other parts of bayplan may keep tables beside these
V = TypeVar("V")

# ---- column types -------------------------------------------------------------------------------------------------------------


class Words(sa.TypeDecorator[str]):
    """Text. What no database keeps in one (NUL, half of a surrogate pair) is written out: \\u0000."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str | None:  # noqa: D102
        if value is None:
            return None
        return str(value).replace("\0", "\\u0000").encode("utf-8", "backslashreplace").decode("utf-8")


class Number(sa.TypeDecorator[float]):
    """A float, exactly; numpy's too. NaN is refused: SQLite would keep it as nothing."""

    impl = sa.Double
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> float | None:  # noqa: D102
        if value is None:
            return None
        if math.isnan(number := float(value)):
            raise ModelError("a time or a figure of the record is not a number (NaN); use None for one that is not known")
        return number


class Whole(sa.TypeDecorator[int]):
    """An int; numpy's too, which SQLite would keep as bytes."""

    impl = sa.BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> Any:  # noqa: D102
        small = dialect.name == "sqlite"  # only an INTEGER can be the key that SQLite counts by itself
        return dialect.type_descriptor(sa.Integer() if small else sa.BigInteger())

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> int | None:  # noqa: D102
        if value is None:
            return None
        if not -(2**63) <= (number := operator.index(value)) < 2**63:
            raise ModelError(f"{number} is too large for the record; expected 64 bits")
        return number


class Truth(sa.TypeDecorator[bool]):
    """True or false; numpy's too."""

    impl = sa.Boolean
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> bool | None:  # noqa: D102
        return None if value is None else bool(value)


class Choice(sa.TypeDecorator[StrEnum]):
    """A member of an enumeration, kept as its word."""

    impl = sa.Text
    cache_ok = True

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__()
        self.kind = kind

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str | None:  # noqa: D102
        return None if value is None else str(self.kind(value))

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> StrEnum | None:  # noqa: D102
        return None if value is None else self.kind(value)


class Encoded(sa.TypeDecorator[Any]):
    """A nested value as JSON text with sorted keys; `decode` makes the value out of what JSON gives."""

    impl = sa.Text
    cache_ok = True

    def __init__(self, decode: Callable[[Any], Any]) -> None:
        super().__init__()
        self.decode = decode

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str:  # noqa: D102
        return json.dumps(value, sort_keys=True, default=_plain)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:  # noqa: D102
        return self.decode(json.loads(value))


def _plain(value: Any) -> Any:
    """What JSON has no word for: planned moves, mappings of other kinds, numbers and arrays of numpy."""
    if isinstance(value, PlannedMove):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ModelError(f"{value!r} of the record cannot be written as JSON")


def _moves(rows: list[dict[str, str]]) -> tuple[PlannedMove, ...]:
    return tuple(PlannedMove(**row) for row in rows)


def _batches(rows: list[list[list[str]]]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(tuple(tuple(step) for step in batch) for batch in rows)


# ---- values and rows ----------------------------------------------------------------------------------------------------------


def row_of(value: Any) -> dict[str, Any]:
    """A value of the record by column."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def columns_of(kind: type[Any], table: sa.Table) -> list[sa.Column[Any]]:
    """The columns of a table that make up a value."""
    return [table.c[field.name] for field in fields(kind)]


def values_of(kind: type[V], rows: Iterable[sa.Row[Any]]) -> list[V]:
    """Rows as values."""
    return [kind(**row._mapping) for row in rows]


# ---- tables -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Tables that are made, checked and counted on together; several of these may stand in one database."""

    part: str
    version: int
    metadata: sa.MetaData
    noun: str  # what messages call a store of these tables
    begin: Callable[[sa.Connection], object] = lambda connection: None  # writes the first rows
    session: tuple[str, ...] = ()  # what PostgreSQL is told at the beginning of a connection, beside what it always is


metadata = sa.MetaData()
ONE_ROW = 1  # the key of the only row of a table


def _text(name: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, Words, nullable=False, **options)


def _number(name: str, nullable: bool = False, **options: Any) -> sa.Column[float]:
    return sa.Column(name, Number, nullable=nullable, **options)


def _whole(name: str, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, Whole, nullable=nullable)


def _counted() -> sa.Column[int]:
    """A key that the database counts, and never gives twice."""
    return sa.Column("id", Whole, sa.Identity(), primary_key=True)


def _only_row() -> sa.Column[int]:
    return sa.Column("id", Whole, sa.CheckConstraint(f"id = {ONE_ROW}"), primary_key=True, autoincrement=False)


def version_table(of: sa.MetaData) -> sa.Table:
    """The table with the version of each part; it belongs to all of them."""
    return sa.Table("schema_version", of, _text("part", primary_key=True), _whole("version"))


schema_version = version_table(metadata)
lease = sa.Table(
    "lease",
    metadata,
    _only_row(),
    sa.Column("holder", Words),  # NULL: free
    _whole("fence"),
    _number("until"),
    _number("at", nullable=True),  # when it was acquired or renewed last
)
turns = sa.Table(
    "turns",
    metadata,
    _counted(),
    _number("started", index=True),
    _text("mode"),
    _text("goal"),
    _number("ended", nullable=True),
    sa.Column("verdict", Choice(TurnVerdict), nullable=False),
    _text("why"),
    _text("fingerprint"),
    _whole("containers"),
    _number("local", nullable=True),
    _number("fullest", nullable=True),
    _whole("hot"),
    _whole("unplaced"),
    _number("gain", nullable=True),
    _number("planned_local", nullable=True),
    _whole("moves"),
    _whole("moved"),
    _number("seconds"),
    sqlite_autoincrement=True,
)
plans = sa.Table(
    "plans",
    metadata,
    _text("id", primary_key=True),
    sa.Column("turn", Whole, sa.ForeignKey("turns.id"), index=True),
    _number("created", index=True),
    sa.Column("status", Choice(PlanStatus), nullable=False, index=True),
    _text("goal"),
    _text("fingerprint"),
    sa.Column("moves", Encoded(_moves), nullable=False),
    sa.Column("batches", Encoded(_batches), nullable=False),
    sa.Column("expected", Encoded(dict), nullable=False),
    sa.Column("before", Encoded(dict), nullable=False),
    sa.Column("summary", Encoded(tuple), nullable=False),
    _number("changed"),
    _text("why"),
    _text("approved_by"),
    _number("execution_began", nullable=True, index=True),
    sa.Column("is_open", Truth, nullable=False),
)
sa.Index("one_open_plan", plans.c.is_open, unique=True, sqlite_where=plans.c.is_open, postgresql_where=plans.c.is_open)
steps = sa.Table(
    "steps",
    metadata,
    _text("token", primary_key=True),
    sa.Column("plan", Words, sa.ForeignKey("plans.id", ondelete="CASCADE"), nullable=False),
    _whole("number"),
    _whole("batch"),
    sa.Column("action", Choice(Action), nullable=False),
    _text("container"),
    _text("workload"),
    _text("uid"),
    _text("machine"),
    sa.Column("back", Truth, nullable=False),
    sa.Column("surge", Truth, nullable=False),
    sa.Column("status", Choice(StepStatus), nullable=False),
    _number("begun", index=True),
    _number("ended", nullable=True),
    _text("new_uid"),
    _text("outcome"),
    sa.UniqueConstraint("plan", "number"),
)
step_time = sa.func.coalesce(steps.c.ended, steps.c.begun)  # when it was last heard of
sa.Index("steps_by_time", step_time)
holds = sa.Table("holds", metadata, _text("workload", primary_key=True), _number("until"), _text("why"), _text("plan"))
pause = sa.Table("pause", metadata, _only_row(), _text("by"), _number("at"), _text("why"))
rollback_requests = sa.Table(
    "rollback_requests",
    metadata,
    sa.Column("plan", Words, sa.ForeignKey("plans.id", ondelete="CASCADE"), primary_key=True),
    _text("by"),
    _number("at"),
)
events = sa.Table(
    "events",
    metadata,
    _counted(),
    _number("at", index=True),
    _text("kind"),
    _text("text"),
    _text("plan"),  # no foreign key: the log outlives what it tells of
    sqlite_autoincrement=True,
)
sa.Index("events_by_kind", events.c.kind, events.c.id)
observed = sa.Table("observed", metadata, _only_row(), _number("at"), sa.Column("snapshot", sa.LargeBinary, nullable=False))
TIMES = (  # everything that says when something happened; a lease's and a hold's `until` lie ahead
    turns.c.started,
    turns.c.ended,
    plans.c.created,
    plans.c.changed,
    steps.c.begun,
    step_time,
    events.c.at,
    pause.c.at,
    rollback_requests.c.at,
    lease.c.at,
)


def _begin(connection: sa.Connection) -> None:
    """The lease is free at first."""
    connection.execute(sa.insert(lease).values(id=ONE_ROW, holder=None, fence=0, until=0.0))


RECORD = Schema(part=PART, version=VERSION, metadata=metadata, noun="record", begin=_begin)
