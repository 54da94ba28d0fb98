r"""How much affinity a plan of few moves can reach at most, proven.

A container of workload a that comes to a machine adds at most w_e / d_a to each edge e of a, since an edge gains
min(x_a / d_a, x_b / d_b) there. So with n_a containers of a that move or come, at most K of them moves:

    max  sum_e g_e
    s.t. g_e <= w_e (n_a + f_a) / d_a + w_e (n_b + f_b) / d_b    every edge e = (a, b)     (1) f: new containers, which come free
         g_e <= w_e - what e keeps local now                     every edge               (2)
         sum_a n_a <= K,  0 <= n_a <= containers of a that may move                        (3)

A program without integers, so its value is a bound. What is printed is not the solver's number, but the Lagrangian at its prices,
which bounds the program for any prices pi_e in 0..1 of (1) and any price of a move:

    sum_e (1 - pi_e) (2)  +  sum_e pi_e (1)'s share of f  +  sum over the K best containers of  sum_e pi_e w_e / d_a
"""

import numpy as np
from scipy.sparse import coo_array

from bayplan.model import UNPLACED, FloatArray, IntArray
from bayplan.model.allowed_machines import pinned_containers
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity, gained_shares, total_affinity
from bayplan.solvers.master import duals_of
from bayplan.solvers.program import Program

ROUNDING = 1e-9  # relative: sums of floats are not exact


def affinity_within_moves(problem: Problem, moves: int, *, seconds: float = 5.0) -> float:
    """No placement that moves at most this many containers gains more affinity, as a share of all traffic."""
    cluster, now = problem.cluster, gained_affinity(problem.cluster, problem.before)
    total, replicas = total_affinity(cluster), cluster.replicas
    edges = np.flatnonzero((replicas[cluster.traffic.a] > 0) & (replicas[cluster.traffic.b] > 0))
    if not total or not len(edges):
        return now
    a, b = cluster.traffic.a[edges], cluster.traffic.b[edges]
    weight = cluster.traffic.weight[edges] / total
    open_weight = weight * (1.0 - gained_shares(cluster, problem.before)[edges])
    each = np.column_stack([weight / replicas[a], weight / replicas[b]])  # (edge, end) what one container adds at most
    ends = np.column_stack([a, b])
    movable, new = _movable(problem), _count(problem, problem.before.machine_of == UNPLACED)
    price = _prices(each, ends, open_weight, movable, new, moves, seconds)
    gain = lagrangian(price, each, ends, open_weight, movable, new, moves)
    return min(1.0, (now + gain) * (1 + ROUNDING))


def lagrangian(
    price: FloatArray, each: FloatArray, ends: IntArray, open_weight: FloatArray, movable: IntArray, new: IntArray, moves: int
) -> float:
    """The bound at some prices of the edges: every price in 0..1 gives one."""
    worth = np.zeros(len(movable))  # of one container that comes, by workload
    np.add.at(worth, ends.ravel(), (price[:, None] * each).ravel())
    best_first = np.argsort(-worth, kind="stable")
    before = np.cumsum(movable[best_first]) - movable[best_first]
    taken = np.clip(moves - before, 0, movable[best_first])
    return float((1.0 - price) @ open_weight + worth @ new + worth[best_first] @ taken)


def _prices(
    each: FloatArray, ends: IntArray, open_weight: FloatArray, movable: IntArray, new: IntArray, moves: int, seconds: float
) -> FloatArray:
    """(edge,) prices of (1) at the optimum; 1 where the solver has none in time."""
    n_e, n_w = len(open_weight), len(movable)
    edge = np.arange(n_e)
    row = np.concatenate([edge, edge, edge, np.full(n_w, n_e)])
    column = np.concatenate([edge, n_e + ends[:, 0], n_e + ends[:, 1], n_e + np.arange(n_w)])
    value = np.concatenate([np.ones(n_e), -each[:, 0], -each[:, 1], np.ones(n_w)])
    free = (each * new[ends]).sum(axis=1)
    program = Program(
        cost=np.concatenate([-np.ones(n_e), np.zeros(n_w)]),
        lower=np.zeros(n_e + n_w),
        upper=np.concatenate([open_weight, movable.astype(np.float64)]),
        integral=np.zeros(n_e + n_w, dtype=np.bool_),
        matrix=coo_array((value, (row, column)), shape=(n_e + 1, n_e + n_w)).tocsr(),
        row_lower=np.full(n_e + 1, -np.inf),
        row_upper=np.append(free, float(moves)),
    )
    duals = duals_of(program, seconds=seconds, interior=False)
    return np.ones(n_e) if duals is None else np.clip(-duals.row[:n_e], 0.0, 1.0)


def _movable(problem: Problem) -> IntArray:
    """(workload,) containers that run and may move."""
    stays = pinned_containers(problem.cluster) | (problem.frozen if len(problem.frozen) else False)
    return _count(problem, ~stays & (problem.before.machine_of != UNPLACED))


def _count(problem: Problem, chosen: np.ndarray) -> IntArray:
    """(workload,) chosen containers of each."""
    return np.bincount(problem.cluster.containers.workload[chosen], minlength=len(problem.cluster.workloads.name))
