"""The best so far of a decision that goes on, as an answer: what is left of it if the process ends before the answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bayplan.api.collocate import affinity_wanted
from bayplan.api.placement import PlacementAnswer, scores_before
from bayplan.api.planning.question import goal_of as plan_goal
from bayplan.api.planning.question import plan_question
from bayplan.api.planning.target import Rank, rank, ranked_overload
from bayplan.api.problem import problem_of
from bayplan.api.what_if import WhatIf
from bayplan.errors import BayplanError
from bayplan.model import Placement, Result, Snapshot, Status, relabelled, singled_out
from bayplan.model.problem import Problem
from bayplan.score.terms import TermInputs, TermValues
from bayplan.search.answer import expect_no_worse, goal_of

NOT_ORDERED = "the search was cut short: its moves are not ordered yet, and some may not pay"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementQuestion:
    """What a call of a verb asks about the placement of a cluster, apart from the search for the answer.

    It is asked about placements while the search goes on, so it is quick: each is renamed, refereed and scored once.
    """

    verb: str
    method: str
    seed: int
    snapshot: Snapshot
    problem: Problem
    notes: tuple[str, ...] = ()
    before: dict[str, float] = field(default_factory=dict)  # the scores of the start, once they were needed

    def rank(self, placement: Placement) -> Rank | None:
        """How good a placement is, less is better; None if it moves more than is allowed."""
        placement = self._renamed(placement)
        return None if self._moves_too_many(placement) else rank(self.problem, placement)

    def answer(self, placement: Placement, seconds: float) -> PlacementAnswer:
        """The placement as an answer that was cut short; BayplanError if the referee refuses it."""
        placement = self._renamed(placement)
        return self._answer(self._values(placement), expect_no_worse(self.problem, placement), seconds)

    def better_answer(self, placement: Placement, than: Rank | None, seconds: float) -> tuple[Rank, PlacementAnswer] | None:
        """The rank and the answer if it is better than that; None if it is not, or moves more than is allowed.

        BayplanError if the referee refuses it.
        """
        placement = self._renamed(placement)
        if self._moves_too_many(placement):
            return None
        violated, values = expect_no_worse(self.problem, placement), self._values(placement)
        unplaced, overload = len(placement.unplaced), ranked_overload(self.problem, placement)
        reached = Rank(violated=len(violated), unplaced=unplaced, overload=overload, cost=values.weighted)
        if than is not None and not reached < than:
            return None
        return reached, self._answer(values, violated, seconds)

    def _renamed(self, placement: Placement) -> Placement:
        """Interchangeable replicas renamed so that as few as possible move; those that stay by name do so, which saves time."""
        cluster, before = self.problem.cluster, self.problem.before
        fixed = singled_out(cluster) | (placement.machine_of == before.machine_of)
        fixed = fixed | self.problem.frozen if len(self.problem.frozen) else fixed
        other = relabelled(placement, before, cluster.containers.workload, fixed=fixed)
        if self.problem.objective.move_costs is None:
            return other
        return other if self._values(other).weighted <= self._values(placement).weighted else placement

    def _moves_too_many(self, placement: Placement) -> bool:
        most = self.problem.max_moves
        return most is not None and len(placement.moved_from(self.problem.before)) > most

    def _values(self, placement: Placement) -> TermValues:
        return TermValues(TermInputs(self.problem.cluster, placement, self.problem.objective, self.problem.before))

    def _answer(self, values: TermValues, violated: tuple[str, ...], seconds: float) -> PlacementAnswer:
        """Scored; no bound, which takes longer than all else."""
        scores, goal = dict(values.scores), goal_of(self.problem)
        if goal == "objective":
            scores[goal] = values.weighted
        result = Result(
            status=Status.FEASIBLE,
            solution=values.inputs.placement,
            score=scores,
            goal=goal,
            still_violated=violated,
            notes=self.notes,
            seconds=seconds,
        )
        if not self.before:
            self.before.update(scores_before(self.problem, result))
        return PlacementAnswer(
            verb=self.verb,
            method=self.method,
            seed=self.seed,
            result=result,
            before=dict(self.before),
            seconds=seconds,
            interrupted=True,
            input_notes=self.snapshot.notes,
            snapshot=replace(self.snapshot, objective=self.problem.objective),
        )


def placement_question(verb: str, snapshot: Snapshot, options: Mapping[str, Any]) -> PlacementQuestion | None:
    """The question of a call; None for verbs that do not say where containers run while they search, or if it makes no sense."""
    if verb not in _QUESTIONS:
        return None
    try:
        return _QUESTIONS[verb](snapshot, options)
    except BayplanError:  # the call itself says what is wrong
        return None


def _plan(snapshot: Snapshot, options: Mapping[str, Any]) -> PlacementQuestion:
    goal = plan_goal(options.get("goal", "steady"), options.get("weights"))
    scenario = options.get("what_if") or WhatIf()
    question = plan_question(snapshot, goal, scenario, **_given(options, "max_moves", "freeze"))
    return PlacementQuestion(
        verb="plan",
        method=goal.name,
        seed=options.get("seed", 0),
        snapshot=question.snapshot,
        problem=question.problem,
        notes=(NOT_ORDERED,),
    )


def _rebalance(snapshot: Snapshot, options: Mapping[str, Any]) -> PlacementQuestion:
    problem = problem_of(snapshot, **_given(options, "objective", "weights", "max_moves", "freeze"))
    return _of_method("rebalance", "search", snapshot, problem, options)


def _place(snapshot: Snapshot, options: Mapping[str, Any]) -> PlacementQuestion:
    return _of_method("place", "best", snapshot, problem_of(snapshot, **_given(options, "objective")), options)


def _collocate(snapshot: Snapshot, options: Mapping[str, Any]) -> PlacementQuestion:
    wanted = affinity_wanted(snapshot, **_given(options, "weights", "priority", "move_price"))
    problem = problem_of(wanted, objective=wanted.objective, **_given(options, "max_moves", "freeze"))
    return _of_method("collocate", "best", wanted, problem, options)


def _of_method(verb: str, default: str, snapshot: Snapshot, problem: Problem, options: Mapping[str, Any]) -> PlacementQuestion:
    method, seed = options.get("method", default), options.get("seed", 0)
    return PlacementQuestion(verb=verb, method=method, seed=seed, snapshot=snapshot, problem=problem)


def _given(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: options[name] for name in names if options.get(name) is not None}


_QUESTIONS: Mapping[str, Callable[[Snapshot, Mapping[str, Any]], PlacementQuestion]] = {
    "plan": _plan,
    "rebalance": _rebalance,
    "place": _place,
    "collocate": _collocate,
}
