"""The placement methods of 000: CA-WFD (Algorithm 1), its variants, and the baselines it is compared with (section VI-A)."""

import time
from dataclasses import replace

from bayplan.decide.place import sizes
from bayplan.decide.place.greedy import Strategy, placed_greedily
from bayplan.decide.place.left_out import left_out
from bayplan.decide.place.signature import PlaceOptions
from bayplan.model import UNPLACED, Budget, Placement, Progress, Result
from bayplan.model.problem import Problem
from bayplan.search.answer import answer


def ca_wfd(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Communication-aware worst fit decreasing: 000 Algorithm 1, with DR-WS as its metrics."""
    return _greedy(problem, ca_wfd_strategy(options), seed)


def ws_dp(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Algorithm 1 with WS-DP: order by the sum of requirements, machine by the dot product with the residuals."""
    strategy = Strategy(size=sizes.sum_of_requirements, taste=sizes.dot_product, candidates=options.candidates)
    return _greedy(problem, strategy, seed)


def c_c(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Algorithm 1 with C-C: only the CPU counts."""
    return _greedy(problem, Strategy(size=sizes.cpu_requirement, taste=sizes.free_cpu, candidates=options.candidates), seed)


def random(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Any machine that fits, each with the same probability."""
    return _greedy(problem, Strategy(size=None, taste=sizes.chance, candidates=1), seed)


def ha(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """High availability: the machine with the fewest containers of the same service."""
    return _greedy(problem, Strategy(size=None, taste=sizes.fewest_of_service, candidates=1), seed)


def enf(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Emptiest node first: the machine with the fewest containers."""
    return _greedy(problem, Strategy(size=None, taste=sizes.fewest, candidates=1), seed)


def binpack(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The machine with the least available CPU that still fits."""
    return _greedy(problem, Strategy(size=None, taste=sizes.scarce_cpu, candidates=1), seed)


def ca_wfd_strategy(options: PlaceOptions) -> Strategy:
    """Order by the dominant requirement, machine by the sum of its residuals."""
    return Strategy(size=sizes.dominant_requirement, taste=sizes.sum_of_residuals, candidates=options.candidates)


def _greedy(problem: Problem, strategy: Strategy, seed: int) -> Result[Placement]:
    started = time.perf_counter()
    return finished(problem, placed_greedily(problem, strategy, seed), started)


def finished(problem: Problem, placement: Placement, started: float) -> Result[Placement]:
    """The result of a placement: refereed, scored, with the reasons of what is left out first."""
    running = problem.before.machine_of != UNPLACED  # stays where it is: the bound may count on it
    frozen = running | problem.frozen if len(problem.frozen) else running
    result = answer(replace(problem, frozen=frozen), placement)
    assert result.solution is not None
    left = left_out(problem, result.solution)  # after the replicas were renamed
    return replace(result, left_out=left, seconds=time.perf_counter() - started)
