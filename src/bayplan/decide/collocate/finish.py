"""From solved subproblems, or from any placement, to a result.

Counts become a placement, leftovers get a machine, the start is kept where it is better, and the referee checks the answer.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.place_by_rules import place_by_rules
from bayplan.decide.collocate.place_leftovers import place_leftovers
from bayplan.decide.collocate.subproblem import Subproblem, has_other_rules, movable
from bayplan.errors import ModelError
from bayplan.model import (
    UNPLACED,
    BoolArray,
    Clock,
    IntArray,
    Objective,
    Placement,
    Reason,
    Result,
    Term,
    ints,
    relabelled,
    verdict,
)
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity
from bayplan.score.explain import fit_summary
from bayplan.score.gmrp import moves
from bayplan.score.terms import weighted
from bayplan.search.answer import refereed

GOAL = "affinity"
SHOWN = 20  # workloads that are explained; the others are only counted
NO_GAIN = 1e-12  # a gain that rounding may leave
SECONDS = 60.0  # where no budget is given ([RASA] §V-D: one minute)
AFTERWARDS = 0.3, 2e-5  # seconds kept for what happens here: in any case, and for each container
LAST_PASS = 5e-7  # seconds kept for each workload and machine of a subproblem: solvers end with a pass over all of them


class SolvedSubproblems(NamedTuple):
    """Subproblems of one problem, and the counts that solve them."""

    subproblems: Sequence[Subproblem]
    counts: Sequence[IntArray]  # (workload, machine) of each subproblem
    free: IntArray | None = None  # workloads that were lifted beside those of the subproblems
    notes: tuple[str, ...] = ()  # what the user should know


def time_to_solve(problem: Problem, clock: Clock, subproblems: Sequence[Subproblem] = ()) -> float:
    """Seconds that solvers may take from now on; infinite where only their iterations are limited."""
    if clock.budget.seconds is None and clock.budget.iterations is not None:
        return math.inf
    total = SECONDS if clock.budget.seconds is None else clock.budget.seconds
    largest = max((subproblem.shape[0] * subproblem.shape[1] for subproblem in subproblems), default=0)
    keep = AFTERWARDS[0] + AFTERWARDS[1] * len(problem.cluster.containers.name) + LAST_PASS * largest
    return max(0.0, total - min(keep, 0.5 * total) - clock.seconds)


def out_of_time(problem: Problem, clock: Clock) -> bool:
    """Is no time left but what is kept for the end? Never without a limit."""
    return clock.budget.seconds is not None and time_to_solve(problem, clock) <= 0.0


def finish(
    problem: Problem, solved: SolvedSubproblems, options: CollocateOptions, *, clock: Clock, seed: int
) -> Result[Placement]:
    """The result that solved subproblems make."""
    placement, _ = assemble(problem, solved.subproblems, solved.counts, free=solved.free)
    lifted = _lifted(problem, solved.subproblems, solved.free)
    return finish_placement(problem, placement, options, may_go=lifted, clock=clock, seed=seed, notes=solved.notes)


def finish_placement(
    problem: Problem,
    placement: Placement,
    options: CollocateOptions,
    *,
    may_go: BoolArray,
    clock: Clock,
    seed: int,
    notes: tuple[str, ...] = (),
) -> Result[Placement]:
    """The result of a placement that may leave containers out: they get a machine, and the start is kept if it is better.

    `may_go` (container,): those that may be sent away for that. The last step of every method that moves something.
    """
    placement = with_new_containers(problem, placement, may_go=may_go, clock=clock, seed=seed)
    start = start_with_new_containers(problem, clock, seed)
    why = objection(problem, placement, options, start)
    if why:
        placement = make_way(problem, start, options, start, clock=clock, seed=seed)
        notes = (f"nothing moves: {why}" if placement is start else f"moves only make way for new containers: {why}", *notes)
    reasons = unplaced_reasons(problem, placement)
    return collocation_result(problem, placement, left_out=reasons, notes=notes, seconds=clock.seconds)


def with_new_containers(problem: Problem, placement: Placement, *, may_go: BoolArray, clock: Clock, seed: int) -> Placement:
    """The placement with a machine for containers that have none: first in counts, then by all rules.

    `may_go` (container,): those that may be sent away for that, where counts can express all rules about moves.
    """
    if not has_other_rules(problem):
        placement = place_leftovers(problem, placement, may_go=may_go, clock=clock, seed=seed)
    return place_by_rules(problem, placement)


def start_with_new_containers(problem: Problem, clock: Clock, seed: int) -> Placement:
    """The start, with new containers where they fit beside those that run."""
    none = np.zeros(len(problem.cluster.containers.name), dtype=np.bool_)
    return with_new_containers(problem, problem.start, may_go=none, clock=clock, seed=seed)


def make_way(
    problem: Problem, placement: Placement, options: CollocateOptions, start: Placement, *, clock: Clock, seed: int
) -> Placement:
    """The placement; or, if that places more containers, the same with others moved out of their way."""
    if not len(placement.unplaced):
        return placement
    crowded = with_new_containers(problem, placement, may_go=movable(problem), clock=clock, seed=seed)
    more = len(crowded.unplaced) < len(placement.unplaced)
    return crowded if more and not objection(problem, crowded, options, start) else placement


def collocation_result(
    problem: Problem,
    placement: Placement,
    *,
    left_out: tuple[Reason, ...] = (),
    notes: tuple[str, ...] = (),
    bound: float | None = None,
    seconds: float = 0.0,
) -> Result[Placement]:
    """The result for a placement that a method found. `bound`: no placement that keeps the rules gains more.

    A placement that violates more than the start does is a fault of the method, and never gets out: ModelError.
    """
    placement, violated, scores = refereed(problem, placement)
    value = scores.setdefault(GOAL, 0.0)  # a cluster without traffic has no such score
    status, known = verdict(GOAL, value, None if violated else bound)
    return Result(
        status=status,
        solution=placement,
        score=scores,
        goal=GOAL,
        bound=known,
        left_out=left_out,
        still_violated=violated,
        notes=notes,
        seconds=seconds,
    )


def objection(problem: Problem, placement: Placement, options: CollocateOptions, start: Placement) -> str:
    """Why a placement is not taken: it is worse than the start, leaves more out, gains too little, or moves too many. Or empty.

    `start`: a placement in which no container has moved. More containers with a machine are better, as long as no affinity is
    lost by that. Where moves have a price (`options.move_price`), gains are net of it. Where other terms count, too, all of them
    together say what is worse.
    """
    moved = moves(problem.cluster, placement, problem.before)
    if len(placement.unplaced) > len(start.unplaced):
        return f"containers without a machine would be {len(placement.unplaced)} instead of {len(start.unplaced)}"
    if problem.max_moves is not None and moved > problem.max_moves:
        return f"{moved} containers would move, at most {problem.max_moves} may"
    if len(placement.unplaced) < len(start.unplaced):
        return _loss(problem, placement)
    gain = net_gain(problem, placement, options) - net_gain(problem, start, options)
    if has_other_terms(problem.objective):
        old, new = (weighted(problem.cluster, each, problem.objective, problem.before) for each in (start, placement))
        if new > old or (moved and new >= old):
            return f"the best placement costs {new - old:.4g} more by all terms together"
    elif gain < -NO_GAIN:
        return f"the best placement is worse by {-gain:.4f} of the total affinity"
    elif moved and gain <= NO_GAIN:
        return "there is nothing to gain by a move"
    if gain < options.least_gain and options.least_gain > 0:
        return f"the best placement gains {gain:.4f} of the total affinity, less than {options.least_gain:g}"
    return ""


def _loss(problem: Problem, placement: Placement) -> str:
    """Why a placement that places more containers than the start is not taken; where other terms count it always is."""
    loss = gained_affinity(problem.cluster, problem.start) - gained_affinity(problem.cluster, placement)
    if loss <= NO_GAIN or has_other_terms(problem.objective):
        return ""
    return f"the placement with most containers loses {loss:.4f} of the total affinity"


def has_other_terms(objective: Objective) -> bool:
    """Does the objective weigh affinity against other terms than moves? Without affinity in it: no."""
    weighed = {term for term, weight in objective.weight.items() if weight > 0}
    return Term.AFFINITY in weighed and bool(weighed - {Term.AFFINITY, Term.MOVES})


def net_gain(problem: Problem, placement: Placement, options: CollocateOptions) -> float:
    """Gained affinity, less the price of the moves."""
    share = moves(problem.cluster, placement, problem.before) / max(1, len(placement.machine_of))
    return gained_affinity(problem.cluster, placement) - options.move_price * share


def unplaced_reasons(problem: Problem, placement: Placement) -> tuple[Reason, ...]:
    """Workloads with containers that have no machine, and how many machines could take one more."""
    owner = problem.cluster.containers.workload[placement.unplaced]
    workload, count = np.unique(owner, return_counts=True)
    reasons = []
    for w, n in zip(workload[:SHOWN].tolist(), count[:SHOWN].tolist(), strict=True):
        fit = fit_summary(problem.cluster, placement, w)
        reasons.append(Reason(fit.subject, f"{n} of {problem.cluster.replicas[w]} containers have no machine: {fit.text}"))
    others = int(count[SHOWN:].sum())
    return (*reasons, Reason("others", f"{others} more containers have no machine")) if others else tuple(reasons)


def assemble(
    problem: Problem, subproblems: Sequence[Subproblem], counts: Sequence[IntArray], *, free: IntArray | None = None
) -> tuple[Placement, IntArray]:
    """The placement that `counts` (workload, machine) of each subproblem make, and the lifted containers without a machine in it.

    Containers stay wherever that many of their workload are wanted. Those of the workloads `free` are lifted and get no machine.
    """
    owner = problem.cluster.containers.workload
    may_move = movable(problem)
    goes = np.flatnonzero(may_move & _lifted(problem, subproblems, free))
    machine_of = problem.start.machine_of.copy()
    machine_of[goes] = _assign_slots(owner[goes], *_slots(subproblems, counts))
    placement = relabelled(Placement(machine_of=ints(machine_of)), problem.before, owner, fixed=~may_move)
    return placement, ints(goes[placement.machine_of[goes] == UNPLACED])


def _lifted(problem: Problem, subproblems: Sequence[Subproblem], free: IntArray | None) -> BoolArray:
    """(container,) of workloads that were lifted."""
    workloads = [subproblem.workload for subproblem in subproblems] + ([] if free is None else [free])
    return np.isin(problem.cluster.containers.workload, np.concatenate([np.zeros(0, dtype=np.int64), *workloads]))


def _slots(subproblems: Sequence[Subproblem], counts: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Workload and machine of every container that the counts place, by workload."""
    workload, machine = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for subproblem, count in zip(subproblems, counts, strict=True):
        row, column = np.nonzero(count)
        times = count[row, column]
        workload.append(np.repeat(subproblem.workload[row], times))
        machine.append(np.repeat(subproblem.machine[column], times))
    slot_workload, slot_machine = np.concatenate(workload), np.concatenate(machine)
    order = np.argsort(slot_workload, kind="stable")
    return slot_workload[order], slot_machine[order]


def _assign_slots(owner: IntArray, slot_workload: IntArray, slot_machine: IntArray) -> IntArray:
    """(container,) its machine: the first ones of each workload get a slot. `owner` and `slot_workload` are ascending."""
    machine = np.full(len(owner), UNPLACED, dtype=np.int64)
    number = np.arange(len(owner)) - np.searchsorted(owner, owner)  # among the replicas of its workload
    slot = np.searchsorted(slot_workload, owner) + number
    has = slot < np.searchsorted(slot_workload, owner, side="right")
    if has.sum() != len(slot_workload):
        raise ModelError(f"{len(slot_workload)} containers are to be placed, but only {int(has.sum())} of them are lifted")
    machine[has] = slot_machine[slot[has]]
    return machine
