"""The port: what the running system needs of an orchestrator, and the values that pass through it.

An orchestrator keeps every workload at its number of replicas: what is deleted it creates anew, and its own scheduler chooses a
machine. The port steers that. `prepare` reserves: until its time is over, what replaces a container that one of our steps deletes
waits for our create, and a container that we create in addition is not taken for one too many. When the reservation ends, because
we release it or because this process died, the orchestrator goes on by itself: nothing of ours can be lost for good.

Every step carries a token of its own, and names containers and machines by their unique identity (uid): a step whose container or
machine is another one by now is refused. So no step is ever made twice, however often it is sent or delivered.
What an orchestrator answers is a hint; what it shows when it is observed counts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import numpy as np

from bayplan.errors import WorldError
from bayplan.model import UNPLACED, Action, Running, Snapshot, ints


class TemporaryError(WorldError):
    """The orchestrator does not answer, or not now: try again after `delay` seconds."""

    def __init__(self, text: str, delay: float = 5.0) -> None:
        super().__init__(text)
        self.delay = delay


class PermanentError(WorldError):
    """The orchestrator refuses: the same step will never be made. The text says why."""


class Phase(StrEnum):
    """Where a container is in its life."""

    PENDING = "pending"  # it has no machine yet
    STARTING = "starting"  # on its machine: image, start, not ready yet
    READY = "ready"
    STOPPING = "stopping"  # it still uses its machine, and serves nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerState:
    """One instance of a container as it was observed."""

    uid: str  # of this instance: one that is created anew has another
    name: str
    workload: str
    phase: Phase
    created: float  # when, in the orchestrator's time
    machine: str = ""  # "" while it is pending
    version: int = 0  # grows with every change
    token: str = ""  # of the step of ours that created it; "" for all others
    replaces: str = ""  # pending, and reserved for us: the uid of the deleted instance that it replaces


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineState:
    """One machine as it was observed."""

    uid: str
    name: str
    open: bool = True  # may new containers come? Not if it is drained or does not answer
    joined: float = 0.0
    version: int = 0
    usage: tuple[float, ...] = ()  # (resource,) measured, base units; empty if nothing was measured


@dataclass(frozen=True, kw_only=True, eq=False)
class Observation:
    """What an orchestrator shows at one time.

    `snapshot` holds what counts for a decision: containers that are pending, starting or ready, one for each replica. What is
    stopping is not in it, but its request is taken off the capacity of its machine; a machine that is not open has just the
    capacity that its containers use. Workloads carry the usage that was measured, and traffic is as measured.
    """

    at: float  # when it was made, in the orchestrator's time
    version: int  # of all of it: never goes back, so an old observation can be told
    snapshot: Snapshot
    containers: tuple[ContainerState, ...]  # as `snapshot.cluster.containers`
    machines: tuple[MachineState, ...]  # as `snapshot.cluster.machines`
    second: Mapping[str, ContainerState] = field(default_factory=dict)  # container -> a further instance that stands in for it
    stopping: tuple[ContainerState, ...] = ()
    usage_at: float = 0.0  # when usage was measured
    traffic_at: float = 0.0
    needed: Mapping[str, int] = field(default_factory=dict)  # workload -> replicas that must be ready: its limit of disruption
    replicas: Mapping[str, int] = field(default_factory=dict)  # workload -> how many the orchestrator keeps
    changing: Mapping[str, str] = field(default_factory=dict)  # workload -> "in rollout", "scaling": it is left alone

    @cached_property
    def running(self) -> Running:
        """Where containers run, some on two machines."""
        index = {machine.name: m for m, machine in enumerate(self.machines)}
        second = np.full(len(self.containers), UNPLACED)
        for c, state in enumerate(self.containers):
            other = self.second.get(state.name)
            if other is not None and other.machine in index and self.snapshot.placement.machine_of[c] != UNPLACED:
                second[c] = index[other.machine]
        return Running(machine_of=self.snapshot.placement.machine_of, second=ints(second))

    @cached_property
    def by_uid(self) -> Mapping[str, ContainerState]:
        """Every instance, those that are stopping and second ones too."""
        return {state.uid: state for state in (*self.containers, *self.second.values(), *self.stopping)}

    @cached_property
    def incomplete(self) -> frozenset[str]:
        """Workloads of which fewer containers are shown than the orchestrator keeps: what is not shown of them may still run."""
        shown = Counter(state.workload for state in self.containers)
        return frozenset(name for name, number in self.replicas.items() if shown[name] < number)

    @cached_property
    def still_stopping(self) -> frozenset[str]:
        """Containers of which an older instance has not ended yet."""
        return frozenset(state.name for state in self.stopping)

    @cached_property
    def by_token(self) -> Mapping[str, ContainerState]:
        """The instances that steps of ours created."""
        return {state.token: state for state in self.by_uid.values() if state.token}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOrder:
    """One step, as an orchestrator gets it."""

    token: str  # of this step of this plan: sent or delivered again, it is the same step
    action: Action
    workload: str
    machine: str
    machine_uid: str  # precondition
    uid: str  # delete: this instance, precondition; create: the instance that the new one stands in for
    surge: bool = False  # create: the old instance still runs; delete: the new instance runs already
    steered: bool = True  # delete: what replaces it waits for a create of ours; otherwise the orchestrator's scheduler places it


class StepState(StrEnum):
    """What an orchestrator says about a step."""

    UNKNOWN = "unknown"  # it has never heard of it
    RUNNING = "running"  # accepted, not ended
    DONE = "done"  # create: the container is ready; delete: the container is gone
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """What an orchestrator says about a step: a hint, until an observation shows it."""

    token: str
    state: StepState
    uid: str = ""  # create: the new instance
    reason: str = ""


class Orchestrator(Protocol):
    """What the loop acts on. Every call may raise `TemporaryError` or `PermanentError`."""

    def now(self) -> float:
        """The time, in seconds since 1970."""

    def wait(self, seconds: float) -> None:
        """Let time pass."""

    def observe(self) -> Observation:
        """What runs where, what it uses, and what is changing."""

    def prepare(self, reservation: str, orders: Sequence[StepOrder], until: float) -> None:
        """Reserve for the steps of a batch, until a time; the same reservation again replaces its orders and its time."""

    def release(self, reservation: str) -> None:
        """End a reservation: what waits goes to the orchestrator's scheduler, what is too many is deleted."""

    def execute(self, order: StepOrder) -> StepReport:
        """Begin a step; it goes on by itself. A token that is known already changes nothing."""

    def watch(self, tokens: Sequence[str], seconds: float) -> Sequence[StepReport]:
        """Wait until one of these steps has ended, or as long as this; what is said about each of them then."""

    def cancel(self, token: str) -> StepReport:
        """Give a step up. After that it is done, or it never will be: a create that has not become ready is taken back.

        Where what was created cannot be taken back, it is let go: it is the orchestrator's own, and no step of ours created it.
        """
