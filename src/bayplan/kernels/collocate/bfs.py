"""Many partitions of one graph by breadth-first search from random seeds, and what each of them loses ([RASA] §IV-B4).

Every seed has a queue. In a turn each of them, in order, takes one vertex: the first unassigned one among the neighbours of
the head of its queue, which is dropped when it has none. So parts grow by one vertex a turn until they are enclosed.
Components without a seed go as a whole, in the given order, to the part that is smallest then; of equals, to the first.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel

NONE = -1


class PartitionGraph(NamedTuple):
    """A graph whose components are numbered in the order in which they are assigned."""

    start: npt.NDArray[np.int64]  # (vertex + 1,) where its neighbours begin
    neighbour: npt.NDArray[np.int64]  # (2 edges,) in the order in which they are visited
    a: npt.NDArray[np.int64]  # (edge,) vertex
    b: npt.NDArray[np.int64]  # (edge,) vertex
    weight: npt.NDArray[np.float64]  # (edge,)
    component: npt.NDArray[np.int64]  # (vertex,)
    size: npt.NDArray[np.int64]  # (component,) vertices


class Queues(NamedTuple):
    """Scratch; its initial content does not matter."""

    after: npt.NDArray[np.int64]  # (vertex,) the next one in the queue of its part
    head: npt.NDArray[np.int64]  # (part,) vertex whose neighbours are being visited; NONE if the part is enclosed
    tail: npt.NDArray[np.int64]  # (part,)
    at: npt.NDArray[np.int64]  # (part,) index into `neighbour`
    part_size: npt.NDArray[np.int64]  # (part,) vertices
    assigned: npt.NDArray[np.int64]  # (component,) part that it went to as a whole; NONE if it has a seed

    @classmethod
    def of(cls, vertices: int, parts: int, components: int) -> "Queues":
        """Scratch for graphs of this size."""
        n = (vertices, parts, parts, parts, parts, components)
        return cls(*(np.empty(length, dtype=np.int64) for length in n))


@kernel
def seed_parts(graph, seeds, queues, part_out):
    """Every seed owns its vertex."""
    part_out[:] = NONE
    queues.assigned[:] = 0
    for k in range(len(seeds)):
        s = seeds[k]
        part_out[s], queues.after[s] = k, NONE
        queues.head[k], queues.tail[k], queues.at[k], queues.part_size[k] = s, s, graph.start[s], 1
        queues.assigned[graph.component[s]] = NONE


@kernel
def claim_vertex(graph, k, queues, part_out):
    """Did part k find an unassigned vertex? It owns it then."""
    head, at = queues.head[k], queues.at[k]
    while head != NONE:
        while at < graph.start[head + 1]:
            v = graph.neighbour[at]
            at += 1
            if part_out[v] == NONE:
                part_out[v], queues.after[v] = k, NONE
                queues.after[queues.tail[k]] = v
                queues.tail[k], queues.head[k], queues.at[k] = v, head, at
                queues.part_size[k] += 1
                return True
        head = queues.after[head]
        at = graph.start[head] if head != NONE else 0
    queues.head[k] = NONE
    return False


@kernel
def smallest_part(count):
    """The part with the fewest vertices; the first of equals."""
    best = 0
    for k in range(1, len(count)):
        if count[k] < count[best]:
            best = k
    return best


@kernel
def grow(graph, seeds, queues, part_out):
    """One partition: `part_out` (vertex,) is the number of the seed that owns the vertex."""
    seed_parts(graph, seeds, queues, part_out)
    going = True
    while going:
        going = False
        for k in range(len(seeds)):
            if claim_vertex(graph, k, queues, part_out):
                going = True
    for c in range(len(graph.size)):
        if queues.assigned[c] != NONE:
            k = smallest_part(queues.part_size)
            queues.assigned[c] = k
            queues.part_size[k] += graph.size[c]
    for v in range(len(part_out)):
        if part_out[v] == NONE:
            part_out[v] = queues.assigned[graph.component[v]]


@kernel
def evaluate_seeds(graph, seeds, queues, part, largest_out, smallest_out, lost_out):
    """For every round of `seeds` (round, part): vertices of its largest and smallest part, and weight between parts."""
    for i in range(len(seeds)):
        grow(graph, seeds[i], queues, part)
        largest, smallest, lost = 0, len(part), 0.0
        for k in range(seeds.shape[1]):
            largest = max(largest, queues.part_size[k])
            smallest = min(smallest, queues.part_size[k])
        for e in range(len(graph.a)):
            if part[graph.a[e]] != part[graph.b[e]]:
                lost += graph.weight[e]
        largest_out[i], smallest_out[i], lost_out[i] = largest, smallest, lost


def warm_up() -> None:
    """Compile what a partition needs, with the types it uses."""
    ints, none = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    graph = PartitionGraph(np.zeros(2, dtype=np.int64), none, none, none, np.zeros(0), ints, np.ones(1, dtype=np.int64))
    queues = Queues.of(1, 1, 1)
    evaluate_seeds(graph, np.zeros((1, 1), dtype=np.int64), queues, ints.copy(), ints.copy(), ints.copy(), np.zeros(1))
    grow(graph, ints, queues, ints.copy())
