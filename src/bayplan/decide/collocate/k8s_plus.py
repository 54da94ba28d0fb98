"""K8S+ (004 section V-A): every container is scheduled anew, in the manner of kube-scheduler, with a score of affinity.

Containers come in random order. Filter: capacity, allow lists, anti-affinity. Score of a machine for a container of service s:
the sum over the neighbours t that stand there of w (1 - (x_s / d_s) / (x_t / d_t)), x before it comes. The paper does not say
who wins a tie, and nearly all early containers are tied at 0: here the machine with most room left (kube-scheduler's least
allocated). Ties decide much: with the first machine instead, new services gather where no room is left for their neighbours.
"""

import numpy as np

from bayplan.decide.collocate.answer import collocated, worth_it
from bayplan.decide.collocate.finish import out_of_time, start_of
from bayplan.decide.collocate.movable import expect_known_rules, movable
from bayplan.decide.collocate.original import outsiders
from bayplan.decide.collocate.refit import refit
from bayplan.decide.collocate.signature import CollocateOptions
from bayplan.decide.collocate.yard import yard_of
from bayplan.kernels.collocate.k8s_plus import Seen, schedule
from bayplan.kernels.collocate.yard import Yard
from bayplan.model import UNPLACED, Budget, Clock, IntArray, Placement, Progress, Result, Tick, ints
from bayplan.model.problem import Problem

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
    placement = refit(problem, Placement(machine_of=ints(machine_of)), may_go=may, clock=clock, seed=seed)
    found, why = worth_it(problem, placement, options, start_of(problem, clock, seed))
    return collocated(problem, found, left_out=outsiders(problem, found), notes=why, seconds=clock.seconds)


def _schedule(problem: Problem, who: IntArray, machine_of: IntArray, clock: Clock, progress: Progress) -> None:
    """Write machines (container,) for the containers of the list, in its order, until the budget ends."""
    yard, service = yard_of(problem), problem.cluster.containers.workload[who]
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
