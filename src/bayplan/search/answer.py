"""The result of a decision: relabelled, refereed, scored."""

from collections import Counter
from collections.abc import Mapping

from bayplan.check import Violation, check
from bayplan.errors import ModelError
from bayplan.model import Placement, Reason, Result, Term, relabelled, singled_out, verdict
from bayplan.model.problem import Problem
from bayplan.score.bound import lower_bound
from bayplan.score.terms import score, weighted

GMRP_TERMS = {Term.OVERLOAD, Term.TARGETS, Term.MOVE_COST}


def answer(
    problem: Problem,
    placement: Placement,
    *,
    left_out: tuple[Reason, ...] = (),
    seconds: float = 0.0,
    rename: bool = True,
) -> Result[Placement]:
    """The result for a placement that a method found. Replicas are renamed so that few move, if that costs nothing.

    Not with `rename=False`: where steps lead to this very placement, other names would contradict them.
    A placement that violates more than the start did is a fault of the method, and never gets out: ModelError.
    """
    placement, violated, scores = refereed(problem, placement, rename=rename)
    goal = goal_of(problem)
    if goal == "objective":
        scores[goal] = weighted(problem.cluster, placement, problem.objective, problem.before)
    status, bound = verdict(goal, scores[goal], None if violated or len(placement.unplaced) else _bound(problem))
    return Result(
        status=status,
        solution=placement,
        score=scores,
        goal=goal,
        bound=bound,
        left_out=left_out,
        still_violated=violated,
        seconds=seconds,
    )


def refereed(
    problem: Problem, placement: Placement, *, rename: bool = True
) -> tuple[Placement, tuple[str, ...], dict[str, float]]:
    """The placement, its replicas renamed, the rules it still violates, and its scores; ModelError if it violates more."""
    placement = _renamed(problem, placement) if rename else placement
    violated = expect_no_worse(problem, placement)
    return placement, violated, dict(score(problem.cluster, placement, problem.objective, problem.before))


def _bound(problem: Problem) -> float | None:
    """The proven bound of the objective; only valid and complete placements cannot pass it."""
    movable = ~problem.frozen if len(problem.frozen) else None
    return lower_bound(problem.cluster, problem.objective, problem.before, movable)


def goal_of(problem: Problem) -> str:
    """The score that is the objective: GMRP's, [FreeContainer] (6), or a mixture that has no name of its own."""
    weight = {term: value for term, value in problem.objective.weight.items() if value}
    if problem.objective.move_costs is not None and weight == dict.fromkeys(GMRP_TERMS, 1.0):
        return "gmrp"
    return "total" if weight.keys() <= {Term.UTILISATION, Term.BALANCE, Term.COMMUNICATION} and weight else "objective"


def expect_no_worse(problem: Problem, placement: Placement) -> tuple[str, ...]:
    """The violations that are left of those at the start; ModelError if any kind of rule is violated more than then."""
    after = check(problem.cluster, placement, problem.before)
    if not after:
        return ()
    before = check(problem.cluster, problem.before, problem.before)
    then, now = excess_by_kind(before), excess_by_kind(after)
    for kind, excess in now.items():
        if excess > then.get(kind, 0.0) * (1 + 1e-9) + 1e-6:
            worst = next(violation for violation in after if violation.rule == kind)
            by = f"{excess:g} instead of {then.get(kind, 0.0):g}"
            raise ModelError(f"the method broke a rule ({kind}, by {by}): {worst.sentence}")
    return tuple(violation.sentence for violation in after)


def excess_by_kind(violations: tuple[Violation, ...]) -> Mapping[str, float]:
    """The total excess of each kind of rule."""
    total: Counter[str] = Counter()
    for violation in violations:
        total[violation.rule] += violation.excess  # type: ignore[assignment]
    return total


def _renamed(problem: Problem, placement: Placement) -> Placement:
    cluster, before = problem.cluster, problem.before
    fixed = singled_out(cluster) | (problem.frozen if len(problem.frozen) else False)
    other = relabelled(placement, before, cluster.containers.workload, fixed=fixed)
    if problem.objective.move_costs is None:
        return other
    costs = [weighted(cluster, candidate, problem.objective, before) for candidate in (other, placement)]
    return other if costs[0] <= costs[1] else placement
