"""What people say to a running loop, through its record: by command, or on the page of the service."""

import time
from pathlib import Path

from bayplan.errors import UsageError
from bayplan.model.record import Event, RecordedPlan
from bayplan.operate.handed_plan import handed_in
from bayplan.operate.store import Store

AHEAD = 30.0  # seconds: a clock that is further ahead than a loop that lives would make it think that its own went back
SIMULATED = 7 * 86400  # seconds: a record that ends further from now has a time of its own


def open_record(where: str) -> Store:
    """The record; UsageError if there is none: only a loop begins one."""
    if "://" not in where and not Path(where).exists():
        raise UsageError(f"no record '{where}'; expected one that bayplan run or bayplan apply has begun (--store)")
    return Store.open(where)


def record_time(store: Store) -> float:
    """The time for the record: a simulated cluster has its own, and the record must never go back."""
    last, now = store.last_time(), time.time()
    if last is None or abs(now - last) >= SIMULATED:
        return now if last is None else last
    lease = store.lease()
    is_live = lease is not None and lease.until > last
    return min(now, last + AHEAD) if is_live else now


def plan_named(store: Store, plan: str) -> str:
    """The id of a plan; `latest` is the newest."""
    if plan != "latest":
        return store.plan(plan).id
    newest = store.plans(last=1)
    if not newest:
        raise UsageError("there is no plan in the record yet")
    return newest[0].id


def hand_in(store: Store, document: object, source: str, by: str) -> RecordedPlan:
    """Hand a plan that a person made to the loop; `source` is what messages call it."""
    return store.hand_in(handed_in(document, source, by, record_time(store)))


def resume(store: Store, by: str, *, trust: bool = False) -> None:
    """Let the loop act again; with `trust` it also trusts an observation that has far less than there was before."""
    now = record_time(store)
    store.resume(by, now)
    if trust:
        store.log(Event(at=now, kind="trust", text=f"{by} trusts what is observed, however little it is"))
