"""What lives in a simulated cluster: machines, the slots of workloads, and the instances that fill them."""

from dataclasses import dataclass, field
from typing import Optional

from bayplan.operate.orchestrator import ContainerState, MachineState, Phase

NOWHERE = -1


@dataclass(slots=True, kw_only=True, eq=False)
class SimulatedInstance:
    """One instance of a container."""

    uid: str
    slot: "ReplicaSlot"
    created: float
    template: int  # of the workload: a rollout makes a new one
    phase: Phase = Phase.PENDING
    machine: int = NOWHERE
    version: int = 0
    token: str = ""  # of the step that created it
    cause: str = "scheduler"  # of what is happening to it
    stands_for: str = ""  # uid of the instance that a step of ours deleted, if this one replaced it
    gated: bool = False  # pending, and not for the default scheduler: a step of ours will bind it
    was_ready: bool = False
    gone: bool = False
    shown: ContainerState | None = None  # as it is observed; None if it has changed since

    @property
    def workload(self) -> int:
        """Index of its workload."""
        return self.slot.workload


@dataclass(slots=True, kw_only=True, eq=False)
class ReplicaSlot:
    """One replica of a workload: a name, the instance that fills it, and perhaps one that stands in for that."""

    name: str
    workload: int
    index: int = NOWHERE  # container of the first snapshot
    home: int = NOWHERE  # the machine that it is pinned to
    pin_rule: int = NOWHERE  # the rule that pins it
    removed: bool = False
    row: int = NOWHERE  # in the observation
    first: Optional["SimulatedInstance"] = None
    second: Optional["SimulatedInstance"] = None

    def instances(self) -> list[SimulatedInstance]:
        """The instances that are not stopping."""
        return [instance for instance in (self.first, self.second) if instance is not None]


@dataclass(slots=True, kw_only=True, eq=False)
class SimulatedMachine:
    """One machine; its index in the universe never changes."""

    uid: str
    name: str
    index: int
    joined: float
    open: bool = True
    exists: bool = True
    version: int = 0
    instances: dict[str, SimulatedInstance] = field(default_factory=dict)  # all that are charged, by uid

    def shown(self, usage: tuple[float, ...]) -> MachineState:
        """The machine as it is observed."""
        return MachineState(uid=self.uid, name=self.name, open=self.open, joined=self.joined, version=self.version, usage=usage)
