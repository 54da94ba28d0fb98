"""How much affinity can any placement gain? A bound by Dantzig-Wolfe, its prices those of a column generation.

Patterns of machines replace the counts of 004 (2)-(9); for any prices of containers, what all of them cost and what is above that
on every machine at its best is a bound (Lagrange). Prices come from a linear program, the bound is our own arithmetic: see
`columns.generation` for the formula and `kernels.collocate.relax` for one machine.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from bayplan.decide.collocate.columns.integer_master import patterns_of
from bayplan.decide.collocate.columns.pattern_master import PatternMaster, machine_types_of
from bayplan.decide.collocate.columns.rounds import PricingRounds
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import Subproblem, whole_cluster
from bayplan.model import (
    UNPLACED,
    Allow,
    AntiAffinity,
    Budget,
    Capacity,
    Clock,
    Cluster,
    IntArray,
    Pinned,
    Placement,
    Progress,
    Rule,
    Tick,
    ints,
)
from bayplan.model.problem import Problem
from bayplan.score.counts import loads

SMALLEST, LARGEST = 25, 200  # services of a block: those of a large one take longer
A_SECOND = 500  # services of a block, times all services that talk, for which a second is enough


def block_size(cluster: Cluster, seconds: float) -> int:
    """How large blocks may become if all of them have to be bounded in time."""
    talking = len(np.union1d(cluster.traffic.a, cluster.traffic.b))
    return int(np.clip(A_SECOND * seconds / max(1, talking), SMALLEST, LARGEST))


def blocks(cluster: Cluster, largest: int) -> IntArray:
    """(workload,) its block: edges from heavy to light join the blocks at their ends, unless that becomes too large."""
    leader = np.arange(len(cluster.workloads.name))
    size = np.ones(len(leader), dtype=np.int64)

    def find(w: int) -> int:
        while leader[w] != w:
            leader[w] = leader[leader[w]]
            w = int(leader[w])
        return w

    traffic = cluster.traffic
    for e in np.argsort(-traffic.weight, kind="stable").tolist():
        a, b = find(int(traffic.a[e])), find(int(traffic.b[e]))
        if a != b and size[a] + size[b] <= largest:
            leader[b] = a
            size[a] += size[b]
    _, block = np.unique([find(w) for w in range(len(leader))], return_inverse=True)
    return ints(block)


SAFETY = 1e-9  # added to every bound: far more than sums of floating-point numbers lose
ENOUGH = 0.6  # of the time: after that no larger blocks are begun
LAST = 0.2  # of the time: for a bound at the last prices
CLOSE = 1e-6  # of the master: nearer it need not come


def affinity_bound(problem: Problem, *, seconds: float, progress: Progress) -> float | None:
    """No placement gains more affinity, of a total of 1, if it breaks no rule more than the start does; None without affinity.

    What is pinned or frozen stays; everything else may go anywhere, or nowhere. Rules but capacity, allow, and anti-affinity
    on machines are ignored, which can only raise the bound. Services are bounded block by block, as if each block had all
    machines for itself; traffic between blocks counts in full.
    """
    if not len(problem.cluster.traffic.weight):
        return None
    clock, relaxed = Budget(seconds=seconds).clock(), _relaxed(problem)
    total, size = 1.0, block_size(problem.cluster, seconds)
    while not clock.expired():
        told = BoundProgress(progress=progress, clock=clock)
        total = min(total, _by_blocks(relaxed, blocks(problem.cluster, size), told))
        if size >= LARGEST or clock.seconds > ENOUGH * seconds:
            break
        size = min(LARGEST, 3 * size)  # there is time for larger blocks
    return min(1.0, total + SAFETY)


def _by_blocks(problem: Problem, block_of: IntArray, told: "BoundProgress") -> float:
    """A bound: all traffic, less what each block cannot gain. Heavy blocks come first and have more of the time."""
    traffic = problem.cluster.traffic
    inside = block_of[traffic.a] == block_of[traffic.b]
    weight = np.bincount(block_of[traffic.a[inside]], traffic.weight[inside]) / traffic.weight.sum()
    everyone, total = ints(np.arange(len(problem.cluster.workloads.name))), 1.0
    for block in np.argsort(-weight, kind="stable").tolist():
        if weight[block] <= 0 or told.remaining <= 0:
            break
        task = whole_cluster(problem, services=ints(np.flatnonzero(block_of == block)), free=everyone)
        share = told.remaining * weight[block] / weight[weight <= weight[block]].sum()
        told.without = total - float(weight[block])
        total = min(total, told.without + _bounded(task, share, told))
    return total


@dataclass(slots=True, kw_only=True)
class BoundProgress:
    """What a bound of one block means for all, told on the way."""

    progress: Progress
    clock: Clock
    without: float = 0.0  # the bound without the block

    @property
    def remaining(self) -> float:
        """Seconds."""
        return (self.clock.budget.seconds or 0.0) - self.clock.seconds

    def tell(self, bound: float) -> None:
        """Report a bound of the block."""
        done = self.clock.seconds / max(1e-9, self.clock.budget.seconds or 0.0)
        self.progress(Tick(stage="bounding", done=min(1.0, done), score=min(1.0, self.without + bound)))


def _bounded(task: Subproblem, seconds: float, told: BoundProgress) -> float:
    """A bound of what the services of a task gain together; infinite if time runs out before there is one."""
    ends = time.perf_counter() + seconds
    columns = PatternMaster(task=task, types=machine_types_of(task))
    for t, pattern in patterns_of(columns.types, greedy_counts(task)):
        columns.add(t, pattern)
    rounds, late = PricingRounds(columns=columns, seed=0), ends - LAST * seconds
    while not rounds.done and rounds.bound - columns.gain > CLOSE and time.perf_counter() < late:
        before = rounds.bound
        rounds.one(lambda: time.perf_counter() > late)
        if rounds.bound < before:
            told.tell(rounds.bound)
    if not rounds.done:
        rounds.prove(ends)
    return rounds.bound


def _relaxed(problem: Problem) -> Problem:
    """The problem with the rules that the bound knows, each loosened as far as the start breaks it."""
    cluster, start = problem.cluster, problem.start
    stays = (start.machine_of == problem.before.machine_of) & (start.machine_of != UNPLACED)
    rules = [rule for rule in cluster.rules if _holds_at_start(cluster, start, rule)]
    pins = [c for rule in cluster.rules if isinstance(rule, Pinned) for c in rule.containers if stays[c]]
    capacity = np.maximum(cluster.machines.capacity, loads(cluster, start))
    loose = replace(
        cluster,
        rules=(*rules, Pinned(containers=tuple(sorted(set(pins))))),
        machines=replace(cluster.machines, capacity=ints(capacity)),
    )
    return replace(problem, cluster=loose, frozen=problem.frozen & stays if len(problem.frozen) else problem.frozen)


def _holds_at_start(cluster: Cluster, start: Placement, rule: Rule) -> bool:
    """Does the bound know a rule, and does the start keep it?"""
    if isinstance(rule, AntiAffinity) and rule.level == 0:
        return bool(np.max(_containers_on(cluster, start, rule.workloads), initial=0) <= rule.limit)
    if isinstance(rule, Allow):
        there = np.flatnonzero(_containers_on(cluster, start, rule.workloads))
        return bool(np.isin(there, cluster.machine_sets[rule.machines]).all())
    return isinstance(rule, Capacity)


def _containers_on(cluster: Cluster, start: Placement, workloads: tuple[int, ...]) -> IntArray:
    """(machine,) containers of some workloads."""
    one_of = np.isin(cluster.containers.workload, workloads) & (start.machine_of != UNPLACED)
    return ints(np.bincount(start.machine_of[one_of], minlength=len(cluster.machines.name)))
