"""The placement as it is: what every other collocator is compared with (004 section V-A, ORIGINAL)."""

import numpy as np

from bayplan.decide.collocate.answer import collocated
from bayplan.decide.collocate.signature import CollocateOptions
from bayplan.model import Budget, Placement, Progress, Reason, Result
from bayplan.model.problem import Problem
from bayplan.score.explain import fit_summary

SHOWN = 20  # workloads that are explained; the others are only counted


def original(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The start. Containers without a machine stay out, with the reason why nothing takes them, or that nobody asked."""
    clock = budget.clock()
    return collocated(problem, problem.start, left_out=outsiders(problem, problem.start), seconds=clock.seconds)


def outsiders(problem: Problem, placement: Placement) -> tuple[Reason, ...]:
    """Workloads with containers that have no machine, and how many machines could take one more."""
    owner = problem.cluster.containers.workload[placement.unplaced]
    workload, count = np.unique(owner, return_counts=True)
    said = []
    for w, n in zip(workload[:SHOWN].tolist(), count[:SHOWN].tolist(), strict=True):
        fit = fit_summary(problem.cluster, placement, w)
        said.append(Reason(fit.subject, f"{n} of {problem.cluster.replicas[w]} containers have no machine: {fit.text}"))
    more = int(count[SHOWN:].sum())
    return (*said, Reason("others", f"{more} more containers have no machine")) if more else tuple(said)
