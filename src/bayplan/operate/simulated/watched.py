"""The referee of a running system, told of every instant of a simulated cluster."""

from collections.abc import Iterator

from bayplan.check.operation import Instant, InstantKind, OperationReferee
from bayplan.operate.orchestrator import Phase
from bayplan.operate.simulated.live_cluster import LiveCluster
from bayplan.operate.simulated.simulated_orchestrator import SimulatedOrchestrator


def watched(orchestrator: SimulatedOrchestrator, alive: float = 0.75) -> OperationReferee:
    """A referee that sees every instant of a simulated cluster from now on."""
    live = orchestrator.live
    referee = OperationReferee(live.universe.cluster, alive)
    referee.start(_what_there_is(live))

    def see(instant: Instant) -> None:
        if instant.machine >= len(referee.cluster.machines.name):
            referee.extend(live.universe.cluster)
        referee.see(instant)

    orchestrator.listeners.append(see)
    return referee


def _what_there_is(live: LiveCluster) -> Iterator[Instant]:
    """The cluster as it is, as if it came one by one."""
    at = live.queue.time
    for w in range(len(live.slots)):
        replicas, needed = live.desired(w), live.needed(w)
        yield Instant(at=at, cause="controller", kind=InstantKind.REPLICAS, workload=w, replicas=replicas, needed=needed)
    for machine in live.machines:
        if not machine.exists or not machine.open:
            kind = InstantKind.MACHINE_CLOSED if machine.exists else InstantKind.MACHINE_GONE
            yield Instant(at=at, cause="machine", kind=kind, machine=machine.index)
    for instance in live.by_uid.values():
        if instance.phase is Phase.PENDING:
            continue
        kinds = [InstantKind.BOUND]
        kinds += [InstantKind.READY] if instance.phase is Phase.READY else []
        kinds += [InstantKind.STOPPING] if instance.phase is Phase.STOPPING else []
        for kind in kinds:
            yield Instant(
                at=at,
                cause="controller",
                kind=kind,
                uid=instance.uid,
                workload=instance.workload,
                container=instance.slot.index,
                machine=instance.machine,
            )
