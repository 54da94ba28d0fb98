"""Holds as annotations with an expiry on owners: everyone sees them, and they outlive the record and this process.

The record says what is held; this brings the owners in line. What a person writes counts too: a later time on an owner stays, and
an annotation of ours that a person removes or makes earlier while a controller runs ends the hold in the record.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from bayplan.kubernetes.client import Client, RefusedError
from bayplan.kubernetes.controller.outbox import Outbox
from bayplan.kubernetes.controller.references import ObjectReference, References, WrittenHold
from bayplan.kubernetes.marks import HOLD_REASON, HOLD_UNTIL
from bayplan.model.record import Hold

LONGEST_REASON = 500
GONE_OR_CHANGED = (404, 409, 422)  # the owner is gone or another one; what was to be removed is not there any more


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldChanges:
    """What differs between the record and the owners."""

    write: tuple[Hold, ...]
    remove: Mapping[str, WrittenHold]  # workload -> what is over
    ended: tuple[str, ...]  # workloads whose hold a person has ended


def hold_changes(
    recorded: Mapping[str, Hold], written: Mapping[str, WrittenHold], confirmed: Mapping[str, str], now: float
) -> HoldChanges:
    """What to do: `recorded` holds are in force, `written` is on the owners, `confirmed` is what we wrote and have seen there."""
    ended = tuple(name for name in recorded if name in confirmed and _is_shortened(written.get(name), confirmed[name]))
    to_write = [hold for name, hold in recorded.items() if name not in ended and _is_earlier(written.get(name), hold.until)]
    over = {name: each for name, each in written.items() if _is_over(each, now) and name not in recorded}
    return HoldChanges(write=tuple(to_write), remove=over, ended=ended)


def _is_shortened(written: WrittenHold | None, ours: str) -> bool:
    """Has a person removed what we wrote, or made it earlier?"""
    then, until = moment(ours), None if written is None else moment(written.until)
    return until is None or (then is not None and until < then)


def _is_earlier(written: WrittenHold | None, until: float) -> bool:
    at = None if written is None else moment(written.until)
    return at is None or at < int(until)


def _is_over(written: WrittenHold, now: float) -> bool:
    at = moment(written.until)
    return at is not None and at <= now  # a text that is no time is a person's: it stays


class HoldAnnotations:
    """Brings owners in line with the record, through an outbox: what fails is tried again with the next turn."""

    def __init__(self, client: Client, outbox: Outbox) -> None:
        self._client, self._outbox = client, outbox
        self._sent: dict[str, str] = {}  # workload -> the time that we wrote last
        self._confirmed: dict[str, str] = {}  # ... and have seen on its owner since

    def reconcile(self, recorded: Mapping[str, Hold], references: References, now: float) -> tuple[str, ...]:
        """Write and remove what differs; workloads whose hold a person has ended."""
        for name, each in references.holds.items():
            if self._sent.get(name) == each.until:
                self._confirmed[name] = each.until
        changes = hold_changes(recorded, references.holds, self._confirmed, now)
        self.write(changes.write, references)
        for name, over in changes.remove.items():
            if name in references.owners:
                self._outbox.put(partial(self._remove, references.owners[name], over))
        for name in (*changes.ended, *changes.remove):
            self._sent.pop(name, None)
            self._confirmed.pop(name, None)
        return changes.ended

    def write(self, holds: Iterable[Hold], references: References) -> None:
        """Write holds on their owners."""
        for hold in holds:
            if hold.workload in references.owners:
                self._outbox.put(partial(self._write, references.owners[hold.workload], hold))

    def _write(self, owner: ObjectReference, hold: Hold) -> None:
        """In the thread of the outbox; the uid is a precondition."""
        until = rfc3339(hold.until)
        annotations = {HOLD_UNTIL: until, HOLD_REASON: hold.why[:LONGEST_REASON]}
        try:
            self._client.patch(owner.path, {"metadata": {"uid": owner.uid, "annotations": annotations}})
            self._sent[hold.workload] = until
        except RefusedError as error:
            if error.status not in GONE_OR_CHANGED:
                raise

    def _remove(self, owner: ObjectReference, over: WrittenHold) -> None:
        """In the thread of the outbox: only if it still says what was read, so that a later time by a person is not lost."""
        test = [
            {"op": "test", "path": "/metadata/uid", "value": owner.uid},
            {"op": "test", "path": _pointer(HOLD_UNTIL), "value": over.until},
            {"op": "remove", "path": _pointer(HOLD_UNTIL)},
        ]
        reason = [{"op": "remove", "path": _pointer(HOLD_REASON)}] if over.reason else []
        try:
            self._client.patch(owner.path, test + reason, kind="json")
        except RefusedError as error:
            if error.status not in GONE_OR_CHANGED:
                raise


def _pointer(annotation: str) -> str:
    return "/metadata/annotations/" + annotation.replace("~", "~0").replace("/", "~1")


def rfc3339(at: float) -> str:
    """A time as people write it on objects.

    >>> rfc3339(86400.9)
    '1970-01-02T00:00:00Z'
    """
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: str) -> float | None:
    """The time that a text states, in seconds since 1970; None if it states none, or not in which zone."""
    try:
        stated = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if stated.tzinfo is None else stated.timestamp()
