"""What is asked of a plan: the cluster as it is or as a scenario changes it, the goal, and the problem that they make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayplan.api.problem import matching_any, move_limit, not_negative
from bayplan.api.what_if import ChangedCluster, WhatIf, what_if
from bayplan.errors import ModelError, UsageError, expect_one_of
from bayplan.model import UNPLACED, Snapshot, Term
from bayplan.model.allowed_machines import pinned_containers
from bayplan.model.goal import FREE_WEIGHTS, GOALS, Goal
from bayplan.model.problem import Problem
from bayplan.score.goal.objective import goal_objective, rules_of_goal

OWN_WEIGHTS = {"local-traffic": "local_traffic", "balance": "balance", "price": "price"}  # a goal's weights -> its fields


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanQuestion:
    """A snapshot, what changes in it, what is wanted, and the problem of the search."""

    now: Snapshot
    changed: ChangedCluster  # in which machines that must be emptied have no capacity
    open: Snapshot  # the same, but for that: what runs there still has its capacity
    goal: Goal
    problem: Problem  # of the changed cluster, with the rules of the goal
    limit: int  # of moves, those away from drained machines left aside

    @property
    def snapshot(self) -> Snapshot:
        """The changed cluster as it runs, under the objective of the goal and without the rules that only the plan adds."""
        return replace(self.open, objective=self.problem.objective)

    def within(self, limit: int) -> Problem:
        """The problem with another limit of moves."""
        return replace(self.problem, max_moves=limit + forced_moves(self.changed))


def plan_question(
    snapshot: Snapshot,
    goal: Goal,
    scenario: WhatIf,
    *,
    max_moves: int | str | None = None,
    freeze: Sequence[str] = (),
) -> PlanQuestion:
    """The question; UsageError if a name or a number in it makes no sense."""
    changed = what_if(snapshot, scenario)
    here = changed.snapshot
    still_open = what_if(snapshot, replace(scenario, drain=())).snapshot if scenario.drain else here
    limit = move_limit(goal.max_moves if max_moves is None else max_moves, len(here.placement.placed))
    frozen = np.zeros(0, dtype=np.bool_)
    if freeze:
        frozen = matching_any(here.cluster, freeze, "to freeze") & (here.placement.machine_of != UNPLACED)
    problem = Problem(
        cluster=replace(here.cluster, rules=(*here.cluster.rules, *rules_of_goal(here.cluster, goal))),
        objective=goal_objective(here, goal),
        before=here.placement,
        start=here.placement,
        frozen=frozen,
        max_moves=limit + forced_moves(changed),
    )
    return PlanQuestion(now=snapshot, changed=changed, open=still_open, goal=goal, problem=problem, limit=limit)


def forced_moves(changed: ChangedCluster) -> int:
    """Containers that have to leave drained machines: no limit of moves holds them there."""
    snapshot = changed.snapshot
    leaving = np.isin(snapshot.placement.machine_of, changed.drained) & ~pinned_containers(snapshot.cluster)
    return int(leaving.sum())


def goal_of(goal: Goal | str, weights: Mapping[str, float] | None = None) -> Goal:
    """The goal of that name, or the goal itself, with some weights changed."""
    if isinstance(goal, str):
        expect_one_of(goal, GOALS, "goal")
        goal = GOALS[goal]
    own: dict[str, float] = {}
    terms = dict(goal.weights)
    for name, value in (weights or {}).items():
        number = not_negative(value, f"weight '{name}={value}'")
        expect_one_of(name, (*OWN_WEIGHTS, *sorted(FREE_WEIGHTS)), "weight")
        if name in OWN_WEIGHTS:
            own[OWN_WEIGHTS[name]] = number
        else:
            terms[Term(name)] = number
    try:
        return replace(goal, **own, weights=terms)  # type: ignore[arg-type]
    except ModelError as error:
        raise UsageError(str(error)) from error
