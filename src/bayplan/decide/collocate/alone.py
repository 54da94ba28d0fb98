"""The solvers of the pool by themselves: all services with affinity on all machines, without a partition."""

from functools import partial

import numpy as np

from bayplan.decide.collocate.finish import Solved, finished, time_to_solve
from bayplan.decide.collocate.movable import expect_known_rules
from bayplan.decide.collocate.pool import solve_one
from bayplan.decide.collocate.signature import CollocateOptions
from bayplan.decide.collocate.tasks import affine, whole_task
from bayplan.model import Budget, Placement, Progress, Result, Tick
from bayplan.model.problem import Problem


def _alone(
    problem: Problem,
    options: CollocateOptions,
    *,
    budget: Budget,
    seed: int,
    progress: Progress,
    method: str,
    solver: str,
) -> Result[Placement]:
    """What one solver of the pool makes of the whole problem; services without affinity are trivial."""
    expect_known_rules(problem.cluster, method)
    clock = budget.clock()
    crucial = affine(problem.cluster)
    others = np.setdiff1d(np.arange(len(problem.cluster.workloads.name)), crucial)
    free = others if options.trivial == "refit" and len(crucial) else None
    progress(Tick(stage="solving", done=0.0))
    task = whole_task(problem, services=crucial, free=free)
    counts = solve_one(task, solver, time_to_solve(problem, clock, [task]), seed, budget.threads)
    progress(Tick(stage="refitting", done=0.0))
    result = finished(problem, Solved([task], [counts], free), options, clock=clock, seed=seed)
    progress(Tick(stage="refitting", done=1.0, score=result.score["affinity"]))
    return result


mip = partial(_alone, method="mip", solver="mip")
column_generation = partial(_alone, method="column-generation", solver="cg")
