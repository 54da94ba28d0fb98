"""Only one acts: a lease with a fence that grows."""

import pytest
from tests.builders.records import plan, step, turn

from bayplan.model.record import Hold, Lease, PlanStatus
from bayplan.operate.store import LostLeaseError


def test_a_lease_keeps_others_out_until_it_has_run_out(store):
    assert store.acquire("a", now=100.0, seconds=10.0) == 1
    assert store.acquire("b", now=109.9, seconds=10.0) is None
    assert store.lease() == Lease(holder="a", fence=1, until=110.0)
    assert store.acquire("b", now=110.0, seconds=10.0) == 2
    assert store.lease() == Lease(holder="b", fence=2, until=120.0)


def test_the_same_holder_gets_a_new_fence_and_its_old_one_is_lost(store):
    old = store.acquire("a", now=100.0, seconds=10.0)
    new = store.acquire("a", now=101.0, seconds=10.0)
    assert (old, new) == (1, 2)
    store.renew(new, now=102.0, seconds=10.0)
    with pytest.raises(LostLeaseError, match=r"'a' has taken over \(fence 2, ours is 1\)"):
        store.renew(old, now=102.0, seconds=10.0)


def test_a_renewed_lease_keeps_others_out_for_longer(store):
    fence = store.acquire("a", now=0.0, seconds=10.0)
    store.renew(fence, now=9.0, seconds=10.0)
    assert store.acquire("b", now=18.0, seconds=10.0) is None
    assert store.lease() == Lease(holder="a", fence=fence, until=19.0)


def test_a_lease_that_has_run_out_is_still_ours_until_another_takes_it(store):
    fence = store.acquire("a", now=0.0, seconds=10.0)
    store.begin_turn(turn(), fence)
    store.renew(fence, now=50.0, seconds=10.0)
    assert store.acquire("b", now=55.0, seconds=10.0) is None


def test_a_released_lease_is_free_at_once_and_its_fence_never_comes_back(store):
    fence = store.acquire("a", now=0.0, seconds=1000.0)
    store.release(fence)
    assert store.lease() is None
    with pytest.raises(LostLeaseError, match="was released"):
        store.begin_turn(turn(), fence)
    assert store.acquire("b", now=1.0, seconds=10.0) == fence + 1


def test_releasing_what_another_has_taken_over_changes_nothing(store):
    old = store.acquire("a", now=0.0, seconds=1.0)
    store.acquire("b", now=2.0, seconds=10.0)
    store.release(old)
    assert store.lease() == Lease(holder="b", fence=old + 1, until=12.0)


def test_there_is_no_lease_in_a_new_store(store):
    assert store.lease() is None
    with pytest.raises(LostLeaseError):
        store.begin_turn(turn(), 0)


WRITES = {
    "renew": lambda store, fence: store.renew(fence, now=3.0, seconds=10.0),
    "begin_turn": lambda store, fence: store.begin_turn(turn(), fence),
    "end_turn": lambda store, fence: store.end_turn(turn(id=1, ended=2.0), fence),
    "save_plan": lambda store, fence: store.save_plan(plan(why="changed"), fence),
    "begin_steps": lambda store, fence: store.begin_steps([step("b", 1)], fence),
    "end_steps": lambda store, fence: store.end_steps([step("a", outcome="changed")], fence),
    "hold": lambda store, fence: store.hold([Hold(workload="web", until=9.0, why="")], fence),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_an_old_fence_writes_nothing(store, write):
    old = store.acquire("a", now=0.0, seconds=1.0)
    store.begin_turn(turn(), old)
    store.save_plan(plan(status=PlanStatus.EXECUTING), old)
    store.begin_steps([step("a")], old)
    store.acquire("b", now=2.0, seconds=10.0)
    before = store.history(), store.lease()
    with pytest.raises(LostLeaseError, match="'b' has taken over"):
        write(store, old)
    assert (store.history(), store.lease()) == before


def test_people_need_no_fence(store):
    store.save_plan(plan(), store.acquire("a", now=0.0, seconds=1.0))
    store.acquire("b", now=2.0, seconds=10.0)
    store.approve("plan-1", by="anna", at=3.0)
    store.pause(by="anna", at=3.0)
    assert store.plan("plan-1").status is PlanStatus.APPROVED
