"""What a scheduler asks for each new container: how much CA-WFD prefers each of the machines that the container fits on.

`LivePlacement` is kept up to date change by change, so that an answer for a thousand machines takes well under a millisecond.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.decide.place.one_container import candidate_number, free_amounts, machine_preference
from bayplan.model import FloatArray

CANDIDATES = "10%"  # of the machines: d of [FreeContainer] Algorithm 1; the paper's 2 are too few for the service to matter
SPARE_ROWS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningContainer:
    """One container on its machine."""

    machine: str
    workload: str
    service: str
    request: tuple[float, ...]  # (resource,)


class LivePlacement:
    """The machines of a live cluster and what runs on them. Every call may come from any thread.

    Loads and counts agree with the containers at all times: they change with each container that comes and goes, also on a
    machine that is not known yet.
    """

    def __init__(self, resources: int, *, candidates: int | str = CANDIDATES) -> None:
        candidate_number(candidates, 1)  # what is no number is refused now
        self.candidates = candidates
        self._lock = threading.Lock()
        self._traffic: dict[str, dict[str, float]] = {}
        self._clear(resources)

    def _clear(self, resources: int) -> None:
        self._row: dict[str, int] = {}
        self._capacity: FloatArray = np.zeros((0, resources))
        self._load: FloatArray = np.zeros((0, resources))
        self._known: set[str] = set()
        self._containers: dict[str, RunningContainer] = {}
        self._expected: dict[str, float] = {}  # container that is only expected -> until when
        self._count: dict[str, FloatArray] = {}  # workload -> (machine,)
        self._total: dict[str, int] = {}  # workload -> containers
        self._workloads: dict[str, dict[str, int]] = {}  # service -> workload -> containers

    @property
    def machines(self) -> int:
        """How many machines are known."""
        return len(self._known)

    @property
    def containers(self) -> int:
        """How many containers run."""
        return len(self._containers)

    def replace_machines(self, capacity: Mapping[str, Sequence[float]]) -> None:
        """The machines are these and no others."""
        with self._lock:
            for name in self._known - capacity.keys():
                self._set_machine(name, None)
            for name, amounts in capacity.items():
                self._set_machine(name, amounts)

    def replace_containers(self, containers: Mapping[str, RunningContainer]) -> None:
        """The containers are these and no others, by their unique identity."""
        with self._lock:
            for uid in [uid for uid in self._containers if uid not in containers]:
                self._set_container(uid, None)
            for uid, container in containers.items():
                self._set_container(uid, container)

    def set_machine(self, name: str, capacity: Sequence[float] | None) -> None:
        """A machine is there with this capacity, or is there no more (None)."""
        with self._lock:
            self._set_machine(name, capacity)

    def set_container(self, uid: str, container: RunningContainer | None) -> None:
        """A container runs like this, or runs no more (None)."""
        with self._lock:
            self._set_container(uid, container)

    def expect_container(self, uid: str, container: RunningContainer, *, now: float, until: float) -> None:
        """A container will probably run like this: it counts until `set_container` says what is true, or a time is over.

        Else a scheduler that places pods faster than it is heard of what runs would send all of them to one machine.
        """
        with self._lock:
            for old in [old for old, end in self._expected.items() if end <= now]:
                self._set_container(old, None)
            if uid not in self._containers or uid in self._expected:
                self._set_container(uid, container)
                self._expected[uid] = until

    def set_traffic(self, edges: Mapping[tuple[str, str], float]) -> None:
        """Measured traffic between workloads. What a workload exchanges with others then counts instead of its service."""
        traffic: dict[str, dict[str, float]] = {}
        for (a, b), weight in edges.items():
            for one, other in ((a, b), (b, a)) if a != b else ((a, b),):
                traffic.setdefault(one, {})[other] = traffic.get(one, {}).get(other, 0.0) + weight
        with self._lock:
            self._traffic = traffic

    def preference(self, names: Sequence[str], workload: str, service: str) -> FloatArray:
        """(name,) how much CA-WFD prefers each of these machines for a new container; 1 for the one that it would take.

        A machine that is not known yet counts as one without anything free.
        """
        with self._lock:
            rows = np.fromiter((self._row.get(name, -1) for name in names), np.int64, len(names))
            free = np.append(free_amounts(self._capacity, self._load), 0.0)[rows]
            together = np.append(self._together(workload, service), 0.0)[rows]
            number = candidate_number(self.candidates, len(self._known))
            unknown = ~np.append(self._capacity.any(axis=1), False)[rows]
        free[unknown] = min(0.0, free.min(initial=0.0))
        return machine_preference(free, together, number)

    def _together(self, workload: str, service: str) -> FloatArray:
        """(machine,) what the workload communicates with: by traffic where it was measured, else containers of its service."""
        sum_: FloatArray = np.zeros(len(self._row))
        measured = self._traffic.get(workload)
        if measured:
            for other, weight in measured.items():
                if self._total.get(other):
                    sum_ += self._counts(other) * (weight / self._total[other])
            return sum_
        for other in self._workloads.get(service, ()):
            sum_ += self._counts(other)
        return sum_

    def _counts(self, workload: str) -> FloatArray:
        """(machine,) containers of a workload; as long as there are rows by now."""
        count = self._count.get(workload, np.zeros(0))
        if len(count) < len(self._row):
            count = self._count[workload] = _grown(count, len(self._row))
        return count[: len(self._row)]

    def _set_machine(self, name: str, capacity: Sequence[float] | None) -> None:
        row = self._row_of(name)
        self._capacity[row] = 0.0 if capacity is None else capacity
        if capacity is not None:
            self._known.add(name)
            return
        self._known.discard(name)
        if len(self._row) > SPARE_ROWS + 2 * len(self._known):
            self._forget_gone_machines()

    def _forget_gone_machines(self) -> None:
        """Where machines come and go under new names, the rows of those that have gone would be kept for ever."""
        capacity = {name: self._capacity[self._row[name]] for name in self._known}
        containers, expected = self._containers, self._expected
        self._clear(self._capacity.shape[1])
        for name, amounts in capacity.items():
            self._set_machine(name, amounts.tolist())
        for uid, container in containers.items():
            self._set_container(uid, container)
        self._expected = expected

    def _set_container(self, uid: str, container: RunningContainer | None) -> None:
        self._expected.pop(uid, None)
        before = self._containers.pop(uid, None)
        if before is not None:
            self._charge(before, -1)
        if container is not None:
            self._containers[uid] = container
            self._charge(container, 1)

    def _charge(self, container: RunningContainer, sign: int) -> None:
        row, workload = self._row_of(container.machine), container.workload
        self._load[row] += np.multiply(container.request, sign)
        self._counts(workload)[row] += sign
        self._total[workload] = self._total.get(workload, 0) + sign
        members = self._workloads.setdefault(container.service, {})
        members[workload] = members.get(workload, 0) + sign
        if not members[workload]:
            del members[workload]
        if not self._total[workload]:
            del self._total[workload], self._count[workload]

    def _row_of(self, name: str) -> int:
        """The row of a machine; a machine that has gone keeps its row, since what ran there may still be reported."""
        row = self._row.setdefault(name, len(self._row))
        if row >= len(self._capacity):
            self._capacity, self._load = (_grown(table, row + 1) for table in (self._capacity, self._load))
        return row


def _grown(array: FloatArray, least: int) -> FloatArray:
    """The same values, with zeros up to a length of at least this."""
    longer = np.zeros((max(least, 2 * len(array)), *array.shape[1:]))
    longer[: len(array)] = array
    return longer
