"""What [RASA] §V-A compares with: the placement as it is (ORIGINAL), K8S+ and POP; `applsci19` has a module of its own.

K8S+: every container is scheduled anew, in the manner of kube-scheduler, with a score of affinity. Containers come in random
order. Filter: capacity, allow lists, anti-affinity. Score of a machine for a container of workload s: the sum over the
neighbours t that run there of w (1 - (x_s / d_s) / (x_t / d_t)), x before it comes. The paper does not say how ties are broken,
and nearly all early containers are tied at 0: here the machine with most free capacity wins (kube-scheduler's least allocated).
Ties decide much: with the first machine instead, new workloads gather where no capacity is left for their neighbours.

POP (Narayanan et al., SOSP 2021): the problem is split at random, and each part is solved by itself.
"""

from dataclasses import replace

import numpy as np

from bayplan.decide.collocate.finish import (
    SolvedSubproblems,
    collocation_result,
    finish,
    finish_placement,
    out_of_time,
    time_to_solve,
    unplaced_reasons,
)
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.packing_state import packing_state
from bayplan.decide.collocate.parallel import SolveLimits
from bayplan.decide.collocate.partition import UNOWNED, AffinityGraph, affinity_graph
from bayplan.decide.collocate.partition.multi_stage import compatibility_classes
from bayplan.decide.collocate.rasa import solve_subproblems
from bayplan.decide.collocate.subproblem import expect_known_rules, movable, subproblems_of
from bayplan.kernels.collocate.k8s_plus import MachinesByWorkload, schedule
from bayplan.kernels.collocate.packing_state import PackingState
from bayplan.model import UNPLACED, Budget, Clock, IntArray, Placement, Progress, Result, Tick, ints
from bayplan.model.problem import Problem

CHUNK = 500  # containers between two looks at the clock
PARTS = 4  # of POP, per compatibility class; [RASA] does not say: its authors' code


def original(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The start. Containers without a machine are left out, with the reason why no machine takes them, or that none was asked."""
    clock = budget.clock()
    return collocation_result(problem, problem.start, left_out=unplaced_reasons(problem, problem.start), seconds=clock.seconds)


def k8s_plus(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """All movable containers placed anew, one by one; an iteration is a container.

    When the budget ends, the containers that were not reached go back to where they ran. Those that fit nowhere are leftovers.
    """
    expect_known_rules(problem.cluster, "k8s-plus")
    clock = budget.clock()
    may_move = movable(problem)
    machine_of = np.where(may_move, UNPLACED, problem.start.machine_of)
    _schedule(problem, np.random.default_rng(seed).permutation(np.flatnonzero(may_move)), machine_of, clock, progress)
    placement = Placement(machine_of=ints(machine_of))
    return finish_placement(problem, placement, options, may_go=may_move, clock=clock, seed=seed)


def _schedule(problem: Problem, containers: IntArray, machine_of: IntArray, clock: Clock, progress: Progress) -> None:
    """Write the machines (container,) of these containers, in this order, until the budget ends."""
    state, workload = packing_state(problem), problem.cluster.containers.workload[containers]
    seen = _seen(state, workload)
    n = len(containers)
    end = n if clock.budget.iterations is None else min(n, clock.budget.iterations)
    for first in range(0, end, CHUNK):
        if out_of_time(problem, clock):
            return
        chunk = slice(first, min(first + CHUNK, end))
        chosen = np.empty(chunk.stop - first, dtype=np.int64)
        schedule(state, seen, workload[chunk], chosen)
        machine_of[containers[chunk]] = chosen
        progress(Tick(stage="scheduling", done=chunk.stop / n))


def _seen(state: PackingState, workload: IntArray) -> MachinesByWorkload:
    """The machines of each workload with traffic: those of containers that stay, and slots for those that come."""
    line, machine = np.nonzero(state.placed)
    size = np.bincount(line, minlength=len(state.placed))
    coming = state.traffic_row[workload]
    slots = size + np.bincount(coming[coming >= 0], minlength=len(size))
    start = np.r_[0, np.cumsum(slots)].astype(np.int64)
    of_line = np.zeros(start[-1], dtype=np.int32)
    of_line[start[line] + np.arange(len(line)) - np.r_[0, np.cumsum(size)][line]] = machine
    return MachinesByWorkload(start=start, size=size.astype(np.int64), machine=of_line, score=np.zeros(len(state.free)))


def pop(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The answer of POP: every part by the integer program [RASA] (2)-(9), leftovers by the default scheduler.

    An iteration is a node of the integer program of each part.
    All workloads are split, those without affinity, too; `options.partition`, `select`, `masters` and `trivial` change nothing.
    """
    expect_known_rules(problem.cluster, "pop")
    clock = budget.clock()
    progress(Tick(stage="partitioning", done=0.0))
    sets, owner = random_parts(affinity_graph(problem.cluster), problem.cluster.machines.capacity, seed)
    subproblems = subproblems_of(problem, sets, owner, trivial="pinned")
    progress(Tick(stage="solving", done=0.0))
    by_mip = replace(options, select="mip")
    limits = SolveLimits(time_to_solve(problem, clock), budget.iterations, budget.threads, seed)
    answers, notes = solve_subproblems(subproblems, by_mip, limits, progress)
    progress(Tick(stage="placing leftovers", done=0.0))
    solved = SolvedSubproblems(subproblems, [answer.counts for answer in answers], notes=notes)
    result = finish(problem, solved, options, clock=clock, seed=seed)
    progress(Tick(stage="placing leftovers", done=1.0, score=result.score["affinity"]))
    return result


def random_parts(graph: AffinityGraph, capacity: IntArray, seed: int) -> tuple[list[IntArray], IntArray]:
    """The workloads of each part, and (machine,) the part that it belongs to; `UNOWNED` where no workload may run.

    Workloads of one compatibility class ([RASA] §IV-B3) are divided at random, and so are its machines of each kind: equal
    capacity, allowed for the same workloads.
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
    """(machine,) the same number for machines of equal capacity that the same workloads may use."""
    used = graph.allow[np.unique(graph.row_of)]
    _, users = np.unique(used[:, machines], axis=1, return_inverse=True)
    _, kind = np.unique(np.column_stack([capacity[machines], users.ravel()]), axis=0, return_inverse=True)
    return ints(kind.ravel())


def _divide_machines(kind: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """(machine,) a part from 0 to count - 1: as equal numbers of each kind as can be, and of all kinds together."""
    order = rng.permutation(len(kind))
    order = order[np.argsort(kind[order], kind="stable")]
    part = np.empty(len(kind), dtype=np.int64)
    part[order] = np.arange(len(kind)) % count  # kind by kind, so that all parts differ by one machine at most
    return part
