"""Machines of several answers put together to one: column generation that begins with the patterns that the answers have."""

from collections.abc import Sequence

import numpy as np

from bayplan.decide.collocate.columns.integer_master import Pattern, patterns_of
from bayplan.decide.collocate.columns.pattern_master import MachineTypes, machine_types_of
from bayplan.decide.collocate.columns.solve import solve_columns
from bayplan.decide.collocate.finish import assemble
from bayplan.decide.collocate.place_leftovers import place_leftovers
from bayplan.decide.collocate.subproblem import Subproblem, movable, whole_cluster, workloads_with_traffic
from bayplan.model import UNPLACED, Clock, IntArray, Placement, ints
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity

MOST_PATTERNS = 20_000  # a program over more takes too long to be worth it ...
MOST_MACHINES = 300  # ... and so does one over so many machines


def can_merge(problem: Problem) -> bool:
    """Is the cluster so small that this can end?"""
    return len(problem.cluster.machines.name) <= MOST_MACHINES


def merge_solutions(problem: Problem, answers: Sequence[Placement], *, seconds: float, clock: Clock, seed: int) -> Placement:
    """The first answer, or what its machines and those of the others make together, if that gains more.

    Services without traffic are lifted and get a machine afterwards.
    """
    if seconds <= 0:
        return answers[0]
    crucial = workloads_with_traffic(problem.cluster)
    others = np.setdiff1d(np.arange(len(problem.cluster.workloads.name)), crucial)
    task = whole_cluster(problem, services=crucial, free=others)
    types = machine_types_of(task)
    patterns = _patterns(problem, task, types, answers)
    if len(patterns) > MOST_PATTERNS:
        return answers[0]
    counts = solve_columns(task, seconds=seconds, seed=seed, rest=_request_of_others(problem, others), known=patterns)
    placement, _ = assemble(problem, [task], [counts], free=others)
    placement = place_leftovers(problem, placement, may_go=movable(problem), clock=clock, seed=seed)
    worse = len(placement.unplaced) > len(answers[0].unplaced)
    gains = [gained_affinity(problem.cluster, some) for some in (answers[0], placement)]
    return answers[0] if worse or gains[0] >= gains[1] else placement


def _patterns(problem: Problem, task: Subproblem, types: MachineTypes, answers: Sequence[Placement]) -> list[Pattern]:
    """The different patterns of the first answers, of as many as are not too many; all of the first one in any case."""
    found: dict[tuple[int, bytes], Pattern] = {}
    for number, answer in enumerate(answers):
        more = {(t, pattern.tobytes()): (t, pattern) for t, pattern in patterns_of(types, _counts(problem, task, answer))}
        if number and len(found) + len(more) > MOST_PATTERNS:
            break
        found |= more
    return list(found.values())


def _counts(problem: Problem, task: Subproblem, answer: Placement) -> IntArray:
    """(service, machine) movable containers of the task's services."""
    position = np.full(len(problem.cluster.workloads.name), -1, dtype=np.int64)
    position[task.workload] = np.arange(len(task.workload))
    some = np.flatnonzero(movable(problem) & (answer.machine_of != UNPLACED))
    service = position[problem.cluster.containers.workload[some]]
    some, service = some[service >= 0], service[service >= 0]
    counts = np.zeros(task.shape, dtype=np.int64)
    np.add.at(counts, (service, answer.machine_of[some]), 1)
    return counts


def _request_of_others(problem: Problem, others: IntArray) -> IntArray:
    """(resource,) what movable containers of other services need."""
    cluster = problem.cluster
    owner = cluster.containers.workload[movable(problem)]
    return ints(cluster.workloads.request[owner[np.isin(owner, others)]].sum(axis=0))
