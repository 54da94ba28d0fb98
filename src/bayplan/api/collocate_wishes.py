"""What a user wants of `collocate`, in words, made into a problem: priorities, prices of moves, the least gain."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

import numpy as np

from bayplan.api.wishes import Wishes, not_negative, problem_of, read_weights
from bayplan.decide.collocate.options import TRIVIAL, CollocateOptions
from bayplan.errors import UsageError
from bayplan.model import Cluster, FloatArray, Objective, Snapshot, Term, Traffic, floats
from bayplan.model.problem import Problem
from bayplan.score.affinity import total_affinity

KNOW_TERMS = ("best", "original")  # methods that know other terms than affinity, or need none
MOST_PRIORITY = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class CollocateWishes:
    """As they stand on the command line."""

    weights: Sequence[str] = ()  # term=value
    max_moves: str | None = None  # N or P%
    freeze: Sequence[str] = field(default=())  # names or patterns of containers or workloads
    priority: Sequence[str] = ()  # pattern=multiplier
    move_price: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """A problem whose objective is the gained affinity."""

    snapshot: Snapshot  # its traffic multiplied by the priorities
    problem: Problem
    notes: tuple[str, ...]


def question_of(snapshot: Snapshot, wishes: CollocateWishes, method: str) -> Question:
    """What a snapshot and the wishes ask; UsageError if a wish makes no sense, or if the method does not know it."""
    _expect_known(wishes, method)
    cluster, notes = prioritised(snapshot.cluster, wishes.priority)
    objective = _objective(snapshot.objective, wishes, len(cluster.containers.name))
    asked = replace(snapshot, cluster=cluster, objective=objective)
    problem = problem_of(asked, Wishes(max_moves=wishes.max_moves, freeze=wishes.freeze))
    return Question(snapshot=asked, problem=problem, notes=(*notes, *_affinity_notes(cluster)))


def collocate_options(options: CollocateOptions, known: Mapping[str, Iterable[str]]) -> CollocateOptions:
    """The options, if every choice is a `known` one (partition, select, engine) and every number makes sense; else UsageError."""
    for name, names in {**known, "trivial": TRIVIAL}.items():
        if getattr(options, name) not in (listed := list(names)):
            raise UsageError(f"--{name} '{getattr(options, name)}': expected one of {', '.join(listed)}")
    if not 0 <= options.move_price < float("inf"):
        raise UsageError(f"--move-price {options.move_price}: expected a number of 0 or more")
    if options.masters is not None and options.masters < 1:
        raise UsageError(f"--masters {options.masters}: expected 1 or more")
    return options


def read_gain(text: str) -> float:
    """`0.03` or `3%`: a share of the total affinity."""
    what = f"--min-gain '{text}'"
    value = not_negative(text.removesuffix("%"), what) / (100 if text.endswith("%") else 1)
    if value > 1:
        raise UsageError(f"{what}: expected a share of the total affinity, 0 to 1 or 0% to 100%")
    return value


def prioritised(cluster: Cluster, pairs: Sequence[str]) -> tuple[Cluster, list[str]]:
    """The cluster with its traffic multiplied by priorities (004 section II-B), and a word about it.

    An edge takes the larger priority of its ends: traffic of an important service is important, whoever is at its other end.
    """
    if not pairs:
        return cluster, []
    priority, edges = _priorities(cluster, pairs), cluster.traffic
    factor = np.maximum(priority[edges.a], priority[edges.b])
    traffic = Traffic(a=edges.a, b=edges.b, weight=floats(edges.weight * factor))
    changed = int((factor != 1).sum())
    note = f"priorities multiply the traffic of {changed:,} of {len(factor):,} pairs; affinity is a share of the multiplied total"
    return replace(cluster, traffic=traffic), [note]


def _priorities(cluster: Cluster, pairs: Iterable[str]) -> FloatArray:
    """(workload,) 1 where none is said; of several that fit, the last counts."""
    priority = np.ones(len(cluster.workloads.name))
    for pair in pairs:
        pattern, equals, text = pair.rpartition("=")
        what = f"--priority '{pair}'"
        if not equals or not pattern:
            raise UsageError(f"{what}: expected NAME=X, NAME a workload or a pattern such as 'web-*'")
        value = not_negative(text, what)
        if not 0 < value <= MOST_PRIORITY:
            raise UsageError(f"{what}: expected a multiplier above 0 and at most {MOST_PRIORITY:,.0f}")
        fits = [fnmatchcase(name, pattern) for name in cluster.workloads.name]
        if not any(fits):
            raise UsageError(f"{what}: no workload is called '{pattern}'; expected a workload, or a pattern of names")
        priority[fits] = value
    return floats(priority)


def _objective(stated: Objective, wishes: CollocateWishes, containers: int) -> Objective:
    """Gained affinity, the terms that are named, and a price per move: that of moving everything, shared by all."""
    weight = {Term.AFFINITY: 1.0, **read_weights(wishes.weights)}
    if wishes.move_price:
        weight[Term.MOVES] = weight.get(Term.MOVES, 0.0) + wishes.move_price / max(1, containers)
    return stated.with_weights(weight)


def _expect_known(wishes: CollocateWishes, method: str) -> None:
    if wishes.weights and method not in KNOW_TERMS:
        raise UsageError(f"--weight: method '{method}' looks at gained affinity alone; expected '--method best'")


def _affinity_notes(cluster: Cluster) -> list[str]:
    if total_affinity(cluster) > 0:
        return []
    return [f"cluster '{cluster.name}' has no traffic between workloads: there is no affinity to gain"]
