"""What happens to a simulated cluster by itself, and what holds whatever happens."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import bayplan as bp
from bayplan.operate.orchestrator import Phase
from bayplan.operate.simulated import BUSY, CHURN, QUIET, Churn, SimulatedOrchestrator, SimulatedSettings, preset
from bayplan.operate.simulated.measurements import daily_curve

HOUR, DAY = 3600.0, 86400.0


def small(replicas=8, machines=6, cpu=4, **options):
    """`web` and `db` over six machines, with traffic between them."""
    builder = bp.ClusterBuilder("small").machines("m-{}", machines, cpu=cpu, memory="16Gi")
    builder = builder.workload("web", replicas=replicas, cpu=1, memory="1Gi", on=[f"m-{i % machines}" for i in range(replicas)])
    builder = builder.workload("db", replicas=2, cpu=1, memory="1Gi", on=["m-0", "m-1"])
    return SimulatedOrchestrator(builder.traffic("web", "db", 10).build(), **options)


def recorded(cluster):
    instants = []
    cluster.listeners.append(instants.append)
    return instants


def only(**rates):
    return SimulatedSettings(churn=Churn(**rates))


@pytest.mark.parametrize("name", ["boutique", "rasa-m3"])
def test_equal_seeds_give_equal_histories_and_other_seeds_others(name):
    snapshot = bp.generate(name)
    histories = []
    for seed, waits in ((3, 1), (3, 12), (4, 1)):
        cluster = SimulatedOrchestrator(snapshot, settings=preset("busy"), seed=seed)
        instants = recorded(cluster)
        for _ in range(waits):  # how it is waited for does not matter, nor whether it is observed
            cluster.wait(12 * HOUR / waits)
            cluster.observe()
        histories.append((instants, cluster.observe().snapshot.cluster.traffic.weight.tolist()))
    assert len(histories[0][0]) > 50
    assert histories[0] == histories[1]
    assert histories[0] != histories[2]


def test_nothing_happens_in_a_quiet_cluster():
    cluster = small(settings=preset("quiet"))
    instants, before = recorded(cluster), cluster.observe()
    cluster.wait(7 * DAY)
    after = cluster.observe()
    assert instants == []
    assert after.containers == before.containers
    assert after.version == before.version
    assert after.snapshot.cluster.traffic.weight.tolist() == before.snapshot.cluster.traffic.weight.tolist()


@pytest.mark.parametrize("kind", CHURN)
@pytest.mark.parametrize("name", ["boutique", "rasa-m3"])
def test_what_is_charged_is_what_runs_and_every_replica_exists_once(name, kind):
    cluster = SimulatedOrchestrator(bp.generate(name), settings=preset(kind), seed=5)
    for _ in range(24):
        cluster.wait(HOUR)
        seen = cluster.observe()
        assert Counter(state.workload for state in seen.containers) == +Counter(seen.replicas)
        assert len(set(seen.by_uid)) == len(seen.containers) + len(seen.second) + len(seen.stopping)
        limited = cluster.live.charges.request.any(axis=0)
        assert (cluster.live.charges.used == cluster.loads())[:, limited].all()
        ready = Counter(i.workload for i in cluster.instances() if i.phase is Phase.READY)
        assert [ready[w] for w in range(len(cluster.live.ready))] == cluster.live.ready


def test_the_default_scheduler_never_exceeds_a_capacity_or_violates_a_rule():
    cluster = SimulatedOrchestrator(bp.generate("rasa-m3"), settings=preset("busy"), seed=6)
    for _ in range(48):
        cluster.wait(HOUR / 2)
        assert (cluster.loads() <= cluster.universe.cluster.machines.capacity).all()
        seen = cluster.observe()
        closed = {machine.name for machine in seen.machines if not machine.open}
        if not closed:
            kinds = {violation.rule for violation in bp.check(seen.snapshot).violations} - {"unplaced"}
            assert kinds == set()


def test_the_default_scheduler_keeps_every_rule_about_what_it_places():
    shop = bp.generate("boutique")
    before = {violation.rule for violation in bp.check(shop).violations}
    cluster = SimulatedOrchestrator(shop, settings=only(user_deletes=48), seed=2)
    for _ in range(12):
        cluster.wait(2 * HOUR)
        after = {violation.rule for violation in bp.check(cluster.observe().snapshot).violations}
        assert after - {"dependency"} <= before  # a service misses what a user deleted: no placement of that can be blamed


def test_the_desired_replicas_are_reached_again_after_churn():
    cluster = SimulatedOrchestrator(bp.generate("rasa-m3"), settings=SimulatedSettings(churn=replace(BUSY, scaled=0.0)), seed=7)
    first = cluster.observe().replicas
    cluster.wait(DAY)
    cluster.churn._happen = lambda *arguments: None  # nothing new begins
    cluster.wait(8 * HOUR)
    seen = cluster.observe()
    assert seen.replicas == first
    assert {state.phase for state in seen.containers} == {Phase.READY}
    assert (seen.second, seen.stopping, seen.changing) == ({}, (), {})


def test_a_rollout_replaces_every_instance_and_keeps_its_limits():
    cluster = small()
    instants, first = recorded(cluster), {state.uid for state in cluster.observe().containers if state.workload == "web"}
    for _ in range(4):  # some may take replicas away before new ones are ready, some may not
        cluster.churn.rollouts.begin(0)
        assert cluster.observe().changing == {"web": "in rollout"}
        least = 8
        while cluster.observe().changing:
            cluster.wait(1)
            seen = cluster.observe()
            least = min(least, cluster.live.ready[0])
            assert sum(name.startswith("web") for name in seen.second) <= 2
        assert least >= 6
        now = {state.uid for state in cluster.observe().containers if state.workload == "web"}
        assert first.isdisjoint(now)
        first = now
    assert {instant.cause for instant in instants} == {"rollout", "scheduler"}


def test_scaling_follows_the_day_and_is_said():
    cluster = small(settings=only(scaled=1.0, scaled_to=0.25, scaling_every=900.0))
    instants, sizes, names, said = recorded(cluster), [], set(), set()
    for _ in range(96):
        cluster.wait(HOUR / 4)
        seen = cluster.observe()
        sizes.append(seen.replicas["web"])
        names |= {state.name for state in seen.containers}
        said |= set(seen.changing.values())
        assert len({state.name for state in seen.containers}) == len(seen.containers)
    assert min(sizes) <= 3
    assert max(sizes) >= 7
    assert said == {"scaling"}
    assert "web-8" in names  # new replicas have new names
    assert any(instant.kind == "replicas" and instant.needed >= 0 for instant in instants)


def test_it_is_busiest_at_two_in_the_afternoon_and_calmer_at_weekends():
    monday = 1_735_516_800.0
    week = [daily_curve(monday + hour * HOUR) for hour in range(7 * 24)]
    assert int(np.argmax(week)) % 24 == 14
    assert max(week[5 * 24 :]) < max(week[: 5 * 24])
    assert min(week) >= 0.0
    assert max(week) <= 1.0


def test_a_machine_that_dies_takes_its_containers_and_a_copy_stands_in_for_it():
    cluster = small(settings=SimulatedSettings(churn=Churn(replaced_after=600.0)))
    instants = recorded(cluster)
    victims = {state.uid for state in cluster.observe().containers if state.machine == "m-0"}
    cluster.churn.machines._lose(cluster.live.machine_named("m-0"))
    gone = {instant.uid for instant in instants if instant.kind == "gone"}
    assert gone == victims
    assert "m-0" not in [machine.name for machine in cluster.observe().machines]
    cluster.wait(HOUR)
    seen = cluster.observe()
    assert {state.phase for state in seen.containers} == {Phase.READY}
    assert [machine.name for machine in seen.machines][-1] == "m-0-new-1"
    assert {"machine-gone", "machine-joined"} <= {instant.kind for instant in instants}


def test_a_drained_machine_is_emptied_within_limits_and_comes_back_or_leaves():
    cluster = small(replicas=4, machines=2, cpu=8, settings=only(out_of_service=HOUR))
    instants = recorded(cluster)
    machine = cluster.live.machine_named("m-0")
    cluster.churn.machines.drain_machine(machine)
    shown = next(m for m in cluster.observe().machines if m.name == "m-0")
    assert not shown.open
    capacity = cluster.observe().snapshot.cluster.machines.capacity[0]
    assert capacity.tolist() == cluster.loads()[0].tolist()
    while machine.instances:
        cluster.wait(1)
        assert cluster.live.ready[0] >= cluster.live.needed(0)
    assert cluster.observe().snapshot.cluster.machines.capacity[0].tolist() == [0, 0]
    cluster.wait(4 * HOUR)
    ended = {instant.kind for instant in instants if instant.machine == 0} & {"machine-open", "machine-gone"}
    assert ended
    assert {instant.cause for instant in instants if instant.kind == "stopping"} == {"machine"}


def test_a_container_that_a_user_deletes_comes_back():
    cluster = small(settings=only(user_deletes=100))
    instants = recorded(cluster)
    cluster.wait(DAY)
    assert sum(instant.cause == "user" and instant.kind == "gone" for instant in instants) > 50
    cluster.churn._happen = lambda *arguments: None
    cluster.wait(600)
    assert len([i for i in cluster.instances() if i.phase is Phase.READY]) == 10


def test_traffic_drifts_and_bursts_and_usage_follows():
    drifting = small(settings=only(drift=0.5))
    drifting.wait(DAY)
    assert drifting.observe().snapshot.cluster.traffic.weight[0] != 10.0
    cluster = small()
    cluster.churn.burst()
    cluster.wait(600)
    seen = cluster.observe()
    assert seen.snapshot.cluster.traffic.weight.tolist() == [50.0]
    assert seen.snapshot.cluster.workloads.usage_mean[0, 0] == 1500.0
    assert seen.machines[0].usage[0] > 0
    cluster.wait(2 * HOUR)
    assert cluster.observe().snapshot.cluster.traffic.weight.tolist() == [10.0]


def test_measurements_are_a_little_old_and_noisy():
    cluster = small(settings=SimulatedSettings(churn=QUIET, noise=0.1))
    cluster.wait(1000.5)
    seen = cluster.observe()
    assert seen.at - 60 <= seen.usage_at <= seen.at
    assert seen.at - 300 <= seen.traffic_at <= seen.at
    assert seen.snapshot.cluster.workloads.usage_mean[0, 0] != 1000.0
    again = cluster.observe()
    assert again.snapshot.cluster.workloads.usage_mean.tolist() == seen.snapshot.cluster.workloads.usage_mean.tolist()


def test_what_fits_nowhere_stays_pending_until_a_machine_has_space():
    cluster = small(replicas=22, machines=6, cpu=4)  # 24 cpu, 24 wanted
    cluster.churn.machines._lose(cluster.live.machine_named("m-5"))
    cluster.wait(600)
    assert sum(state.phase is Phase.PENDING for state in cluster.observe().containers) > 0
    cluster.churn.machines.join()
    cluster.wait(600)
    assert {state.phase for state in cluster.observe().containers} == {Phase.READY}


def test_every_machine_has_its_pinned_container():
    cluster = SimulatedOrchestrator(bp.generate("boutique"))
    first = cluster.observe()
    workload = cluster.universe.cluster.workloads.name[cluster.live.daemons[0]]
    cluster.churn.machines.join()
    cluster.wait(600)
    seen = cluster.observe()
    assert seen.replicas[workload] == first.replicas[workload] + 1
    machines = [state.machine for state in seen.containers if state.workload == workload]
    assert sorted(machines) == sorted(machine.name for machine in seen.machines)
    pinned = next(rule for rule in seen.snapshot.cluster.rules if rule.kind == "pinned")
    assert len(pinned.containers) == len(machines)
    cluster.live.lose(cluster.live.machines[-1])
    assert cluster.observe().replicas[workload] == first.replicas[workload]
