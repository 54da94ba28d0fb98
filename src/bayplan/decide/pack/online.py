"""Best fit as containers arrive, one at a time ([UCaC] §5.1): each goes to the machine that is fullest with it, and can take it.

Offered workload by workload, containers go where `bf-ucac` or `bf-nsigma` puts them.
"""

from dataclasses import replace

import numpy as np

from bayplan.decide.pack.heuristics import fixed_sizes, fullness
from bayplan.decide.pack.kernel_arrays import bins_of, sizes_of
from bayplan.decide.pack.problem import UNLIMITED, PackProblem
from bayplan.decide.pack.result import why_none_fits
from bayplan.decide.pack.within_rules import KNOWN
from bayplan.errors import UsageError, expect_one_of
from bayplan.kernels.pack.fill import Bins, Sizes, fill_in_order
from bayplan.model import UNPLACED, IntArray, ints

METHODS = ("bf-ucac", "bf-nsigma")


class BestFitState:
    """What runs on every machine, for the next container that arrives. Containers without a machine are not counted."""

    def __init__(self, problem: PackProblem, *, method: str = METHODS[0], n_sigma: float | None = None) -> None:
        expect_one_of(method, METHODS, "method that takes containers one by one")
        if other := sorted({rule.kind for rule in problem.cluster.rules} - set(KNOWN)):
            raise UsageError(
                f"best fit one by one keeps {', '.join(KNOWN)} rules; expected no {' or '.join(other)} rule: see pack"
            )
        self._method, self._n_sigma = method, n_sigma
        self._problem = replace(problem, unplaced=ints(np.full(len(problem.unplaced), UNLIMITED)))
        self.running: IntArray = problem.running.copy()  # (machine, workload)
        self._sizes, self._bins = self._arrays()

    def place(self, w: int) -> int:
        """The machine that is fullest with one more container of workload w, the first of equals; UNPLACED if none takes it."""
        order = np.argsort(-fullness(self._sizes, self._bins, w), kind="stable")
        count, left = np.zeros_like(self.running), np.zeros(self.running.shape[1], dtype=np.int64)
        left[w] = 1
        fill_in_order(self._sizes, self._bins, order, np.array([w]), left, count)
        if left[w]:
            return UNPLACED
        m = int(np.argmax(count[:, w]))
        self.running[m, w] += 1
        return m

    def take(self, w: int, m: int) -> None:
        """A container of workload w leaves machine m."""
        self.running[m, w] -= 1
        self._sizes, self._bins = self._arrays()

    def why_none_fits(self, w: int) -> str:
        """Why no machine takes a container of workload w now."""
        return why_none_fits(self._now(), w)

    def _arrays(self) -> tuple[Sizes, Bins]:
        now = self._now()
        if self._method == METHODS[0]:
            return sizes_of(now), bins_of(now)
        return fixed_sizes(sizes_of(now), bins_of(now), now.running, self._n_sigma)

    def _now(self) -> PackProblem:
        """The problem with what runs at this time."""
        added = self.running - self._problem.running
        return replace(self._problem, running=ints(self.running), free=self._problem.free - added @ self._problem.request)
