"""The placement methods: CA-WFD ([FreeContainer] Algorithm 1), its variants, its baselines (§VI-A), and CA-WFD with search."""

import time
from dataclasses import replace

from bayplan.decide.place import metrics
from bayplan.decide.place.greedy import Strategy, place_greedily
from bayplan.decide.place.options import PlaceOptions
from bayplan.model import UNPLACED, BoolArray, Budget, Placement, Progress, Reason, Result
from bayplan.model.problem import Problem
from bayplan.score.explain import fit_summary
from bayplan.search.answer import answer
from bayplan.search.items import items_of

MOST_EXPLAINED = 100  # workloads: each one looks at all rules and containers


def best(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """CA-WFD's placement, improved by the search as long as the budget lasts; what runs stays where it is.

    What fits nowhere is tried once more after the search, which may have freed capacity.
    """
    from bayplan.search.anneal import search

    started = time.perf_counter()
    stays = _stays(problem)
    strategy = ca_wfd_strategy(options)
    placement = place_greedily(problem, strategy, seed)
    if not stays[placement.placed].all():
        new_only = replace(problem, start=placement, frozen=stays)
        placement = search(new_only, budget=budget, seed=seed, progress=progress, already=time.perf_counter() - started)
        if len(placement.unplaced):
            placement = place_greedily(replace(problem, start=placement), strategy, seed)
    return _result(problem, placement, started)


def ca_wfd(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Communication-aware worst fit decreasing: [FreeContainer] Algorithm 1 with the metrics DR-WS."""
    return _greedy(problem, ca_wfd_strategy(options), seed)


def ws_dp(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Algorithm 1 with WS-DP: order by the sum of requirements, machine by the dot product with the residuals."""
    strategy = Strategy(size=metrics.sum_of_requirements, preference=metrics.dot_product, candidates=options.candidates)
    return _greedy(problem, strategy, seed)


def c_c(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Algorithm 1 with C-C: only the CPU counts."""
    strategy = Strategy(size=metrics.cpu_requirement, preference=metrics.most_free_cpu, candidates=options.candidates)
    return _greedy(problem, strategy, seed)


def random(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Any machine that fits, each with the same probability."""
    return _greedy(problem, Strategy(size=None, preference=metrics.no_preference, candidates=1), seed)


def ha(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """High availability: the machine with the fewest containers of the same service."""
    return _greedy(problem, Strategy(size=None, preference=metrics.fewest_of_service, candidates=1), seed)


def enf(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Emptiest node first: the machine with the fewest containers."""
    return _greedy(problem, Strategy(size=None, preference=metrics.fewest_containers, candidates=1), seed)


def binpack(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The machine with the least free CPU that still fits."""
    return _greedy(problem, Strategy(size=None, preference=metrics.least_free_cpu, candidates=1), seed)


def ca_wfd_strategy(options: PlaceOptions) -> Strategy:
    """Order by the dominant requirement, machine by the sum of its residuals."""
    return Strategy(size=metrics.dominant_requirement, preference=metrics.sum_of_residuals, candidates=options.candidates)


def _greedy(problem: Problem, strategy: Strategy, seed: int) -> Result[Placement]:
    started = time.perf_counter()
    return _result(problem, place_greedily(problem, strategy, seed), started)


def _result(problem: Problem, placement: Placement, started: float) -> Result[Placement]:
    """The result of a placement: checked, scored, with a reason for each container that is left out."""
    result = answer(replace(problem, frozen=_stays(problem)), placement)
    assert result.solution is not None
    reasons = left_out(problem, result.solution)  # after relabelling
    return replace(result, left_out=reasons, seconds=time.perf_counter() - started)


def _stays(problem: Problem) -> BoolArray:
    """(container,) what runs or is frozen: it stays where it is, and the bound may count on that."""
    running: BoolArray = problem.before.machine_of != UNPLACED
    return running | problem.frozen if len(problem.frozen) else running


def left_out(problem: Problem, placement: Placement) -> tuple[Reason, ...]:
    """One reason per unplaced container, in the order of the input; worked out once per workload."""
    if not len(placement.unplaced):
        return ()
    cluster, items = problem.cluster, items_of(problem.cluster, problem.before)
    reason_of: dict[int, str] = {}
    reasons = []
    for c in placement.unplaced.tolist():
        w, bound_to = int(cluster.containers.workload[c]), int(items.only[items.of_container[c]])
        if bound_to != UNPLACED:
            text = f"belongs with containers on machine '{cluster.machines.name[bound_to]}', which cannot take it"
        elif w in reason_of:
            text = reason_of[w]
        else:
            text = reason_of[w] = _reason(problem, placement, w) if len(reason_of) < MOST_EXPLAINED else "no machine fits"
        reasons.append(Reason(cluster.containers.name[c], text))
    return tuple(reasons)


def _reason(problem: Problem, placement: Placement, w: int) -> str:
    """'0/12 machines fit (12 short of cpu)'; machines that seem to fit are ruled out by what was violated before."""
    text = fit_summary(problem.cluster, placement, w).text
    return text if text.startswith("0/") else f"not placed while rules are violated; {text}"
