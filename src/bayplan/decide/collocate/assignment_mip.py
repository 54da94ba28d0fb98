"""The `mip` of the pool ([RASA] §IV-C): Expressions (2)-(9) as one integer program for HiGHS."""

import time
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import Subproblem, gained, violations
from bayplan.model import BoolArray, FloatArray, IntArray, Status
from bayplan.solvers.highs import solve
from bayplan.solvers.program import LARGEST_SCALE, Program

Block: TypeAlias = tuple[csr_array, FloatArray]  # rows: (row, column) coefficients, (row,) upper bounds

MOST_ENTRIES = 600_000  # coefficients: HiGHS takes about 1 kB for each, and with more its first LP does not end within a minute
ENTRIES_A_SECOND = 100_000  # with less time it would overrun its limit before it has begun to search


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variables:
    """The variables that may differ from zero: first x (9), then the share z of an edge's weight gained on a machine."""

    number: IntArray  # (workload, machine) column of x; -1 if no container of the workload can come there
    upper: IntArray  # (workload, machine) most containers
    edge: IntArray  # (z,)
    machine: IntArray  # (z,)

    @property
    def n_x(self) -> int:
        """How many x there are; z comes after them."""
        return int(self.number.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MipRun:
    """What the integer program was given, what it found, and whether there was a search at all."""

    start: IntArray  # (workload, machine)
    counts: IntArray  # (workload, machine) the start, or better
    entries: int  # coefficients of the program, about
    searched: bool = False  # False: the start is the answer
    proven: bool = False  # no counts gain more


def solve_mip(subproblem: Subproblem, *, seconds: float, seed: int = 0, threads: int = 1) -> IntArray:
    """Counts (workload, machine) that violate nothing and gain at least what the start does; the most, if the time suffices.

    The start is the better of where containers run now and what one greedy pass finds. It is the answer if the program is
    too large: more than `MOST_ENTRIES` coefficients, or than `ENTRIES_A_SECOND` for each second. Containers that the
    program leaves out, since they gain nothing, are placed where they fit.
    """
    most = int(min(MOST_ENTRIES, ENTRIES_A_SECOND * seconds))
    return run_mip(subproblem, seconds=seconds, most_entries=most, seed=seed, threads=threads).counts


def run_mip(
    subproblem: Subproblem,
    *,
    seconds: float,
    most_entries: int | None = None,
    seed: int = 0,
    threads: int = 1,
    nodes: int | None = None,
) -> MipRun:
    """As `solve_mip`, with what became of it. Larger programs than `most_entries` are not tried; None: all are.

    `nodes` of branch and bound limit the search as `seconds` do, and the same number gives the same answer.
    """
    limits = _Limits(time.perf_counter() + seconds, nodes, threads, seed)
    start, variables = greedy_start(subproblem), variables_of(subproblem)
    entries = size_of(subproblem, variables)
    if not variables.edge.size or (most_entries is not None and entries > most_entries):
        return MipRun(start=start, counts=start, entries=entries)
    return _improved(subproblem, variables, MipRun(start=start, counts=start, entries=entries), limits)


class _Limits(NamedTuple):
    """What the search may take, and how it runs."""

    ends: float  # a moment of `time.perf_counter`
    nodes: int | None
    threads: int
    seed: int


def greedy_start(subproblem: Subproblem) -> IntArray:
    """The better of the greedy pass from nothing and from what runs now; the latter if equal."""
    candidates = [greedy_counts(subproblem)]
    if subproblem.now.any() and not violations(subproblem, subproblem.now):
        candidates.insert(0, greedy_counts(subproblem, subproblem.now))
    return max(candidates, key=lambda counts: gained(subproblem, counts))


def _improved(subproblem: Subproblem, variables: Variables, run: MipRun, limits: _Limits) -> MipRun:
    """What HiGHS finds from the start, if it is better. A claimed optimum is tested again without presolve (see `solve`)."""
    for presolve in (True, False):
        program = program_of(subproblem, variables, run.counts)
        left = limits.ends - time.perf_counter()
        if left <= 0.0:
            break
        answer = solve(program, seconds=left, threads=limits.threads, seed=limits.seed, presolve=presolve, nodes=limits.nodes)
        proven = answer.status == Status.OPTIMAL and not presolve
        run = replace(run, searched=True, proven=proven)
        if answer.point is None:
            break
        counts = greedy_counts(subproblem, repaired(subproblem, counts_of(variables, answer.point)))
        run = replace(run, counts=max(run.counts, counts, key=lambda each: gained(subproblem, each)))
    return run


def repaired(subproblem: Subproblem, counts: IntArray) -> IntArray:
    """Counts that violate nothing: where rounding violates (3)-(5), the containers that gain least are removed, one by one."""
    counts = np.where(subproblem.allow[subproblem.row_of], np.maximum(0, counts), 0)
    member: IntArray = subproblem.member.astype(np.int64)
    while True:
        beyond = counts.sum(axis=1) > subproblem.demand  # (workload,)
        full = counts.T @ subproblem.request > subproblem.free  # (machine, resource)
        crowded = member @ counts > subproblem.set_free  # (set, machine)
        to_blame = beyond[:, None] | (subproblem.request > 0) @ full.T | (member.T @ crowded > 0)  # (workload, machine)
        removable = np.argwhere(to_blame & (counts > 0))
        if not len(removable):
            return counts
        w, m = min(removable.tolist(), key=lambda pair: _loss(subproblem, counts, *pair))
        counts[w, m] -= 1


def _loss(subproblem: Subproblem, counts: IntArray, w: int, m: int) -> float:
    """The affinity that is lost with one container of workload w on machine m."""
    share = (counts[:, m] + subproblem.fixed[:, m]) / subproblem.replicas
    then = share.copy()
    then[w] -= 1 / subproblem.replicas[w]
    ends = (subproblem.a == w) | (subproblem.b == w)
    a, b = subproblem.a[ends], subproblem.b[ends]
    return float(subproblem.weight[ends] @ (np.minimum(share[a], share[b]) - np.minimum(then[a], then[b])))


def variables_of(subproblem: Subproblem) -> Variables:
    """The variables of a subproblem; (6) is expressed by which of them exist.

    An edge has no z on a machine where an end cannot run, or where both ends are fixed. A workload has no x on a machine where
    none of its edges has a z: it would use capacity and gain nothing.
    """
    upper = _upper(subproblem)
    here = upper > 0
    runs = here | (subproblem.fixed > 0)
    possible = (
        runs[subproblem.a] & runs[subproblem.b] & (here[subproblem.a] | here[subproblem.b]) & (subproblem.weight > 0)[:, None]
    )
    edge, machine = np.nonzero(possible)
    useful = np.zeros_like(here)
    useful[subproblem.a[edge], machine] = True
    useful[subproblem.b[edge], machine] = True
    here &= useful
    number = np.where(here, np.cumsum(here).reshape(here.shape) - 1, -1)
    return Variables(number=number, upper=upper, edge=edge, machine=machine)


def _upper(subproblem: Subproblem) -> IntArray:
    """(workload, machine) the most containers that (3)-(6) allow if nothing else comes."""
    upper: IntArray = np.where(subproblem.allow[subproblem.row_of], subproblem.demand[:, None], 0)
    for r in range(subproblem.request.shape[1]):
        users = np.flatnonzero(subproblem.request[:, r])
        upper[users] = np.minimum(upper[users], subproblem.free[:, r] // subproblem.request[users, r, None])
    for k in range(len(subproblem.member)):
        members = np.flatnonzero(subproblem.member[k])
        upper[members] = np.minimum(upper[members], subproblem.set_free[k])
    return upper


def size_of(subproblem: Subproblem, variables: Variables) -> int:
    """About how many coefficients the program has: cheap to compute, before anything is built."""
    rows = 1 + np.count_nonzero(subproblem.request, axis=1) + np.count_nonzero(subproblem.member, axis=0)  # (workload,)
    return 4 * len(variables.edge) + int((rows * (variables.number >= 0).sum(axis=1)).sum())


def program_of(subproblem: Subproblem, variables: Variables, start: IntArray) -> Program:
    r"""min - sum_e sum_m w_e z_em (2), where a_em of the paper is w_e z_em, from the counts `start`.

    sum_m x_wm <= demand_w             every w       (3) fewer are allowed: the default scheduler places what is left
    sum_w q_wr x_wm <= free_mr         every m, r    (4)
    sum_{w in k} x_wm <= set_free_km   every k, m    (5)
    d_w z_em <= x_wm + fixed_wm        every e, m    (7), (8) both ends
    """
    upper: FloatArray = variables.upper[variables.number >= 0].astype(np.float64)
    share = (variables.upper + subproblem.fixed) / subproblem.replicas[:, None]
    blocks = [
        _demand(subproblem, variables),
        *_capacity(subproblem, variables),
        _anti_affinity(subproblem, variables),
        *_ends(subproblem, variables),
    ]
    right = np.concatenate([block[1] for block in blocks])
    integral = np.arange(variables.n_x + len(variables.edge)) < variables.n_x
    return Program(
        cost=np.concatenate([np.zeros(variables.n_x), -subproblem.weight[variables.edge]]),
        lower=np.zeros(len(integral)),
        upper=np.concatenate([upper, _least(subproblem, variables, share)]),
        integral=integral,
        matrix=csr_array(vstack([block[0] for block in blocks], format="csr")),
        row_lower=np.full(len(right), -np.inf),
        row_upper=right,
        start=_point(subproblem, variables, start),
    )


def _point(subproblem: Subproblem, variables: Variables, counts: IntArray) -> FloatArray:
    """(column,) counts as a point of the program."""
    share = (counts + subproblem.fixed) / subproblem.replicas[:, None]
    point: FloatArray = np.concatenate([counts[variables.number >= 0], _least(subproblem, variables, share)])
    return point


def _least(subproblem: Subproblem, variables: Variables, share: FloatArray) -> FloatArray:
    """(z,) the smaller share of the two ends of an edge on a machine."""
    ends = share[subproblem.a[variables.edge], variables.machine], share[subproblem.b[variables.edge], variables.machine]
    least: FloatArray = np.minimum(*ends)
    return least


def counts_of(variables: Variables, point: FloatArray) -> IntArray:
    """A point of the program as counts (workload, machine)."""
    counts = np.zeros(variables.number.shape, dtype=np.int64)
    counts[variables.number >= 0] = np.rint(point[: variables.n_x]).astype(np.int64)
    return counts


def _demand(subproblem: Subproblem, variables: Variables) -> Block:
    """One row per workload."""
    w, m = np.nonzero(variables.number >= 0)
    return _block(variables, (w, variables.number[w, m], np.ones(len(w))), subproblem.demand.astype(np.float64))  # (3)


def _capacity(subproblem: Subproblem, variables: Variables) -> list[Block]:
    """One row per machine and resource, in units that keep integer amounts apart from a solver's tolerance."""
    w, m = np.nonzero(variables.number >= 0)
    blocks = []
    for r in range(subproblem.request.shape[1]):
        unit = max(1, int(np.gcd.reduce(subproblem.request[:, r])))
        amount, free = subproblem.request[:, r] // unit, subproblem.free[:, r] // unit
        scale = max(1.0, float(amount.max(initial=0)) / LARGEST_SCALE)
        uses = amount[w] > 0
        entries = m[uses], variables.number[w[uses], m[uses]], amount[w[uses]] / scale
        blocks.append(_block(variables, entries, free / scale))  # (4)
    return blocks


def _anti_affinity(subproblem: Subproblem, variables: Variables) -> Block:
    """One row per set of several workloads and machine; sets of one workload are in the bounds of x already."""
    n_m = len(subproblem.machine)
    shared = np.flatnonzero(subproblem.member.sum(axis=1) > 1)
    k, w = np.nonzero(subproblem.member[shared])
    row, workload, machine = (each.ravel() for each in np.broadcast_arrays(k[:, None], w[:, None], np.arange(n_m)))
    there = variables.number[workload, machine] >= 0
    row, workload, machine = row[there], workload[there], machine[there]
    entries = row * n_m + machine, variables.number[workload, machine], np.ones(len(row))
    return _block(variables, entries, subproblem.set_free[shared].ravel().astype(np.float64))  # (5)


def _ends(subproblem: Subproblem, variables: Variables) -> list[Block]:
    """One row per z and end of its edge."""
    z = np.arange(len(variables.edge))
    blocks = []
    for end in (subproblem.a[variables.edge], subproblem.b[variables.edge]):
        x = variables.number[end, variables.machine]
        there = x >= 0
        row = np.concatenate([z, z[there]])
        column = np.concatenate([variables.n_x + z, x[there]])
        by = np.concatenate([subproblem.replicas[end], np.full(there.sum(), -1)]).astype(np.float64)
        blocks.append(
            _block(variables, (row, column, by), subproblem.fixed[end, variables.machine].astype(np.float64))
        )  # (7), (8)
    return blocks


def _block(variables: Variables, entries: tuple[IntArray, IntArray, FloatArray], right: FloatArray) -> Block:
    """Those of the rows that can be violated within the bounds of the variables."""
    row, column, by = entries
    width = variables.n_x + len(variables.edge)
    matrix = coo_array((by, (row, column)), shape=(len(right), width)).tocsr()
    most = np.concatenate([variables.upper[variables.number >= 0], np.ones(len(variables.edge))])
    needed: BoolArray = matrix.maximum(0) @ most > right
    return csr_array(matrix[needed]), right[needed]
