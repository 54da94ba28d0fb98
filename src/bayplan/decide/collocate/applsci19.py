"""ApplSci19 (004 section V-A): an extension of Hu, de Laat, Zhao, "Optimizing Service Placement for Microservice Architecture
in Clouds", Applied Sciences 9(21), 2019: partition the graph so that little traffic is cut, then pack the parts.

Neither paper states the extension, so this is our reconstruction. Theirs: cuts in two of little weight, again and again, until
the parts fit machines; then packing that looks at traffic and at fit. Ours is what 004 adds to the question:

- Replicas. A part is a multiset of containers. A cut goes between services, or through all of them (half of the replicas on
  each side), whichever keeps more affinity (004 (1)). Without cuts through services, those too large for one machine lose all.
- Several machine types. 004 says that the packing of the original fails there. Here a part is cut only when no machine, of
  whatever type and as full as it is by now, takes it as a whole. Among those that do, it goes where it gains most with what
  stands there, then where it fits best. Parts with much affinity come first.
- Allow lists and anti-affinity decide, like capacity, whether a machine takes a part.
- Services without traffic come last: back to where they stood, or by best fit, the largest containers first.
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayplan.decide.collocate.finish import (
    collocation_result,
    keep_or_start,
    out_of_time,
    start_with_new_containers,
    unplaced_reasons,
)
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.packing_state import packing_state
from bayplan.decide.collocate.place_leftovers import container_sizes, place_leftovers
from bayplan.decide.collocate.subproblem import expect_known_rules, movable
from bayplan.kernels.collocate.bisect import Part, bisect
from bayplan.kernels.collocate.parts import desk_of, pack_part
from bayplan.kernels.collocate.yard import Yard
from bayplan.model import UNPLACED, Budget, Clock, Cluster, FloatArray, IntArray, Placement, Progress, Result, Tick, ints
from bayplan.model.problem import Problem

TRIALS = 4  # cuts between services that are tried
TILT = 0.75  # of the size: the larger side of such a cut has at most this share
OFTEN = 100  # parts between two looks at the clock
ALONE = np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)  # the edges of one service with itself


class QueuedPart(NamedTuple):
    """A part on the heap. Those with most affinity come first, the older of equals."""

    rank: float  # the affinity inside of it, negative
    age: int
    service: IntArray  # (service,)
    number: IntArray  # (service,) containers


def pack_parts(problem: Problem, *, clock: Clock, seed: int, progress: Progress) -> Placement:
    """Movable containers with traffic on new machines, those without traffic or not reached in time on none."""
    cluster, yard = problem.cluster, packing_state(problem)
    may = movable(problem)
    lifted = np.bincount(cluster.containers.workload[may], minlength=len(cluster.workloads.name))
    machine_of = np.where(may, UNPLACED, problem.start.machine_of)
    waiting = np.split(np.flatnonzero(may), np.cumsum(lifted)[:-1])  # containers of each workload
    for service, number, m in _packed(problem, yard, lifted, clock, seed, progress):
        for s, n in zip(service.tolist(), number.tolist(), strict=True):
            machine_of[waiting[s][:n]] = m
            waiting[s] = waiting[s][n:]
    return Placement(machine_of=ints(machine_of))


def _packed(
    problem: Problem, yard: Yard, lifted: IntArray, clock: Clock, seed: int, progress: Progress
) -> Iterator[tuple[IntArray, IntArray, int]]:
    """Services, their numbers of containers, and a machine, for each part that found one. `yard` changes."""
    graph, desk = PartCutter(yard, seed), desk_of(yard)
    affine = np.flatnonzero((lifted > 0) & (yard.line_of >= 0))
    heap = [graph.piece(some, lifted[some]) for some in _components(problem.cluster, affine)]
    heapify(heap)
    total, done, step = max(1, sum(int(piece.number.sum()) for piece in heap)), 0, 0
    while heap and not clock.expired(step):
        if step % OFTEN == 0:
            if out_of_time(problem, clock):
                return
            progress(Tick(stage="packing parts", done=done / total))
        step += 1
        piece = heappop(heap)
        m = pack_part(yard, desk, piece.service, piece.number)
        if m >= 0 or piece.number.sum() == 1:
            done += int(piece.number.sum())
        if m >= 0:
            yield piece.service, piece.number, m
        elif piece.number.sum() > 1:
            for half in graph.cut(piece):
                heappush(heap, half)


class PartCutter:
    """The affinity graph, from which pieces are cut; it counts them and draws random numbers for the cuts."""

    def __init__(self, yard: Yard, seed: int) -> None:
        self._yard, self._size, self._age = yard, container_sizes(yard), 0
        self._place = np.full(len(yard.one_over), -1, dtype=np.int64)  # (service,) in the piece at hand
        self._chance = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)

    def piece(self, service: IntArray, number: IntArray) -> QueuedPart:
        """The piece of so many containers of some services."""
        self._age += 1
        return QueuedPart(rank=-self._affinity(service, number), age=self._age, service=service, number=number)

    def _affinity(self, service: IntArray, number: IntArray) -> float:
        start, other, weight = self._edges(service)
        if not len(other):
            return 0.0
        share = number * self._yard.one_over[service]
        return float(weight @ np.minimum(np.repeat(share, np.diff(start)), share[other]))

    def cut(self, piece: QueuedPart) -> tuple[QueuedPart, QueuedPart]:
        """Two pieces that lose little together; the piece has at least two containers."""
        start, other, weight = self._edges(piece.service)
        side, n = np.zeros(len(piece.service), dtype=np.int64), len(piece.service)
        part = Part(
            number=piece.number,
            one_over=self._yard.one_over[piece.service],
            size=self._size[piece.service],
            edge_start=start,
            neighbour=other,
            weight=weight,
            side=np.zeros(n, dtype=np.int64),
            bond=np.zeros(n),
        )
        bisect(part, TILT, TRIALS if n > 1 else 0, self._chance, side)
        first, second = side > 0, side < piece.number
        return (
            self.piece(piece.service[first], side[first]),
            self.piece(piece.service[second], (piece.number - side)[second]),
        )

    def _edges(self, service: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """(service + 1,) starts, (half edge,) neighbours and weights within some services, numbered from 0."""
        yard, place = self._yard, self._place
        if len(service) == 1:  # very many pieces are like this
            return ALONE
        degree = yard.edge_start[service + 1] - yard.edge_start[service]
        ends = np.cumsum(degree)
        edge = np.arange(degree.sum()) + np.repeat(yard.edge_start[service] - (ends - degree), degree)
        place[service] = np.arange(len(service))
        other = place[yard.neighbour[edge]]
        place[service] = -1
        inside = other >= 0
        start = np.r_[0, np.cumsum(inside)][np.r_[0, ends]]
        return start, other[inside], yard.weight[edge[inside]]


def _components(cluster: Cluster, services: IntArray) -> list[IntArray]:
    """Those of the services that traffic connects, by the first of them."""
    n, traffic = len(cluster.workloads.name), cluster.traffic
    _, label = connected_components(coo_array((traffic.weight, (traffic.a, traffic.b)), shape=(n, n)), directed=False)
    order = np.argsort(label[services], kind="stable")
    return [some for some in np.split(services[order], np.flatnonzero(np.diff(label[services][order])) + 1) if len(some)]


def applsci19(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """All services with traffic partitioned and packed anew, then all others; an iteration is a part, packed or cut.

    When the budget ends, the containers that were not reached go back to where they stood. Who fits nowhere is refitted.
    """
    expect_known_rules(problem.cluster, "applsci19")
    clock = budget.clock()
    placement = pack_parts(problem, clock=clock, seed=seed, progress=progress)
    placement = place_leftovers(problem, placement, may_go=movable(problem), clock=clock, seed=seed)
    found, why = keep_or_start(problem, placement, options, start_with_new_containers(problem, clock, seed))
    return collocation_result(problem, found, left_out=unplaced_reasons(problem, found), notes=why, seconds=clock.seconds)
