"""After a crash at every place between two calls, the next process finds out what is true and goes on."""

import pytest
from tests.builders.operated import Countdown, Interrupted, Killed, operation, talkers

from bayplan.model.record import TurnVerdict
from bayplan.operate.loop import Loop
from bayplan.operate.stages.recover import INTERRUPTED


def interrupted(o, calls, early=True):
    """A process that ends before or after its n-th call of the orchestrator or the store."""
    context, countdown = o.another(), Countdown(calls=calls, early=early)
    context.orchestrator, context.store = Interrupted(o.cluster, countdown), Interrupted(o.store, countdown)
    return context, countdown


@pytest.mark.long
def test_every_gap_between_two_calls_of_a_turn_is_survived():
    ended, calls = False, 0
    places = set()
    while not ended:
        o = operation(talkers())
        context, countdown = interrupted(o, calls, early=bool(calls % 2))
        try:
            Loop(context).run(turns=1)
            ended = True
        except Killed:
            places.add(countdown.last)
            o.cluster.wait(o.context.settings.lease + 1)
            turns = [o.loop.turn() for _ in range(2)]
            assert all(turn is not None for turn in turns)
        o.cluster.wait(7200)
        o.expect_safe()
        o.expect_nothing_left_behind()
        assert o.store.open_plan() is None
        assert {o.where(name) for name in ("web-0", "web-1", "api-0", "api-1")} in ({"m-0"}, {"m-1"}, {"m-2"}), countdown.last
        calls += 1
    assert {"before execute", "after begin_steps", "before end_steps", "after save_plan"} <= places


def test_a_turn_that_never_ended_is_marked_and_the_plan_goes_on():
    o = operation(talkers())
    context, _ = interrupted(o, 14)
    with pytest.raises(Killed):
        Loop(context).run(turns=1)
    o.cluster.wait(301)
    o.loop.turn()
    first = o.store.turns()[0]
    assert (first.verdict, first.why) == (TurnVerdict.FAILED, INTERRUPTED)


def test_a_recovery_that_cannot_observe_is_a_turn_that_could_not_go_on_and_no_crash():
    from bayplan.operate.simulated import NO_FAULTS, Faults, ObservationFault

    o = operation(talkers())
    context, _ = interrupted(o, 14)
    with pytest.raises(Killed):
        Loop(context).run(turns=1)
    o.cluster.wait(301)
    o.cluster.inject(Faults(observations={ObservationFault.EMPTY: 1.0}))
    assert o.loop.turn().verdict is TurnVerdict.UNSOUND
    o.cluster.inject(NO_FAULTS)
    o.loop.turn()
    o.cluster.wait(7200)
    o.expect_safe()
    o.expect_nothing_left_behind()
