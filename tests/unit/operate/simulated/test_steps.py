"""Steps, reservations and cancellation on a simulated cluster: every step is made once or never."""

from dataclasses import replace

import pytest
from tests.builders.simulated_clusters import cluster_of, create, delete, done, history, reserve, where

from bayplan.operate.orchestrator import PermanentError, Phase, StepState, TemporaryError


def test_a_surge_move_never_leaves_the_container_without_an_instance():
    cluster = cluster_of()
    first, second = create(cluster, "m-1", surge=True), delete(cluster, surge=True)
    reserve(cluster, first, second)
    cluster.execute(first)
    assert cluster.observe().second["web-0"].machine == "m-1"
    assert done(cluster, first.token)
    cluster.execute(second)
    assert where(cluster) == "m-1"
    assert [state.name for state in cluster.observe().stopping] == ["web-0"]
    assert done(cluster, second.token)
    cluster.release("plan")
    cluster.wait(600)
    assert where(cluster) == "m-1"
    assert len(cluster.instances()) == 4


def test_a_replacement_waits_for_our_create_and_is_bound_where_we_say():
    cluster = cluster_of()
    first, second = delete(cluster), create(cluster, "m-3")
    reserve(cluster, first, second)
    cluster.execute(first)
    assert done(cluster, first.token)
    cluster.wait(120)
    waiting = cluster.observe().containers[0]
    assert (waiting.phase, waiting.replaces) == (Phase.PENDING, first.uid)
    report = cluster.execute(second)
    assert report.uid == waiting.uid
    assert done(cluster, second.token)
    assert where(cluster) == "m-3"
    assert cluster.observe().by_token[second.token].uid == waiting.uid


def test_without_a_reservation_or_not_steered_the_default_scheduler_places_the_replacement():
    for steered in (False, True):
        cluster = cluster_of()
        step = delete(cluster, steered=steered)
        if not steered:
            reserve(cluster, step)
        cluster.execute(step)
        cluster.wait(60)
        assert cluster.observe().containers[0].phase is Phase.READY


@pytest.mark.parametrize("ending", ["release", "time"])
def test_the_end_of_a_reservation_sends_what_waits_to_the_scheduler(ending):
    cluster = cluster_of()
    first, second = delete(cluster), create(cluster, "m-3")
    reserve(cluster, first, second, seconds=50)
    cluster.execute(first)
    cluster.wait(40)
    assert cluster.observe().containers[0].phase is Phase.PENDING
    if ending == "release":
        cluster.release("plan")
    cluster.wait(60)
    assert cluster.observe().containers[0].phase is Phase.READY
    with pytest.raises(PermanentError, match="no replica of 'web' waits"):
        cluster.execute(second)


@pytest.mark.parametrize("ending", ["release", "time"])
def test_the_end_of_a_reservation_makes_a_second_instance_superfluous(ending):
    cluster = cluster_of()
    step = create(cluster, "m-1", surge=True)
    reserve(cluster, step, seconds=100)
    cluster.execute(step)
    cluster.wait(90)
    assert len(cluster.instances()) == 5
    if ending == "release":
        cluster.release("plan")
    cluster.wait(60)
    assert len(cluster.instances()) == 4
    assert where(cluster) == "m-0"


def test_preparing_again_prolongs_a_reservation():
    cluster = cluster_of()
    step = create(cluster, "m-1", surge=True)
    reserve(cluster, step, seconds=50)
    cluster.execute(step)
    reserve(cluster, step, seconds=500)
    cluster.wait(300)
    assert len(cluster.instances()) == 5


def test_every_order_sent_twice_changes_nothing():
    cluster = cluster_of()
    orders = [create(cluster, "m-1", surge=True), delete(cluster, surge=True)]
    reserve(cluster, *orders)
    for step in orders:
        first = cluster.execute(step)
        before = history(cluster)
        assert cluster.execute(step) == first
        assert history(cluster) == before
        assert done(cluster, step.token)
        before = history(cluster)
        assert cluster.execute(step).state is StepState.DONE
        assert history(cluster) == before


def test_a_cancelled_token_is_refused_for_ever_even_if_it_was_never_seen():
    cluster = cluster_of()
    step = delete(cluster)
    assert cluster.cancel(step.token).state is StepState.FAILED
    for _ in range(2):
        with pytest.raises(PermanentError, match="cancelled"):
            cluster.execute(step)
    assert cluster.cancel(step.token).state is StepState.FAILED
    assert cluster.observe().stopping == ()


def test_cancel_takes_a_create_back_that_is_not_ready():
    cluster = cluster_of()
    step = create(cluster, "m-1", surge=True)
    reserve(cluster, step)
    cluster.execute(step)
    assert cluster.cancel(step.token).state is StepState.FAILED
    assert len(cluster.instances()) == 4
    with pytest.raises(PermanentError, match="cancelled"):
        cluster.execute(step)
    assert cluster.watch([step.token], 1)[0].state is StepState.FAILED


def test_cancel_of_a_bound_replacement_leaves_a_replica_that_waits_again():
    cluster = cluster_of()
    first, second, third = delete(cluster), create(cluster, "m-3"), create(cluster, "m-2", token="other")
    reserve(cluster, first, second, third)
    cluster.execute(first)
    cluster.execute(second)
    cluster.cancel(second.token)
    assert cluster.observe().containers[0].replaces == first.uid
    cluster.execute(third)
    assert done(cluster, "other")
    assert where(cluster) == "m-2"


def test_cancel_says_done_where_it_is_too_late():
    cluster = cluster_of()
    first, second = create(cluster, "m-1", surge=True), delete(cluster, surge=True)
    reserve(cluster, first, second)
    cluster.execute(first)
    assert done(cluster, first.token)
    assert cluster.cancel(first.token).state is StepState.DONE
    cluster.execute(second)
    assert cluster.cancel(second.token).state is StepState.DONE
    cluster.wait(30)
    assert where(cluster) == "m-1"
    assert len(cluster.instances()) == 4


def test_a_delete_that_leaves_too_few_ready_is_put_off():
    cluster = cluster_of()  # 4 replicas: 3 must be ready
    first, second = delete(cluster, container=0), delete(cluster, container=1)
    reserve(cluster, first, second)
    cluster.execute(first)
    with pytest.raises(TemporaryError, match="3 of 'web' are ready, 3 must be"):
        cluster.execute(second)
    assert cluster.watch([second.token], 0)[0].state is StepState.UNKNOWN
    cluster.release("plan")
    cluster.wait(60)
    assert cluster.execute(second).state is StepState.RUNNING


def test_an_instance_that_is_not_ready_may_always_be_deleted():
    cluster = cluster_of()
    surge = create(cluster, "m-1", surge=True)
    first = delete(cluster, container=1)
    reserve(cluster, surge, first)
    cluster.execute(surge)
    cluster.execute(first)
    seen = cluster.observe()
    starting = seen.second["web-0"]
    machine = next(m for m in seen.machines if m.name == "m-1")
    step = replace(first, token="not ready", uid=starting.uid, machine="m-1", machine_uid=machine.uid)
    assert cluster.execute(step).state is StepState.DONE


@pytest.mark.parametrize(
    "change",
    [{"uid": "web-0.999"}, {"machine": "m-2"}, {"machine_uid": "m-0.999"}, {"workload": "db"}],
    ids=lambda change: next(iter(change)),
)
def test_a_delete_of_something_else_is_refused(change):
    cluster = cluster_of()
    step = replace(delete(cluster), **change)
    with pytest.raises(PermanentError):
        cluster.execute(step)
    assert cluster.observe().stopping == ()
    with pytest.raises(PermanentError):
        cluster.execute(replace(step, uid=delete(cluster).uid))  # a token that was refused stays refused


@pytest.mark.parametrize(
    "change",
    [{"uid": "web-0.999"}, {"machine": "m-9"}, {"machine_uid": "m-1.999"}, {"workload": "db"}, {"machine": "m-0"}],
    ids=lambda change: "-".join(map(str, next(iter(change.items())))),
)
def test_a_create_for_something_else_is_refused(change):
    cluster = cluster_of()
    step = create(cluster, "m-1", surge=True)
    if change.get("machine") == "m-0":
        step = create(cluster, "m-0", surge=True)
    reserve(cluster, step)
    with pytest.raises(PermanentError):
        cluster.execute(replace(step, **change))
    assert len(cluster.instances()) == 4


def test_a_create_that_does_not_fit_is_refused():
    cluster = cluster_of(machines=2, on=["m-0", "m-0", "m-1", "m-1"], cpu=2)
    step = create(cluster, "m-1", surge=True)
    reserve(cluster, step)
    with pytest.raises(PermanentError, match="short of cpu"):
        cluster.execute(step)


def test_a_second_instance_without_a_reservation_is_refused():
    cluster = cluster_of()
    with pytest.raises(PermanentError, match="nothing is reserved"):
        cluster.execute(create(cluster, "m-1", surge=True))


def test_a_stopping_container_is_charged_until_it_is_gone():
    cluster = cluster_of(machines=2, on=["m-0", "m-0", "m-1", "m-1"], cpu=2)
    step = delete(cluster)
    reserve(cluster, step)
    cluster.execute(step)
    assert cluster.loads()[0, 0] == 2000
    assert cluster.observe().snapshot.cluster.machines.capacity[0, 0] == 1000
    assert done(cluster, step.token)
    assert cluster.loads()[0, 0] == 1000
    assert cluster.observe().snapshot.cluster.machines.capacity[0, 0] == 2000


def test_an_unplaced_container_can_be_reserved_before_the_scheduler_sees_it():
    cluster = cluster_of(on=["m-0", "m-0", "m-0", None])
    step = create(cluster, "m-2", container=3)
    reserve(cluster, step)
    cluster.wait(100)
    assert cluster.observe().containers[3].phase is Phase.PENDING
    cluster.execute(step)
    assert done(cluster, step.token)
    assert where(cluster, 3) == "m-2"


def test_watch_waits_no_longer_than_it_is_told():
    cluster = cluster_of()
    step = create(cluster, "m-1", surge=True)
    reserve(cluster, step)
    cluster.execute(step)
    started = cluster.now()
    assert cluster.watch([step.token], 2)[0].state is StepState.RUNNING
    assert cluster.now() == started + 2
    assert cluster.watch([step.token], 300)[0].state is StepState.DONE
    assert cluster.now() < started + 60
