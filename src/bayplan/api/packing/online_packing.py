"""Best fit at a confidence while containers arrive and leave, one at a time."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bayplan.api.packing.question import instance_of
from bayplan.api.what_if.replicas import replica_names, with_containers
from bayplan.decide.pack.online import METHODS, BestFitState
from bayplan.errors import UsageError, did_you_mean
from bayplan.formats.new_containers import grown
from bayplan.model import UNPLACED, Placement, Snapshot, ints
from bayplan.score.packing import ucac_of_counts

AT_ONCE = 64  # names that are made in one go


class PlacedContainer(NamedTuple):
    """The answer to one offer."""

    container: str  # its name; "" if no machine takes it
    machine: str  # "" if no machine takes it
    reason: str = ""  # why none does


class OnlinePacking:
    """A cluster at a stated confidence whose containers arrive and leave one at a time ([UCaC] §5.1).

    Each container goes to the machine that is fullest with it and can take it, by UCaC (`bf-ucac`) or by its mean and `n_sigma`
    deviations (`bf-nsigma`). Nothing that runs moves. Rules other than capacity, confidence and allow are refused: `pack` knows
    them. Containers of the snapshot without a machine stay as they are, and are not counted.

    >>> import bayplan as bp
    >>> fleet = bp.generate("ucac", services=5, scale=0.02, machines=40)
    >>> online = bp.OnlinePacking(fleet, confidence=0.999)
    >>> online.offer("s01").machine, online.offer("s02").machine, online.machines
    ('m0000', 'm0000', 1)
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        confidence: float | None = None,
        confidence_of: Mapping[str, float] | None = None,
        resource: str | None = None,
        method: str = METHODS[0],
        n_sigma: float | None = None,
    ) -> None:
        self._instance = instance_of(
            snapshot,
            confidence=confidence,
            confidence_of=confidence_of,
            resource=resource,
            uncertainty="gaussian",
            samples=None,
            seed=0,
        )
        self._state = BestFitState(self._instance.problem, method=method, n_sigma=n_sigma)
        cluster, machine_of = snapshot.cluster, snapshot.placement.machine_of.tolist()
        self._workload = {name: w for w, name in enumerate(cluster.workloads.name)}
        seats = zip(cluster.containers.workload.tolist(), machine_of, strict=True)
        self._seat = dict(zip(cluster.containers.name, seats, strict=True))  # container -> workload, machine
        self._taken = set(cluster.containers.name)  # names that were ever given
        self._names: dict[int, list[str]] = {}  # workload -> names for its next containers, the last one first

    def offer(self, workload: str) -> PlacedContainer:
        """Place one more container of a workload; what no machine takes is refused, with the reason, and nothing changes."""
        if workload not in self._workload:
            raise UsageError(f"no workload '{workload}'; expected the name of one{did_you_mean(workload, self._workload)}")
        w = self._workload[workload]
        m = self._state.place(w)
        if m == UNPLACED:
            return PlacedContainer("", "", self._state.why_none_fits(w))
        name = self._next_name(w)
        self._seat[name] = w, m
        return PlacedContainer(name, self._instance.snapshot.cluster.machines.name[m])

    def release(self, container: str) -> None:
        """A container leaves."""
        if container not in self._seat:
            raise UsageError(f"no container '{container}' is here; expected one that runs{did_you_mean(container, self._seat)}")
        w, m = self._seat.pop(container)
        if m != UNPLACED:
            self._state.take(w, m)

    @property
    def machines(self) -> int:
        """How many machines run something."""
        return int(self._state.running.any(axis=1).sum())

    @property
    def ucac(self) -> float:
        """Used capacity at confidence of all machines, in the resource's written unit."""
        return float(ucac_of_counts(self._instance.problem.main, self._state.running).sum()) / self._instance.resource.scale

    @property
    def snapshot(self) -> Snapshot:
        """The cluster as it is now, with the confidence as a rule."""
        start = self._instance.snapshot
        keep = np.array([name in self._seat for name in start.cluster.containers.name], dtype=np.bool_)
        left = with_containers(start, keep=keep)
        known = set(left.cluster.containers.name)
        whole = grown(left, {name: w for name, (w, _) in self._seat.items() if name not in known})
        machine_of = [self._seat[name][1] for name in whole.cluster.containers.name]
        return replace(whole, placement=Placement(machine_of=ints(machine_of)))

    def _next_name(self, w: int) -> str:
        if not self._names.get(w):
            present = [name for name, (of, _) in self._seat.items() if of == w]
            workload = self._instance.snapshot.cluster.workloads.name[w]
            self._names[w] = replica_names(workload, present, AT_ONCE, self._taken)[::-1]
            self._taken.update(self._names[w])
        return self._names[w].pop()
