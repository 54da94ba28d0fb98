"""`collocate`: bring workloads that talk to each other onto the same machines."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Unpack

import numpy as np

from bayplan.api.control import Control, interruptible, options_from
from bayplan.api.in_parts import PartKeywords, collocate_in_parts, part_settings, start_settings
from bayplan.api.placement import PlacementAnswer, finish_seconds, placement_answer
from bayplan.api.problem import not_negative, problem_of, search_needs, terms_of
from bayplan.api.registry import method_of
from bayplan.decide.collocate.bound import affinity_bound
from bayplan.decide.collocate.finish import has_other_terms, unplaced_reasons, with_new_containers
from bayplan.decide.collocate.from_starts import collocate_from_starts
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.subproblem import has_other_rules, may_collocate
from bayplan.engine.lazy import LazyEngine
from bayplan.errors import UsageError, did_you_mean
from bayplan.model import (
    Budget,
    Clock,
    Cluster,
    FloatArray,
    Objective,
    Placement,
    Progress,
    Result,
    Snapshot,
    Status,
    Term,
    Traffic,
    floats,
    ints,
    verdict,
)
from bayplan.model.problem import Problem
from bayplan.score.affinity import total_affinity
from bayplan.score.counts import loads
from bayplan.search.answer import refereed

NOT_OF_METHODS = "safety", "parts", "starts"  # options that are read here
KNOW_TERMS = ("best", "original")  # methods that know other terms than affinity, or need none
MOST_PRIORITY = 1e6
HELD = (
    "every container that talks is held by a rule that collocate does not move against (pinned, co-locate, spread, skew, "
    "dependency, interference, or anti-affinity above the machine): plan and rebalance know all rules"
)
BOUNDING = 0.5  # of the seconds, for a bound, where one is wanted
A_MINUTE = 60.0  # for it if nothing is limited
MOST_ROUNDS = 60  # of pricing for it, in each block of workloads, if iterations are limited and seconds are not


class CollocateKeywords(PartKeywords, total=False):
    """Options of the methods; `CollocateOptions` says what each means."""

    partition: str
    select: str
    masters: int | None
    trivial: str
    move_price: float
    least_gain: float
    bound: bool
    safety: bool  # no machine comes above its safety capacity; True by default


def collocate(
    snapshot: Snapshot,
    *,
    method: str = "best",
    seconds: float = 60.0,
    seed: int = 0,
    weights: Mapping[str, float] | None = None,
    max_moves: int | str | None = None,
    freeze: Sequence[str] = (),
    priority: Mapping[str, float] | None = None,
    **options: Unpack[CollocateKeywords],
) -> PlacementAnswer:
    """Bring workloads that talk to each other onto the same machines, so that their traffic can stay there.

    Gained affinity is the share of all traffic that can stay on one machine. No rule is violated that was not violated before,
    and no machine comes above its safety capacity, or further above it, unless `safety` is False.

    - `weights`: of other terms to weigh against affinity (method `best` only);
    - `max_moves`: a number of containers, or a share of those that run, such as `"10%"`;
    - `freeze`: names or patterns of containers or workloads that stay where they run;
    - `priority`: multiplies the traffic of workloads that match a name or pattern, such as `{"checkout*": 5}`;
    - `parts`: solve in that many parts, on `engine` (method `best`); very large clusters are by themselves;
    - `starts`: the best of that many runs, on `engine` (method `best`). Each has all iterations of a budget; the seconds are
      shared by those that cannot run at a time.

    >>> import bayplan as bp
    >>> shop = bp.generate("boutique")
    >>> answer = bp.collocate(shop, max_moves="20%", seconds=2, engine="here")
    >>> answer.score["affinity"] > answer.before["affinity"] and answer.moved_share <= 0.2
    True
    """
    control, chosen = Control.of(seconds, seed, options), method_of("collocate", method)
    keeps_safety = options.get("safety", True)
    method_options = _checked(options_from(CollocateOptions, {k: v for k, v in options.items() if k not in NOT_OF_METHODS}))
    method_options = replace(method_options, engine=control.engine)
    if weights and method not in KNOW_TERMS:
        raise UsageError(f"weights: method '{method}' looks at gained affinity alone; expected method 'best'")
    wanted = affinity_wanted(snapshot, weights=weights, priority=priority, move_price=method_options.move_price)
    whole_problem = problem_of(wanted, objective=wanted.objective, max_moves=max_moves, freeze=freeze)
    problem = within_safety(whole_problem) if keeps_safety and method != "original" else whole_problem
    if total_affinity(problem.cluster) > 0 and not may_collocate(problem):
        wanted = replace(wanted, notes=(*wanted.notes, HELD))
    in_parts = part_settings(problem, control, options.get("parts"), can=method == "best")
    from_starts = start_settings(control, options.get("starts"), in_parts, can=method == "best")
    chosen = chosen if in_parts is None else partial(collocate_in_parts, settings=in_parts)
    chosen = chosen if from_starts is None else partial(collocate_from_starts, settings=from_starts)
    control = control.after_compiling(*_needs(method, problem, bound=method_options.bound))
    budget = control.method_budget(finish_seconds(snapshot))
    whole, part = budget.clock(), _without_bound(budget) if method_options.bound else budget

    def ask() -> Result[Placement]:
        result: Result[Placement] = chosen(problem, method_options, budget=part, seed=seed, progress=control.progress)
        unplaced = 0 if result.solution is None else len(result.solution.unplaced)
        result = result if problem is whole_problem else _on_the_whole(whole_problem, result)
        above_safety = len(result.solution.unplaced) < unplaced if result.solution is not None else False
        if not method_options.bound or result.solution is None or result.bound is not None or above_safety:
            return result
        engine = LazyEngine(control.engine, workers=budget.threads)
        return replace(_bounded(problem, result, whole, control.progress, engine), seconds=whole.seconds)

    with control.engine or nullcontext():  # its workers are kept from the method to the bound
        outcome = interruptible(ask)
    return placement_answer("collocate", method, wanted, whole_problem, outcome, control)


def within_safety(problem: Problem) -> Problem:
    """The problem in which machines have their safety capacity, or what runs on them now if that is more.

    So machines below safety stay below, and those above take nothing more. The problem itself where that changes nothing.
    """
    machines, load = problem.cluster.machines, loads(problem.cluster, problem.before)
    capacity = np.minimum(machines.capacity, np.maximum(machines.safety, load))
    if (capacity == machines.capacity).all():
        return problem
    safe = replace(machines, capacity=ints(capacity), safety=ints(np.minimum(machines.safety, capacity)))
    return replace(problem, cluster=replace(problem.cluster, machines=safe))


def _on_the_whole(problem: Problem, result: Result[Placement]) -> Result[Placement]:
    """The result on machines of full capacity: scored anew, with containers placed that only fit above safety."""
    if result.solution is None:
        return result
    placement, unplaced = result.solution, len(result.solution.unplaced)
    if unplaced:
        none = np.zeros(len(placement.machine_of), dtype=np.bool_)
        placement = with_new_containers(problem, placement, may_go=none, clock=Budget().clock(), seed=0)
    placement, violated, scores = refereed(problem, placement)
    scores.setdefault("affinity", 0.0)
    result = replace(result, solution=placement, score=scores, still_violated=violated, bound=None if violated else result.bound)
    if len(placement.unplaced) == unplaced:
        return result
    return replace(result, status=Status.FEASIBLE, bound=None, left_out=unplaced_reasons(problem, placement))


def _needs(method: str, problem: Problem, *, bound: bool) -> Iterator[tuple[str, str]]:
    """What kernels have to be compiled for: the method, the ways of `best` that the problem takes, the bound."""
    yield "collocate", method
    if method == "best" and not has_other_rules(problem):
        yield "collocate", "best, in counts"
    if method == "best" and (has_other_rules(problem) or has_other_terms(problem.objective)):
        yield "collocate", "best, by search"
        yield from search_needs(problem)
    if bound:
        yield "collocate", "bound"


def _checked(options: CollocateOptions) -> CollocateOptions:
    """The options, if every choice exists and every number makes sense; else UsageError."""
    from bayplan.decide.collocate.options import TRIVIAL
    from bayplan.decide.collocate.partition import PARTITIONERS
    from bayplan.decide.collocate.select import SELECTORS

    choices: Mapping[str, Iterable[str]] = {
        "partition": PARTITIONERS,
        "select": SELECTORS,
        "trivial": TRIVIAL,
    }
    for name, known in choices.items():
        if (chosen := getattr(options, name)) not in (names := list(known)):
            raise UsageError(f"{name} '{chosen}': expected one of {', '.join(names)}{did_you_mean(chosen, names)}")
    if not 0 <= options.move_price < float("inf"):
        raise UsageError(f"move price {options.move_price}: expected a number of 0 or more")
    if options.masters is not None and options.masters < 1:
        raise UsageError(f"masters {options.masters}: expected 1 or more")
    if not 0 <= options.least_gain <= 1:
        raise UsageError(f"least gain {options.least_gain}: expected a share of the total affinity, 0 to 1 or 0% to 100%")
    return options


def affinity_wanted(
    snapshot: Snapshot,
    *,
    weights: Mapping[str, float] | None = None,
    priority: Mapping[str, float] | None = None,
    move_price: float = 0.0,
) -> Snapshot:
    """The snapshot with its traffic multiplied by priorities, and gained affinity as its objective."""
    cluster, notes = prioritised(snapshot.cluster, priority or {})
    if total_affinity(cluster) <= 0:
        notes = (*notes, f"cluster '{cluster.name}' has no traffic between workloads: there is no affinity to gain")
    objective = _objective(snapshot.objective, weights or {}, move_price, len(cluster.containers.name))
    return replace(snapshot, cluster=cluster, objective=objective, notes=(*snapshot.notes, *notes))


def prioritised(cluster: Cluster, priority: Mapping[str, float]) -> tuple[Cluster, tuple[str, ...]]:
    """The cluster with its traffic multiplied by priorities ([RASA] §II-B), and a note about it.

    An edge takes the larger priority of its ends: traffic of an important workload is important, whatever is at its other end.
    """
    if not priority:
        return cluster, ()
    factor_of, edges = _priorities(cluster, priority), cluster.traffic
    factor = np.maximum(factor_of[edges.a], factor_of[edges.b])
    traffic = Traffic(a=edges.a, b=edges.b, weight=floats(edges.weight * factor))
    changed = int((factor != 1).sum())
    note = f"priorities multiply the traffic of {changed:,} of {len(factor):,} pairs; affinity is a share of the multiplied total"
    return replace(cluster, traffic=traffic), (note,)


def _priorities(cluster: Cluster, priority: Mapping[str, float]) -> FloatArray:
    """(workload,) 1 where none is stated; of several patterns that match, the last counts."""
    factor = np.ones(len(cluster.workloads.name))
    for pattern, multiplier in priority.items():
        label = f"priority '{pattern}={multiplier}'"
        if not 0 < not_negative(multiplier, label) <= MOST_PRIORITY:
            raise UsageError(f"{label}: expected a multiplier above 0 and at most {MOST_PRIORITY:,.0f}")
        matches = [fnmatchcase(name, pattern) for name in cluster.workloads.name]
        if not any(matches):
            hint = did_you_mean(pattern, cluster.workloads.name)
            raise UsageError(f"{label}: no workload is called '{pattern}'; expected a workload, or a pattern of names{hint}")
        factor[matches] = multiplier
    return floats(factor)


def _objective(stated: Objective, weights: Mapping[str, float], move_price: float, containers: int) -> Objective:
    """Gained affinity, the terms that are named, and a price per move: that of moving everything, shared by all."""
    weight = {Term.AFFINITY: 1.0, **terms_of(weights)}
    if move_price:
        weight[Term.MOVES] = weight.get(Term.MOVES, 0.0) + move_price / max(1, containers)
    return stated.with_weights(weight)


def _without_bound(budget: Budget) -> Budget:
    """What the method may use of a budget if a bound needs its part, too."""
    return budget if budget.seconds is None else replace(budget, seconds=(1 - BOUNDING) * budget.seconds)


def _bounded(
    problem: Problem, result: Result[Placement], clock: Clock, progress: Progress, engine: LazyEngine
) -> Result[Placement]:
    """The result with a proven bound of its affinity, as sharp as what is left of the budget allows."""
    iterations, seconds, rounds = clock.budget.iterations, clock.left(), None
    if seconds is None:  # the same iterations give the same bound, wherever and however fast it is proven
        seconds, rounds = (A_MINUTE, None) if iterations is None else (math.inf, min(MOST_ROUNDS, iterations))
    bound = affinity_bound(problem, seconds=seconds, progress=progress, rounds=rounds, engine=engine)
    status, proven = verdict(result.goal, result.score[result.goal], bound)
    return replace(result, status=status, bound=proven, notes=(*result.notes, *engine.notes))
