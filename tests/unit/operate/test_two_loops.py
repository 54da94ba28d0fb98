"""Two processes on one cluster and one record: only one acts."""

import pytest
from tests.builders.operated import operation, talkers

from bayplan.operate.loop import Loop
from bayplan.operate.stages.execute import execute
from bayplan.operate.store import LostLeaseError, Store
from bayplan.operate.store.failures import StoreError


def test_of_two_loops_only_one_acts():
    o = operation(talkers())
    second = o.another()
    o.after(5, lambda: refused.append(Loop(second).turn()))
    refused = []
    assert o.loop.turn().moved == 2
    assert refused == [None]
    assert len(o.store.turns()) == 1
    o.expect_safe()


def test_a_loop_that_waits_takes_over_soon_after_the_first_one_is_gone():
    o = operation(talkers())
    assert o.context.acquire()  # and is never heard of again
    began = o.cluster.time
    assert Loop(o.another()).run(turns=1) == 1
    assert o.cluster.time - began < o.context.settings.lease + 400


def test_a_process_that_slept_while_another_took_over_can_do_nothing():
    o = operation(talkers())
    plan = o.plan(web_0="m_1")
    taken = []

    def sleep_long(*arguments):
        if not taken:
            o.cluster.wait(1000)
            taken.append(Loop(o.another()).turn())
        return real(*arguments)

    real, o.context.orchestrator = o.cluster.execute, _With(o.cluster, execute=sleep_long)
    with pytest.raises(LostLeaseError):
        execute(o.context, plan)
    o.cluster.wait(7200)
    o.expect_safe()
    o.expect_nothing_left_behind()
    assert o.store.plan("plan").status == "done"


class _With:
    """An orchestrator with some calls replaced."""

    def __init__(self, inner, **calls):
        self.inner, self.calls = inner, calls

    def __getattr__(self, name):
        return self.calls.get(name) or getattr(self.inner, name)


def test_a_lost_lease_stops_the_first_at_once():
    o = operation(talkers())
    assert o.context.acquire()
    o.cluster.wait(301)
    assert o.another().acquire()
    with pytest.raises(LostLeaseError):
        o.context.renew()
    with pytest.raises(LostLeaseError):
        o.context.wait(1000)


@pytest.mark.long
@pytest.mark.parametrize("call", ["begin_turn", "save_plan", "begin_steps", "end_steps", "log", "end_turn"])
def test_a_disk_that_is_full_in_the_middle_leaves_nothing_half_done(call, tmp_path):
    o = operation(talkers())
    o.store = o.context.store = Store.open(tmp_path / "record.db")
    real, full = getattr(o.store, call), [0]

    def write(*arguments):
        full[0] += 1
        if full[0] == 2 or call in ("begin_turn", "end_turn"):
            raise StoreError("its disk is full")
        return real(*arguments)

    object.__setattr__(o.store, call, write)
    with pytest.raises(StoreError, match="full"):
        o.loop.run(turns=1)
    object.__delattr__(o.store, call)
    o.cluster.wait(600)
    with Store.open(tmp_path / "record.db") as again:
        o.store = again
        context = o.another()
        context.store = again
        Loop(context).run(turns=2)
        assert again.open_plan() is None
        o.cluster.wait(7200)
        o.expect_safe()
        o.expect_nothing_left_behind()
