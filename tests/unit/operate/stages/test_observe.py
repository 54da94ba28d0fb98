"""Nothing is decided or done on an observation, or by a clock, that cannot be trusted."""

from dataclasses import replace

import pytest
from tests.builders.operated import operation, talkers, web

from bayplan.model.record import Event
from bayplan.operate.orchestrator import Observation
from bayplan.operate.simulated import Faults, FaultyTime, ObservationFault
from bayplan.operate.stages.observe import (
    UnsoundError,
    expect_clock,
    expect_fresh_measurements,
    fresh_observation,
    sound_observation,
)


def always(fault):
    return Faults(observations={fault: 1.0})


def test_an_empty_observation_is_refused_after_several_tries():
    o = operation(faults=always(ObservationFault.EMPTY))
    with pytest.raises(UnsoundError, match="empty"):
        sound_observation(o.context)
    assert o.cluster.time - o.cluster._faults.start == 45.0  # it was asked for again, three times


def test_an_observation_that_is_empty_once_does_no_harm():
    o = operation(faults=Faults(observation_script={0: ObservationFault.EMPTY}))
    assert len(sound_observation(o.context).containers) == 4


def test_an_observation_of_half_of_the_containers_is_refused_even_by_a_process_that_has_seen_none_before():
    o = operation(web(replicas=12, cpu=12), faults=always(ObservationFault.HALF))
    with pytest.raises(UnsoundError, match=r"a part of it is missing|less than half"):
        sound_observation(o.context)


def test_an_old_observation_is_refused():
    o = operation(faults=Faults(observation_script=dict.fromkeys(range(1, 9), ObservationFault.STALE)))
    sound_observation(o.context)
    o.cluster.wait(1000)
    with pytest.raises(UnsoundError, match="old"):
        sound_observation(o.context)


def test_what_is_done_is_judged_on_an_observation_that_is_made_then():
    o = operation(faults=Faults(observation_script=dict.fromkeys(range(1, 9), ObservationFault.STALE), stale_seconds=100))
    sound_observation(o.context)
    o.cluster.wait(30)
    assert sound_observation(o.context).at < o.cluster.time  # good enough to plan with
    o.cluster.wait(30)
    with pytest.raises(UnsoundError, match="old"):
        fresh_observation(o.context)


class _Shown:
    """An orchestrator that shows something else than there is."""

    def __init__(self, inner, change):
        self.inner, self.change = inner, change

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def observe(self) -> Observation:
        return self.change(self.inner.observe())


def shows(o, change):
    o.context.orchestrator = _Shown(o.cluster, change)


def test_a_version_that_goes_back_is_refused():
    o = operation()
    sound_observation(o.context)
    shows(o, lambda seen: replace(seen, version=seen.version - 1))
    with pytest.raises(UnsoundError, match="older"):
        sound_observation(o.context)


def test_an_observation_from_the_future_is_refused():
    o = operation()
    shows(o, lambda seen: replace(seen, at=seen.at + 90))
    with pytest.raises(UnsoundError, match="90 s in the future"):
        sound_observation(o.context)


def without(seen: Observation, containers: int, machines: int = 0) -> Observation:
    """What is left of an observation, as an orchestrator that has forgotten the rest would show it."""
    import numpy as np

    from bayplan.operate.simulated.fault_injection import _without  # the only way to take containers out of a snapshot

    keep = np.arange(len(seen.containers)) < len(seen.containers) - containers
    replicas = {name: sum(state.workload == name for state in seen.containers[: keep.sum()]) for name in seen.replicas}
    return replace(_without(seen, keep), replicas=replicas, machines=seen.machines[: len(seen.machines) - machines])


def test_less_than_half_of_the_containers_of_the_last_time_is_refused_until_a_person_trusts_it():
    o = operation()
    sound_observation(o.context)
    shows(o, lambda seen: without(seen, 3))
    with pytest.raises(UnsoundError, match="1 running containers where the last one had 4"):
        sound_observation(o.context)
    o.store.log(Event(at=o.cluster.now(), kind="trust", text="that is so"))
    assert len(sound_observation(o.context).containers) == 1
    shows(o, lambda seen: seen)
    assert len(sound_observation(o.context).containers) == 4


def test_half_of_the_containers_is_enough():
    o = operation()
    sound_observation(o.context)
    shows(o, lambda seen: without(seen, 2))
    assert len(sound_observation(o.context).containers) == 2


def test_less_than_half_of_the_machines_of_the_last_time_is_refused():
    o = operation()
    sound_observation(o.context)
    shows(o, lambda seen: without(seen, 0, machines=3))
    with pytest.raises(UnsoundError, match="1 machines where the last one had 4"):
        sound_observation(o.context)


def test_a_new_process_compares_with_the_last_turn_in_the_record():
    o = operation(talkers(), mode="manual")
    o.loop.turn()
    later = o.another()
    o.cluster.wait(600)
    later.orchestrator = _Shown(o.cluster, lambda seen: without(seen, 3))
    with pytest.raises(UnsoundError, match="1 running containers where the last one had 4"):
        sound_observation(later)


def test_one_replica_that_is_not_shown_is_waited_for_and_then_its_workload_is_left_alone():
    o = operation(web(replicas=12, cpu=12))
    shows(o, lambda seen: replace(without(seen, 1), replicas=seen.replicas))
    assert sound_observation(o.context).incomplete == {"web"}
    assert o.cluster.time - o.cluster._faults.start == 45.0


def test_a_clock_that_goes_back_stops_everything_until_it_catches_up():
    o = operation(faults=Faults(slow_clocks=(FaultyTime(100, 1000, by=3600),)))
    o.store.log(Event(at=o.cluster.now(), kind="test", text=""))
    o.cluster.wait(101)
    with pytest.raises(UnsoundError, match="the clock went back: it is 3,499 s behind"):
        expect_clock(o.context)
    o.cluster.wait(1000)
    expect_clock(o.context)


@pytest.mark.parametrize("what", ["traffic", "usage"])
def test_measurements_that_are_too_old_are_not_planned_with(what):
    o = operation()
    old = replace(o.cluster.observe(), **{f"{what}_at": o.cluster.now() - 3 * 3600})
    with pytest.raises(UnsoundError, match=f"{what} was measured 180 minutes ago"):
        expect_fresh_measurements(o.context, old)
