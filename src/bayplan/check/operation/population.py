"""What runs at one time, and how an instant changes it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from bayplan.check.operation.instant import Instant, InstantKind
from bayplan.errors import ModelError
from bayplan.model import Cluster


class Change(NamedTuple):
    """How an instant changed the number of instances in one place: -1, 0 or 1 of each kind."""

    workload: int
    container: int  # slot, -1 if there is none
    machine: int
    charged: int = 0  # instances that use their machine
    kept: int = 0  # those of them that are not stopping
    ready: int = 0


@dataclass(slots=True, kw_only=True)
class Instance:
    """One instance that uses a machine."""

    uid: str
    workload: int
    container: int
    machine: int
    ready: bool = False
    stopping: bool = False


class Population:
    """The instances that use machines, the desired numbers, and the machines that take nothing new."""

    def __init__(self, cluster: Cluster) -> None:
        self.instances: dict[str, Instance] = {}  # by uid
        self.of_slot: dict[int, list[Instance]] = {}
        self.desired: list[int] = cluster.replicas.tolist()  # (workload,)
        self.needed = [0] * len(self.desired)  # (workload,) how many must be ready
        self.closed: set[int] = set()  # machines
        self.missing: set[int] = set()  # machines that do not exist now

    def apply(self, instant: Instant) -> Change | None:
        """Carry an instant out; None if it changes no number of instances."""
        match instant.kind:
            case InstantKind.BOUND:
                return self._bind(instant)
            case InstantKind.READY | InstantKind.UNREADY:
                return self._turn(instant)
            case InstantKind.STOPPING | InstantKind.GONE:
                return self._end(instant)
            case InstantKind.REPLICAS:
                return self._scale(instant)
        self._change_machine(instant)
        return None

    def changes(self) -> Iterator[Change]:
        """All instances, as if they came one by one."""
        for instance in self.instances.values():
            yield _change(instance, charged=1, kept=not instance.stopping, ready=instance.ready)

    def _bind(self, instant: Instant) -> Change:
        if instant.uid in self.instances:
            raise ModelError(f"instance '{instant.uid}' is bound twice")
        if instant.workload < 0 or instant.machine < 0:
            raise ModelError(f"instance '{instant.uid}' is bound without a workload or a machine")
        instance = Instance(uid=instant.uid, workload=instant.workload, container=instant.container, machine=instant.machine)
        self.instances[instant.uid] = instance
        if instance.container >= 0:
            self.of_slot.setdefault(instance.container, []).append(instance)
        return _change(instance, charged=1, kept=1)

    def _turn(self, instant: Instant) -> Change | None:
        instance, ready = self.instances.get(instant.uid), instant.kind == InstantKind.READY
        if instance is None and ready:
            raise ModelError(f"instance '{instant.uid}' is ready, but it was never bound to a machine")
        if instance is None or instance.stopping or instance.ready == ready:
            return None
        instance.ready = ready
        return _change(instance, ready=1 if ready else -1)

    def _end(self, instant: Instant) -> Change | None:
        """An instance that never had a machine leaves nothing behind."""
        instance, gone = self.instances.get(instant.uid), instant.kind == InstantKind.GONE
        if instance is None or (instance.stopping and not gone):
            return None
        change = _change(instance, charged=-gone, kept=-(not instance.stopping), ready=-instance.ready)
        instance.stopping, instance.ready = True, False
        if gone:
            del self.instances[instance.uid]
            if instance.container >= 0:
                self.of_slot[instance.container].remove(instance)
        return change

    def _scale(self, instant: Instant) -> Change:
        if instant.replicas >= 0:
            self.desired[instant.workload] = instant.replicas
        if instant.needed >= 0:
            self.needed[instant.workload] = instant.needed
        return Change(workload=instant.workload, container=-1, machine=-1)

    def _change_machine(self, instant: Instant) -> None:
        match instant.kind:
            case InstantKind.MACHINE_OPEN:
                self.closed.discard(instant.machine)
            case InstantKind.MACHINE_CLOSED:
                self.closed.add(instant.machine)
            case InstantKind.MACHINE_GONE:
                self.missing.add(instant.machine)
            case InstantKind.MACHINE_JOINED:
                self.missing.discard(instant.machine)
                self.closed.discard(instant.machine)
            case _:
                raise ModelError(f"an instant of kind '{instant.kind}' is unknown")


def _change(instance: Instance, *, charged: int = 0, kept: int = 0, ready: int = 0) -> Change:
    return Change(instance.workload, instance.container, instance.machine, charged, kept, ready)
