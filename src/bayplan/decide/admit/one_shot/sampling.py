"""`sampling`: estimate traffic costs from a sample of the members, solve, round, repair ([Online clusters] Algorithms 1 and 2).

For every placement of the sample, linear program (6) estimates the cost of each member's traffic and places all members in
shares; the rounding of Shmoys and Tardos makes whole members of them.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment

from bayplan.decide.admit.one_shot.greedy import greedy
from bayplan.decide.admit.one_shot.kernel_tables import costs_of, is_too_large, question_of, standing_of
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions, OneShotPlacement, OneShotProblem
from bayplan.kernels.admit.repair import repair
from bayplan.kernels.admit.screen import OPEN, SOLVED, ScaledCosts, estimate_traffic, screen
from bayplan.model import BoolArray, FloatArray, IntArray, ints
from bayplan.solvers.highs import RepeatedProgram
from bayplan.solvers.program import LinearExpression, ProgramBuilder

PLACEMENTS = 6_561  # of the sample at most: four members in nine zones; with more, that many are drawn
NO_LINK = 2.0  # times the most expensive link: the estimated cost of a missing link, so that (6c) can still be met
ROUNDING = 1e-7  # shares up to this are rounding errors of the linear program


def sampling(problem: OneShotProblem, options: OneShotOptions, *, seed: int) -> OneShotPlacement:
    """The best of all placements of a sample of n members, each completed by a linear program and a rounding.

    A rounding that overfills a zone or a link is repaired by moves of least cost, or refused. `options.nodes`: the most
    placements of the sample. No placement means that all were refused, not that nothing fits.
    """
    question = question_of(problem)
    if is_too_large(*question.cost.shape):
        return greedy(problem, options, seed=seed)
    if not fits_alone(problem).any(axis=1).all():
        return OneShotPlacement(zone=None, cost=np.inf, bound=np.inf)  # a member fits nowhere
    rng = np.random.default_rng(seed)
    estimate = estimate_of(problem, options, rng)
    most = PLACEMENTS if options.nodes is None else options.nodes
    placement, complete = sample_placements(problem.cost.shape[1], len(estimate.sample), most, rng)
    best, least, costs, standing = None, np.inf, costs_of(question), standing_of(question)
    for zone in candidates(estimate, placement):  # line 3
        cost = repair(question, costs, standing, zone)
        if cost < least and cost < costs.forbidden_cost[0]:  # line 10
            best, least = zone.copy(), cost
    return OneShotPlacement(zone=best, cost=float(least), complete=complete and best is not None)


def estimate_of(problem: OneShotProblem, options: OneShotOptions, rng: np.random.Generator) -> ScaledCosts:
    """Costs of which the largest is 1, and a random sample of n members (Algorithm 1 lines 1-2)."""
    v = len(problem.cost)
    n = min(v, options.samples or _sample_size(v, options.epsilon))
    talks = problem.traffic > 0
    forth = np.zeros((v, v, *problem.link.shape[1:]))
    forth[talks] = problem.traffic[talks][:, None, None] * problem.link[problem.pair[talks]]
    largest = max(_largest(problem.cost), _largest(forth)) or 1.0  # all prices start at zero
    forth = np.where(np.isfinite(forth), forth / largest, NO_LINK)
    single = np.where(fits_alone(problem), problem.cost / largest, np.inf)  # y_vs is fixed to 0 where a_v > B_s
    sample = np.sort(rng.choice(v, size=n, replace=False))
    reach = np.stack([forth.min(axis=3).sum(axis=1), forth.max(axis=3).sum(axis=1)])
    return ScaledCosts(single, forth, problem.demand, problem.free, ints(sample), np.array([options.epsilon * v]), reach)


def _sample_size(v: int, epsilon: float) -> int:
    """ceil(ln V / epsilon^2), at least 1 and at most V, however small epsilon is."""
    return v if epsilon**2 * v <= math.log(v) else max(1, math.ceil(math.log(v) / epsilon**2))


def fits_alone(problem: OneShotProblem) -> BoolArray:
    """(member, zone) is a member allowed there, and does it fit by itself?"""
    return np.isfinite(problem.cost) & (problem.demand[:, None, :] <= problem.free[None, :, :]).all(axis=2)


def _largest(values: FloatArray) -> float:
    return float(values[np.isfinite(values)].max(initial=0.0))


def sample_placements(zones: int, n: int, most: int, rng: np.random.Generator) -> tuple[IntArray, bool]:
    """(placement, n) zones of the sample, all or `most` of them, drawn; and whether they are all."""
    if zones**n <= most:
        return np.indices((zones,) * n).reshape(n, -1).T.copy(), True
    drawn: IntArray = np.unique(rng.integers(0, zones, size=(most, n)), axis=0)
    return drawn, False


def candidates(estimate: ScaledCosts, placement: IntArray) -> Iterator[IntArray]:
    """A zone per member from each solution of LP (6), rounded (Algorithm 1 lines 4-7). They may overfill zones: Theorem 1.

    Where every member in its cheapest zone meets all constraints, that is the solution of the program, and already integral.
    """
    rows, (v, z) = len(placement), estimate.single.shape
    zone, state = np.empty((rows, v), dtype=np.int64), np.empty(rows, dtype=np.int64)
    screen(estimate, placement, np.empty((2, v, z)), np.empty_like(estimate.capacity), zone, state)
    yield from np.unique(zone[state == SOLVED], axis=0)
    if (state == OPEN).any():
        yield from _solved_candidates(estimate, placement[state == OPEN])


def _solved_candidates(estimate: ScaledCosts, placement: IntArray) -> Iterator[IntArray]:
    """Candidates for which a solver is needed; infeasible programs are skipped."""
    program = TrafficProgram(estimate)
    guessed = np.empty(estimate.single.shape)
    for at in placement:
        estimate_traffic(estimate, at, guessed)
        share = program.solve(guessed)
        if share is None:
            continue
        cost = np.where(program.closed, 0.0, estimate.single) + guessed
        zone = rounded(share, cost, estimate.demand, estimate.capacity)
        if zone is not None:
            yield zone


class TrafficProgram:
    """min sum (P_vs + F_vs) y_vs  s.t. (4a), (4b), |sum_{w,x} P_vwsx y_wx - F_vs| <= epsilon V   (6), (6c), (6d)"""

    def __init__(self, estimate: ScaledCosts) -> None:
        (v, z), k = estimate.single.shape, estimate.capacity.shape[1]
        self.closed = ~np.isfinite(estimate.single)
        self.single = np.where(self.closed, 0.0, estimate.single)
        self.slack = float(estimate.slack[0])
        builder, column = ProgramBuilder(), np.arange(v * z).reshape(v, z)
        for closed in self.closed.ravel().tolist():
            builder.column(0.0, upper=0.0 if closed else 1.0)
        for s in range(z):
            for r in range(k):
                part = estimate.demand[:, r] / max(1, estimate.capacity[s, r])
                builder.row(
                    LinearExpression(column[:, s].tolist(), np.where(self.closed[:, s], 0.0, part).tolist()), at_most=1.0
                )  # (4a)
        for w in range(v):
            builder.row(LinearExpression(column[w].tolist(), [1.0] * z), at_least=1.0, at_most=1.0)  # (4b)
        self.first = len(builder.row_lower)
        by = estimate.pair_cost.transpose(0, 2, 1, 3).reshape(v * z, v * z)
        for row in by:  # (6c), (6d): the bounds come with F
            used = np.flatnonzero(row)
            builder.row(LinearExpression(used.tolist(), row[used].tolist()))
        self._scale_rows(by)
        program = builder.program()
        self.low, self.high = program.row_lower.copy(), program.row_upper.copy()
        self.repeated = RepeatedProgram(program)

    def _scale_rows(self, by: FloatArray) -> None:
        largest = by.max(axis=1, initial=0.0)
        self.scale = np.where(largest > 0, largest, 1.0)  # as `ProgramBuilder` scales its rows

    def solve(self, guessed: FloatArray) -> FloatArray | None:
        """(member, zone) the shares of the cheapest solution for estimates F; None if there is none."""
        self.low[self.first :] = (guessed.ravel() - self.slack) / self.scale
        self.high[self.first :] = (guessed.ravel() + self.slack) / self.scale
        share = self.repeated.solve((self.single + guessed).ravel(), self.low, self.high)
        return None if share is None else share.reshape(self.single.shape)


def rounded(share: FloatArray, cost: FloatArray, demand: IntArray, free: IntArray) -> IntArray | None:
    """(member,) zones from shares (member, zone) that keep (4a); None if rounding errors leave no matching (Algorithm 2).

    With one resource no zone gets more than 2B, if no share is above zero where a_v > B_s ([Online clusters] Theorem 1). With
    several, members are sorted by the largest share of a resource of the zone that they take, and nothing is guaranteed.
    """
    member, zone = _bins(share, demand, free)
    node = np.full((len(share), len(zone)), np.inf)
    for v, b in member:
        node[v, b] = cost[v, zone[b]]
    try:
        rows, columns = linear_sum_assignment(node)  # line 2: matches all members, of which there are no more than bins
    except ValueError:
        return None
    at = np.asarray(zone, dtype=np.int64)[columns]
    return at if len(rows) == len(share) else None


def _bins(share: FloatArray, demand: IntArray, free: IntArray) -> tuple[list[tuple[int, int]], list[int]]:
    """Line 1: the edges from members to zone nodes s_s1, s_s2, ..., each a bin for shares that sum to 1, and each node's zone."""
    edges: list[tuple[int, int]] = []
    zone: list[int] = []
    for s in range(share.shape[1]):
        inside = np.flatnonzero(share[:, s] > ROUNDING)
        part = (demand[inside] / np.maximum(free[s], 1)).max(axis=1, initial=0.0)
        left = 0.0
        for v in inside[np.argsort(-part, kind="stable")].tolist():  # ii) non-increasing demand
            piece = float(share[v, s])
            while piece > ROUNDING:  # iii) what does not go into this bin goes into the next
                if left <= ROUNDING:
                    zone.append(s)
                    left = 1.0
                edges.append((v, len(zone) - 1))  # iv)
                taken = min(piece, left)
                piece, left = piece - taken, left - taken
    return edges, zone
