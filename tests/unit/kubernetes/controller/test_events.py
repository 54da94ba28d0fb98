"""Events: as the API server wants them, repeated ones counted, too many dropped, failures swallowed."""

import pytest
from tests.builders.stored_objects import StoredObjects

from bayplan.kubernetes.client import UnavailableError
from bayplan.kubernetes.controller.events import BURST, LONGEST_NOTE, EventReason, EventResult, EventWriter, TokenBucket
from bayplan.kubernetes.controller.outbox import Outbox
from bayplan.kubernetes.controller.references import owner_reference, pod_reference

POD = pod_reference("shop", "web-1", "uid-1")
OWNER = owner_reference("Deployment", "shop", "web", "uid-web")


class Written:
    """An event writer on an API server in memory, with a clock that a test sets."""

    def __init__(self):
        self.server, self.results, self.failures, self.now = StoredObjects(), [], [], 1000.0
        self.outbox = Outbox(self.failures.append)
        self.writer = EventWriter(
            self.server, self.outbox, "one", counted=lambda reason, result: self.results.append(result), clock=lambda: self.now
        )

    def write(self, note="it moves", reason=EventReason.MOVE_STARTED, regarding=POD, **more):
        self.writer.write(reason, regarding, note, **more)
        assert self.outbox.drain(10)

    @property
    def events(self):
        return list(self.server.objects.values())


def test_an_event_has_what_the_api_server_asks_for():
    w = Written()
    w.write(related=OWNER)
    (event,) = w.events
    assert event["metadata"]["namespace"] == "shop" and event["metadata"]["name"].startswith("web-1.")
    assert event["eventTime"] == "1970-01-01T00:16:40.000000Z"
    assert (event["reportingController"], event["reportingInstance"]) == ("bayplan.io/controller", "one")
    assert (event["action"], event["reason"], event["type"]) == ("Moving", "MoveStarted", "Normal")
    assert event["regarding"] == {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web-1", "uid": "uid-1"}
    assert event["related"]["kind"] == "Deployment" and event["related"]["apiVersion"] == "apps/v1"


@pytest.mark.parametrize(
    ("reason", "type_"),
    [
        ("PlanComputed", "Normal"),
        ("MoveStarted", "Normal"),
        ("MoveBlocked", "Warning"),
        ("MoveCompleted", "Normal"),
        ("RolledBack", "Warning"),
    ],
)
def test_what_a_person_should_look_at_is_a_warning(reason, type_):
    assert EventReason(reason).type == type_
    assert 0 < len(EventReason(reason).action) <= 128


def test_a_repeated_event_is_counted_and_written_anew_after_ten_minutes():
    w = Written()
    for _ in range(3):
        w.write()
    assert [each["series"]["count"] for each in w.events] == [3]
    w.write(note="something else")
    w.now += 601
    w.write()
    assert len(w.events) == 3
    assert [str(result) for result in w.results] == ["written", "counted", "counted", "written", "written"]


def test_a_note_that_is_too_long_is_cut():
    w = Written()
    w.write(note="x" * 5000)
    assert len(w.events[0]["note"]) == LONGEST_NOTE


def test_too_many_at_once_are_dropped_and_counted():
    w = Written()
    for number in range(BURST + 20):
        w.writer.write(EventReason.MOVE_STARTED, POD, f"move {number}")
    assert w.outbox.drain(30)
    assert len(w.events) == BURST
    assert w.results.count(EventResult.DROPPED) == 20
    w.now += 1.0
    w.write(note="later")
    assert len(w.events) == BURST + 1


def test_a_failure_is_told_and_the_next_event_is_written():
    w = Written()

    def unreachable(method, path):
        raise UnavailableError("no answer", status=0)

    w.server.fail = unreachable
    w.write()
    w.server.fail = lambda method, path: None
    w.write(note="the next")
    assert [str(error) for error in w.failures] == ["no answer"]
    assert [each["note"] for each in w.events] == ["the next"]
    assert w.results == [EventResult.FAILED, EventResult.WRITTEN]


def test_a_bucket_never_lets_through_more_than_its_burst_and_its_rate():
    now = [0.0]
    bucket = TokenBucket(10, 2.0, lambda: now[0])
    taken = []
    for tenth in range(600):
        now[0] = tenth / 10
        taken += [now[0]] * (bucket.take() + bucket.take())
    for start in range(0, 60, 7):
        window = [at for at in taken if start <= at < start + 20]
        assert len(window) <= 10 + 2.0 * 20
    assert len(taken) == 10 + 2 * 60 - 1
