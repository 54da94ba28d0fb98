"""Breadth-first search from several seeds with deques and lists."""

from collections import deque
from collections.abc import Sequence

Edge = tuple[int, int, float]


def neighbours(n: int, edges: Sequence[Edge]) -> list[list[int]]:
    """Of every vertex: heavy ones first, of equals the one with the smallest number."""
    found: list[list[tuple[float, int]]] = [[] for _ in range(n)]
    for a, b, weight in edges:
        found[a].append((-weight, b))
        found[b].append((-weight, a))
    return [[v for _, v in sorted(some)] for some in found]


def components(n: int, edges: Sequence[Edge]) -> list[list[int]]:
    """Large ones first, of equals the one with the smallest vertex."""
    near, seen, found = neighbours(n, edges), set(), []
    for first in range(n):
        if first in seen:
            continue
        members, waiting = [], [first]
        seen.add(first)
        while waiting:
            v = waiting.pop()
            members.append(v)
            for u in near[v]:
                if u not in seen:
                    seen.add(u)
                    waiting.append(u)
        found.append(sorted(members))
    return sorted(found, key=lambda members: (-len(members), members[0]))


def grow(n: int, edges: Sequence[Edge], seeds: Sequence[int]) -> list[int]:
    """(vertex,) the part that it is in."""
    near = neighbours(n, edges)
    part = {seed: k for k, seed in enumerate(seeds)}
    queues = [deque([seed]) for seed in seeds]
    while any(queues):
        for k, queue in enumerate(queues):
            took = False
            while queue and not took:
                free = [v for v in near[queue[0]] if v not in part]
                if free:
                    part[free[0]] = k
                    queue.append(free[0])
                    took = True
                else:
                    queue.popleft()
    for members in components(n, edges):
        if members[0] not in part:
            sizes = [list(part.values()).count(k) for k in range(len(seeds))]
            part.update(dict.fromkeys(members, sizes.index(min(sizes))))
    return [part[v] for v in range(n)]


def lost(edges: Sequence[Edge], part: Sequence[int]) -> float:
    """The weight between parts."""
    return sum(weight for a, b, weight in edges if part[a] != part[b])
