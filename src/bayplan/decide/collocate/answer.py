"""The answer of a collocator: refereed, scored by its gained affinity, and not given where it is not worth the moves."""

from bayplan.decide.collocate.signature import CollocateOptions
from bayplan.model import Objective, Placement, Reason, Result, Status, Term
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity
from bayplan.score.churn import moves
from bayplan.score.terms import weighted
from bayplan.search.answer import refereed

GOAL = "affinity"
NOTHING = 1e-12  # a gain that rounding may leave


def collocated(
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


def worth_it(
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
    if problem.most_moves is not None and moved > problem.most_moves:
        return f"{moved} containers would move, at most {problem.most_moves} may"
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
