"""From solved tasks to an answer: leftovers get a machine, the start is kept where it is better, the referee looks at it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.place_leftovers import place_leftovers
from bayplan.decide.collocate.subproblem import Subproblem, movable
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
    Status,
    Term,
    ints,
    relabelled,
)
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity
from bayplan.score.explain import fit_summary
from bayplan.score.gmrp import moves
from bayplan.score.terms import weighted
from bayplan.search.answer import refereed

GOAL = "affinity"
SHOWN = 20  # workloads that are explained; the others are only counted
NOTHING = 1e-12  # a gain that rounding may leave


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

    A placement that breaks more than the start did is a fault of the method, and never gets out: ModelError.
    """
    placement, violated, scores = refereed(problem, placement)
    value = scores.setdefault(GOAL, 0.0)  # a cluster without traffic has no such score
    known = None if violated else bound
    if known is not None and known < value <= known + 1e-9:
        known = value  # rounding, not a false bound
    return Result(
        status=Status.FEASIBLE,
        solution=placement,
        score=scores,
        goal=GOAL,
        bound=known,
        left_out=left_out,
        still_violated=violated,
        notes=notes,
        seconds=seconds,
    )


def keep_or_start(
    problem: Problem, placement: Placement, options: CollocateOptions, start: Placement | None = None
) -> tuple[Placement, tuple[str, ...]]:
    """A placement, or the start and why: the placement is worse, leaves more out, gains too little, or moves too many.

    `start`: where nothing runs that ran elsewhere before; the problem's, if not told. Where moves have a price
    (`options.move_price`), gains are net of it. Where other terms count, too, all of them together say what is worse.
    """
    start = problem.start if start is None else start
    why = _objection(problem, placement, options, start)
    return (start, (f"nothing moves: {why}",)) if why else (placement, ())


def _objection(problem: Problem, placement: Placement, options: CollocateOptions, start: Placement) -> str:
    moved = moves(problem.cluster, placement, problem.before)
    if len(placement.unplaced) > len(start.unplaced):
        return f"containers without a machine would be {len(placement.unplaced)} instead of {len(start.unplaced)}"
    if problem.max_moves is not None and moved > problem.max_moves:
        return f"{moved} containers would move, at most {problem.max_moves} may"
    if len(placement.unplaced) < len(start.unplaced):
        return ""
    gain = net_gain(problem, placement, options) - net_gain(problem, start, options)
    if has_other_terms(problem.objective):
        old, new = (weighted(problem.cluster, some, problem.objective, problem.before) for some in (start, placement))
        if moved and new >= old:
            return f"the answer that was found costs {new - old:.4g} more by all terms together"
    elif gain < 0:
        return f"the answer that was found is worse by {-gain:.4f} of the total affinity"
    elif moved and gain <= NOTHING:
        return "there is nothing to gain by a move"
    if gain < options.least_gain and options.least_gain > 0:
        return f"the best answer gains {gain:.4f} of the total affinity, less than {options.least_gain:g}"
    return ""


def has_other_terms(objective: Objective) -> bool:
    """Is affinity to be weighed against other terms than moves? An objective without affinity is not meant."""
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
    said = []
    for w, n in zip(workload[:SHOWN].tolist(), count[:SHOWN].tolist(), strict=True):
        fit = fit_summary(problem.cluster, placement, w)
        said.append(Reason(fit.subject, f"{n} of {problem.cluster.replicas[w]} containers have no machine: {fit.text}"))
    more = int(count[SHOWN:].sum())
    return (*said, Reason("others", f"{more} more containers have no machine")) if more else tuple(said)


def assemble(
    problem: Problem, tasks: Sequence[Subproblem], counts: Sequence[IntArray], *, free: IntArray | None = None
) -> tuple[Placement, IntArray]:
    """The placement that `counts` (service, machine) of each task make, and the lifted containers that have no machine in it.

    Containers stay wherever as many of their workload are wanted. Those of the workloads `free` are lifted and get no machine.
    """
    owner = problem.cluster.containers.workload
    may = movable(problem)
    lifted = [task.workload for task in tasks] + ([] if free is None else [free])
    goes = np.flatnonzero(may & np.isin(owner, np.concatenate([np.zeros(0, dtype=np.int64), *lifted])))
    machine_of = problem.start.machine_of.copy()
    machine_of[goes] = _seated(owner[goes], *_seats(tasks, counts))
    placement = relabelled(Placement(machine_of=ints(machine_of)), problem.before, owner, fixed=~may)
    return placement, ints(goes[placement.machine_of[goes] == UNPLACED])


def _seats(tasks: Sequence[Subproblem], counts: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Workload and machine of every seat, by workload."""
    workload, machine = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for task, count in zip(tasks, counts, strict=True):
        service, place = np.nonzero(count)
        times = count[service, place]
        workload.append(np.repeat(task.workload[service], times))
        machine.append(np.repeat(task.machine[place], times))
    of, at = np.concatenate(workload), np.concatenate(machine)
    order = np.argsort(of, kind="stable")
    return of[order], at[order]


def _seated(owner: IntArray, seat_of: IntArray, seat_at: IntArray) -> IntArray:
    """(container,) its machine: the first ones of each workload get a seat. `owner` and `seat_of` are ascending."""
    machine = np.full(len(owner), UNPLACED, dtype=np.int64)
    number = np.arange(len(owner)) - np.searchsorted(owner, owner)  # among its fellows
    seat = np.searchsorted(seat_of, owner) + number
    has = seat < np.searchsorted(seat_of, owner, side="right")
    if has.sum() != len(seat_of):
        raise ModelError(f"{len(seat_of)} containers are to be placed, but only {int(has.sum())} of them are lifted")
    machine[has] = seat_at[seat[has]]
    return machine


SECONDS = 60.0  # where no budget is given (004 section V-D: one minute)
AFTERWARDS = 0.3, 2e-5  # seconds kept for what happens here: in any case, and for each container
LAST_PASS = 5e-7  # seconds kept for each service and machine of a task: solvers end with a pass over all of them


class SolvedSubproblems(NamedTuple):
    """Tasks of one problem, solved."""

    tasks: Sequence[Subproblem]
    counts: Sequence[IntArray]  # (service, machine) of each task
    free: IntArray | None = None  # workloads that were lifted beside those of the tasks
    notes: tuple[str, ...] = ()  # what the user should know


def time_to_solve(problem: Problem, clock: Clock, tasks: Sequence[Subproblem] = ()) -> float:
    """Seconds that solvers may take from now on."""
    whole = SECONDS if clock.budget.seconds is None else clock.budget.seconds
    cells = max((task.shape[0] * task.shape[1] for task in tasks), default=0)
    keep = AFTERWARDS[0] + AFTERWARDS[1] * len(problem.cluster.containers.name) + LAST_PASS * cells
    return max(0.0, whole - min(keep, 0.5 * whole) - clock.seconds)


def out_of_time(problem: Problem, clock: Clock) -> bool:
    """Is no time left but what happens here? Never without a limit."""
    return clock.budget.seconds is not None and time_to_solve(problem, clock) <= 0.0


def finish(
    problem: Problem, solved: SolvedSubproblems, options: CollocateOptions, *, clock: Clock, seed: int
) -> Result[Placement]:
    """The result that solved tasks make."""
    placement, _ = assemble(problem, solved.tasks, solved.counts, free=solved.free)
    placement = place_leftovers(problem, placement, may_go=_lifted(problem, solved), clock=clock, seed=seed)
    found, why = keep_or_start(problem, placement, options, start_with_new_containers(problem, clock, seed))
    notes = (*why, *solved.notes)
    return collocation_result(problem, found, left_out=unplaced_reasons(problem, found), notes=notes, seconds=clock.seconds)


def start_with_new_containers(problem: Problem, clock: Clock, seed: int) -> Placement:
    """The start, with new containers where they fit beside those that run."""
    nobody = np.zeros(len(problem.cluster.containers.name), dtype=np.bool_)
    return place_leftovers(problem, problem.start, may_go=nobody, clock=clock, seed=seed)


def _lifted(problem: Problem, solved: SolvedSubproblems) -> BoolArray:
    """(container,) of workloads that were lifted."""
    workloads = [task.workload for task in solved.tasks] + ([] if solved.free is None else [solved.free])
    return np.isin(problem.cluster.containers.workload, np.concatenate([np.zeros(0, dtype=np.int64), *workloads]))
