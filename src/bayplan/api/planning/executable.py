"""From a target to one that can be reached: moves that cannot be ordered are replaced by others, or dropped."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bayplan.api.migrate import MigrationAnswer, migrate, migrate_by
from bayplan.api.planning.target import PaidMoves, drop_idle_moves, rank
from bayplan.model import UNPLACED, Budget, Clock, Placement, Plan, Progress, Reason, Snapshot
from bayplan.model.allowed_machines import co_located_groups
from bayplan.model.interrupt import set_aside, stop_requested
from bayplan.model.problem import Problem
from bayplan.score.goal.move_gains import move_gains

ROUNDS = 4
EACH_ROUND = (500, 0.45), (math.inf, 0.8)  # containers, and of the time left, for a round; the last one has all
WORTH_WAITING = 2.0  # seconds
LATE = 0.12  # of all time: with less left, no further round begins
TRYING = 0.2  # of what is left of the time, for an order of all moves, but at least a second and ...
PATIENCE, LONGEST = (4e-4, 5e-3), 300.0  # ... for each container and each move, up to this; a complete order ends the wait
UNTIMED = 60.0  # seconds for an order, at least, where a budget states none
ORDERING = 0.3, 1.5e-3  # seconds for an order of moves, in any case and for each move
MOST, FEW = 0.4, 0.15  # of what is left: never more is kept for ordering; with more than FEW, there is one round only


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReachableTarget:
    """A target, the moves to it, and their order."""

    paid: PaidMoves
    migration: MigrationAnswer
    problem: Problem  # that it solves
    emptied: int = 0  # machines that the problem is without
    whole: Placement | None = None  # where all moves would lead, if this is a part of the way
    notes: tuple[str, ...] = ()  # about how the target was found
    replaced: tuple[Reason, ...] = ()  # containers whose move could not be ordered: it was replaced or dropped

    def stays(self, problem: Problem, c: int) -> bool:
        """Does a container stay where it is?"""
        return bool(self.paid.placement.machine_of[c] == problem.before.machine_of[c])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ordering:
    """How moves are to be ordered."""

    snapshot: Snapshot  # as it runs; its rules hold on the way
    options: Mapping[str, Any]  # of `migrate`
    clock: Clock
    seed: int
    progress: Progress
    most: int | None = None  # moves of one plan, where targets may take more

    def deciding(self, budget: Budget, problem: Problem, *, last: bool) -> Budget:
        """What a round may use for its target: a part of what is left of the time when all its moves will have been ordered."""
        left = self.clock.left()
        if left is None:
            return budget
        free = max(0.0, left - min(MOST * left, self._ordering(problem)))
        share = next(share for most, share in EACH_ROUND if len(problem.before.machine_of) <= most)
        return replace(budget, seconds=free if last or self._ordering(problem) > FEW * left else share * free)

    def is_done(self, budget: Budget, problem: Problem) -> bool:
        """With a plan in hand: is the time left too short for another round?"""
        left = self.clock.left()
        return left is None or left < LATE * (budget.seconds or 0.0) + self._ordering(problem)

    def is_late(self, budget: Budget, problem: Problem) -> bool:
        """Without a plan: is the time over, and would another round take long? A short one is worth the wait."""
        return self.is_done(budget, problem) and self.clock.left() is not None and self._ordering(problem) > WORTH_WAITING

    def _ordering(self, problem: Problem) -> float:
        """Seconds that an order of as many moves as may be made takes, about."""
        limits = (len(problem.before.placed), problem.max_moves, self.most)
        return ORDERING[0] + ORDERING[1] * min(limit for limit in limits if limit is not None)

    def order(self, target: Placement) -> MigrationAnswer:
        """The moves to a target in a safe order, as far as there is one."""
        left = self.clock.left()
        moved = int((target.machine_of != self.snapshot.placement.machine_of).sum())
        budget = self.clock.budget.seconds
        in_any_case = 1.0 if budget is None else min(1.0, 0.5 * budget)  # a question of less than two seconds has less
        at_least = min(LONGEST, in_any_case + PATIENCE[0] * len(target.machine_of) + PATIENCE[1] * moved)
        seconds = max(UNTIMED, at_least) if left is None else max(at_least, TRYING * left)
        with set_aside():
            return migrate(self.snapshot, target, seconds=seconds, seed=self.seed, progress=self.progress, **self.options)


class Decision(NamedTuple):
    """A target, and the problem that it solves: the one in question, or the same without machines that can go."""

    problem: Problem
    target: Placement
    emptied: int = 0  # machines that the problem is without
    whole: Placement | None = None  # where all moves would lead, if the target is a part of the way
    notes: tuple[str, ...] = ()  # about how it was found


Decide = Callable[[Problem, Budget, int], Decision]  # on a target of a problem, within a budget, by a seed


def reachable(problem: Problem, decide: Decide, ordering: Ordering, *, budget: Budget) -> ReachableTarget:
    """The best target that can be reached. Where nothing can be ordered, nothing moves.

    In each round a target is decided on and its moves are ordered. What cannot be ordered stays where it runs from then on, so
    the next round decides on other moves. Where no round ends in a complete plan, the best of the incomplete ones counts, with
    its end as the target.
    """
    replaced: dict[int, Reason] = {}
    partial: list[tuple[Placement, Plan]] = []
    best: ReachableTarget | None = None
    first = problem
    for number in range(ROUNDS):
        decision = decide(problem, ordering.deciding(budget, problem, last=number == ROUNDS - 1), ordering.seed + number)
        paid = drop_idle_moves(decision.problem, decision.target, progress=ordering.progress)
        answer = ordering.order(paid.placement)
        if answer.complete:
            reached = ReachableTarget(
                paid=paid,
                migration=answer,
                problem=decision.problem,
                emptied=decision.emptied,
                whole=decision.whole,
                notes=decision.notes,
            )
            best = reached if best is None or _key(first, reached) < _key(first, best) else best
        else:
            stuck = _stuck(problem, paid.placement, answer)
            replaced |= stuck
            problem, end = _held(problem, stuck), _end(problem, answer)
            if end is not None and answer.plan is not None:
                partial.append((end, answer.plan))
                problem = replace(problem, start=end)
        late = ordering.is_late(budget, problem) if best is None else ordering.is_done(budget, problem)
        if late or stop_requested():
            break
    best = best or _best_partial(problem, partial, ordering)
    why = tuple(replaced[c] for c in sorted(replaced) if best.stays(problem, c))
    return replace(best, replaced=why)


def _key(problem: Problem, reached: ReachableTarget) -> tuple[float, ...]:
    """What is compared first, second, ...: violated rules, containers without a machine, overload, machines, the objective."""
    first = rank(problem, reached.paid.placement)
    return first.violated, first.unplaced, first.overload, -reached.emptied, first.cost


def _best_partial(problem: Problem, partial: Sequence[tuple[Placement, Plan]], ordering: Ordering) -> ReachableTarget:
    """The best end of incomplete plans, which are complete plans to where they end; nothing moves if that is better."""
    still = problem.before
    for end, plan in sorted(partial, key=lambda each: rank(problem, each[0])):
        answer = (
            migrate_by(ordering.snapshot, end, plan, **ordering.options) if rank(problem, end) < rank(problem, still) else None
        )
        if answer is not None:
            gains = tuple(move_gains(problem.cluster, problem.before, end, problem.objective))
            paid = PaidMoves(placement=end, gains=gains, needed_for={})
            return ReachableTarget(paid=paid, migration=answer, problem=problem)
    paid = PaidMoves(placement=still, gains=(), needed_for={})
    return ReachableTarget(paid=paid, migration=ordering.order(still), problem=problem)


def _stuck(problem: Problem, target: Placement, answer: MigrationAnswer) -> dict[int, Reason]:
    """Containers that do not arrive, each with why; all that move or come if the target is refused."""
    index = {name: c for c, name in enumerate(problem.cluster.containers.name)}
    if answer.plan is not None:
        return {index[reason.subject]: reason for reason in answer.left_out}
    why = answer.still_violated[0] if answer.still_violated else "the target is refused"
    changed = np.flatnonzero(target.machine_of != problem.before.machine_of).tolist()
    return {c: _reason(problem, c, why) for c in changed}


def _reason(problem: Problem, c: int, why: str) -> Reason:
    return Reason(problem.cluster.containers.name[c], why)


def _held(problem: Problem, stuck: Mapping[int, Reason]) -> Problem:
    """The problem in which the stuck containers, and those that belong with them, stay where they run."""
    frozen = problem.frozen.copy() if len(problem.frozen) else np.zeros(len(problem.cluster.containers.name), dtype=np.bool_)
    frozen[list(stuck)] = True
    for group in co_located_groups(problem.cluster):
        if frozen[list(group)].any():
            frozen[list(group)] = True
    frozen &= problem.before.machine_of != UNPLACED
    return replace(problem, frozen=frozen)


def _end(problem: Problem, answer: MigrationAnswer) -> Placement | None:
    """Where an incomplete plan leads, if no container is down or runs twice then."""
    if answer.checked is None:
        return None
    reached, ran = answer.checked.running, problem.before.machine_of != UNPLACED
    whole = not len(reached.doubled) and bool((reached.machine_of[ran] != UNPLACED).all())
    return reached.placement if whole else None
