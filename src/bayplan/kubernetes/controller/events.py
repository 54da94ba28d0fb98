"""Events on pods and owners (events.k8s.io/v1): what `kubectl describe` and `kubectl get events` show of a plan and its moves.

An event that is repeated within ten minutes is counted, not written again. At most a few are written per second: a large plan
tells about its first moves, and the rest is in the record and in the metrics. No failure to write one reaches the loop.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from bayplan.errors import WorldError
from bayplan.kubernetes.client import Client, Json
from bayplan.kubernetes.controller.lease import micro_time
from bayplan.kubernetes.controller.outbox import Outbox
from bayplan.kubernetes.controller.references import ObjectReference

CONTROLLER = "bayplan.io/controller"
EVENTS = "/apis/events.k8s.io/v1/namespaces/{namespace}/events"
LONGEST_NOTE, LONGEST_NAME = 1024, 128  # letters that the API server takes
REPEATED = 600.0  # seconds within which the same event is counted instead
REMEMBERED = 2000  # events that a repetition is compared with
BURST, PER_SECOND = 300, 5.0  # events at once, and in the long run


class EventReason(StrEnum):
    """What happened; `docs/kubernetes/controller.md` says on which objects."""

    PLAN_COMPUTED = "PlanComputed"
    MOVE_STARTED = "MoveStarted"
    MOVE_BLOCKED = "MoveBlocked"
    MOVE_COMPLETED = "MoveCompleted"
    ROLLED_BACK = "RolledBack"

    @property
    def type(self) -> str:
        """How serious it is, in Kubernetes' words."""
        return "Warning" if self in (EventReason.MOVE_BLOCKED, EventReason.ROLLED_BACK) else "Normal"

    @property
    def action(self) -> str:
        """What was being done, in Kubernetes' words."""
        return {"PlanComputed": "Planning", "RolledBack": "RollingBack"}.get(self.value, "Moving")


class EventResult(StrEnum):
    """What became of an event."""

    WRITTEN = "written"
    COUNTED = "counted"  # added to an earlier one
    DROPPED = "dropped"  # too many at once
    FAILED = "failed"


class TokenBucket:
    """A limit on how often something happens: a number at once, a number per second in the long run."""

    def __init__(self, burst: float, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._per_second, self._clock = burst, per_second, clock
        self._tokens, self._at = burst, clock()

    def take(self) -> bool:
        """May it happen now?"""
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._per_second)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


@dataclass(slots=True, kw_only=True)
class _Written:
    """An event on the API server."""

    path: str
    first: float
    count: int = 1


class EventWriter:
    """Writes events through an outbox; `counted` is told what became of each."""

    def __init__(
        self,
        client: Client,
        outbox: Outbox,
        instance: str,
        *,
        counted: Callable[[EventReason, EventResult], None] = lambda reason, result: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client, self._outbox, self._instance = client, outbox, instance[:LONGEST_NAME]
        self._counted, self._clock = counted, clock
        self._bucket = TokenBucket(BURST, PER_SECOND, clock)
        self._known: OrderedDict[tuple[str, str, str], _Written] = OrderedDict()  # used by the outbox only

    def write(self, reason: EventReason, regarding: ObjectReference, note: str, related: ObjectReference | None = None) -> None:
        """Have an event written, unless there are too many."""
        at = self._clock()
        if not self._bucket.take() or not self._outbox.put(lambda: self._write(reason, regarding, note, related, at)):
            self._counted(reason, EventResult.DROPPED)

    def _write(
        self, reason: EventReason, regarding: ObjectReference, note: str, related: ObjectReference | None, at: float
    ) -> None:
        """In the thread of the outbox."""
        key = (regarding.uid, reason.value, note)
        known = self._known.get(key)
        try:
            if known is not None and at - known.first < REPEATED:
                self._count(known, at)
                self._counted(reason, EventResult.COUNTED)
                return
            self._known[key] = self._create(reason, regarding, note, related, at)
            self._counted(reason, EventResult.WRITTEN)
        except WorldError:
            self._counted(reason, EventResult.FAILED)
            raise
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def _count(self, known: _Written, at: float) -> None:
        known.count += 1
        self._client.patch(known.path, {"series": {"count": known.count, "lastObservedTime": micro_time(at)}})

    def _create(
        self, reason: EventReason, regarding: ObjectReference, note: str, related: ObjectReference | None, at: float
    ) -> _Written:
        event: Json = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"{regarding.name[:230]}.{time.time_ns():x}", "namespace": regarding.namespace},
            "eventTime": micro_time(at),
            "reportingController": CONTROLLER,
            "reportingInstance": self._instance,
            "action": reason.action,
            "reason": reason.value,
            "type": reason.type,
            "regarding": regarding.to_json(),
            "note": note[:LONGEST_NOTE],
        }
        collection = EVENTS.format(namespace=regarding.namespace)
        self._client.create(collection, event | ({} if related is None else {"related": related.to_json()}))
        return _Written(path=f"{collection}/{event['metadata']['name']}", first=at)
