"""Which machines can go: as many as can be emptied within the limit of moves, while all rules and safety hold."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from bayplan.api.planning.plan_jobs import PlanJobs
from bayplan.api.planning.question import PlanQuestion
from bayplan.api.planning.target import with_new_containers
from bayplan.api.what_if.closed_machines import closed
from bayplan.check import check
from bayplan.engine import Job, Shared
from bayplan.model import UNPLACED, Budget, Clock, IntArray, Placement, Progress, Tick, ints
from bayplan.model.allowed_machines import daemons, pinned_containers
from bayplan.model.interrupt import stop_requested
from bayplan.model.problem import Problem
from bayplan.score.gmrp import moves, overload_cost
from bayplan.score.utilisation import machine_fullness
from bayplan.search.anneal import search

TRIES = 16
LATE = 1.0  # seconds after the end of the time, when tries that have not ended are given up
LEAST_SECONDS, ALL_STAY = 0.2, 0.6  # for one try, and for a placement in which all machines stay


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmptiedMachines:
    """The machines that can go, the problem without them, and a placement of it."""

    machines: IntArray
    problem: Problem


def empty_machines(
    question: PlanQuestion, *, budget: Budget, seed: int, progress: Progress, jobs: PlanJobs | None = None
) -> EmptiedMachines:
    """As many machines as were found to go, the least loaded first. `jobs`: where tries run, if not here.

    More and more are tried together while that works, fewer when it does not; a machine that cannot go even alone is passed over.
    Each try depends on the outcome of the one before it. So where several run at a time, those that would follow either outcome
    are made beside it: what is not needed is dropped, and by iterations the answer is the same as of one try after the other.
    """
    order, clock = _candidates(question), budget.clock()
    each = budget.share(1.0 / TRIES)
    each = each if each.seconds is None else replace(each, seconds=max(LEAST_SECONDS, each.seconds))
    more = each if each.seconds is None else replace(each, seconds=max(ALL_STAY, 2 * each.seconds))
    all_stay = _searched(question.problem, more, seed)
    best = EmptiedMachines(machines=ints([]), problem=replace(question.problem, start=all_stay))
    tries, step = _Tries(question, all_stay, each, seed, jobs or PlanJobs(), clock), EmptyingStep(order=order)
    with tries.jobs.engine:
        for _ in range(TRIES if budget.seconds is None else 10 * TRIES):
            if step.over or clock.expired() or stop_requested():
                break
            placement = tries.outcome(step)
            if placement is not None:
                best = EmptiedMachines(machines=step.wanted, problem=replace(_without(question, step.wanted), start=placement))
            step = step.after(succeeded=placement is not None)
            progress(Tick(stage=f"emptying machines: {len(best.machines)} can go", done=step.passed / len(order)))
    return best


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmptyingStep:
    """A try, and which one follows it."""

    order: IntArray  # candidates
    gone: IntArray = field(default_factory=lambda: ints([]))  # machines that can go
    passed: int = 0  # candidates that are decided on
    size: int = 1  # candidates that are tried together

    @property
    def over(self) -> bool:
        """Are all candidates decided on?"""
        return self.passed >= len(self.order)

    @property
    def tried(self) -> IntArray:
        """The candidates of this try."""
        return self.order[self.passed : self.passed + self.size]

    @property
    def wanted(self) -> IntArray:
        """All machines that are gone if it succeeds."""
        return ints(np.union1d(self.gone, self.tried))

    def after(self, *, succeeded: bool) -> "EmptyingStep":
        """The next try: of more candidates, of fewer, or without one that cannot go even alone."""
        passed = self.passed + (len(self.tried) if succeeded or self.size == 1 else 0)
        size = 2 * self.size if succeeded else max(1, self.size // 2)
        return replace(self, gone=self.wanted if succeeded else self.gone, passed=passed, size=size)


class _Tries:
    """Tries that were made, by the machines that were to go."""

    def __init__(
        self, question: PlanQuestion, all_stay: Placement, each: Budget, seed: int, jobs: PlanJobs, clock: Clock
    ) -> None:
        self.jobs, self.clock, self.seed = jobs, clock, seed
        self.each = each if each.iterations is None else replace(each, threads=1)
        self.shared, self.all_stay = Shared(question), all_stay.machine_of.astype(np.int32)
        self.outcomes: dict[tuple[int, ...], Placement | None] = {}

    def outcome(self, step: EmptyingStep) -> Placement | None:
        """A placement in which the machines of a step are empty; None if none was found."""
        key = _key(step)
        if key not in self.outcomes:
            self._try(steps_ahead(step, self.jobs.slots))
        return self.outcomes.get(key)

    def _try(self, steps: Sequence[EmptyingStep]) -> None:
        new = {_key(step): step for step in steps if _key(step) not in self.outcomes}
        each = replace(self.each, threads=max(1, self.each.threads // len(new)))
        jobs = [
            Job(
                name=f"emptying {len(step.wanted):,} machines",
                call=emptied_placement,
                arguments=(self.shared, self.all_stay, step.wanted, each, self.seed),
            )
            for step in new.values()
        ]
        late = self.clock.left()
        seconds = None if late is None else late + LATE + (each.seconds or 0.0)
        keys = list(new)
        for n, machine_of in self.jobs.stream(jobs, seconds=seconds):
            self.outcomes[keys[n]] = None if machine_of is None else Placement(machine_of=ints(machine_of))


def steps_ahead(step: EmptyingStep, number: int) -> list[EmptyingStep]:
    """A step and those that may follow it, the nearest first, with at most as many tries as that."""
    steps, ahead = [step], 0
    while ahead < len(steps) < number:
        following = [steps[ahead].after(succeeded=succeeded) for succeeded in (True, False)]
        steps += [each for each in following if not each.over][: number - len(steps)]
        ahead += 1
    return steps


def _key(step: EmptyingStep) -> tuple[int, ...]:
    return tuple(step.wanted.tolist())


def _candidates(question: PlanQuestion) -> IntArray:
    """Machines that run something, and nothing that must stay but what goes with its machine; the least loaded first."""
    snapshot, problem = question.changed.snapshot, question.problem
    machine_of = snapshot.placement.machine_of
    stays = pinned_containers(snapshot.cluster) & ~daemons(snapshot.cluster, snapshot.placement)
    stays = stays | problem.frozen if len(problem.frozen) else stays
    held = set(machine_of[stays & (machine_of != UNPLACED)].tolist())
    full = np.nan_to_num(machine_fullness(snapshot.cluster, snapshot.placement), nan=0.0, posinf=np.inf).max(axis=1, initial=0.0)
    used = np.unique(machine_of[machine_of != UNPLACED])
    free = [m for m in used.tolist() if m not in held]
    return ints(sorted(free, key=lambda m: (full[m], m)))


def _searched(problem: Problem, budget: Budget, seed: int) -> Placement:
    return search(replace(problem, start=with_new_containers(problem, seed)), budget=budget, seed=seed)


def emptied_placement(
    question: PlanQuestion, all_stay: npt.NDArray[np.int32], machines: IntArray, budget: Budget, seed: int
) -> npt.NDArray[np.int32] | None:
    """(container,) where everything runs if these machines are empty; None if no such placement was found.

    `all_stay`: what was found with all machines. Without some of them it must not be worse in the first ranks.
    """
    placement = _searched(_without(question, machines), budget, seed)
    if not _holds(question, Placement(machine_of=ints(all_stay)), placement, machines):
        return None
    return placement.machine_of.astype(np.int32)


def _without(question: PlanQuestion, machines: IntArray) -> Problem:
    chosen = np.zeros(len(question.problem.cluster.machines.name), dtype=np.bool_)
    chosen[machines] = True
    whole = replace(question.changed.snapshot, cluster=question.problem.cluster)
    return replace(question.problem, cluster=closed(whole, chosen).cluster)


def _holds(question: PlanQuestion, all_stay: Placement, placement: Placement, machines: IntArray) -> bool:
    """Are these machines empty, nothing further violated, nothing hotter than with all, and the moves within their limit?"""
    cluster, before, limit = question.problem.cluster, question.problem.before, question.problem.max_moves
    left = np.isin(placement.machine_of, machines) & ~daemons(cluster, before)
    if left.any() or len(placement.unplaced) > len(all_stay.unplaced):
        return False
    if limit is not None and moves(cluster, placement, before) > limit:
        return False
    old, new = (overload_cost(cluster, each, question.problem.objective) for each in (all_stay, placement))
    if new > old * (1 + 1e-9):
        return False
    excess = {violation.place: violation.excess for violation in check(cluster, before)}
    return all(v.excess <= excess.get(v.place, 0.0) * (1 + 1e-12) for v in check(cluster, placement, before))
