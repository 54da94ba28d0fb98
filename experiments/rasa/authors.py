"""K8S+ and ApplSci19 as weak as in the authors' own code, beside ours, which are stronger.

What the code does and the paper does not say: K8S+ schedules only the masters, and of machines with equal scores it takes the
first. ApplSci19 merges the ends of edges, drawn by weight, while a piece of the part (its containers over its fewest replicas)
fits on the smallest machine, and keeps the best of twenty such partitions; then each machine takes pieces of one part only.
Allow lists and anti-affinity, which are simpler there, are kept here as in [RASA] (5), (6). The rest is placed by our default
scheduler.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from bayplan.decide.collocate import CollocateOptions, Collocator
from bayplan.decide.collocate.finish import finish_placement, out_of_time
from bayplan.decide.collocate.packing_state import packing_state
from bayplan.decide.collocate.subproblem import expect_known_rules, movable
from bayplan.kernels.collocate.packing_state import PackingState, add_containers
from bayplan.model import UNPLACED, BoolArray, Budget, Clock, Cluster, FloatArray, IntArray, Placement, Progress, Result, ints
from bayplan.model.problem import Problem

DELETED = 0.001  # times the square root of the workloads: the share of the affinity on light edges that are ignored
ROUNDS = 20
OFTEN = 200  # containers between two looks at the clock


def k8s_plus(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The masters one by one in random order, each on the first machine with the highest score."""
    expect_known_rules(problem.cluster, "k8s-plus")
    clock, state = budget.clock(), packing_state(problem)
    may_move, owner = movable(problem), problem.cluster.containers.workload
    machine_of = np.where(may_move, UNPLACED, problem.start.machine_of)
    chosen = may_move & np.isin(owner, heavy_workloads(problem.cluster))
    for number, c in enumerate(np.random.default_rng(seed).permutation(np.flatnonzero(chosen)).tolist()):
        if number % OFTEN == 0 and out_of_time(problem, clock):
            break
        feasible = np.flatnonzero(fitting(state, owner[c]))
        if len(feasible):
            m = machine_of[c] = feasible[np.argmax(scores(state, owner[c])[feasible])]
            add_containers(state, owner[c], m, 1)
    return _finished(problem, machine_of, options, clock, seed)


def _finished(problem: Problem, machine_of: IntArray, options: CollocateOptions, clock: Clock, seed: int) -> Result[Placement]:
    placement = Placement(machine_of=ints(machine_of))
    return finish_placement(problem, placement, options, may_go=movable(problem), clock=clock, seed=seed)


def heavy_workloads(cluster: Cluster) -> IntArray:
    """Workloads that have an edge left when the lightest ones are deleted."""
    traffic = cluster.traffic
    order = np.argsort(traffic.weight, kind="stable")
    before = np.cumsum(traffic.weight[order]) - traffic.weight[order]
    kept = order[before >= DELETED * np.sqrt(len(cluster.workloads.name)) * traffic.weight.sum()]
    return ints(np.unique(np.r_[traffic.a[kept], traffic.b[kept]]))


def fitting(state: PackingState, w: int) -> BoolArray:
    """(machine,) may one more container of the workload run there?"""
    sets = state.set_of[state.set_start[w] : state.set_start[w + 1]]
    fits: BoolArray = (state.free >= state.request[w]).all(axis=1) & state.allow[state.row_of[w]]
    return fits & (state.set_free[sets] > 0).all(axis=0)


def scores(state: PackingState, w: int) -> FloatArray:
    """(machine,) sum over the neighbours v that run there of weight (1 - (x_w / d_w) / (x_v / d_v))."""
    score = np.zeros(len(state.free))
    for e in range(state.edge_start[w], state.edge_start[w + 1]):
        v = state.neighbour[e]
        placed = state.placed[state.traffic_row[v]]
        there = np.flatnonzero(placed)
        own = state.placed[state.traffic_row[w], there] * state.one_over[w]
        score[there] += state.weight[e] * (1.0 - own / (placed[there] * state.one_over[v]))
    return score


def applsci19(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The best of twenty random partitions, packed."""
    expect_known_rules(problem.cluster, "applsci19")
    clock, state, rng = budget.clock(), packing_state(problem), np.random.default_rng(seed)
    may_move, owner = movable(problem), problem.cluster.containers.workload
    demand = ints(np.bincount(owner[may_move], minlength=len(problem.cluster.workloads.name)))
    parts = best_partition(problem.cluster, state, demand, rng)
    slots = rounded(state, demand, list(patterns(state, demand, parts)), rng)
    machine_of = np.where(may_move, UNPLACED, problem.start.machine_of)
    containers = np.split(np.flatnonzero(may_move), np.cumsum(demand)[:-1])
    taken = np.zeros(len(demand), dtype=np.int64)
    for w, m, n in slots:
        machine_of[containers[w][taken[w] : taken[w] + n]] = m
        taken[w] += n
    return _finished(problem, machine_of, options, clock, seed)


class Pieces(NamedTuple):
    """A part of the graph, which is deployed in equal pieces."""

    workloads: list[int]
    request: FloatArray  # (resource,) of all containers
    number: int  # of pieces: the fewest replicas of a workload


def best_partition(cluster: Cluster, state: PackingState, demand: IntArray, rng: np.random.Generator) -> list[Pieces]:
    """The parts with most affinity inside, of twenty trials; parts of one workload are left out."""
    traffic, smallest = cluster.traffic, np.where(state.unit > 0, state.free, np.inf).min(axis=0)
    chance = np.cumsum(traffic.weight) / max(traffic.weight.sum(), 1e-300)
    best, most = list[Pieces](), -1.0
    for _ in range(ROUNDS):
        drawn = np.minimum(np.searchsorted(chance, rng.random(len(traffic.a)), side="right"), len(traffic.a) - 1)
        part_of, parts = merged(cluster, state.request, demand, smallest, drawn)
        inside = float(traffic.weight[part_of[traffic.a] == part_of[traffic.b]].sum())
        if inside > most:
            best, most = [part for part in parts.values() if len(part.workloads) > 1], inside
    return best


def merged(
    cluster: Cluster, request: IntArray, demand: IntArray, smallest: FloatArray, drawn: IntArray
) -> tuple[IntArray, dict[int, Pieces]]:
    """(workload,) number of its part, and the parts, when the ends of these edges are merged as far as a piece fits."""
    part_of = np.arange(len(demand))
    movable_ones = np.flatnonzero(demand).tolist()
    parts = {w: Pieces([w], (demand[w] * request[w]).astype(np.float64), int(demand[w])) for w in movable_ones}
    for e in drawn.tolist():
        low, high = sorted((int(part_of[cluster.traffic.a[e]]), int(part_of[cluster.traffic.b[e]])))
        if low == high or low not in parts or high not in parts:
            continue
        one, other = parts[low], parts[high]
        union = Pieces(one.workloads + other.workloads, one.request + other.request, min(one.number, other.number))
        if (union.request / union.number <= smallest).all():
            parts[low] = union
            part_of[other.workloads] = low
            del parts[high]
    return ints(part_of), parts


class Pattern(NamedTuple):
    """What one machine is to run: fractions of containers."""

    machine: int
    workloads: list[int]
    share: float  # of all containers of each


def patterns(state: PackingState, demand: IntArray, parts: list[Pieces]) -> Iterator[Pattern]:
    """The parts in the order of their first workloads, on machines of one type after the other, as many pieces as fit on each."""
    _, first, kind = np.unique(state.free, axis=0, return_index=True, return_inverse=True)
    empty = np.ones(len(kind), dtype=np.bool_)
    for part in sorted(parts, key=lambda part: min(part.workloads)):
        usable = state.allow[state.row_of[part.workloads]].all(axis=0)
        left = part.number
        for one in np.argsort(first).tolist():
            machines = np.flatnonzero(empty & usable & (kind.ravel() == one))
            need = part.request / part.number
            capacity = state.free[first[one]]
            most = int(min((capacity[need > 0] / need[need > 0]).min(initial=left), left))
            if not most or not len(machines):
                continue
            chosen = machines[: left // most]
            empty[chosen] = False
            left -= most * len(chosen)
            for m in chosen.tolist():
                yield Pattern(m, part.workloads, most / part.number)
            if left <= 0:
                break


def rounded(state: PackingState, demand: IntArray, plan: list[Pattern], rng: np.random.Generator) -> list[tuple[int, int, int]]:
    """Workload, machine and containers: fractions are rounded at random; what is too much is dropped. `state` changes."""
    slots, left = [], demand.copy()
    for pattern in sorted(plan):
        exact = demand[pattern.workloads] * pattern.share
        count = np.floor(exact) + (rng.random(len(exact)) < exact - np.floor(exact))
        for w, n in zip(pattern.workloads, np.minimum(count.astype(np.int64), left[pattern.workloads]).tolist(), strict=True):
            sets = state.set_of[state.set_start[w] : state.set_start[w + 1]]
            room = [state.free[pattern.machine, r] // q for r, q in enumerate(state.request[w].tolist()) if q]
            fits = max(0, min([n, *room, *state.set_free[sets, pattern.machine].tolist()]))
            if fits:
                add_containers(state, w, pattern.machine, fits)
                left[w] -= fits
                slots.append((w, pattern.machine, int(fits)))
    return slots


AS_THE_AUTHORS: Mapping[str, Collocator] = {"k8s-plus-authors": k8s_plus, "applsci19-authors": applsci19}
