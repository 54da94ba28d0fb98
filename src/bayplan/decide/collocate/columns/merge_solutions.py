"""Several solutions merged to one: column generation that begins with the patterns of their machines."""

from collections.abc import Sequence

import numpy as np

from bayplan.decide.collocate.columns.integer_master import Pattern, patterns_of
from bayplan.decide.collocate.columns.pattern_master import MachineTypes, machine_types_of
from bayplan.decide.collocate.columns.solve import solve_columns
from bayplan.decide.collocate.finish import assemble
from bayplan.decide.collocate.place_leftovers import place_leftovers
from bayplan.decide.collocate.subproblem import Subproblem, movable, whole_cluster, workloads_with_traffic
from bayplan.engine.lazy import LazyEngine
from bayplan.model import UNPLACED, Clock, IntArray, Placement, ints
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity

MOST_PATTERNS = 20_000  # a program over more takes too long to be worth it ...
MOST_MACHINES = 300  # ... and so does one over more machines


def can_merge(problem: Problem) -> bool:
    """Is the cluster small enough for this to end?"""
    return len(problem.cluster.machines.name) <= MOST_MACHINES


def merge_solutions(
    problem: Problem,
    solutions: Sequence[Placement],
    *,
    seconds: float,
    clock: Clock,
    seed: int,
    engine: LazyEngine | None = None,
) -> Placement:
    """The first solution, or what its machines and those of the others make together, if that gains more.

    Workloads without traffic are lifted and get a machine afterwards.
    """
    if seconds <= 0:
        return solutions[0]
    crucial = workloads_with_traffic(problem.cluster)
    others = np.setdiff1d(np.arange(len(problem.cluster.workloads.name)), crucial)
    subproblem = whole_cluster(problem, workloads=crucial, free=others)
    types = machine_types_of(subproblem)
    patterns = _patterns(problem, subproblem, types, solutions)
    if len(patterns) > MOST_PATTERNS:
        return solutions[0]
    needed = _request_of_others(problem, others)
    counts = solve_columns(subproblem, seconds=seconds, seed=seed, request_of_others=needed, known=patterns, engine=engine)
    placement, _ = assemble(problem, [subproblem], [counts], free=others)
    placement = place_leftovers(problem, placement, may_go=movable(problem), clock=clock, seed=seed)
    worse = len(placement.unplaced) > len(solutions[0].unplaced)
    before, after = (gained_affinity(problem.cluster, each) for each in (solutions[0], placement))
    return solutions[0] if worse or before >= after else placement


def _patterns(problem: Problem, subproblem: Subproblem, types: MachineTypes, solutions: Sequence[Placement]) -> list[Pattern]:
    """The different patterns of the first solutions, as many solutions as `MOST_PATTERNS` allows, but at least of the first."""
    patterns: dict[tuple[int, bytes], Pattern] = {}
    for number, solution in enumerate(solutions):
        counts = _counts(problem, subproblem, solution)
        added = {(t, pattern.tobytes()): (t, pattern) for t, pattern in patterns_of(types, counts)}
        if number and len(patterns) + len(added) > MOST_PATTERNS:
            break
        patterns |= added
    return list(patterns.values())


def _counts(problem: Problem, subproblem: Subproblem, solution: Placement) -> IntArray:
    """(workload, machine) movable containers of the subproblem's workloads."""
    position = np.full(len(problem.cluster.workloads.name), -1, dtype=np.int64)
    position[subproblem.workload] = np.arange(len(subproblem.workload))
    containers = np.flatnonzero(movable(problem) & (solution.machine_of != UNPLACED))
    workload = position[problem.cluster.containers.workload[containers]]
    containers, workload = containers[workload >= 0], workload[workload >= 0]
    counts = np.zeros(subproblem.shape, dtype=np.int64)
    np.add.at(counts, (workload, solution.machine_of[containers]), 1)
    return counts


def _request_of_others(problem: Problem, others: IntArray) -> IntArray:
    """(resource,) what movable containers of other workloads request."""
    cluster = problem.cluster
    owner = cluster.containers.workload[movable(problem)]
    return ints(cluster.workloads.request[owner[np.isin(owner, others)]].sum(axis=0))
