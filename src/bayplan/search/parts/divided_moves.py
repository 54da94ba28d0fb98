"""A limit of moves, divided among parts: one move more should gain about as much in each of them."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bayplan.check import check
from bayplan.model import UNPLACED, FloatArray, IntArray, floats, ints
from bayplan.model.problem import Problem
from bayplan.score.affinity import shared_cells
from bayplan.score.counts import workload_counts
from bayplan.score.gmrp import machine_overload

URGENT = 0.5  # of the moves at most, for hot machines and violated rules; 4 moves for each
EACH = 4
EVEN = 0.1  # of the rest, by the number of containers: balance is not about traffic


def divided_moves(problem: Problem, part_of: IntArray, limit: int) -> IntArray:
    """(part,) moves that add up to the limit. `part_of` (machine,): its part."""
    parts, start = int(part_of.max(initial=0)) + 1, problem.start.machine_of
    runs = start[start != UNPLACED]
    size = np.bincount(part_of[runs], minlength=parts).astype(np.float64)
    urgent = EACH * np.bincount(part_of[_machines_in_need(problem)], minlength=parts).astype(np.float64)
    urgent *= min(1.0, URGENT * limit / max(1.0, urgent.sum()))
    rest = limit - urgent.sum()
    gaining = _gaining_moves(problem, part_of, parts, int((1 - EVEN) * rest))
    even = rest - gaining.sum()
    return _whole_numbers(urgent + gaining + even * size / max(1.0, size.sum()), limit)


def _machines_in_need(problem: Problem) -> IntArray:
    """Machines that are hot, and those that violations name, or on which a container runs that they name."""
    cluster, start = problem.cluster, problem.start
    hot = np.flatnonzero(machine_overload(cluster, start).any(axis=1))
    names = {name for violation in check(cluster, start, problem.before) for name in violation.subject}
    if not names:
        return ints(hot)
    named = [m for m, name in enumerate(cluster.machines.name) if name in names]
    containers = [c for c, name in enumerate(cluster.containers.name) if name in names and start.machine_of[c] != UNPLACED]
    return ints(np.concatenate([hot, named, start.machine_of[containers]]))


def _gaining_moves(problem: Problem, part_of: IntArray, parts: int, limit: int) -> FloatArray:
    """(part,) of at most `limit` moves that each make traffic local, those that make most.

    An edge can have as much local traffic in a part as both of its ends have there; a move adds at least 1 / the replicas of the
    larger end.
    """
    cluster, traffic = problem.cluster, problem.cluster.traffic
    counts: Any = workload_counts(cluster, problem.start)
    share: Any = counts.multiply(1.0 / np.maximum(1, cluster.replicas)[:, None]).tocsr()
    member = csr_array((np.ones(len(part_of)), (np.arange(len(part_of)), part_of)), shape=(len(part_of), parts))
    in_part = csr_array(share @ member)
    most = csr_array(in_part[traffic.a].minimum(in_part[traffic.b]))
    cells = shared_cells(traffic.a, traffic.b, counts)
    local = np.minimum(share.data[cells.of_a], share.data[cells.of_b])
    has = csr_array((local, (cells.edge, part_of[counts.indices[cells.of_a]])), shape=most.shape)
    open_share = csr_array(most - has).tocoo()
    each = 1.0 / np.maximum(1, np.maximum(cluster.replicas[traffic.a], cluster.replicas[traffic.b]))[open_share.row]
    moves, worth = np.maximum(0.0, open_share.data) / each, traffic.weight[open_share.row] * each
    order = np.argsort(-worth, kind="stable")
    before = np.cumsum(moves[order]) - moves[order]
    taken = np.clip(limit - before, 0.0, moves[order])
    return floats(np.bincount(open_share.col[order], weights=taken, minlength=parts))


def _whole_numbers(shares: FloatArray, total: int) -> IntArray:
    """Whole numbers near the shares that add up to the total: the largest remainders are rounded up."""
    shares = shares * (total / shares.sum()) if shares.sum() else np.full(len(shares), total / max(1, len(shares)))
    down = np.floor(shares).astype(np.int64)
    missing = total - int(down.sum())
    order = np.argsort(-(shares - down), kind="stable")
    down[order[:missing]] += 1
    return ints(down)
