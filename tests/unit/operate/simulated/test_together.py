"""Steps at random, under churn and faults at once: what holds whatever happens."""

import contextlib
import random
from collections import Counter

import pytest

import bayplan as bp
from bayplan.model import Action
from bayplan.operate.orchestrator import PermanentError, Phase, StepOrder, TemporaryError
from bayplan.operate.simulated import BUSY, Faults, ObservationFault, SimulatedOrchestrator, SimulatedSettings, StepFault

FAULTS = Faults(
    steps=dict.fromkeys(StepFault, 0.05),
    observations=dict.fromkeys(ObservationFault, 0.02),
    outages_per_day=10,
    hang_seconds=900,
    seed=2,
)


def snapshot():
    builder = bp.ClusterBuilder("small").machines("m-{}", 10, cpu=8, memory="32Gi")
    for w in range(8):
        builder = builder.workload(f"w{w}", replicas=4, cpu=1, memory="2Gi", on=[f"m-{(w + i) % 10}" for i in range(4)])
    builder = builder.traffic("w0", "w1", 5).traffic("w2", "w3", 5)
    return builder.rule(bp.AntiAffinity(workloads=(0,), limit=1)).build()


def random_steps(cluster, source, number):
    """One move as a caller with an observation of any age would order it."""
    seen = cluster.observe()
    running = [state for state in seen.containers if state.phase is Phase.READY]
    if not running:
        return
    state, target = source.choice(running), source.choice(seen.machines)
    uid = {machine.name: machine.uid for machine in seen.machines}
    surge = source.random() < 0.5
    create, delete = (
        StepOrder(
            token=f"{action}-{number}",
            action=action,
            workload=state.workload,
            machine=machine,
            machine_uid=uid[machine],
            uid=state.uid,
            surge=surge,
        )
        for action, machine in ((Action.CREATE, target.name), (Action.DELETE, state.machine))
    )
    cluster.prepare("plan", (create, delete), cluster.now() + source.choice([20, 200, 2000]))
    for order in (create, delete) if surge else (delete, create):
        cluster.execute(order)
        cluster.watch([order.token], source.choice([0, 30, 120]))
        if source.random() < 0.2:
            cluster.cancel(order.token)
    if source.random() < 0.5:
        cluster.release("plan")


@pytest.mark.parametrize("seed", range(4))
def test_random_steps_under_churn_and_faults_never_lose_or_double_anything(seed):
    settings = SimulatedSettings(churn=BUSY, noise=0.03)
    cluster = SimulatedOrchestrator(snapshot(), settings=settings, faults=FAULTS, seed=seed)
    instants, source = [], random.Random(seed)
    cluster.listeners.append(instants.append)
    for number in range(300):
        with contextlib.suppress(TemporaryError, PermanentError):
            random_steps(cluster, source, number)
        cluster.wait(source.choice([5, 60, 600]))
        assert (cluster.loads() <= cluster.universe.cluster.machines.capacity).all()
        assert (cluster.live.charges.used == cluster.loads()).all()
        on = Counter(i.machine for i in cluster.instances() if i.workload == 0 and i.phase is not Phase.PENDING)
        assert max(on.values()) == 1  # anti-affinity
    made = Counter((instant.token, instant.kind) for instant in instants if instant.token)
    assert len(made) > 100
    assert set(made.values()) == {1}  # no step was made twice
    assert {instant.token.split("-")[0] for instant in instants if instant.cause == "bayplan"} == {"create", "delete"}
    cluster.inject(Faults())
    cluster.release("plan")
    cluster.churn._happen = lambda *arguments: None
    cluster.churn.scaling.hours_later.clear()
    cluster.wait(8 * 3600)
    seen = cluster.observe()
    assert Counter(state.workload for state in seen.containers) == Counter(seen.replicas)
    assert {state.phase for state in seen.containers} == {Phase.READY}
    assert (seen.second, seen.stopping, seen.changing) == ({}, (), {})
