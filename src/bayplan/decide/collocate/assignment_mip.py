"""The `mip` of the pool (004 section IV-C): Expressions (2)-(9) as one integer program for HiGHS."""

import time
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import Subproblem, gained, violations
from bayplan.model import BoolArray, FloatArray, IntArray
from bayplan.solvers.highs import solve
from bayplan.solvers.program import LARGEST_SCALE, Program


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variables:
    """The variables that may differ from zero: first x (9), then the share z of an edge's weight gained on a machine."""

    number: IntArray  # (service, machine) column of x; -1 if no container of the service can come there
    upper: IntArray  # (service, machine) most containers
    edge: IntArray  # (z,)
    machine: IntArray  # (z,)

    @property
    def n_x(self) -> int:
        """How many x there are; z comes after them."""
        return int(self.number.max(initial=-1)) + 1


def variables_of(task: Subproblem) -> Variables:
    """(6) is what columns there are. Edges without hope on a machine, or whose both ends are fixed there, have none.

    Nor have services on machines where none of their edges has hope: they would take room and gain nothing.
    """
    upper = _upper(task)
    here = upper > 0
    some = here | (task.fixed > 0)
    hope = some[task.a] & some[task.b] & (here[task.a] | here[task.b]) & (task.weight > 0)[:, None]
    edge, machine = np.nonzero(hope)
    useful = np.zeros_like(here)
    useful[task.a[edge], machine] = True
    useful[task.b[edge], machine] = True
    here &= useful
    number = np.where(here, np.cumsum(here).reshape(here.shape) - 1, -1)
    return Variables(number=number, upper=upper, edge=edge, machine=machine)


def _upper(task: Subproblem) -> IntArray:
    """(service, machine) containers that (3)-(6) let alone on a machine."""
    upper: IntArray = np.where(task.allow[task.row_of], task.demand[:, None], 0)
    for r in range(task.request.shape[1]):
        asks = np.flatnonzero(task.request[:, r])
        upper[asks] = np.minimum(upper[asks], task.room[:, r] // task.request[asks, r, None])
    for k in range(len(task.member)):
        members = np.flatnonzero(task.member[k])
        upper[members] = np.minimum(upper[members], task.spare[k])
    return upper


def size_of(task: Subproblem, columns: Variables) -> int:
    """About how many coefficients the program has: cheap to know, before anything is built."""
    rows = 1 + np.count_nonzero(task.request, axis=1) + np.count_nonzero(task.member, axis=0)  # (service,)
    return 4 * len(columns.edge) + int((rows * (columns.number >= 0).sum(axis=1)).sum())


def program_of(task: Subproblem, columns: Variables, start: IntArray) -> Program:
    r"""min - sum_e sum_m w_e z_em (2), where a_em of the paper is w_e z_em, from the counts `start`.

    sum_m x_sm <= demand_s        every s       (3) fewer are no fault: the default scheduler places the rest
    sum_s q_sr x_sm <= room_mr    every m, r    (4)
    sum_{s in k} x_sm <= spare_km every k, m    (5)
    d_s z_em <= x_sm + fixed_sm   every e, m    (7), (8) both ends
    """
    upper: FloatArray = columns.upper[columns.number >= 0].astype(np.float64)
    share = (columns.upper + task.fixed) / task.replicas[:, None]
    blocks = [_demand(task, columns), *_capacity(task, columns), _apart(task, columns), *_ends(task, columns)]
    right = np.concatenate([block[1] for block in blocks])
    integral = np.arange(columns.n_x + len(columns.edge)) < columns.n_x
    return Program(
        cost=np.concatenate([np.zeros(columns.n_x), -task.weight[columns.edge]]),
        lower=np.zeros(len(integral)),
        upper=np.concatenate([upper, _least(task, columns, share)]),
        integral=integral,
        matrix=csr_array(vstack([block[0] for block in blocks], format="csr")),
        row_lower=np.full(len(right), -np.inf),
        row_upper=right,
        start=_point(task, columns, start),
    )


Block = tuple[csr_array, FloatArray]  # (row, column), (row,) at most


def _point(task: Subproblem, columns: Variables, counts: IntArray) -> FloatArray:
    """(column,) counts as a point of the program."""
    share = (counts + task.fixed) / task.replicas[:, None]
    point: FloatArray = np.concatenate([counts[columns.number >= 0], _least(task, columns, share)])
    return point


def _least(task: Subproblem, columns: Variables, share: FloatArray) -> FloatArray:
    """(z,) the smaller share of the two ends of an edge on a machine."""
    ends = share[task.a[columns.edge], columns.machine], share[task.b[columns.edge], columns.machine]
    least: FloatArray = np.minimum(*ends)
    return least


def counts_of(columns: Variables, point: FloatArray) -> IntArray:
    """A point of the program as counts (service, machine)."""
    counts = np.zeros(columns.number.shape, dtype=np.int64)
    counts[columns.number >= 0] = np.rint(point[: columns.n_x]).astype(np.int64)
    return counts


def _demand(task: Subproblem, columns: Variables) -> Block:
    s, m = np.nonzero(columns.number >= 0)
    return _block(columns, (s, columns.number[s, m], np.ones(len(s))), task.demand.astype(np.float64))  # (3)


def _capacity(task: Subproblem, columns: Variables) -> list[Block]:
    """One row per machine and resource, in units that keep sums of whole amounts apart from a solver's tolerance."""
    s, m = np.nonzero(columns.number >= 0)
    blocks = []
    for r in range(task.request.shape[1]):
        unit = max(1, int(np.gcd.reduce(task.request[:, r])))
        amount, room = task.request[:, r] // unit, task.room[:, r] // unit
        scale = max(1.0, float(amount.max(initial=0)) / LARGEST_SCALE)
        asks = amount[s] > 0
        entries = m[asks], columns.number[s[asks], m[asks]], amount[s[asks]] / scale
        blocks.append(_block(columns, entries, room / scale))  # (4)
    return blocks


def _apart(task: Subproblem, columns: Variables) -> Block:
    """Sets of one service are in the bounds of x already."""
    n_m = len(task.machine)
    shared = np.flatnonzero(task.member.sum(axis=1) > 1)
    k, s = np.nonzero(task.member[shared])
    row, service, machine = (some.ravel() for some in np.broadcast_arrays(k[:, None], s[:, None], np.arange(n_m)))
    there = columns.number[service, machine] >= 0
    row, service, machine = row[there], service[there], machine[there]
    entries = row * n_m + machine, columns.number[service, machine], np.ones(len(row))
    return _block(columns, entries, task.spare[shared].ravel().astype(np.float64))  # (5)


def _ends(task: Subproblem, columns: Variables) -> list[Block]:
    z = np.arange(len(columns.edge))
    blocks = []
    for end in (task.a[columns.edge], task.b[columns.edge]):
        x = columns.number[end, columns.machine]
        there = x >= 0
        row = np.concatenate([z, z[there]])
        column = np.concatenate([columns.n_x + z, x[there]])
        by = np.concatenate([task.replicas[end], np.full(there.sum(), -1)]).astype(np.float64)
        blocks.append(_block(columns, (row, column, by), task.fixed[end, columns.machine].astype(np.float64)))  # (7), (8)
    return blocks


def _block(columns: Variables, entries: tuple[IntArray, IntArray, FloatArray], right: FloatArray) -> Block:
    """Rows that can be broken within the bounds of the columns."""
    row, column, by = entries
    width = columns.n_x + len(columns.edge)
    matrix = coo_array((by, (row, column)), shape=(len(right), width)).tocsr()
    most = np.concatenate([columns.upper[columns.number >= 0], np.ones(len(columns.edge))])
    needed: BoolArray = matrix.maximum(0) @ most > right
    return csr_array(matrix[needed]), right[needed]


MOST_ENTRIES = 600_000  # coefficients: HiGHS takes about 1 kB for each, and with more its first LP does not end within a minute
ENTRIES_A_SECOND = 100_000  # with less time it would overrun its limit before it has begun to search


def solve_mip(task: Subproblem, *, seconds: float, seed: int = 0, threads: int = 1) -> IntArray:
    """Counts (service, machine) that break nothing and gain at least what the start does; the most, if the time suffices.

    The start is the better of where containers stand now and what one greedy pass finds. It comes back as it is if the program
    is hopeless: more than `MOST_ENTRIES` coefficients, or than `ENTRIES_A_SECOND` for each second. Containers that the
    program leaves out, since they gain nothing, are put where they fit.
    """
    ends = time.perf_counter() + seconds
    start = _start(task)
    columns = variables_of(task)
    if not columns.edge.size or size_of(task, columns) > min(MOST_ENTRIES, ENTRIES_A_SECOND * seconds):
        return start
    return _improved(task, columns, start, ends, seed, threads)


def _start(task: Subproblem) -> IntArray:
    """The better of the greedy pass over nothing and over what stands now; the latter if equal."""
    found = [greedy_counts(task)]
    if task.now.any() and not violations(task, task.now):
        found.insert(0, greedy_counts(task, task.now))
    return max(found, key=lambda counts: gained(task, counts))


def _improved(task: Subproblem, columns: Variables, start: IntArray, ends: float, seed: int, threads: int) -> IntArray:
    """What HiGHS finds from the start, if it is better. A claimed optimum is put to the test without presolve (see `solve`)."""
    best = start
    for presolve in (True, False):
        program = program_of(task, columns, best)
        left = ends - time.perf_counter()
        if left <= 0.0:
            break
        answer = solve(program, seconds=left, threads=threads, seed=seed, presolve=presolve)
        if answer.point is None:
            break
        counts = greedy_counts(task, repaired(task, counts_of(columns, answer.point)))
        best = max(best, counts, key=lambda some: gained(task, some))
    return best


def repaired(task: Subproblem, counts: IntArray) -> IntArray:
    """Counts that break nothing: what breaks (3)-(5) by rounding loses containers, each time the one that gains least."""
    counts = np.where(task.allow[task.row_of], np.maximum(0, counts), 0)
    member: IntArray = task.member.astype(np.int64)
    while True:
        many = counts.sum(axis=1) > task.demand  # (service,)
        full = counts.T @ task.request > task.room  # (machine, resource)
        close = member @ counts > task.spare  # (set, machine)
        blamed = many[:, None] | (task.request > 0) @ full.T | (member.T @ close > 0)  # (service, machine)
        culprits = np.argwhere(blamed & (counts > 0))
        if not len(culprits):
            return counts
        s, m = min(culprits.tolist(), key=lambda cell: _loss(task, counts, *cell))
        counts[s, m] -= 1


def _loss(task: Subproblem, counts: IntArray, s: int, m: int) -> float:
    """The affinity that one container of s less on machine m costs."""
    share = (counts[:, m] + task.fixed[:, m]) / task.replicas
    then = share.copy()
    then[s] -= 1 / task.replicas[s]
    ends = (task.a == s) | (task.b == s)
    a, b = task.a[ends], task.b[ends]
    return float(task.weight[ends] @ (np.minimum(share[a], share[b]) - np.minimum(then[a], then[b])))
