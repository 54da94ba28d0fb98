"""What is kept on the cluster for whoever comes after us."""

from dataclasses import replace

import pytest
from tests.builders.live_pods import live_pods, raw_pod, reserved

from bayplan.kubernetes.execute.reservation import PodReservation, ScaledDeployment, reservation_of, reserved_pods
from bayplan.model import Action
from bayplan.operate.orchestrator import PermanentError, StepOrder


def order(action: Action, uid: str, token: str = "", **changes: bool) -> StepOrder:
    return StepOrder(token=token, action=action, workload="web", machine="n", machine_uid="u", uid=uid, **changes)


def test_a_reservation_is_read_as_it_was_written():
    pods = (reserved("a", deletes=("p/1",), creates=("p/2",)), reserved("b", steered=False), reserved("c", surge=True))
    written = PodReservation(name="p", until=9.0, pods=pods, scaled={"/d": ScaledDeployment(4, 5)}, version="7")
    assert reservation_of("p", 9.0, written.to_text(), "7") == written


def test_a_token_leads_to_its_pod_and_what_is_done_to_it():
    held = PodReservation(name="p", until=9.0, pods=(reserved("a", deletes=("p/1",), creates=("p/2",)),))
    assert held.of_token("p/1") == (held.pods[0], Action.DELETE)
    assert held.of_token("p/2") == (held.pods[0], Action.CREATE)
    assert held.of_token("p/3") is None


def test_only_controllers_whose_pods_are_steered_are_gated():
    held = PodReservation(name="p", until=9.0, pods=(reserved("a"), reserved("b", owner="other", steered=False)))
    assert held.owners == {"rs"}
    assert held.namespaces == {"shop"}


def test_orders_about_one_pod_are_kept_together():
    orders = [order(Action.DELETE, "a", "p/1"), order(Action.CREATE, "a")]
    (pod,) = reserved_pods(orders, (), live_pods(raw_pod("a", node="n")).by_uid)
    assert (pod.deletes, pod.creates, pod.container) == (("p/1",), (), "shop/a")


def test_a_pod_that_is_gone_is_known_from_the_reservation_before():
    before = reserved("gone", deletes=("p/1",))
    (pod,) = reserved_pods([order(Action.CREATE, "gone", "p/2")], [before], {})
    assert pod == replace(before, deletes=(), creates=("p/2",))


def test_an_order_about_a_pod_that_was_never_seen_is_left_out():
    assert reserved_pods([order(Action.CREATE, "unknown", "p/2")], (), {}) == ()


def test_a_later_step_does_not_say_that_it_is_a_surge():
    pods = live_pods(raw_pod("a", node="n")).by_uid
    assert not reserved_pods([order(Action.CREATE, "a", surge=True)], (), pods)[0].surge
    assert reserved_pods([order(Action.CREATE, "a", "p/1", surge=True)], (), pods)[0].surge


def test_a_reservation_that_does_not_fit_on_an_object_is_refused():
    many = tuple(reserved(f"{number:060}") for number in range(1000))
    with pytest.raises(PermanentError, match="a batch of 1,000 moves is too large"):
        PodReservation(name="p", until=9.0, pods=many).to_text()
