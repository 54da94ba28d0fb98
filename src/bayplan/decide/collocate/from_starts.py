"""Method `best` from several starts."""

from dataclasses import replace
from functools import partial

import numpy as np

from bayplan.decide.collocate.best import best
from bayplan.decide.collocate.finish import finish_placement, start_with_new_containers
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.model import Budget, Placement, Progress, Result, silent
from bayplan.model.problem import Problem
from bayplan.search.multi_start import StartSettings, search_from_starts

EPOCHS = (1.0,)


def collocate_from_starts(
    problem: Problem, options: CollocateOptions, *, settings: StartSettings, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The best answer of several runs. They exchange nothing: rounds of the annealing in counts are independent anyway, because
    their answers differ by more than a longer one would gain (`annealing.walker_pool`)."""
    clock, walk = budget.clock(), partial(walked, options=replace(options, engine="here"))  # an engine does not travel
    start = start_with_new_containers(problem, clock, seed)
    alone = replace(settings, epochs=EPOCHS)
    found = search_from_starts(replace(problem, start=start), walk, alone, budget=budget, seed=seed, progress=progress)
    none = np.zeros(len(start.machine_of), dtype=np.bool_)
    return finish_placement(problem, found.placement, options, may_go=none, clock=clock, seed=seed, notes=found.notes)


def walked(problem: Problem, *, budget: Budget, seed: int, further: bool, options: CollocateOptions) -> Placement:
    """What the method makes of a start."""
    solution = best(problem, options, budget=budget, seed=seed, progress=silent).solution
    return problem.start if solution is None else solution
