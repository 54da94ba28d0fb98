"""Many partitions of one graph by breadth-first search from random seeds, and what each of them loses (004 IV-B4).

Every seed has a queue. In a turn each of them, in order, takes one vertex: the first that is still free among the neighbours of
the head of its queue, which it leaves when it has none. So parts grow by one vertex a turn until they are walled in.
Components that no seed stands in go as a whole, in the given order, to the part that is smallest then; of equals, to the first.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.compiled import kernel

FREE = -1


class Web(NamedTuple):
    """A graph whose components are numbered in the order in which they are to be handed out."""

    start: npt.NDArray[np.int64]  # (vertex + 1,) where its neighbours begin
    neighbour: npt.NDArray[np.int64]  # (2 edges,) in the order in which they are visited
    a: npt.NDArray[np.int64]  # (edge,) vertex
    b: npt.NDArray[np.int64]  # (edge,) vertex
    weight: npt.NDArray[np.float64]  # (edge,)
    component: npt.NDArray[np.int64]  # (vertex,)
    size: npt.NDArray[np.int64]  # (component,) vertices


class Queues(NamedTuple):
    """Room to work in; what is inside does not matter."""

    after: npt.NDArray[np.int64]  # (vertex,) the next one in the queue of its part
    head: npt.NDArray[np.int64]  # (part,) whose neighbours are being visited; FREE if the part is walled in
    tail: npt.NDArray[np.int64]  # (part,)
    at: npt.NDArray[np.int64]  # (part,) place in `neighbour`
    held: npt.NDArray[np.int64]  # (part,) vertices
    given: npt.NDArray[np.int64]  # (component,) part that it went to as a whole; FREE if a seed stands in it

    @classmethod
    def of(cls, vertices: int, parts: int, components: int) -> "Queues":
        """Room for graphs of this size."""
        n = (vertices, parts, parts, parts, parts, components)
        return cls(*(np.empty(length, dtype=np.int64) for length in n))


@kernel
def begin(web, seeds, queues, part_out):
    """Every seed owns its vertex."""
    part_out[:] = FREE
    queues.given[:] = 0
    for k in range(len(seeds)):
        s = seeds[k]
        part_out[s], queues.after[s] = k, FREE
        queues.head[k], queues.tail[k], queues.at[k], queues.held[k] = s, s, web.start[s], 1
        queues.given[web.component[s]] = FREE


@kernel
def take_one(web, k, queues, part_out):
    """Did part k find a free vertex? It owns it then."""
    head, at = queues.head[k], queues.at[k]
    while head != FREE:
        while at < web.start[head + 1]:
            v = web.neighbour[at]
            at += 1
            if part_out[v] == FREE:
                part_out[v], queues.after[v] = k, FREE
                queues.after[queues.tail[k]] = v
                queues.tail[k], queues.head[k], queues.at[k] = v, head, at
                queues.held[k] += 1
                return True
        head = queues.after[head]
        at = web.start[head] if head != FREE else 0
    queues.head[k] = FREE
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
def grow(web, seeds, queues, part_out):
    """One partition: `part_out` (vertex,) is the number of the seed that owns the vertex."""
    begin(web, seeds, queues, part_out)
    going = True
    while going:
        going = False
        for k in range(len(seeds)):
            if take_one(web, k, queues, part_out):
                going = True
    for c in range(len(web.size)):
        if queues.given[c] != FREE:
            k = smallest_part(queues.held)
            queues.given[c] = k
            queues.held[k] += web.size[c]
    for v in range(len(part_out)):
        if part_out[v] == FREE:
            part_out[v] = queues.given[web.component[v]]


@kernel
def judge(web, seeds, queues, part, largest_out, smallest_out, lost_out):
    """For every round of `seeds` (round, part): vertices of its largest and smallest part, and weight between parts."""
    for i in range(len(seeds)):
        grow(web, seeds[i], queues, part)
        largest, smallest, lost = 0, len(part), 0.0
        for k in range(seeds.shape[1]):
            largest = max(largest, queues.held[k])
            smallest = min(smallest, queues.held[k])
        for e in range(len(web.a)):
            if part[web.a[e]] != part[web.b[e]]:
                lost += web.weight[e]
        largest_out[i], smallest_out[i], lost_out[i] = largest, smallest, lost


def warm_up() -> None:
    """Compile what a partition needs, with the types it uses."""
    whole, none = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    web = Web(np.zeros(2, dtype=np.int64), none, none, none, np.zeros(0), whole, np.ones(1, dtype=np.int64))
    queues = Queues.of(1, 1, 1)
    judge(web, np.zeros((1, 1), dtype=np.int64), queues, whole.copy(), whole.copy(), whole.copy(), np.zeros(1))
    grow(web, whole, queues, whole.copy())
