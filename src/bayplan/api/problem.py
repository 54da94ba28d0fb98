"""What a caller wants of a decision about a cluster, as a problem: weights, a cap on moves, frozen containers."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np

from bayplan.check import check
from bayplan.errors import UsageError, did_you_mean, expect_one_of
from bayplan.model import UNPLACED, BoolArray, Cluster, Objective, Snapshot, Term
from bayplan.model.goal import STEADY
from bayplan.model.problem import Problem
from bayplan.score.goal.objective import goal_objective

OBJECTIVES = ("file", "steady", "freecontainer", "gmrp")
GMRP_WEIGHT = {Term.OVERLOAD: 1.0, Term.TARGETS: 1.0, Term.MOVE_COST: 1.0}


def problem_of(
    snapshot: Snapshot,
    *,
    objective: Objective | str = "file",
    weights: Mapping[str, float] | None = None,
    max_moves: int | str | None = None,
    freeze: Sequence[str] = (),
) -> Problem:
    """The problem that a snapshot states, as the caller wants it. Moves are counted from the snapshot's placement.

    - `objective`: a value, or "file" (the snapshot's own, else "steady"), "steady" (the goal of that name), "freecontainer"
      ([FreeContainer] (6)), "gmrp";
    - `weights`: of some terms, by name; the others keep theirs;
    - `max_moves`: a number of containers, or a share of those that run, such as "5%" (rounded down);
    - `freeze`: names or patterns of containers or workloads that stay where they run.
    """
    placement = snapshot.placement
    return Problem(
        cluster=snapshot.cluster,
        objective=weighted_objective(objective_of(snapshot, objective), weights),
        before=placement,
        start=placement,
        frozen=_frozen(snapshot, freeze),
        max_moves=None if max_moves is None else move_limit(max_moves, len(placement.placed)),
    )


def objective_of(snapshot: Snapshot, objective: Objective | str) -> Objective:
    """The objective of that name; of "file", what the input states, or the default goal where it states nothing."""
    if isinstance(objective, Objective):
        return objective
    expect_one_of(objective, OBJECTIVES, "objective")
    if objective == "freecontainer":
        return Objective.default(snapshot.cluster)
    if objective == "steady" or (objective == "file" and not snapshot.objective.explicit):
        return goal_objective(snapshot, STEADY)
    if objective == "gmrp":
        if snapshot.objective.move_costs is None:
            raise UsageError(f"objective 'gmrp': cluster '{snapshot.cluster.name}' has no move costs; expected a GMRP model")
        return snapshot.objective.with_weights(GMRP_WEIGHT)
    return snapshot.objective


def weighted_objective(objective: Objective, weights: Mapping[str, float] | None) -> Objective:
    """The objective with some weights changed."""
    changed = terms_of(weights or {})
    return objective.with_weights({**objective.weight, **changed}) if changed else objective


def terms_of(weights: Mapping[str, float]) -> dict[Term, float]:
    """Weights by term; UsageError for a term that does not exist or a weight that is negative."""
    terms: dict[Term, float] = {}
    for name, value in weights.items():
        expect_one_of(name, (term.value for term in Term), "term")
        terms[Term(name)] = not_negative(value, f"weight '{name}={value}'")
    return terms


def move_limit(limit: int | str, running: int) -> int:
    """`50`, or `5%` of what runs, rounded down."""
    text = str(limit)
    label = f"at most '{text}' moves"
    if text.endswith("%"):
        return int(running * not_negative(text.removesuffix("%"), label) / 100)
    if not text.isdecimal():
        raise UsageError(f"{label}: expected a whole number of containers, or a share of them such as 5%")
    return int(text)


def not_negative(number: float | str, label: str) -> float:
    """The number; UsageError that starts with `label` if it is none of 0 or more."""
    try:
        value = float(number)
    except ValueError:
        value = np.nan
    if not (np.isfinite(value) and value >= 0):
        raise UsageError(f"{label}: '{number}' is not a number of 0 or more")
    return value


def _frozen(snapshot: Snapshot, patterns: Sequence[str]) -> BoolArray:
    """(container,) those that run and match a pattern; empty if there are no patterns."""
    if not patterns:
        return np.zeros(0, dtype=np.bool_)
    matching = matching_any(snapshot.cluster, patterns, "to freeze")
    return np.asarray(matching & (snapshot.placement.machine_of != UNPLACED), dtype=np.bool_)


def matching_any(cluster: Cluster, patterns: Iterable[str], purpose: str) -> BoolArray:
    """(container,) those whose name, or whose workload's name, matches one of the patterns."""
    chosen = set(patterns)
    names = {pattern for pattern in chosen if not set("*?[").intersection(pattern)}  # looked up: there may be thousands
    workload = np.array([name in names for name in cluster.workloads.name], dtype=np.bool_)
    marked = np.array([name in names for name in cluster.containers.name], dtype=np.bool_)
    known = names.intersection(cluster.workloads.name) | names.intersection(cluster.containers.name)
    marked = np.asarray(marked | workload[cluster.containers.workload], dtype=np.bool_)
    for pattern in sorted(chosen - known):
        marked |= matching(cluster, pattern, purpose)
    return marked


def matching(cluster: Cluster, pattern: str, purpose: str) -> BoolArray:
    """(container,) those whose name, or whose workload's name, matches; UsageError if none does."""
    workload = np.array([fnmatchcase(name, pattern) for name in cluster.workloads.name], dtype=np.bool_)
    container = np.array([fnmatchcase(name, pattern) for name in cluster.containers.name], dtype=np.bool_)
    marked = np.asarray(container | workload[cluster.containers.workload], dtype=np.bool_)
    if not marked.any():
        hint = did_you_mean(pattern, (*cluster.workloads.name, *cluster.containers.name))
        raise UsageError(
            f"nothing {purpose} is called '{pattern}'; expected a container or a workload, or a pattern of names{hint}"
        )
    return marked


def search_needs(problem: Problem) -> list[tuple[str, str]]:
    """What kernels have to be compiled for beside a method that searches: the repair of a start that violates rules."""
    return [("search", "repair")] if check(problem.cluster, problem.start, problem.before) else []
