"""The cutting stock approach ([UCaC] §5.3, Algorithm 1): patterns, then how often each, then which container goes where."""

from dataclasses import replace

import numpy as np

from bayplan.decide.pack.integer_master import integer_counts
from bayplan.decide.pack.kernel_arrays import MachineGroups, bins_of, groups_of, sizes_of
from bayplan.decide.pack.options import PackOptions
from bayplan.decide.pack.pattern_generation import PatternMaster
from bayplan.decide.pack.problem import PackProblem
from bayplan.decide.pack.result import pack_result
from bayplan.engine import Engine
from bayplan.engine.lazy import LazyEngine
from bayplan.kernels.pack.fill import Bins
from bayplan.model import Budget, Clock, FloatArray, Placement, Progress, Result, Tick, verdict
from bayplan.model.interrupt import stoppable

GENERATING = 0.6  # of the seconds, at most, for patterns; the others are for the integer master


def csp_ucac(problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The least UCaC: each pattern costs the uncertainty that it adds."""
    return _solved(problem, options, budget.clock(), progress, minimise_ucac=True)


def csp_machines(
    problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The fewest machines, in the same framework ([UCaC] §6, CSP-Mac)."""
    return _solved(problem, options, budget.clock(), progress, minimise_ucac=False)


def _solved(
    problem: PackProblem, options: PackOptions, clock: Clock, progress: Progress, *, minimise_ucac: bool
) -> Result[Placement]:
    with stoppable() as stop:
        master, bins = generate_patterns(problem, options, minimise_ucac=minimise_ucac, clock=clock, progress=progress)
        count = integer_counts(master, bins, clock, stop)
    goal = "ucac" if minimise_ucac else "machines"
    result = pack_result(problem, count, seconds=clock.seconds, goal=goal, bound=score_bound(problem, master, bins))
    return replace(result, notes=(*result.notes, *master.engine.notes))


def with_bound(
    problem: PackProblem,
    result: Result[Placement],
    *,
    clock: Clock,
    progress: Progress,
    engine: str | Engine | None = None,
) -> Result[Placement]:
    """The result of any packer, with the LP bound of UCaC if it can be proven in the time that is left.

    A result that has a bound, leaves something out or violates a chance constraint stays as it is.
    """
    if result.bound is not None or result.solution is None or result.left_out or result.still_violated or result.goal != "ucac":
        return result
    if clock.seconds >= end_of_generation(clock):
        return result
    options = PackOptions(engine=engine)
    master, bins = generate_patterns(problem, options, minimise_ucac=True, clock=clock, progress=progress)
    status, bound = verdict(result.goal, result.score[result.goal], score_bound(problem, master, bins))
    return replace(result, status=status, bound=bound, notes=(*result.notes, *master.engine.notes))


def generate_patterns(
    problem: PackProblem, options: PackOptions, *, minimise_ucac: bool, clock: Clock, progress: Progress
) -> tuple[PatternMaster, Bins]:
    """All patterns that pay with the master problem solved over them, and the machines as bins."""
    sizes, bins = sizes_of(problem), bins_of(problem)
    groups = groups_of(problem, bins)
    empty = starts_empty(problem, groups)
    engine = LazyEngine(options.engine, workers=clock.budget.threads)
    master = PatternMaster(
        sizes=sizes,
        groups=groups,
        unplaced=problem.unplaced,
        starts_empty=empty,
        minimise_ucac=minimise_ucac,
        engine=engine,
    )
    end = end_of_generation(clock)
    with stoppable() as stop, engine:

        def seconds_left() -> float:
            return 0.0 if stop.requested else end - clock.seconds

        master.add_first_patterns(bins, options.patterns, seconds_left)
        master.generate(
            clock.budget,
            seconds_left,
            lambda cost: progress(Tick(stage="patterns", done=min(1.0, clock.seconds / end), score=cost)),
        )
        if not master.proven:  # with the patterns of the last round
            master.solve(0.0 if stop.requested else 0.5 * clock.seconds_left)
    return master, bins


def end_of_generation(clock: Clock) -> float:
    """The seconds on the clock at which the last pattern is generated; infinite without a limit."""
    return float("inf") if clock.budget.seconds is None else GENERATING * clock.budget.seconds


def starts_empty(problem: PackProblem, groups: MachineGroups) -> FloatArray:
    """(group,) 1 where nothing runs yet."""
    return np.array([float(not problem.running[machines[0]].any()) for machines in groups.machines])


def machines_bound(problem: PackProblem, master: PatternMaster) -> float | None:
    """No placement of all containers has fewer machines; None if nothing is proven. The cost of the master is machines."""
    least = master.proven_bound()
    if least is None or master.left_out > 1e-9:
        return None
    return float(problem.running.any(axis=1).sum()) + float(np.ceil(least - 1e-7))


def score_bound(problem: PackProblem, master: PatternMaster, bins: Bins) -> float | None:
    """No placement of all containers scores less; None if nothing is proven."""
    least = master.proven_bound()
    if least is None or master.left_out > 1e-9:
        return None
    if not master.minimise_ucac:
        return machines_bound(problem, master)
    containers = problem.running.sum(axis=0) + problem.unplaced
    fixed = float((bins.d[:, 0] * np.sqrt(bins.variance[:, 0])).sum())
    unit = float(problem.main.capacity.max()) / problem.cluster.resources[problem.main.resource].scale
    return (float(containers @ master.sizes.mean[0]) + fixed + least) * unit
