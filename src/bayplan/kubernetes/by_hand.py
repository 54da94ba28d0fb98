"""Acting on a live cluster by hand: one plan, with the same lease, guards and record as a controller."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from bayplan.errors import WorldError
from bayplan.kubernetes.client import Client
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.controller.election import ElectionThread, LeaderElection
from bayplan.kubernetes.controller.guard import GuardedOrchestrator
from bayplan.kubernetes.controller.lease import LeaseObject
from bayplan.kubernetes.controller.observing import ObservedCluster
from bayplan.kubernetes.controller.start import ClusterScope
from bayplan.kubernetes.execute.orchestrator import KubernetesOrchestrator
from bayplan.operate.context import LoopContext, this_process
from bayplan.operate.settings import LoopSettings
from bayplan.operate.store import LostLeaseError, Store

LOOK = 0.1  # seconds between two looks for the lease


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTarget:
    """A live cluster, the part of it that is acted on, and the lease that all who act on it share."""

    client: Client
    lease: tuple[str, str]  # namespace and name
    scope: ClusterScope

    def orchestrator(self) -> KubernetesOrchestrator:
        """The cluster behind the port. A person who applies a plan means it: young pods are moved, too."""
        scope = self.scope
        collect = CollectSettings(kinds=scope.kinds, young=0.0)
        view = ObservedCluster(self.client, scope=scope.namespaces, settings=collect, measure=scope.measure)
        return KubernetesOrchestrator(self.client, view.show, scope.execution)


def looking(target: LiveTarget, settings: LoopSettings, store: Store) -> LoopContext:
    """A process that looks at a cluster and changes nothing."""
    return LoopContext(orchestrator=target.orchestrator(), store=store, settings=replace(settings, way=target.scope.way))


@contextmanager
def acting(target: LiveTarget, settings: LoopSettings, store: Store) -> Iterator[LoopContext]:
    """A process that may act on a cluster, until the end of the block; WorldError if another one acts on it."""
    client, (namespace, name) = target.client, target.lease
    election = LeaderElection(LeaseObject(client.within(5.0), namespace, name), this_process())
    thread = ElectionThread(election)
    thread.start()
    try:
        term = _term(election, f"{namespace}/{name}")

        def expect() -> None:
            if election.term != term:
                raise LostLeaseError(f"the lease is lost: {election.problem or f'held by {election.holder!r}'}")

        context = looking(target, settings, store)
        context.orchestrator = GuardedOrchestrator(context.orchestrator, expect)
        context.holder = f"lease {namespace}/{name}"
        yield context
        _let_go(context)
    finally:
        thread.stop()


def _let_go(context: LoopContext) -> None:
    """What is not at its end when this process ends does not wait for us: the rest of the plan goes on with the next one."""
    plan = context.store.open_plan()
    if plan is not None:
        with suppress(WorldError):
            context.orchestrator.release(plan.id)


def _term(election: LeaderElection, name: str) -> int:
    """The term in which this process may act, once the lease is ours; another one that died lost it after its length."""
    deadline = time.monotonic() + election.times.length + 2 * election.times.retry
    while not (term := election.term):
        if time.monotonic() > deadline:
            why = election.problem or f"'{election.holder}' holds the lease {name}, and acts on this cluster"
            raise WorldError(f"{why}; nothing was done")
        time.sleep(LOOK)
    return term
