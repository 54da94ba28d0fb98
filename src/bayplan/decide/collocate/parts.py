"""Parts of the affinity graph, cut until machines take them: containers with traffic get machines, all others lose theirs."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayplan.decide.collocate.finish import out_of_time
from bayplan.decide.collocate.movable import movable
from bayplan.decide.collocate.refit import sizes
from bayplan.decide.collocate.yard import yard_of
from bayplan.kernels.collocate.bisect import Part, bisect
from bayplan.kernels.collocate.parts import desk_of, pack_part
from bayplan.kernels.collocate.yard import Yard
from bayplan.model import UNPLACED, Clock, Cluster, FloatArray, IntArray, Placement, Progress, Tick, ints
from bayplan.model.problem import Problem

TRIALS = 4  # cuts between services that are tried
TILT = 0.75  # of the size: the larger side of such a cut has at most this share
OFTEN = 100  # parts between two looks at the clock
ALONE = np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)  # the edges of one service with itself


class Piece(NamedTuple):
    """A part on the heap. Those with most affinity come first, the older of equals."""

    rank: float  # the affinity inside of it, negative
    age: int
    service: IntArray  # (service,)
    number: IntArray  # (service,) containers


def packed_parts(problem: Problem, *, clock: Clock, seed: int, progress: Progress) -> Placement:
    """Movable containers with traffic on new machines, those without traffic or not reached in time on none."""
    cluster, yard = problem.cluster, yard_of(problem)
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
    graph, desk = Graph(yard, seed), desk_of(yard)
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


class Graph:
    """The affinity graph, from which pieces are cut; it counts them and draws random numbers for the cuts."""

    def __init__(self, yard: Yard, seed: int) -> None:
        self._yard, self._size, self._age = yard, sizes(yard), 0
        self._place = np.full(len(yard.one_over), -1, dtype=np.int64)  # (service,) in the piece at hand
        self._chance = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)

    def piece(self, service: IntArray, number: IntArray) -> Piece:
        """The piece of so many containers of some services."""
        self._age += 1
        return Piece(rank=-self._affinity(service, number), age=self._age, service=service, number=number)

    def _affinity(self, service: IntArray, number: IntArray) -> float:
        start, other, weight = self._edges(service)
        if not len(other):
            return 0.0
        share = number * self._yard.one_over[service]
        return float(weight @ np.minimum(np.repeat(share, np.diff(start)), share[other]))

    def cut(self, piece: Piece) -> tuple[Piece, Piece]:
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
