"""What a user wants of a decision, in words, made into a problem: objective, weights, churn budget, frozen containers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np

from bayplan.errors import UsageError
from bayplan.model import UNPLACED, BoolArray, Cluster, Objective, Snapshot, Term
from bayplan.model.problem import Problem

OBJECTIVES = ("file", "default", "gmrp")
GMRP_WEIGHT = {Term.OVERLOAD: 1.0, Term.TARGETS: 1.0, Term.MOVE_COST: 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """As they stand on the command line."""

    objective: str = "file"  # one of OBJECTIVES
    weights: Sequence[str] = ()  # term=value
    max_moves: str | None = None  # N or P%
    freeze: Sequence[str] = field(default=())  # names or patterns of containers or workloads


def problem_of(snapshot: Snapshot, wishes: Wishes) -> Problem:
    """The problem that a snapshot states, as the user wants it. Moves are counted from the snapshot's placement."""
    placement = snapshot.placement
    return Problem(
        cluster=snapshot.cluster,
        objective=_objective(snapshot, wishes),
        before=placement,
        start=placement,
        frozen=_frozen(snapshot, wishes.freeze),
        max_moves=None if wishes.max_moves is None else _most_moves(wishes.max_moves, len(placement.placed)),
    )


def _objective(snapshot: Snapshot, wishes: Wishes) -> Objective:
    if wishes.objective not in OBJECTIVES:
        raise UsageError(f"no objective '{wishes.objective}'; expected one of {', '.join(OBJECTIVES)}")
    objective = snapshot.objective
    if wishes.objective == "default":
        objective = Objective.default(snapshot.cluster)
    elif wishes.objective == "gmrp":
        if objective.move_costs is None:
            raise UsageError(f"objective 'gmrp': cluster '{snapshot.cluster.name}' has no move costs; expected a GMRP model")
        objective = objective.with_weights(GMRP_WEIGHT)
    changed = read_weights(wishes.weights)
    return objective.with_weights({**objective.weight, **changed}) if changed else objective


def read_weights(pairs: Iterable[str]) -> Mapping[Term, float]:
    """`utilisation=1`, `affinity=0.5` as weights; terms that are not named keep theirs."""
    weights: dict[Term, float] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or name not in {term.value for term in Term}:
            raise UsageError(f"weight '{pair}': expected TERM=VALUE, TERM one of {', '.join(term.value for term in Term)}")
        weights[Term(name)] = not_negative(value, f"weight '{pair}'")
    return weights


def _most_moves(text: str, running: int) -> int:
    """`50`, or `5%` of what runs, rounded down."""
    what = f"at most '{text}' moves"
    if text.endswith("%"):
        return int(running * not_negative(text.removesuffix("%"), what) / 100)
    if not text.isdecimal():
        raise UsageError(f"{what}: expected a whole number of containers, or a share of them such as 5%")
    return int(text)


def not_negative(text: str, what: str) -> float:
    """The number that a text says; UsageError about `what` if it is none of 0 or more."""
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not (np.isfinite(value) and value >= 0):
        raise UsageError(f"{what}: '{text}' is not a number of 0 or more")
    return value


def _frozen(snapshot: Snapshot, patterns: Sequence[str]) -> BoolArray:
    """(container,) those that run and are called so; empty if there are no patterns."""
    if not patterns:
        return np.zeros(0, dtype=np.bool_)
    called = called_any(snapshot.cluster, patterns, "to freeze")
    return np.asarray(called & (snapshot.placement.machine_of != UNPLACED), dtype=np.bool_)


def called_any(cluster: Cluster, patterns: Iterable[str], purpose: str) -> BoolArray:
    """(container,) those whose name, or whose workload's, is one of the patterns."""
    found = np.zeros(len(cluster.containers.name), dtype=np.bool_)
    for pattern in patterns:
        found |= called(cluster, pattern, purpose)
    return found


def called(cluster: Cluster, pattern: str, purpose: str) -> BoolArray:
    """(container,) those whose name, or whose workload's, fits the pattern; UsageError if nothing for this purpose does."""
    workload = np.array([fnmatchcase(name, pattern) for name in cluster.workloads.name], dtype=np.bool_)
    named = np.array([fnmatchcase(name, pattern) for name in cluster.containers.name], dtype=np.bool_)
    hit = np.asarray(named | workload[cluster.containers.workload], dtype=np.bool_)
    if not hit.any():
        raise UsageError(f"nothing {purpose} is called '{pattern}'; expected a container or a workload, or a pattern of names")
    return hit
