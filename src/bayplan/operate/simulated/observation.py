"""The observation of a simulated cluster: what exists of the universe now, with what is measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bayplan.model import (
    Cluster,
    CoLocate,
    Containers,
    FloatArray,
    IntArray,
    Level,
    Machines,
    Objective,
    Pinned,
    Placement,
    Rule,
    Services,
    Snapshot,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
)
from bayplan.operate.orchestrator import ContainerState, Observation
from bayplan.operate.simulated.instances import NOWHERE, ReplicaSlot, SimulatedInstance
from bayplan.operate.simulated.live_cluster import LiveCluster
from bayplan.operate.simulated.measurements import SimulatedMeasurements


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ObservedFrame:
    """What stays the same until slots or machines come, go, open or close."""

    structure: int
    slots: list[ReplicaSlot]  # as they are observed
    cluster: Cluster  # without the amounts that change
    objective: Objective
    machines: IntArray  # (machine,) of the universe
    number: IntArray  # (machine of the universe + 1,) in the observation; NOWHERE for those that are gone, and at the end
    needed: Mapping[str, int]
    replicas: Mapping[str, int]


class Observer:
    """Makes observations. What has not changed since the last one is taken over from it."""

    def __init__(self, live: LiveCluster, measurements: SimulatedMeasurements) -> None:
        self.live, self.measurements = live, measurements
        self._frame = _frame(live)
        self._states: list[ContainerState] = []
        self._machine: IntArray = ints([])  # (container,) of the universe
        self._show_all()

    def observe(self) -> Observation:
        """The cluster as it is now, with the last measurements."""
        live, now = self.live, self.live.queue.time
        self._refresh()
        frame, usage, traffic = self._frame, self.measurements.usage(now), self.measurements.traffic(now)
        second = {
            slot.name: self._shown(slot.second) for slot in frame.slots if slot.second is not None and slot.first is not None
        }
        used = self._usage_by_machine(usage.mean)
        names = live.universe.cluster.workloads.name
        return Observation(
            at=now,
            version=live.version,
            snapshot=self._snapshot(),
            containers=tuple(self._states),
            machines=tuple(
                live.machines[m].shown(tuple(row)) for m, row in zip(frame.machines.tolist(), used.tolist(), strict=True)
            ),
            second=second,
            stopping=tuple(self._shown(instance) for instance in live.stopping.values()),
            usage_at=usage.at,
            traffic_at=traffic.at,
            needed=frame.needed,
            replicas=frame.replicas,
            changing={names[w]: text for w, text in live.changing.items()},
        )

    def _refresh(self) -> None:
        """Take over what has changed."""
        if self._frame.structure != self.live.structure:
            self._frame = _frame(self.live)
            self._show_all()
        for slot in self.live.touched:
            if not slot.removed and slot.first is not None:
                self._states[slot.row] = self._shown(slot.first)
                self._machine[slot.row] = slot.first.machine
        self.live.touched.clear()

    def _show_all(self) -> None:
        first = [slot.first for slot in self._frame.slots if slot.first is not None]
        self._states = [self._shown(instance) for instance in first]
        self._machine = np.array([instance.machine for instance in first], dtype=np.int64)

    def _shown(self, instance: SimulatedInstance) -> ContainerState:
        if instance.shown is None:
            live, at = self.live, instance.machine
            instance.shown = ContainerState(
                uid=instance.uid,
                name=instance.slot.name,
                workload=live.universe.cluster.workloads.name[instance.workload],
                phase=instance.phase,
                created=instance.created,
                machine=live.machines[at].name if at != NOWHERE else "",
                version=instance.version,
                token=instance.token,
                replaces=instance.stands_for if instance.gated else "",
            )
        return instance.shown

    def _snapshot(self) -> Snapshot:
        frame, universe, now = self._frame, self.live.universe, self.live.queue.time
        usage, traffic = self.measurements.usage(now), self.measurements.traffic(now)
        workloads, edges = universe.cluster.workloads, universe.cluster.traffic
        cluster = replace(
            frame.cluster,
            machines=self._machines(),
            workloads=Workloads(
                name=workloads.name,
                service=workloads.service,
                request=workloads.request,
                usage_mean=usage.mean,
                usage_std=usage.std,
                limit=workloads.limit,
            ),
            traffic=Traffic(a=edges.a, b=edges.b, weight=traffic.weight),
            services=Services(name=universe.cluster.services.name, clique=traffic.clique),
        )
        placement = Placement(machine_of=ints(frame.number[self._machine]))
        return Snapshot(cluster=cluster, placement=placement, objective=frame.objective, notes=universe.notes)

    def _machines(self) -> Machines:
        """The capacity that is left beside what is stopping; of a machine that is not open, just what is used."""
        frame, every = self._frame, self.live.universe.cluster.machines
        capacity, safety = np.array(every.capacity), np.array(every.safety)
        for instance in self.live.stopping.values():
            request = self.live.universe.cluster.workloads.request[instance.workload]
            capacity[instance.machine] -= request
            safety[instance.machine] -= request
        for machine in self.live.machines:
            if machine.exists and not machine.open:
                kept = [other.workload for other in machine.instances.values() if other.uid not in self.live.stopping]
                capacity[machine.index] = self.live.universe.cluster.workloads.request[kept].sum(axis=0)
                safety[machine.index] = np.minimum(safety[machine.index], capacity[machine.index])
        return Machines(
            name=frame.cluster.machines.name,
            capacity=ints(np.maximum(capacity[frame.machines], 0)),
            safety=ints(np.maximum(safety[frame.machines], 0)),
        )

    def _usage_by_machine(self, mean: FloatArray) -> FloatArray:
        """(machine, resource) of the containers that run there now."""
        frame = self._frame
        extra = [*self.live.stopping.values(), *(slot.second for slot in frame.slots if slot.second is not None)]
        machine = np.r_[self._machine, np.array([instance.machine for instance in extra], dtype=np.int64)]
        workload = np.r_[frame.cluster.containers.workload, np.array([instance.workload for instance in extra], dtype=np.int64)]
        placed = machine != NOWHERE
        on, count = frame.number[machine[placed]], len(frame.machines)
        amounts = mean[workload[placed]]
        return floats(np.stack([np.bincount(on, amounts[:, r], count) for r in range(mean.shape[1])], axis=1))


def _frame(live: LiveCluster) -> ObservedFrame:
    """What exists now."""
    universe, slots = live.universe, list(live.every_slot())
    for row, slot in enumerate(slots):
        slot.row = row
    machines = ints([machine.index for machine in live.machines if machine.exists])
    names = universe.cluster.workloads.name
    return ObservedFrame(
        structure=live.structure,
        slots=slots,
        cluster=_restricted(universe.cluster, slots, machines),
        objective=_objective(universe.objective, machines),
        machines=machines,
        number=_numbers(machines, len(live.machines)),
        needed={name: live.needed(w) for w, name in enumerate(names)},
        replicas={name: live.desired(w) for w, name in enumerate(names)},
    )


def _numbers(machines: IntArray, count: int) -> IntArray:
    number = np.full(count + 1, NOWHERE, dtype=np.int64)  # the last entry is for those without a machine: index -1
    number[machines] = np.arange(len(machines))
    return ints(number)


def _restricted(cluster: Cluster, slots: list[ReplicaSlot], machines: IntArray) -> Cluster:
    """The universe with these containers and machines only, and its rules about them."""
    number = _numbers(machines, len(cluster.machines.name))
    names = tuple(cluster.machines.name[m] for m in machines.tolist())
    levels = [Level(name=level.name, group=level.group, group_of=level.group_of[machines]) for level in cluster.levels[1:]]
    sets = {name: number[members][number[members] != NOWHERE] for name, members in cluster.machine_sets.items()}
    rows = {slot.index: slot.row for slot in slots if slot.index != NOWHERE}
    rules = (_rewritten(rule, n, rows, slots) for n, rule in enumerate(cluster.rules))
    return replace(
        cluster,
        machines=Machines(name=names, capacity=cluster.machines.capacity[machines], safety=cluster.machines.safety[machines]),
        levels=(machine_level(names), *levels),
        containers=Containers(name=tuple(slot.name for slot in slots), workload=ints([slot.workload for slot in slots])),
        rules=tuple(rule for rule in rules if rule is not None),
        machine_sets={name: ints(members) for name, members in sets.items()},
    )


def _rewritten(rule: Rule, number: int, rows: Mapping[int, int], slots: list[ReplicaSlot]) -> Rule | None:
    """A rule that names containers, with their rows; None if it names none any more (of a co-locate rule: one)."""
    if isinstance(rule, Pinned):
        pinned = tuple(slot.row for slot in slots if slot.pin_rule == number)
        return replace(rule, containers=pinned) if pinned else None
    if isinstance(rule, CoLocate):
        left = tuple(rows[c] for c in rule.containers if c in rows)
        return replace(rule, containers=left) if len(left) > 1 else None
    return rule


def _objective(objective: Objective, machines: IntArray) -> Objective:
    costs = objective.move_costs
    if costs is None or not costs.machine.size:
        return objective
    return replace(objective, move_costs=replace(costs, machine=ints(costs.machine[np.ix_(machines, machines)])))
