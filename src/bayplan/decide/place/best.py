"""CA-WFD, then the search over the new containers."""

import time
from dataclasses import replace

from bayplan.decide.place.greedy import placed_greedily
from bayplan.decide.place.methods import ca_wfd_strategy, finished
from bayplan.decide.place.signature import PlaceOptions
from bayplan.model import UNPLACED, Budget, Placement, Progress, Result
from bayplan.model.problem import Problem


def best(problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """CA-WFD's placement, improved by the search as long as the budget lasts; what runs stays where it is.

    What found no machine is tried once more after the search, which may have made room.
    """
    from bayplan.search.drive import search

    started = time.perf_counter()
    running = problem.before.machine_of != UNPLACED
    stays = running | problem.frozen if len(problem.frozen) else running
    strategy = ca_wfd_strategy(options)
    placement = placed_greedily(problem, strategy, seed)
    if not stays[placement.placed].all():
        asked = replace(problem, start=placement, frozen=stays)
        placement = search(asked, budget=budget, seed=seed, progress=progress, already=time.perf_counter() - started)
        if len(placement.unplaced):
            placement = placed_greedily(replace(problem, start=placement), strategy, seed)
    return finished(problem, placement, started)
