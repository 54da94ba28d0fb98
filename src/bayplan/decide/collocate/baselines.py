"""K8S+ (004 section V-A): every container is scheduled anew, in the manner of kube-scheduler, with a score of affinity.

Containers come in random order. Filter: capacity, allow lists, anti-affinity. Score of a machine for a container of service s:
the sum over the neighbours t that stand there of w (1 - (x_s / d_s) / (x_t / d_t)), x before it comes. The paper does not say
who wins a tie, and nearly all early containers are tied at 0: here the machine with most room left (kube-scheduler's least
allocated). Ties decide much: with the first machine instead, new services gather where no room is left for their neighbours.
"""

from dataclasses import replace

import numpy as np

from bayplan.decide.collocate.finish import (
    SolvedSubproblems,
    collocation_result,
    finish,
    keep_or_start,
    out_of_time,
    start_with_new_containers,
    time_to_solve,
    unplaced_reasons,
)
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.packing_state import packing_state
from bayplan.decide.collocate.partition import UNOWNED, AffinityGraph, affinity_graph
from bayplan.decide.collocate.partition.multi_stage import compatibility_classes
from bayplan.decide.collocate.place_leftovers import place_leftovers
from bayplan.decide.collocate.rasa import solve_subproblems
from bayplan.decide.collocate.subproblem import expect_known_rules, movable, subproblems
from bayplan.kernels.collocate.k8s_plus import Seen, schedule
from bayplan.kernels.collocate.yard import Yard
from bayplan.model import UNPLACED, Budget, Clock, IntArray, Placement, Progress, Result, Tick, ints
from bayplan.model.problem import Problem


def original(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The start. Containers without a machine stay out, with the reason why nothing takes them, or that nobody asked."""
    clock = budget.clock()
    return collocation_result(problem, problem.start, left_out=unplaced_reasons(problem, problem.start), seconds=clock.seconds)


CHUNK = 500  # containers between two looks at the clock


def k8s_plus(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """All movable containers placed anew, one by one; an iteration is a container.

    When the budget ends, the containers that were not reached go back to where they stood. Who fits nowhere is refitted.
    """
    expect_known_rules(problem.cluster, "k8s-plus")
    clock = budget.clock()
    may = movable(problem)
    machine_of = np.where(may, UNPLACED, problem.start.machine_of)
    _schedule(problem, np.random.default_rng(seed).permutation(np.flatnonzero(may)), machine_of, clock, progress)
    placement = place_leftovers(problem, Placement(machine_of=ints(machine_of)), may_go=may, clock=clock, seed=seed)
    found, why = keep_or_start(problem, placement, options, start_with_new_containers(problem, clock, seed))
    return collocation_result(problem, found, left_out=unplaced_reasons(problem, found), notes=why, seconds=clock.seconds)


def _schedule(problem: Problem, who: IntArray, machine_of: IntArray, clock: Clock, progress: Progress) -> None:
    """Write machines (container,) for the containers of the list, in its order, until the budget ends."""
    yard, service = packing_state(problem), problem.cluster.containers.workload[who]
    seen = _seen(yard, service)
    most = len(who) if clock.budget.iterations is None else min(len(who), clock.budget.iterations)
    for first in range(0, most, CHUNK):
        if out_of_time(problem, clock):
            return
        some = slice(first, min(first + CHUNK, most))
        found = np.empty(some.stop - first, dtype=np.int64)
        schedule(yard, seen, service[some], found)
        machine_of[who[some]] = found
        progress(Tick(stage="scheduling", done=some.stop / len(who)))


def _seen(yard: Yard, service: IntArray) -> Seen:
    """The machines of each service with traffic: those of containers that stay, and room for those that come."""
    line, machine = np.nonzero(yard.standing)
    size = np.bincount(line, minlength=len(yard.standing))
    coming = yard.line_of[service]
    most = size + np.bincount(coming[coming >= 0], minlength=len(size))
    start = np.r_[0, np.cumsum(most)].astype(np.int64)
    of_line = np.zeros(start[-1], dtype=np.int32)
    of_line[start[line] + np.arange(len(line)) - np.r_[0, np.cumsum(size)][line]] = machine
    return Seen(start=start, size=size.astype(np.int64), machine=of_line, score=np.zeros(len(yard.free)))


PARTS = 4  # per compatibility class; 004 does not say: its authors' code


def pop(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The answer of POP: every part by the integer program (2)-(9), what is left over by the default scheduler.

    All services are split, those without affinity, too; `options.partition`, `select`, `masters` and `trivial` change nothing.
    """
    expect_known_rules(problem.cluster, "pop")
    clock = budget.clock()
    progress(Tick(stage="partitioning", done=0.0))
    sets, owner = random_parts(affinity_graph(problem.cluster), problem.cluster.machines.capacity, seed)
    tasks = subproblems(problem, sets, owner, trivial="pinned")
    progress(Tick(stage="solving", done=0.0))
    by_mip = replace(options, select="mip")
    counts = solve_subproblems(tasks, by_mip, seconds=time_to_solve(problem, clock), threads=budget.threads, seed=seed)
    progress(Tick(stage="refitting", done=0.0))
    result = finish(problem, SolvedSubproblems(tasks, counts), options, clock=clock, seed=seed)
    progress(Tick(stage="refitting", done=1.0, score=result.score["affinity"]))
    return result


def random_parts(graph: AffinityGraph, capacity: IntArray, seed: int) -> tuple[list[IntArray], IntArray]:
    """The services of each part, and (machine,) the part that it belongs to; `NOBODY` where no service may run.

    Services of one compatibility class (004 IV-B3) are dealt out at random, and so are its machines of each kind: equal
    capacity, open to the same services.
    """
    rng = np.random.default_rng(seed)
    sets: list[IntArray] = []
    owner = np.full(graph.allow.shape[1], UNOWNED, dtype=np.int64)
    for members in compatibility_classes(graph, np.arange(graph.n)).sets:
        first, count = len(sets), min(PARTS, len(members))
        sets += [ints(np.sort(part)) for part in np.array_split(rng.permutation(members), count)]
        machines = np.flatnonzero(graph.allow[np.unique(graph.row_of[members])].any(axis=0))
        owner[machines] = first + _divide_machines(_machine_kinds(graph, capacity, machines), count, rng)
    return sets, ints(owner)


def _machine_kinds(graph: AffinityGraph, capacity: IntArray, machines: IntArray) -> IntArray:
    """(machine,) the same number for machines of equal capacity that the same services may use."""
    used = graph.allow[np.unique(graph.row_of)]
    _, who = np.unique(used[:, machines], axis=1, return_inverse=True)
    _, kind = np.unique(np.column_stack([capacity[machines], who.ravel()]), axis=0, return_inverse=True)
    return ints(kind.ravel())


def _divide_machines(kind: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """(machine,) a part from 0 to count - 1: as equal numbers of each kind as can be, and of all kinds together."""
    order = rng.permutation(len(kind))
    order = order[np.argsort(kind[order], kind="stable")]
    part = np.empty(len(kind), dtype=np.int64)
    part[order] = np.arange(len(kind)) % count  # kinds are dealt out one after the other: all parts differ by one machine at most
    return part
