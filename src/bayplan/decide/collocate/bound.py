"""A proven bound on the affinity that any placement can gain: Dantzig-Wolfe, with the prices of a column generation.

Patterns of machines replace the counts of [RASA] (2)-(9). For any prices of containers, the cost of all containers plus the most
that each machine can gain above it is a bound (Lagrange). The prices come from a linear program; the bound is our own
arithmetic: `columns.pattern_master` has the formula, `columns.pricing` the bound of one machine.

Blocks are independent, and so are the types of machines in one: both may be bounded on an engine. A block that does not come back
in time counts in full; a type that does not makes its block count in full, or as much as at the prices before.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bayplan.decide.collocate.columns.integer_master import patterns_of
from bayplan.decide.collocate.columns.pattern_master import AffinityMaster, machine_types_of
from bayplan.decide.collocate.columns.rounds import PricingRounds
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.parallel import TimeShares
from bayplan.decide.collocate.subproblem import Subproblem, whole_cluster
from bayplan.engine.job_limits import JobTime
from bayplan.engine.jobs import Job, Shared
from bayplan.engine.lazy import LazyEngine
from bayplan.model import (
    UNPLACED,
    Allow,
    AntiAffinity,
    Budget,
    Capacity,
    Clock,
    Cluster,
    FloatArray,
    IntArray,
    Pinned,
    Placement,
    Progress,
    Rule,
    Tick,
    ints,
    silent,
)
from bayplan.model.interrupt import stop_requested
from bayplan.model.problem import Problem
from bayplan.score.counts import loads

SMALLEST, LARGEST = 25, 200  # workloads of a block; large ones take longer
A_SECOND = 500  # workloads of a block, times all workloads with traffic, that a second is enough for
SAFETY = 1e-9  # added to every bound: far more than sums of floating-point numbers lose
LAST_START = 0.6  # of the time: after that no larger blocks are begun
PROOF = 0.2  # of the time: for a bound at the last prices
CLOSE = 1e-6  # distance to the master at which the bound is good enough
A_MINUTE = 60.0  # by it blocks have their size where rounds are limited and seconds are not


def affinity_bound(
    problem: Problem,
    *,
    seconds: float,
    progress: Progress,
    rounds: int | None = None,
    engine: LazyEngine | None = None,
) -> float | None:
    """No placement that violates no rule more than the start gains more affinity, of a total of 1; None without affinity.

    What is pinned or frozen stays; everything else may go anywhere, or nowhere. Rules other than capacity, allow, and
    anti-affinity on machines are ignored, which can only raise the bound. Workloads are bounded block by block, as if each
    block had all machines for itself; traffic between blocks counts in full.

    `rounds`: of pricing, in each block, at most. With infinite seconds the same number gives the same bound on any engine.
    """
    if not len(problem.cluster.traffic.weight):
        return None
    if not len(problem.cluster.machines.name):
        return 0.0
    limited = not math.isinf(seconds)
    clock, relaxed = Budget(seconds=seconds if limited else None).clock(), _relaxed(problem)
    total, size = 1.0, block_size(problem.cluster, seconds if limited else A_MINUTE)
    engine = engine or LazyEngine()
    with engine:
        while not clock.expired() and not stop_requested():
            report = BoundProgress(progress=progress, clock=clock)
            blocked = BlockedProblem.of(relaxed, blocks(problem.cluster, size))
            total = min(total, _by_blocks(blocked, report, rounds, engine))
            if size >= LARGEST or not limited or clock.seconds > LAST_START * seconds:
                break
            size = min(LARGEST, 3 * size)  # there is time for larger blocks
    return min(1.0, total + SAFETY)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockedProblem:
    """A problem whose workloads are in blocks."""

    problem: Problem
    block_of: IntArray  # (workload,)
    weight: FloatArray  # (block,) traffic inside, of a total of 1

    @classmethod
    def of(cls, problem: Problem, block_of: IntArray) -> "BlockedProblem":
        """The problem with the weights of its blocks."""
        traffic = problem.cluster.traffic
        inside = block_of[traffic.a] == block_of[traffic.b]
        weight = np.bincount(block_of[traffic.a[inside]], traffic.weight[inside]) / traffic.weight.sum()
        return cls(problem=problem, block_of=block_of, weight=weight)

    def subproblem(self, block: int) -> Subproblem:
        """The workloads of a block, with all machines for themselves."""
        everything = ints(np.arange(len(self.problem.cluster.workloads.name)))
        return whole_cluster(self.problem, workloads=ints(np.flatnonzero(self.block_of == block)), free=everything)


def _by_blocks(blocked: BlockedProblem, report: "BoundProgress", rounds: int | None, engine: LazyEngine) -> float:
    """A bound: all traffic, less what each block cannot gain. Heavy blocks come first and have more of the time.

    The first ones are bounded in this process, their types on the engine if that is worth it; once it is, the others, if they are
    enough for all workers, are bounded there, in whole blocks.
    """
    weight, total, began = blocked.weight, 1.0, time.perf_counter()
    order = [block for block in np.argsort(-weight, kind="stable").tolist() if weight[block] > 0]
    came: dict[int, float] | None = None
    for n, block in enumerate(order):
        left = len(order) - n
        as_before = left * (time.perf_counter() - began) / max(1, n)
        if came is None and n and left > 1 and engine.worth_it(as_before) and left >= engine.slots:
            came = _blocks_on_engine(blocked, order[n:], total, report, rounds, engine)
        report.without, report.begun = total - float(weight[block]), n / len(order)
        if came is not None and block in came:
            bound = came[block]
        elif report.remaining <= 0 or stop_requested():
            continue
        else:
            share = report.remaining * weight[block] / weight[weight <= weight[block]].sum()
            bound = _bounded(blocked.subproblem(block), BlockLimits(share, rounds, engine), report)
        total = min(total, report.without + bound)
    return total


def _blocks_on_engine(
    blocked: BlockedProblem, order: list[int], total: float, report: "BoundProgress", rounds: int | None, engine: LazyEngine
) -> dict[int, float]:
    """The bounds of blocks by workers; none of those that are lost, or missing in time. `total`: the bound before."""
    report.without, ends = total, time.perf_counter() + report.remaining
    until = math.inf if math.isinf(ends) else time.time() + report.remaining
    times = TimeShares(share=blocked.weight[order], until=until, slots=engine.slots)
    shared, bounds = Shared(blocked), {}

    def jobs() -> Iterator[Job[tuple[int, float]]]:
        for position, block in enumerate(order):
            limit = JobTime.until_moment(time.perf_counter() + times.begin(position))
            yield Job(name=f"bound of block {block}", call=bound_of_block, arguments=(shared, block, limit, rounds))

    for block, bound in engine.answers(jobs(), ends=ends):
        bounds[block] = bound
        times.end(order.index(block))
        report.without -= max(0.0, float(blocked.weight[block]) - bound)
        report.begun += 1 / len(blocked.weight)
        report.tell(0.0)
    return bounds


def bound_of_block(blocked: BlockedProblem, block: int, limit: JobTime, rounds: int | None) -> tuple[int, float]:
    """What a worker does: the number of a block, and its bound."""
    clock = Budget().clock()
    limits = BlockLimits(limit.ends - time.perf_counter(), rounds, LazyEngine())
    return block, _bounded(blocked.subproblem(block), limits, BoundProgress(progress=silent, clock=clock))


class BlockLimits(NamedTuple):
    """What the bound of a block may take."""

    seconds: float
    rounds: int | None
    engine: LazyEngine


@dataclass(slots=True, kw_only=True)
class BoundProgress:
    """Reports what a bound of one block means for the whole."""

    progress: Progress
    clock: Clock
    without: float = 1.0  # the bound without the block
    begun: float = 0.0  # share of the blocks

    @property
    def remaining(self) -> float:
        """Seconds."""
        return self.clock.seconds_left

    def tell(self, bound: float) -> None:
        """Report a bound of the block."""
        seconds = self.clock.budget.seconds
        done = self.begun if seconds is None else self.clock.seconds / max(1e-9, seconds)
        self.progress(Tick(stage="bounding", done=min(1.0, done), score=min(1.0, self.without + bound)))


def _bounded(subproblem: Subproblem, limits: BlockLimits, report: BoundProgress) -> float:
    """A bound of what the workloads of a subproblem gain together; infinite if time runs out before there is one."""
    ends, number = time.perf_counter() + limits.seconds, 0
    late = ends - PROOF * limits.seconds if not math.isinf(ends) else ends
    master = AffinityMaster(subproblem=subproblem, types=machine_types_of(subproblem))
    for t, pattern in patterns_of(master.types, greedy_counts(subproblem)):
        master.add(t, pattern)
    rounds = PricingRounds(master=master, seed=0, engine=limits.engine, ends=late)

    def stop() -> bool:
        return stop_requested() or time.perf_counter() > late

    while not rounds.done and rounds.bound - master.gain > CLOSE and not stop() and number != limits.rounds:
        before, number = rounds.bound, number + 1
        rounds.price(stop)
        if rounds.bound < before:
            report.tell(rounds.bound)
    if not rounds.done and not stop_requested():
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
