"""Workloads one after the other, each container where it gains most affinity ([RASA] Definition 1) at this moment."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel

SAME = 1e-12  # gains that differ by less are equal: the total affinity is 1


class GreedyProblem(NamedTuple):
    """What is to be placed."""

    missing: npt.NDArray[np.int64]  # (workload,) containers
    replicas: npt.NDArray[np.int64]  # (workload,) d of [RASA] (1)
    request: npt.NDArray[np.int64]  # (workload, resource)
    row_of: npt.NDArray[np.int64]  # (workload,) row of `allow`
    allow: npt.NDArray[np.bool_]  # (row, machine)
    set_start: npt.NDArray[np.int64]  # (workload + 1,) anti-affinity sets of a workload
    set_of: npt.NDArray[np.int64]  # (entry,)
    edge_start: npt.NDArray[np.int64]  # (workload + 1,) neighbours of a workload
    neighbour: npt.NDArray[np.int64]  # (entry,) workload
    weight: npt.NDArray[np.float64]  # (entry,)


class GreedyState(NamedTuple):
    """What the machines have; all of it changes."""

    free: npt.NDArray[np.int64]  # (machine, resource)
    set_free: npt.NDArray[np.int64]  # (set, machine)
    placed: npt.NDArray[np.int64]  # (workload, machine) containers that count in (1)
    gain: npt.NDArray[np.float64]  # (machine,) scratch: of one more container of the workload at hand; -1 if none fits
    max_more: npt.NDArray[np.int64]  # (machine,) scratch: the most further containers of the workload at hand by resources


@kernel
def fits(problem, state, w, m):
    """May one more container of workload w come to machine m?"""
    if not problem.allow[problem.row_of[w], m]:
        return False
    for r in range(state.free.shape[1]):
        if problem.request[w, r] > state.free[m, r]:
            return False
    for e in range(problem.set_start[w], problem.set_start[w + 1]):
        if state.set_free[problem.set_of[e], m] <= 0:
            return False
    return True


@kernel
def gain_of(problem, state, w, m):
    """The affinity that one more container of workload w gains on machine m."""
    total = 0.0
    here = state.placed[w, m] / problem.replicas[w]
    then = (state.placed[w, m] + 1) / problem.replicas[w]
    for e in range(problem.edge_start[w], problem.edge_start[w + 1]):
        v = problem.neighbour[e]
        most = state.placed[v, m] / problem.replicas[v]
        if most > here:
            total += problem.weight[e] * (min(then, most) - here)
    return total


@kernel
def max_more_of(problem, state, w, m):
    """The most further containers of workload w that machine m takes by its resources."""
    most = np.iinfo(np.int64).max
    for r in range(state.free.shape[1]):
        if problem.request[w, r] > 0:
            most = min(most, state.free[m, r] // problem.request[w, r])
    return most


@kernel
def evaluate(problem, state, w, m):
    """Note what one more container of workload w is worth on machine m, and the most it takes."""
    state.max_more[m] = max_more_of(problem, state, w, m)
    state.gain[m] = gain_of(problem, state, w, m) if fits(problem, state, w, m) else -1.0


@kernel
def best_machine(state):
    """The machine with the most gain; among equals the one that takes most, then the first; -1 if none fits."""
    best, most, left = -1, 0.0, np.int64(0)
    for m in range(state.gain.shape[0]):
        gain = state.gain[m]
        if gain < most - SAME or gain < 0.0:
            continue
        if best < 0 or gain > most + SAME or state.max_more[m] > left:
            best, most, left = m, max(gain, most), state.max_more[m]
    return best


@kernel
def drop(problem, state, w, m):
    """Put one more container of workload w on machine m."""
    for r in range(state.free.shape[1]):
        state.free[m, r] -= problem.request[w, r]
    for e in range(problem.set_start[w], problem.set_start[w + 1]):
        state.set_free[problem.set_of[e], m] -= 1
    state.placed[w, m] += 1


@kernel
def fill_by_gain(problem, order, state, count_out):
    """Place what is missing, workload by workload in the given order; what fits nowhere stays missing. `state` changes."""
    for w in order:
        if problem.missing[w] <= 0:
            continue
        for m in range(state.gain.shape[0]):
            evaluate(problem, state, w, m)
        for _ in range(problem.missing[w]):
            m = best_machine(state)
            if m < 0:
                break
            drop(problem, state, w, m)
            count_out[w, m] += 1
            evaluate(problem, state, w, m)


def warm_up() -> None:
    """Compile the greedy pass, with the types it uses."""
    ints, none, table = np.ones(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.ones((1, 1), dtype=np.int64)
    starts, allowed = np.zeros(2, dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
    problem = GreedyProblem(ints, ints, table, 0 * ints, allowed, starts, none, starts, none, np.zeros(0))
    state = GreedyState(table.copy(), np.zeros((0, 1), dtype=np.int64), table.copy(), np.zeros(1), ints.copy())
    fill_by_gain(problem, np.zeros(1, dtype=np.int64), state, table.copy())
