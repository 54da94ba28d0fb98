"""Holds on owners: written, kept in line with the record, removed when over, and ended by a person."""

import threading

import pytest
from tests.builders.stored_objects import StoredObjects

from bayplan.kubernetes.client import UnavailableError
from bayplan.kubernetes.controller.holds import HoldAnnotations, hold_changes, moment, rfc3339
from bayplan.kubernetes.controller.outbox import Outbox
from bayplan.kubernetes.controller.references import References, WrittenHold, owner_reference
from bayplan.kubernetes.marks import HOLD_REASON, HOLD_UNTIL
from bayplan.model.record import Hold

NOW = 1_000_000.0
OWNER = owner_reference("Deployment", "shop", "web", "uid-web")


class Held:
    """One Deployment, the annotations on it, and what the record says."""

    def __init__(self, **annotations):
        body = {"metadata": {"name": "web", "uid": "uid-web", "annotations": {"team": "shop", **annotations}}}
        self.server, self.failures = StoredObjects({OWNER.path: body}), []
        self.outbox = Outbox(self.failures.append)
        self.holds = HoldAnnotations(self.server, self.outbox)

    @property
    def annotations(self):
        return self.server.objects[OWNER.path]["metadata"]["annotations"]

    def references(self):
        written = {}
        if HOLD_UNTIL in self.annotations:
            written["web"] = WrittenHold(until=self.annotations[HOLD_UNTIL], reason=self.annotations.get(HOLD_REASON, ""))
        return References(owners={"web": OWNER}, holds=written)

    def reconcile(self, *holds, now=NOW):
        ended = self.holds.reconcile({hold.workload: hold for hold in holds}, self.references(), now)
        assert self.outbox.drain(10)
        return ended


def hold(seconds=3600.0, workload="web"):
    return Hold(workload=workload, until=NOW + seconds, why="made a machine skewed", plan="p")


def test_a_hold_is_written_with_its_reason_and_nothing_else_is_touched():
    h = Held()
    h.holds.write([hold()], h.references())
    assert h.outbox.drain(10)
    assert h.annotations == {"team": "shop", HOLD_UNTIL: rfc3339(NOW + 3600), HOLD_REASON: "made a machine skewed"}


def test_what_is_in_line_is_not_written_again():
    h = Held()
    h.reconcile(hold())
    before = len(h.server.calls)
    for _ in range(3):
        assert h.reconcile(hold()) == ()
    assert len(h.server.calls) == before


def test_a_write_that_failed_is_made_with_the_next_turn():
    h = Held()

    def unreachable(method, path):
        raise UnavailableError("no answer", status=0)

    h.server.fail = unreachable
    h.reconcile(hold())
    assert HOLD_UNTIL not in h.annotations and len(h.failures) == 1
    h.server.fail = lambda method, path: None
    h.reconcile(hold())
    assert h.annotations[HOLD_UNTIL] == rfc3339(NOW + 3600)


def test_a_hold_that_is_over_is_removed():
    h = Held()
    h.reconcile(hold())
    h.reconcile(now=NOW + 3601)
    assert h.annotations == {"team": "shop"}


def test_a_hold_of_a_lost_record_is_kept_until_it_is_over():
    h = Held(**{HOLD_UNTIL: rfc3339(NOW + 60), HOLD_REASON: "before the record was lost"})
    h.reconcile()
    assert HOLD_UNTIL in h.annotations
    h.reconcile(now=NOW + 61)
    assert h.annotations == {"team": "shop"}


def test_a_later_time_by_a_person_stays():
    h = Held(**{HOLD_UNTIL: rfc3339(NOW + 9999)})
    assert h.reconcile(hold()) == ()
    assert h.annotations[HOLD_UNTIL] == rfc3339(NOW + 9999)


def test_a_person_who_changes_it_at_the_last_moment_wins():
    h = Held(**{HOLD_UNTIL: rfc3339(NOW - 1)})
    read = h.references()
    h.annotations[HOLD_UNTIL] = rfc3339(NOW + 9999)
    h.holds.reconcile({}, read, NOW)
    assert h.outbox.drain(10)
    assert h.annotations[HOLD_UNTIL] == rfc3339(NOW + 9999)
    assert h.failures == []


@pytest.mark.parametrize("change", ["removed", "earlier"])
def test_a_person_ends_a_hold_by_removing_it_or_making_it_earlier(change):
    h = Held()
    h.reconcile(hold())
    assert h.reconcile(hold()) == ()  # it was seen on the owner
    if change == "removed":
        del h.annotations[HOLD_UNTIL]
    else:
        h.annotations[HOLD_UNTIL] = rfc3339(NOW + 5)
    assert h.reconcile(hold()) == ("web",)
    assert h.reconcile() == ()


def test_a_text_that_is_no_time_is_left_alone():
    h = Held(**{HOLD_UNTIL: "next week"})
    h.reconcile()
    assert h.annotations[HOLD_UNTIL] == "next week"


def test_an_owner_that_was_made_anew_is_not_written_on():
    h = Held()
    h.server.objects[OWNER.path]["metadata"]["uid"] = "another"
    h.reconcile(hold())
    assert HOLD_UNTIL not in h.annotations
    assert h.failures == []


def test_an_owner_that_is_gone_is_no_failure():
    h = Held()
    read = h.references()
    h.server.objects.clear()
    h.holds.reconcile({"web": hold()}, read, NOW)
    assert h.outbox.drain(10) and h.failures == []


def test_a_workload_without_a_known_owner_is_skipped():
    h = Held()
    assert h.reconcile(hold(workload="elsewhere")) == ()
    assert h.server.calls == []


@pytest.mark.parametrize("text", ["", "soon", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z"])
def test_only_a_time_with_a_zone_is_a_time(text):
    assert moment(text) is None


def test_times_are_the_same_in_every_zone():
    assert moment("2026-01-01T02:00:00+02:00") == moment("2026-01-01T00:00:00Z") == moment(rfc3339(1767225600.0))


def test_what_differs_is_found_without_touching_anything():
    recorded = {"a": hold(workload="a"), "b": hold(workload="b")}
    written = {"b": WrittenHold(until=rfc3339(NOW + 3600)), "c": WrittenHold(until=rfc3339(NOW - 1), reason="old")}
    changes = hold_changes(recorded, written, {}, NOW)
    assert [each.workload for each in changes.write] == ["a"]
    assert changes.remove == {"c": written["c"]}
    assert changes.ended == ()


def test_an_outbox_drops_what_is_too_much_and_says_so():
    hold_up, begun = threading.Event(), threading.Event()
    outbox = Outbox(longest=2)
    outbox.put(lambda: (begun.set(), hold_up.wait(10)))
    assert begun.wait(10)
    assert [outbox.put(lambda: None) for _ in range(3)] == [True, True, False]
    assert not outbox.drain(0.01)
    hold_up.set()
    assert outbox.drain(10)
