"""The linear programs (6) of 001: guesses of what each member's traffic will cost, from every placement of a sample."""

import math
from collections.abc import Iterator

import numpy as np

from bayplan.decide.admit.oneshot.case import Case
from bayplan.decide.admit.oneshot.rounding import rounded
from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.kernels.admit.sift import OPEN, SEEN, Estimate, guess, sift
from bayplan.model import BoolArray, FloatArray, IntArray, ints
from bayplan.solvers.highs import RepeatedProgram
from bayplan.solvers.program import LinearExpression, ProgramBuilder

PLACEMENTS = 6_561  # of the sample, at most: four members in nine zones; if there are more they are drawn
NO_LINK = 2.0  # of the dearest link: what a missing one costs in a guess, so that (6c) can still be met


def estimate_of(case: Case, options: OneShotOptions, rng: np.random.Generator) -> Estimate:
    """Costs of which the largest is 1, and a random sample of n members (Algorithm 1 lines 1-2)."""
    v = len(case.cost)
    n = min(v, options.samples or _sample_size(v, options.epsilon))
    talks = case.traffic > 0
    forth = np.zeros((v, v, *case.link.shape[1:]))
    forth[talks] = case.traffic[talks][:, None, None] * case.link[case.pair[talks]]
    dearest = max(_largest(case.cost), _largest(forth)) or 1.0  # all prices start at zero
    forth = np.where(np.isfinite(forth), forth / dearest, NO_LINK)
    single = np.where(can_hold(case), case.cost / dearest, np.inf)  # y_vs is fixed to 0 where a_v > B_s
    sample = np.sort(rng.choice(v, size=n, replace=False))
    reach = np.stack([forth.min(axis=3).sum(axis=1), forth.max(axis=3).sum(axis=1)])
    return Estimate(single, forth, case.demand, case.room, ints(sample), np.array([options.epsilon * v]), reach)


def _sample_size(v: int, epsilon: float) -> int:
    """ceil(ln V / epsilon^2), at least 1 and at most V, however small epsilon is."""
    return v if epsilon**2 * v <= math.log(v) else max(1, math.ceil(math.log(v) / epsilon**2))


def can_hold(case: Case) -> BoolArray:
    """(member, zone) where a member may go, and fits by itself."""
    return np.isfinite(case.cost) & (case.demand[:, None, :] <= case.room[None, :, :]).all(axis=2)


def _largest(values: FloatArray) -> float:
    return float(values[np.isfinite(values)].max(initial=0.0))


def placements(zones: int, n: int, most: int, rng: np.random.Generator) -> tuple[IntArray, bool]:
    """(placement, n) zones of the sample: all of them, or so many drawn; and are they all?"""
    if zones**n <= most:
        return np.indices((zones,) * n).reshape(n, -1).T.copy(), True
    drawn: IntArray = np.unique(rng.integers(0, zones, size=(most, n)), axis=0)
    return drawn, False


def candidates(estimate: Estimate, placement: IntArray) -> Iterator[IntArray]:
    """Each a zone per member: the answers of LP (6) rounded (Algorithm 1 lines 4-7). They may overfill zones: Theorem 1.

    Where every member in its cheapest zone keeps all constraints, that is the answer of the program, and already whole.
    """
    rows, (v, z) = len(placement), estimate.single.shape
    zone, state = np.empty((rows, v), dtype=np.int64), np.empty(rows, dtype=np.int64)
    sift(estimate, placement, np.empty((2, v, z)), np.empty_like(estimate.room), zone, state)
    yield from np.unique(zone[state == SEEN], axis=0)
    if (state == OPEN).any():
        yield from _solved(estimate, placement[state == OPEN])


def _solved(estimate: Estimate, placement: IntArray) -> Iterator[IntArray]:
    """The answers for which a solver is needed; a program without one is skipped."""
    program = Program6(estimate)
    guessed = np.empty(estimate.single.shape)
    for at in placement:
        guess(estimate, at, guessed)
        share = program.solve(guessed)
        if share is None:
            continue
        cost = np.where(program.closed, 0.0, estimate.single) + guessed
        zone = rounded(share, cost, estimate.demand, estimate.room)
        if zone is not None:
            yield zone


class Program6:
    """min sum (P_vs + F_vs) y_vs  s.t. (4a), (4b), |sum_{w,x} P_vwsx y_wx - F_vs| <= epsilon V   (6), (6c), (6d)"""

    def __init__(self, estimate: Estimate) -> None:
        (v, z), k = estimate.single.shape, estimate.room.shape[1]
        self.closed = ~np.isfinite(estimate.single)
        self.single = np.where(self.closed, 0.0, estimate.single)
        self.slack = float(estimate.slack[0])
        draft, column = ProgramBuilder(), np.arange(v * z).reshape(v, z)
        for closed in self.closed.ravel().tolist():
            draft.column(0.0, upper=0.0 if closed else 1.0)
        for s in range(z):
            for r in range(k):
                part = estimate.demand[:, r] / max(1, estimate.room[s, r])
                draft.row(
                    LinearExpression(column[:, s].tolist(), np.where(self.closed[:, s], 0.0, part).tolist()), at_most=1.0
                )  # (4a)
        for w in range(v):
            draft.row(LinearExpression(column[w].tolist(), [1.0] * z), at_least=1.0, at_most=1.0)  # (4b)
        self.first = len(draft.row_lower)
        by = estimate.forth.transpose(0, 2, 1, 3).reshape(v * z, v * z)
        for row in by:  # (6c), (6d): the bounds come with F
            used = np.flatnonzero(row)
            draft.row(LinearExpression(used.tolist(), row[used].tolist()))
        self._scale_rows(by)
        program = draft.program()
        self.low, self.high = program.row_lower.copy(), program.row_upper.copy()
        self.repeated = RepeatedProgram(program)

    def _scale_rows(self, by: FloatArray) -> None:
        largest = by.max(axis=1, initial=0.0)
        self.scale = np.where(largest > 0, largest, 1.0)  # as a draft divides its rows

    def solve(self, guessed: FloatArray) -> FloatArray | None:
        """(member, zone) the shares of the cheapest answer for a guess F; None if there is none."""
        self.low[self.first :] = (guessed.ravel() - self.slack) / self.scale
        self.high[self.first :] = (guessed.ravel() + self.slack) / self.scale
        share = self.repeated.solve((self.single + guessed).ravel(), self.low, self.high)
        return None if share is None else share.reshape(self.single.shape)
