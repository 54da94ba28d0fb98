"""Which pod that waits takes whose place."""

from tests.builders.live_pods import live_pods, raw_pod, reserved

from bayplan.kubernetes.execute.replacements import assignment


def places(found):
    return {pod.uid: place.uid for pod, place in found.places}


def test_what_waits_takes_the_place_of_what_was_deleted():
    live = live_pods(raw_pod("new", gated=True), raw_pod("other", node="n"))
    assert places(assignment([reserved("gone"), reserved("other")], live)) == {"new": "gone"}


def test_what_is_stopping_has_left_its_place():
    live = live_pods(raw_pod("new", gated=True), raw_pod("old", node="n", deletionTimestamp="2026-01-01T00:00:01Z"))
    assert places(assignment([reserved("old")], live)) == {"new": "old"}


def test_what_still_runs_keeps_its_place_and_the_other_waits_in_excess():
    live = live_pods(raw_pod("new", gated=True), raw_pod("old", node="n"))
    found = assignment([reserved("old")], live)
    assert (places(found), [pod.uid for pod in found.excess]) == ({}, ["new"])


def test_a_second_instance_takes_the_place_of_one_that_still_runs():
    live = live_pods(raw_pod("new", gated=True), raw_pod("old", node="n"))
    assert places(assignment([reserved("old", surge=True)], live)) == {"new": "old"}


def test_each_place_is_taken_once_the_oldest_pod_first():
    times = {name: f"2026-01-01T00:00:0{name[-1]}Z" for name in ("p-1", "p-2", "p-3")}
    live = live_pods(*(raw_pod(name, gated=True, creationTimestamp=at) for name, at in reversed(times.items())))
    found = assignment([reserved("a"), reserved("b")], live)
    assert (places(found), [pod.uid for pod in found.excess]) == ({"p-1": "a", "p-2": "b"}, ["p-3"])


def test_a_place_that_was_taken_is_not_given_away_again():
    live = live_pods(raw_pod("first", gated=True, replaces="gone"), raw_pod("second", gated=True))
    found = assignment([reserved("gone")], live)
    assert (places(found), [pod.uid for pod in found.excess]) == ({}, ["second"])


def test_when_what_took_a_place_is_deleted_the_next_one_takes_it():
    deleted = raw_pod("first", gated=True, replaces="gone", deletionTimestamp="2026-01-01T00:00:01Z")
    assert places(assignment([reserved("gone")], live_pods(deleted, raw_pod("next", gated=True)))) == {"next": "gone"}


def test_pods_of_other_controllers_take_no_place():
    live = live_pods(raw_pod("new", owner="rs-2", gated=True))
    found = assignment([reserved("gone")], live)
    assert (places(found), [pod.uid for pod in found.excess]) == ({}, ["new"])


def test_what_replaces_a_pod_that_is_not_reserved_any_more_is_in_excess():
    live = live_pods(raw_pod("new", gated=True, replaces="gone"))
    assert [pod.uid for pod in assignment([reserved("other")], live).excess] == ["new"]


def test_a_delete_that_is_not_steered_gives_no_place():
    live = live_pods(raw_pod("new", gated=True))
    assert places(assignment([reserved("gone", steered=False)], live)) == {}


def test_a_later_state_of_a_pod_is_not_overwritten_by_an_earlier_one():
    live = live_pods(raw_pod("new", gated=True, replaces="gone", resourceVersion="8"))
    live.put(raw_pod("new", gated=True, resourceVersion="7"))
    assert live.standing_in_for("gone").version == "8"
    live.drop("new")
    assert live.standing_in_for("gone") is None
    assert not live.gated
