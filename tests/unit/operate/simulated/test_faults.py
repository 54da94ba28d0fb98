"""Each fault that a simulated orchestrator can have, on demand."""

import contextlib

import pytest
from tests.builders.simulated_clusters import cluster_of, create, delete, done, history, reserve, where

import bayplan as bp
from bayplan.errors import ModelError
from bayplan.operate.orchestrator import PermanentError, Phase, StepState, TemporaryError
from bayplan.operate.simulated import Faults, FaultyTime, ObservationFault, SimulatedOrchestrator, StepFault, preset


def with_fault(fault, **options):
    """A cluster whose first step has a fault, and the two steps of a move, reserved."""
    cluster = cluster_of(faults=Faults(step_script={0: fault}, **options))
    steps = create(cluster, "m-1", surge=True), delete(cluster, surge=True)
    reserve(cluster, *steps, seconds=7200)
    return cluster, *steps


def test_a_step_that_fails_can_be_sent_again():
    cluster, step, _ = with_fault(StepFault.FAILS)
    with pytest.raises(TemporaryError):
        cluster.execute(step)
    assert cluster.watch([step.token], 60)[0].state is StepState.UNKNOWN
    assert len(cluster.instances()) == 4
    cluster.execute(step)
    assert done(cluster, step.token)


def test_a_refused_step_stays_refused():
    cluster, step, _ = with_fault(StepFault.REFUSED)
    for _ in range(2):
        with pytest.raises(PermanentError, match="refuses"):
            cluster.execute(step)
    assert cluster.watch([step.token], 0)[0].state is StepState.FAILED
    assert len(cluster.instances()) == 4


def test_a_create_that_hangs_is_never_ready_and_can_be_taken_back():
    cluster, step, _ = with_fault(StepFault.HANGS)
    cluster.execute(step)
    assert cluster.watch([step.token], 3600)[0].state is StepState.RUNNING
    assert cluster.observe().second["web-0"].phase is Phase.STARTING
    assert cluster.cancel(step.token).state is StepState.FAILED
    assert len(cluster.instances()) == 4


def test_a_delete_that_hangs_keeps_its_machine_until_it_ends():
    cluster, _, step = with_fault(StepFault.HANGS, hang_seconds=1000)
    cluster.execute(step)
    assert cluster.watch([step.token], 900)[0].state is StepState.RUNNING
    assert len(cluster.observe().stopping) == 1
    assert cluster.loads()[0, 0] == 4000
    assert cluster.cancel(step.token).state is StepState.DONE
    cluster.wait(200)
    assert cluster.observe().stopping == ()


@pytest.mark.parametrize("which", [0, 1])
def test_a_step_that_is_delivered_twice_is_made_once(which):
    cluster, *steps = with_fault(StepFault.TWICE)
    cluster.execute(steps[which])
    cluster.wait(25)
    before = history(cluster)
    cluster.wait(100)
    assert [uid for uid, _, _ in before] == [uid for uid, _, _ in history(cluster)]
    assert len(history(cluster)) == (5 if which == 0 else 4)


def test_a_step_that_is_delivered_again_after_it_was_cancelled_is_not_made():
    cluster, step, _ = with_fault(StepFault.DELAYED)
    with pytest.raises(TemporaryError):
        cluster.execute(step)
    cluster.cancel(step.token)
    cluster.wait(100)
    assert len(cluster.instances()) == 4


def test_a_delayed_step_is_made_though_it_seemed_to_fail():
    cluster, step, _ = with_fault(StepFault.DELAYED)
    with pytest.raises(TemporaryError):
        cluster.execute(step)
    assert len(cluster.instances()) == 4
    cluster.wait(31)
    assert len(cluster.instances()) == 5
    assert cluster.execute(step).state in (StepState.RUNNING, StepState.DONE)
    assert len(cluster.instances()) == 5


def test_a_step_without_an_answer_was_begun():
    cluster, step, _ = with_fault(StepFault.NO_ANSWER)
    with pytest.raises(TemporaryError):
        cluster.execute(step)
    assert len(cluster.instances()) == 5
    assert cluster.execute(step).state is StepState.RUNNING
    assert len(cluster.instances()) == 5


def test_a_late_answer_says_running_after_the_end():
    cluster, step, _ = with_fault(StepFault.LATE)
    started = cluster.now()
    cluster.execute(step)
    cluster.wait(60)
    assert cluster.observe().second["web-0"].phase is Phase.READY
    assert cluster.watch([step.token], 10)[0].state is StepState.RUNNING
    assert done(cluster, step.token)
    assert cluster.now() == started + 120


def test_a_step_that_is_said_to_be_done_may_not_have_been_done():
    cluster, step, _ = with_fault(StepFault.SAYS_DONE)
    assert cluster.execute(step).state is StepState.DONE
    assert cluster.watch([step.token], 60)[0].state is StepState.DONE
    assert cluster.execute(step).state is StepState.DONE
    assert len(cluster.instances()) == 4
    assert cluster.cancel(step.token).state is StepState.FAILED
    with pytest.raises(PermanentError):
        cluster.execute(step)


def test_a_step_may_be_said_to_be_done_before_it_is():
    cluster, step, _ = with_fault(StepFault.SAYS_READY)
    cluster.execute(step)
    assert cluster.watch([step.token], 60)[0].state is StepState.DONE
    assert cluster.observe().second["web-0"].phase is Phase.STARTING


def test_a_lost_step_is_unknown_and_can_be_sent_again():
    cluster, step, _ = with_fault(StepFault.LOST)
    assert cluster.execute(step).state is StepState.RUNNING
    assert cluster.watch([step.token], 60)[0].state is StepState.UNKNOWN
    assert len(cluster.instances()) == 4
    cluster.execute(step)
    assert done(cluster, step.token)


def test_a_stale_observation_shows_its_age():
    cluster = cluster_of(faults=Faults(observation_script={5: ObservationFault.STALE}, stale_seconds=100))
    step = delete(cluster, steered=False)
    old = cluster.observe()
    cluster.execute(step)
    cluster.wait(120)
    fresh = [cluster.observe() for _ in range(3)]
    stale = cluster.observe()
    assert all(seen.at == cluster.now() for seen in fresh)
    assert (stale.at, stale.version) == (old.at, old.version)
    assert stale.containers == old.containers
    assert cluster.observe().version == fresh[-1].version > stale.version


def test_an_observation_may_be_empty_or_miss_half_of_the_containers():
    script = {0: ObservationFault.EMPTY, 1: ObservationFault.HALF}
    cluster = SimulatedOrchestrator(bp.generate("boutique"), faults=Faults(observation_script=script))
    empty, half, whole = (cluster.observe() for _ in range(3))
    assert len(empty.containers) == len(empty.snapshot.cluster.containers.name) == 0
    assert 20 < len(half.containers) < 60
    assert tuple(state.name for state in half.containers) == half.snapshot.cluster.containers.name
    assert len(whole.containers) == 77
    assert empty.replicas == whole.replicas


def test_an_unreachable_orchestrator_raises_at_every_call_and_time_goes_on():
    cluster = cluster_of(faults=Faults(outages=(FaultyTime(100, 300),)))
    step = delete(cluster)
    reserve(cluster, step)
    cluster.wait(150)
    calls = (
        cluster.observe,
        lambda: reserve(cluster, step),
        lambda: cluster.release("plan"),
        lambda: cluster.execute(step),
        lambda: cluster.watch([step.token], 10),
        lambda: cluster.cancel(step.token),
    )
    for call in calls:
        with pytest.raises(TemporaryError, match="does not answer"):
            call()
    cluster.wait(250)
    assert cluster.execute(step).state is StepState.RUNNING


def test_a_watch_into_an_outage_raises():
    cluster = cluster_of(faults=Faults(outages=(FaultyTime(100, 300),)))
    with pytest.raises(TemporaryError):
        cluster.watch(["unknown"], 120)


def test_outages_at_random_times_have_about_the_stated_number():
    cluster = cluster_of(faults=Faults(outages_per_day=24, outage_seconds=180, seed=1))
    reached = []
    for _ in range(7 * 24 * 60):
        cluster.wait(60)
        try:
            cluster.release("none")
            reached.append(True)
        except TemporaryError:
            reached.append(False)
    share = 1 - sum(reached) / len(reached)
    assert 0.5 * 24 * 180 / 86400 < share < 2 * 24 * 180 / 86400


def test_a_clock_can_go_back():
    cluster = cluster_of(faults=Faults(slow_clocks=(FaultyTime(100, 60, by=3600),)))
    start = cluster.now()
    cluster.wait(120)
    assert cluster.now() == cluster.observe().at == start + 120 - 3600
    cluster.wait(60)
    assert cluster.now() == start + 180


def test_faults_can_be_changed_while_time_goes_on():
    cluster = cluster_of()
    cluster.inject(Faults(step_script={0: StepFault.FAILS}))
    with pytest.raises(TemporaryError):
        cluster.execute(delete(cluster))


def test_faults_that_change_nothing_leave_churn_as_it_is():
    histories = []
    for faults in (Faults(), Faults(observations={ObservationFault.HALF: 0.5}, outages_per_day=50, seed=9)):
        cluster = SimulatedOrchestrator(bp.generate("boutique"), settings=preset("busy"), faults=faults, seed=4)
        instants = []
        cluster.listeners.append(instants.append)
        for _ in range(12):
            cluster.wait(1800)
            with contextlib.suppress(TemporaryError):
                cluster.observe()
        histories.append(instants)
    assert histories[0] == histories[1] != []


@pytest.mark.parametrize("fault", StepFault)
def test_whatever_faults_occur_the_cluster_is_tidy_when_the_reservation_has_ended(fault):
    cluster = cluster_of(faults=Faults(steps={fault: 0.5}, hang_seconds=300.0, seed=3))
    for number in range(40):
        source = where(cluster)
        target = "m-1" if source != "m-1" else "m-2"
        steps = (
            create(cluster, target, surge=True, token=f"c{number}"),
            delete(cluster, source, surge=True, token=f"d{number}"),
        )
        reserve(cluster, *steps)
        for step in steps:
            with contextlib.suppress(TemporaryError, PermanentError):
                cluster.execute(step)
                cluster.watch([step.token], 60)
        cluster.wait(700)  # the reservation ends: the orchestrator tidies up by itself
        seen = cluster.observe()
        assert len(seen.containers) == 4
        assert seen.second == {}
    assert {state.phase for state in cluster.observe().containers} <= {Phase.READY, Phase.STARTING}


def test_impossible_probabilities_are_refused():
    with pytest.raises(ModelError):
        Faults(steps={StepFault.FAILS: 0.7, StepFault.LOST: 0.7})
