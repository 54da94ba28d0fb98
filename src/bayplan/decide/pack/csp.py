"""The cutting stock approach (003 section 5.3, Algorithm 1): patterns, then how often each, then who goes where."""

from dataclasses import replace

import numpy as np

from bayplan.decide.pack.answer import packed
from bayplan.decide.pack.bins import Groups, bins_of, groups_of, sizes_of
from bayplan.decide.pack.columns import Columns
from bayplan.decide.pack.problem import PackProblem
from bayplan.decide.pack.signature import PackOptions
from bayplan.decide.pack.whole import whole_counts
from bayplan.kernels.pack.fill import Bins, Sizes
from bayplan.model import Budget, Clock, FloatArray, Placement, Progress, Result, Tick
from bayplan.model.interrupt import stoppable

GENERATING = 0.6  # of the seconds, at most, for patterns; the rest is for whole numbers


def csp_ucac(problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The least UCaC: each pattern costs the uncertainty that it adds."""
    return _solved(problem, options, budget.clock(), progress, priced=True)


def csp_machines(
    problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The fewest machines, in the same framework (003 section 6, CSP-Mac)."""
    return _solved(problem, options, budget.clock(), progress, priced=False)


def _solved(problem: PackProblem, options: PackOptions, clock: Clock, progress: Progress, *, priced: bool) -> Result[Placement]:
    sizes, bins = sizes_of(problem), bins_of(problem)
    with stoppable() as stop:
        columns = generated(problem, sizes, bins, options, priced=priced, clock=clock, progress=progress)
        count = whole_counts(columns, bins, clock, stop)
    goal = "ucac" if priced else "machines"
    return packed(problem, count, seconds=clock.seconds, goal=goal, bound=_bound(problem, columns, sizes, bins))


def with_bound(problem: PackProblem, found: Result[Placement], *, clock: Clock, progress: Progress) -> Result[Placement]:
    """The answer of any packer, with the LP bound of UCaC if it can be proven in the time that is left.

    An answer that has one, leaves something out or breaks a chance constraint stays as it is.
    """
    if found.bound is not None or found.solution is None or found.left_out or found.still_violated or found.goal != "ucac":
        return found
    sizes, bins = sizes_of(problem), bins_of(problem)
    columns = generated(problem, sizes, bins, PackOptions(), priced=True, clock=clock, progress=progress)
    bound = _bound(problem, columns, sizes, bins)
    return found if bound is None else replace(found, bound=min(bound, found.score["ucac"]))


def generated(
    problem: PackProblem,
    sizes: Sizes,
    bins: Bins,
    options: PackOptions,
    *,
    priced: bool,
    clock: Clock,
    progress: Progress,
) -> Columns:
    """All patterns that pay, and the master problem solved over them."""
    groups = groups_of(problem, bins)
    empty = starts_empty(problem, groups)
    columns = Columns(sizes=sizes, groups=groups, waiting=problem.waiting, starts_empty=empty, priced=priced)
    columns.begin(bins, options.patterns)
    with stoppable() as stop:
        limit = clock.budget.seconds
        late = float("inf") if limit is None else GENERATING * limit
        most = float("inf") if clock.budget.iterations is None else clock.budget.iterations
        columns.generate(
            lambda: stop.asked or clock.seconds >= late or columns.rounds >= most,
            lambda least: progress(Tick(stage="patterns", done=min(1.0, clock.seconds / late), score=least)),
        )
    columns.solve()
    return columns


def starts_empty(problem: PackProblem, groups: Groups) -> FloatArray:
    """(group,) 1 where nothing runs yet."""
    return np.array([float(not problem.running[machines[0]].any()) for machines in groups.machines])


def _bound(problem: PackProblem, columns: Columns, sizes: Sizes, bins: Bins) -> float | None:
    """No placement of all containers scores less: the master's value, less what unproven pennies could add up to."""
    if not columns.proven or columns.left_out > 1e-9:
        return None
    pennies = 2e-9 * len(bins.room)
    if not columns.priced:
        busy = float(problem.running.any(axis=1).sum())
        return busy + float(np.ceil(columns.least - pennies - 1e-7))
    everything = problem.running.sum(axis=0) + problem.waiting
    fixed = float((bins.d[:, 0] * np.sqrt(bins.variance[:, 0])).sum())
    unit = float(problem.main.room.max()) / problem.cluster.resources[problem.main.resource].scale
    return (float(everything @ sizes.mean[0]) + fixed + columns.least - pennies) * unit
