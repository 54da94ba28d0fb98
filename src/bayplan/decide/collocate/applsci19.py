"""ApplSci19 ([RASA] §V-A): an extension of Hu, de Laat, Zhao, "Optimizing Service Placement for Microservice Architecture
in Clouds", Applied Sciences 9(21), 2019: partition the graph so that little traffic is cut, then pack the parts.

Neither paper states the extension, so this is our reconstruction. Theirs: parts are cut in two, by cuts of
little weight, until they fit machines; then packing by traffic and by fit. Ours is what [RASA] adds to the problem:

- Replicas. A part is a multiset of containers. A cut goes between workloads, or through all of them (half of the replicas on
  each side), whichever keeps more affinity ([RASA] (1)). Otherwise workloads too large for one machine would lose all of it.
- Several machine types. [RASA] says that the packing of the original fails there. Here a part is cut only when no machine, of
  whatever type and as full as it is by now, takes it as a whole. Among those that do, it goes where it gains most with what
  runs there, then where it fits best. Parts with much affinity come first.
- Allow lists and anti-affinity decide, like capacity, whether a machine takes a part.
- Workloads without traffic come last: back to where they ran, or by best fit, the largest containers first.
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayplan.decide.collocate.finish import finish_placement, out_of_time
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.packing_state import container_sizes, packing_state
from bayplan.decide.collocate.subproblem import expect_known_rules, movable
from bayplan.kernels.collocate.bisect import BisectedPart, bisect
from bayplan.kernels.collocate.packing_state import PackingState
from bayplan.kernels.collocate.parts import new_part_scratch, pack_part
from bayplan.model import UNPLACED, Budget, Clock, Cluster, FloatArray, IntArray, Placement, Progress, Result, Tick, ints
from bayplan.model.arrays import random_state
from bayplan.model.problem import Problem

TRIALS = 4  # cuts between workloads that are tried
TILT = 0.75  # of the size: the larger side of such a cut has at most this share
OFTEN = 100  # parts between two looks at the clock
ALONE = np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)  # the edges of one workload with itself


def applsci19(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """All workloads with traffic partitioned and packed anew, then all others; an iteration is a part, packed or cut.

    When the budget ends, the containers that were not reached go back to where they ran. Those that fit nowhere are leftovers.
    """
    expect_known_rules(problem.cluster, "applsci19")
    clock = budget.clock()
    placement = pack_parts(problem, clock=clock, seed=seed, progress=progress)
    return finish_placement(problem, placement, options, may_go=movable(problem), clock=clock, seed=seed)


class QueuedPart(NamedTuple):
    """A part on the heap. Those with most affinity come first, the older of equals."""

    rank: float  # the affinity inside of it, negative
    age: int
    workload: IntArray  # (workload,)
    containers: IntArray  # (workload,) how many of each


def pack_parts(problem: Problem, *, clock: Clock, seed: int, progress: Progress) -> Placement:
    """A placement in which movable containers have new machines, those without traffic or not reached in time none."""
    cluster, state = problem.cluster, packing_state(problem)
    may_move = movable(problem)
    lifted = np.bincount(cluster.containers.workload[may_move], minlength=len(cluster.workloads.name))
    machine_of = np.where(may_move, UNPLACED, problem.start.machine_of)
    unplaced = np.split(np.flatnonzero(may_move), np.cumsum(lifted)[:-1])  # containers of each workload
    for workload, count, m in _packed(problem, state, lifted, clock, seed, progress):
        for w, n in zip(workload.tolist(), count.tolist(), strict=True):
            machine_of[unplaced[w][:n]] = m
            unplaced[w] = unplaced[w][n:]
    return Placement(machine_of=ints(machine_of))


def _packed(
    problem: Problem, state: PackingState, lifted: IntArray, clock: Clock, seed: int, progress: Progress
) -> Iterator[tuple[IntArray, IntArray, int]]:
    """Workloads, their numbers of containers, and a machine, for each part that a machine takes. `state` changes."""
    cutter, scratch = PartCutter(state, seed), new_part_scratch(state)
    talking = np.flatnonzero((lifted > 0) & (state.traffic_row >= 0))
    heap = [cutter.queued(workloads, lifted[workloads]) for workloads in _components(problem.cluster, talking)]
    heapify(heap)
    total, done, step = max(1, sum(int(part.containers.sum()) for part in heap)), 0, 0
    while heap and not clock.expired(step):
        if step % OFTEN == 0:
            if out_of_time(problem, clock):
                return
            progress(Tick(stage="packing parts", done=done / total))
        step += 1
        part = heappop(heap)
        m = pack_part(state, scratch, part.workload, part.containers)
        if m >= 0 or part.containers.sum() == 1:
            done += int(part.containers.sum())
        if m >= 0:
            yield part.workload, part.containers, m
        elif part.containers.sum() > 1:
            for half in cutter.cut(part):
                heappush(heap, half)


class PartCutter:
    """Cuts parts of the affinity graph in two; it numbers them and draws random numbers for the cuts."""

    def __init__(self, state: PackingState, seed: int) -> None:
        self._state, self._size, self._age = state, container_sizes(state), 0
        self._place = np.full(len(state.one_over), -1, dtype=np.int64)  # (workload,) its number in the part at hand
        self._chance = random_state(seed)

    def queued(self, workload: IntArray, count: IntArray) -> QueuedPart:
        """The part of `count` (workload,) containers of some workloads."""
        self._age += 1
        return QueuedPart(rank=-self._affinity(workload, count), age=self._age, workload=workload, containers=count)

    def _affinity(self, workload: IntArray, count: IntArray) -> float:
        start, other, weight = self._edges(workload)
        if not len(other):
            return 0.0
        share = count * self._state.one_over[workload]
        return float(weight @ np.minimum(np.repeat(share, np.diff(start)), share[other]))

    def cut(self, part: QueuedPart) -> tuple[QueuedPart, QueuedPart]:
        """Two parts that lose little together; the part has at least two containers."""
        start, other, weight = self._edges(part.workload)
        side, n = np.zeros(len(part.workload), dtype=np.int64), len(part.workload)
        arrays = BisectedPart(
            number=part.containers,
            one_over=self._state.one_over[part.workload],
            size=self._size[part.workload],
            edge_start=start,
            neighbour=other,
            weight=weight,
            side=np.zeros(n, dtype=np.int64),
            bond=np.zeros(n),
        )
        bisect(arrays, TILT, TRIALS if n > 1 else 0, self._chance, side)
        first, second = side > 0, side < part.containers
        return (
            self.queued(part.workload[first], side[first]),
            self.queued(part.workload[second], (part.containers - side)[second]),
        )

    def _edges(self, workload: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """(workload + 1,) starts, (half edge,) neighbours and weights within some workloads, numbered from 0."""
        state, place = self._state, self._place
        if len(workload) == 1:  # very many parts are like this
            return ALONE
        degree = state.edge_start[workload + 1] - state.edge_start[workload]
        ends = np.cumsum(degree)
        edge = np.arange(degree.sum()) + np.repeat(state.edge_start[workload] - (ends - degree), degree)
        place[workload] = np.arange(len(workload))
        other = place[state.neighbour[edge]]
        place[workload] = -1
        inside = other >= 0
        start = np.r_[0, np.cumsum(inside)][np.r_[0, ends]]
        return start, other[inside], state.weight[edge[inside]]


def _components(cluster: Cluster, workloads: IntArray) -> list[IntArray]:
    """Those of the workloads that traffic connects, by the first of them."""
    n, traffic = len(cluster.workloads.name), cluster.traffic
    _, label = connected_components(coo_array((traffic.weight, (traffic.a, traffic.b)), shape=(n, n)), directed=False)
    order = np.argsort(label[workloads], kind="stable")
    components = np.split(workloads[order], np.flatnonzero(np.diff(label[workloads][order])) + 1)
    return [members for members in components if len(members)]
