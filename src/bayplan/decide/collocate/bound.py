"""A proven bound on the affinity that any placement can gain: Dantzig-Wolfe, with the prices of a column generation.

Patterns of machines replace the counts of [RASA] (2)-(9). For any prices of containers, the cost of all containers plus the most
that each machine can gain above it is a bound (Lagrange). The prices come from a linear program; the bound is our own
arithmetic: `columns.pattern_master` has the formula, `columns.pricing` the bound of one machine.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from bayplan.decide.collocate.columns.integer_master import patterns_of
from bayplan.decide.collocate.columns.pattern_master import AffinityMaster, machine_types_of
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

SMALLEST, LARGEST = 25, 200  # workloads of a block; large ones take longer
A_SECOND = 500  # workloads of a block, times all workloads with traffic, that a second is enough for
SAFETY = 1e-9  # added to every bound: far more than sums of floating-point numbers lose
LAST_START = 0.6  # of the time: after that no larger blocks are begun
PROOF = 0.2  # of the time: for a bound at the last prices
CLOSE = 1e-6  # distance to the master at which the bound is good enough


def affinity_bound(problem: Problem, *, seconds: float, progress: Progress) -> float | None:
    """No placement that violates no rule more than the start gains more affinity, of a total of 1; None without affinity.

    What is pinned or frozen stays; everything else may go anywhere, or nowhere. Rules other than capacity, allow, and
    anti-affinity on machines are ignored, which can only raise the bound. Workloads are bounded block by block, as if each
    block had all machines for itself; traffic between blocks counts in full.
    """
    if not len(problem.cluster.traffic.weight):
        return None
    if not len(problem.cluster.machines.name):
        return 0.0
    clock, relaxed = Budget(seconds=seconds).clock(), _relaxed(problem)
    total, size = 1.0, block_size(problem.cluster, seconds)
    while not clock.expired():
        report = BoundProgress(progress=progress, clock=clock)
        total = min(total, _by_blocks(relaxed, blocks(problem.cluster, size), report))
        if size >= LARGEST or clock.seconds > LAST_START * seconds:
            break
        size = min(LARGEST, 3 * size)  # there is time for larger blocks
    return min(1.0, total + SAFETY)


def _by_blocks(problem: Problem, block_of: IntArray, report: "BoundProgress") -> float:
    """A bound: all traffic, less what each block cannot gain. Heavy blocks come first and have more of the time."""
    traffic = problem.cluster.traffic
    inside = block_of[traffic.a] == block_of[traffic.b]
    weight = np.bincount(block_of[traffic.a[inside]], traffic.weight[inside]) / traffic.weight.sum()
    all_workloads, total = ints(np.arange(len(problem.cluster.workloads.name))), 1.0
    for block in np.argsort(-weight, kind="stable").tolist():
        if weight[block] <= 0 or report.remaining <= 0:
            break
        subproblem = whole_cluster(problem, workloads=ints(np.flatnonzero(block_of == block)), free=all_workloads)
        share = report.remaining * weight[block] / weight[weight <= weight[block]].sum()
        report.without = total - float(weight[block])
        total = min(total, report.without + _bounded(subproblem, share, report))
    return total


@dataclass(slots=True, kw_only=True)
class BoundProgress:
    """Reports what a bound of one block means for the whole."""

    progress: Progress
    clock: Clock
    without: float = 0.0  # the bound without the block

    @property
    def remaining(self) -> float:
        """Seconds."""
        return self.clock.seconds_left

    def tell(self, bound: float) -> None:
        """Report a bound of the block."""
        done = self.clock.seconds / max(1e-9, self.clock.budget.seconds or 0.0)
        self.progress(Tick(stage="bounding", done=min(1.0, done), score=min(1.0, self.without + bound)))


def _bounded(subproblem: Subproblem, seconds: float, report: BoundProgress) -> float:
    """A bound of what the workloads of a subproblem gain together; infinite if time runs out before there is one."""
    ends = time.perf_counter() + seconds
    master = AffinityMaster(subproblem=subproblem, types=machine_types_of(subproblem))
    for t, pattern in patterns_of(master.types, greedy_counts(subproblem)):
        master.add(t, pattern)
    rounds, late = PricingRounds(master=master, seed=0), ends - PROOF * seconds
    while not rounds.done and rounds.bound - master.gain > CLOSE and time.perf_counter() < late:
        before = rounds.bound
        rounds.price(lambda: time.perf_counter() > late)
        if rounds.bound < before:
            report.tell(rounds.bound)
    if not rounds.done:
        rounds.prove(ends)
    return rounds.bound


def _relaxed(problem: Problem) -> Problem:
    """The problem with the rules that the bound knows, each relaxed as far as the start violates it."""
    cluster, start = problem.cluster, problem.start
    stays = (start.machine_of == problem.before.machine_of) & (start.machine_of != UNPLACED)
    rules = [rule for rule in cluster.rules if _holds_at_start(cluster, start, rule)]
    pins = [c for rule in cluster.rules if isinstance(rule, Pinned) for c in rule.containers if stays[c]]
    capacity = np.maximum(cluster.machines.capacity, loads(cluster, start))
    relaxed = replace(
        cluster,
        rules=(*rules, Pinned(containers=tuple(sorted(set(pins))))),
        machines=replace(cluster.machines, capacity=ints(capacity)),
    )
    return replace(problem, cluster=relaxed, frozen=problem.frozen & stays if len(problem.frozen) else problem.frozen)


def _holds_at_start(cluster: Cluster, start: Placement, rule: Rule) -> bool:
    """Does the bound know a rule, and does the start keep it?"""
    if isinstance(rule, AntiAffinity) and rule.level == 0:
        return bool(np.max(_containers_on(cluster, start, rule.workloads), initial=0) <= rule.limit)
    if isinstance(rule, Allow):
        used = np.flatnonzero(_containers_on(cluster, start, rule.workloads))
        return bool(np.isin(used, cluster.machine_sets[rule.machines]).all())
    return isinstance(rule, Capacity)


def _containers_on(cluster: Cluster, start: Placement, workloads: tuple[int, ...]) -> IntArray:
    """(machine,) how many containers of some workloads run there."""
    one_of = np.isin(cluster.containers.workload, workloads) & (start.machine_of != UNPLACED)
    return ints(np.bincount(start.machine_of[one_of], minlength=len(cluster.machines.name)))


def block_size(cluster: Cluster, seconds: float) -> int:
    """How many workloads blocks may have if all of them have to be bounded in time."""
    talking = len(np.union1d(cluster.traffic.a, cluster.traffic.b))
    return int(np.clip(A_SECOND * seconds / max(1, talking), SMALLEST, LARGEST))


def blocks(cluster: Cluster, largest: int) -> IntArray:
    """(workload,) its block: edges, the heaviest first, join the blocks at their ends, unless that becomes too large."""
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
