"""A small simulated cluster, and the steps that a loop would order on it."""

import bayplan as bp
from bayplan.model import Action
from bayplan.operate.orchestrator import StepOrder, StepState
from bayplan.operate.simulated import SimulatedOrchestrator


def cluster_of(replicas=4, machines=4, cpu=4, on=None, **rules):
    """`web`, each container 1 cpu, on the first machine unless told otherwise."""
    builder = bp.ClusterBuilder("small").machines("m-{}", machines, cpu=cpu, memory="8Gi")
    on = on or ["m-0"] * replicas
    return SimulatedOrchestrator(builder.workload("web", replicas=replicas, cpu=1, memory="1Gi", on=on).build(), **rules)


def order(cluster, action, machine, container=0, token="", surge=False, steered=True):
    seen = cluster.observe()
    state = seen.containers[container]
    uid = next(m.uid for m in seen.machines if m.name == machine)
    return StepOrder(
        token=token or f"{action}-{machine}-{container}",
        action=action,
        workload=state.workload,
        machine=machine,
        machine_uid=uid,
        uid=state.uid,
        surge=surge,
        steered=steered,
    )


def create(cluster, machine, **options):
    return order(cluster, Action.CREATE, machine, **options)


def delete(cluster, machine="m-0", **options):
    return order(cluster, Action.DELETE, machine, **options)


def where(cluster, container=0):
    return cluster.observe().containers[container].machine


def reserve(cluster, *orders, seconds=600.0):
    cluster.prepare("plan", orders, cluster.now() + seconds)


def done(cluster, token, seconds=300.0):
    return cluster.watch([token], seconds)[0].state is StepState.DONE


def history(cluster):
    """What each instance is, without versions."""
    return sorted((i.uid, i.phase, i.machine) for i in cluster.instances())
