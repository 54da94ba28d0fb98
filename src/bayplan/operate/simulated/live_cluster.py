"""The state of a simulated cluster, and every change that it can go through.

The controller of an orchestrator is in here: a slot is always filled. When the instance of a slot stops, the one that stands in
for it takes its place; if there is none, a new one is created, pending. So the desired number of replicas of a workload is its
number of slots, and whatever happens it is reached again.
"""

import random
from collections.abc import Callable, Iterator

from bayplan.api.what_if.added_machines import with_machines
from bayplan.api.what_if.replicas import replica_names
from bayplan.check.operation import Instant, InstantKind
from bayplan.model import UNPLACED, Pinned, Snapshot
from bayplan.model.allowed_machines import daemons
from bayplan.operate.orchestrator import Phase
from bayplan.operate.simulated.charges import Charges
from bayplan.operate.simulated.event_queue import EventQueue
from bayplan.operate.simulated.instances import NOWHERE, ReplicaSlot, SimulatedInstance, SimulatedMachine
from bayplan.operate.simulated.settings import DAY, SimulatedSettings

Listener = Callable[[Instant], None]


class LiveCluster:
    """What runs where. Each change is told to the listeners, and makes the version grow."""

    def __init__(self, snapshot: Snapshot, settings: SimulatedSettings, queue: EventQueue, seed: int) -> None:
        self.universe, self.settings, self.queue = snapshot, settings, queue
        self.listeners: list[Listener] = []
        self.version, self.structure = 0, 0  # structure: grows when slots or machines come, go, open or close
        self.charges = Charges(snapshot)
        self.by_uid: dict[str, SimulatedInstance] = {}  # all that are not gone
        self.stopping: dict[str, SimulatedInstance] = {}
        self.fresh: list[SimulatedInstance] = []  # pending, and not seen by the scheduler yet
        self.freed: set[int] = set()  # machines that have become emptier since the scheduler looked
        self.touched: set[ReplicaSlot] = set()  # slots with another instance or phase since the last observation
        self.changing: dict[int, str] = {}  # workload -> what goes on
        self._random = random.Random(f"{seed}:times")
        self._uids = 0
        count = len(snapshot.cluster.workloads.name)
        self.ready, self.template = [0] * count, [0] * count  # (workload,)
        self.images: set[tuple[int, int, int]] = set()  # machine, workload, template
        self.machines = [
            SimulatedMachine(uid=self._uid(name), name=name, index=m, joined=queue.time - DAY)
            for m, name in enumerate(snapshot.cluster.machines.name)
        ]
        self.slots: list[list[ReplicaSlot]] = [[] for _ in range(count)]
        self._fill(snapshot)
        alike = daemons(snapshot.cluster, snapshot.placement)
        self.daemons = sorted({int(w) for w in snapshot.cluster.containers.workload[alike]})  # one on every machine
        self.names = set(snapshot.cluster.containers.name)  # every name that was ever given

    def _fill(self, snapshot: Snapshot) -> None:
        """The containers of the first snapshot, created a day ago."""
        cluster, machine_of = snapshot.cluster, snapshot.placement.machine_of.tolist()
        pinned = {c: n for n, rule in enumerate(cluster.rules) if isinstance(rule, Pinned) for c in rule.containers}
        for c, (name, w) in enumerate(zip(cluster.containers.name, cluster.containers.workload.tolist(), strict=True)):
            m = machine_of[c]
            slot = ReplicaSlot(name=name, workload=w, index=c, pin_rule=pinned.get(c, NOWHERE))
            slot.home = m if c in pinned else NOWHERE
            self.slots[w].append(slot)
            slot.first = instance = self._new(slot, created=self.queue.time - DAY)
            if m != UNPLACED:
                self._charge(instance, m)
                self.images.add((m, w, 0))
                instance.phase, instance.was_ready = Phase.READY, True
                self.ready[w] += 1
                self.fresh.pop()

    # ---- what others ask ----------------------------------------------------------------------------------------------------

    def desired(self, workload: int) -> int:
        """Replicas that the orchestrator keeps."""
        return len(self.slots[workload])

    def needed(self, workload: int) -> int:
        """Replicas that must be ready."""
        return self.settings.needed(len(self.slots[workload]))

    def every_slot(self) -> Iterator[ReplicaSlot]:
        """All slots, workload by workload."""
        for slots in self.slots:
            yield from slots

    def machine_named(self, name: str) -> SimulatedMachine | None:
        """The machine of that name, if it exists now."""
        return next((machine for machine in self.machines if machine.name == name and machine.exists), None)

    def misfit(self, workload: int, machine: SimulatedMachine) -> str:
        """Why a machine cannot take one more container of a workload; empty if it can."""
        if not machine.exists or not machine.open:
            return "the machine is not open"
        return self.charges.misfit(workload, machine.index)

    # ---- changes of one instance --------------------------------------------------------------------------------------------

    def bind(self, instance: SimulatedInstance, machine: int, cause: str, token: str = "", hangs: float | None = None) -> None:
        """A pending instance gets its machine, and starts; it is ready in a while, or after `hangs` seconds."""
        image = (machine, instance.workload, instance.template)
        instance.phase, instance.cause, instance.gated = Phase.STARTING, cause, False
        instance.token = token or instance.token
        self._charge(instance, machine)
        self.tell(InstantKind.BOUND, instance, cause, token)
        seconds = self.jittered(self.settings.start) + (self.jittered(self.settings.pull) if image not in self.images else 0.0)
        self.images.add(image)
        self.queue.after(seconds if hangs is None else hangs, self._becomes_ready, instance)

    def _becomes_ready(self, instance: SimulatedInstance) -> None:
        if instance.phase is not Phase.STARTING:
            return
        instance.phase, instance.was_ready = Phase.READY, True
        self.ready[instance.workload] += 1
        self.tell(InstantKind.READY, instance, instance.cause, instance.token if instance.cause == "bayplan" else "")

    def stop(
        self, instance: SimulatedInstance, cause: str, token: str = "", *, gate: str = "", hangs: float | None = None
    ) -> None:
        """Delete an instance. What is ready stops in a while, or after `hangs` seconds; what is not ready is gone at once.

        `gate`: the uid for which its replacement waits, if a step of ours will bind it; what replaces one that waits so waits on.
        """
        was, instance.cause = instance.phase, cause
        gate = gate or (instance.stands_for if instance.gated else "")
        if was is Phase.PENDING:
            self.version += 1
            self._forget(instance)
        else:
            self.ready[instance.workload] -= was is Phase.READY
            instance.phase = Phase.STOPPING
            self.stopping[instance.uid] = instance
            self.tell(InstantKind.STOPPING, instance, cause, token)
        self._leave_slot(instance, gate)
        if was is Phase.READY:
            self.queue.after(self.jittered(self.settings.stop) if hangs is None else hangs, self._ends, instance, token)
        elif was is Phase.STARTING:
            self._ends(instance, token)

    def kill(self, instance: SimulatedInstance, cause: str) -> None:
        """An instance is gone at once, with its machine."""
        self.ready[instance.workload] -= instance.phase is Phase.READY
        leaves_slot, instance.cause = instance.phase is not Phase.STOPPING, cause
        instance.phase = Phase.STOPPING
        self._ends(instance, "")
        if leaves_slot:
            self._leave_slot(instance, "")

    def _ends(self, instance: SimulatedInstance, token: str) -> None:
        if instance.gone:
            return
        machine = self.machines[instance.machine]
        self.charges.add(instance.workload, instance.machine, -1)
        del machine.instances[instance.uid]
        self.stopping.pop(instance.uid, None)
        self.freed.add(instance.machine)
        self._forget(instance)
        self.tell(InstantKind.GONE, instance, instance.cause, token)

    def _leave_slot(self, instance: SimulatedInstance, gate: str) -> None:
        """Fill the slot of an instance that has begun to stop."""
        slot = instance.slot
        self.touched.add(slot)
        if slot.second is instance:
            slot.second = None
        elif slot.first is instance:
            slot.first, slot.second = slot.second, None
            if slot.first is None and not slot.removed:
                slot.first = self._new(slot, created=self.queue.time)
                slot.first.stands_for = gate
                slot.first.gated = bool(gate)

    def add_second(self, slot: ReplicaSlot) -> SimulatedInstance:
        """A pending instance that stands in for the one of the slot."""
        slot.second = self._new(slot, created=self.queue.time)
        return slot.second

    def gate(self, instance: SimulatedInstance, stands_for: str) -> None:
        """A pending instance waits for a step of ours, which will name it by this uid."""
        instance.gated, instance.stands_for, instance.shown = True, stands_for, None
        self.touched.add(instance.slot)
        self.version += 1

    def ungate(self, instance: SimulatedInstance) -> None:
        """A pending instance goes to the default scheduler."""
        instance.gated, instance.shown = False, None
        self.touched.add(instance.slot)
        self.version += 1
        self.fresh.append(instance)

    # ---- changes of replicas ------------------------------------------------------------------------------------------------

    def add_slots(self, workload: int, number: int, cause: str) -> None:
        """More replicas of a workload."""
        present = [slot.name for slot in self.slots[workload]]
        names = replica_names(self.universe.cluster.workloads.name[workload], present, number, self.names)
        for name in names:
            self.add_slot(ReplicaSlot(name=name, workload=workload))
        self._replicas_changed(workload, cause)

    def add_slot(self, slot: ReplicaSlot) -> None:
        """One more replica."""
        self.names.add(slot.name)
        self.slots[slot.workload].append(slot)
        slot.first = self._new(slot, created=self.queue.time)

    def remove_slots(self, workload: int, number: int, cause: str) -> None:
        """Fewer replicas of a workload: those without a machine first, then those not ready, then the youngest."""
        first = {Phase.PENDING: 0, Phase.STARTING: 1, Phase.READY: 2}

        def rank(slot: ReplicaSlot) -> tuple[int, float]:
            assert slot.first is not None
            return first[slot.first.phase], -slot.first.created

        for slot in sorted(self.slots[workload], key=rank)[:number]:
            self.remove_slot(slot, cause)
        self._replicas_changed(workload, cause)

    def remove_slot(self, slot: ReplicaSlot, cause: str) -> None:
        """A replica is not wanted any more."""
        slot.removed = True
        self.slots[slot.workload].remove(slot)
        self.structure += 1
        for instance in reversed(slot.instances()):
            self.stop(instance, cause)

    def _replicas_changed(self, workload: int, cause: str) -> None:
        self.structure += 1
        self._tell(InstantKind.REPLICAS, cause, workload=workload, replicas=self.desired(workload), needed=self.needed(workload))

    def change(self, workload: int, what: str) -> None:
        """Say that something goes on with a workload, or (empty) that nothing does any more."""
        self.version += 1
        if what:
            self.changing[workload] = what
        else:
            self.changing.pop(workload, None)

    # ---- changes of machines ------------------------------------------------------------------------------------------------

    def set_open(self, machine: SimulatedMachine, is_open: bool) -> None:
        """A machine takes new containers again, or none any more."""
        machine.open = is_open
        self._machine_changed(machine, InstantKind.MACHINE_OPEN if is_open else InstantKind.MACHINE_CLOSED)
        if is_open:
            self.freed.add(machine.index)

    def lose(self, machine: SimulatedMachine) -> None:
        """A machine is gone, and all that is on it; what is pinned to it is wanted no more."""
        machine.exists = machine.open = False
        self._machine_changed(machine, InstantKind.MACHINE_GONE)
        pinned = [slot for slot in self.every_slot() if slot.home == machine.index]
        for slot in pinned:
            slot.removed = True
            self.slots[slot.workload].remove(slot)
        for instance in list(machine.instances.values()):
            self.kill(instance, "machine")
        for slot in pinned:
            for instance in slot.instances():  # it was pending
                self.stop(instance, "machine")
        for w in sorted({slot.workload for slot in pinned}):
            self._replicas_changed(w, "machine")
        self.images = {image for image in self.images if image[0] != machine.index}

    def join(self, like: SimulatedMachine) -> SimulatedMachine:
        """A new machine, a copy of another one; what runs pinned on every machine gets a replica there."""
        self.universe, _ = with_machines(self.universe, f"1:{like.name}")
        self.charges.join(self.universe)
        name, index = self.universe.cluster.machines.name[-1], len(self.machines)
        machine = SimulatedMachine(uid=self._uid(name), name=name, index=index, joined=self.queue.time)
        self.machines.append(machine)
        self._machine_changed(machine, InstantKind.MACHINE_JOINED)
        self.freed.add(index)
        for w in self.daemons:
            self._add_daemon(w, index)
        return machine

    def _add_daemon(self, workload: int, machine: int) -> None:
        rule = next((n for n, rule in enumerate(self.universe.cluster.rules) if isinstance(rule, Pinned)), NOWHERE)
        present = [slot.name for slot in self.slots[workload]]
        name = replica_names(self.universe.cluster.workloads.name[workload], present, 1, self.names)[0]
        self.add_slot(ReplicaSlot(name=name, workload=workload, home=machine, pin_rule=rule))
        self._replicas_changed(workload, "machine")

    def _machine_changed(self, machine: SimulatedMachine, kind: InstantKind) -> None:
        self.structure += 1
        self._tell(kind, "machine", machine=machine.index)
        machine.version = self.version

    # ---- below --------------------------------------------------------------------------------------------------------------

    def tell(self, kind: InstantKind, instance: SimulatedInstance, cause: str, token: str = "") -> None:
        """An instance changed."""
        self.touched.add(instance.slot)
        instance.shown = None
        self._tell(
            kind,
            cause,
            uid=instance.uid,
            workload=instance.workload,
            container=instance.slot.index,
            machine=instance.machine,
            token=token,
        )
        instance.version = self.version

    def _tell(self, kind: InstantKind, cause: str, **about: int | str) -> None:
        self.version += 1
        if self.listeners:
            instant = Instant(at=self.queue.time, cause=cause, kind=kind.value, **about)  # type: ignore[arg-type]
            for listener in self.listeners:
                listener(instant)

    def jittered(self, seconds: float) -> float:
        """About that many seconds."""
        return seconds * (1.0 + self.settings.jitter * (2.0 * self._random.random() - 1.0))

    def _charge(self, instance: SimulatedInstance, machine: int) -> None:
        instance.machine = machine
        self.machines[machine].instances[instance.uid] = instance
        self.charges.add(instance.workload, machine)

    def _new(self, slot: ReplicaSlot, created: float) -> SimulatedInstance:
        instance = SimulatedInstance(
            uid=self._uid(slot.name), slot=slot, created=created, template=self.template[slot.workload], version=self.version
        )
        self.by_uid[instance.uid] = instance
        self.fresh.append(instance)
        self.touched.add(slot)
        self.version += 1
        return instance

    def _forget(self, instance: SimulatedInstance) -> None:
        instance.gone = True
        self.by_uid.pop(instance.uid, None)

    def _uid(self, name: str) -> str:
        self._uids += 1
        return f"{name}.{self._uids}"
