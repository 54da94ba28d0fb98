r"""CSP-Mac as [UCaC] §6 has it: the cutting stock approach of §5.3 and appendix C with machines as the cost, and nothing else.

    PatternGen   min sum_j v_j   s.t. sum_j p_kj v_j >= m_k + sum_i z_ik, v >= 0                                          (14)
                 from the diagonal P(0), a pattern is added while its reduced cost 1 - pi p is below 0                     (16)
    SolveCSP     min sum_j v_j   s.t. p_j >= z_i where machine i takes pattern j; every machine with containers takes one
                 pattern, an empty one at most one; sum_j p_kj v_j >= m_k + sum_i z_ik; whole numbers                      (8)
    placement    x_i = p_j - z_i                                                                            Algorithm 1, line 3

`csp-machines` has the same cost, but begins from the patterns of `bf-ucac` and `bi-level`, keeps their packing if it has as few
machines, and takes off what patterns hold too much of where that saves most uncertainty. Here no step knows of uncertainty, but
for the chance constraint (7). Where all requests fit into machines that run, every cover is as good as any other.

Where the paper is silent, or where we deviate:

- Proposition 2 supposes that some pattern covers what runs on each machine. Patterns of (14) cover most of them. For the others
  there is a diagonal of their own, z_i and as many containers of one workload as fit beside it; z_i alone if nothing does.
- Patterns are those of (14), priced for empty machines, as in the paper: in (8) others might need fewer machines. So there is no
  bound on machines that run something.
- It adds one pattern a round; here a round may add several. Both end with the same value of (14).
- (8) has a row for each machine; here equal machines share one, as in `csp-ucac`.
- Patterns hold no more containers of a workload than there are to place beside what runs.
- (8) covers more than is demanded, and the paper does not say what becomes of it. What is too much is taken off at random, each
  container with the same chance. A note has the UCaC with all of it, sum_j v_j u_j: what (8) counts.
- What the integer program leaves out, or all that rounding down leaves out if there is no time for it, goes to the first machine
  that takes it (first fit).
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bayplan.decide.pack.cutting_stock import end_of_generation, starts_empty
from bayplan.decide.pack.integer_master import patterns_on_machines, seconds_for_highs, solved_in_whole_numbers
from bayplan.decide.pack.kernel_arrays import bins_of, copy_bins, groups_of, sizes_of, with_containers
from bayplan.decide.pack.options import PackOptions
from bayplan.decide.pack.pattern_generation import PatternMaster
from bayplan.decide.pack.problem import PackProblem
from bayplan.decide.pack.result import pack_result
from bayplan.engine.lazy import LazyEngine
from bayplan.kernels.pack.fill import Bins, Sizes, fill_in_order
from bayplan.model import Budget, Clock, IntArray, Placement, Progress, Result, Tick
from bayplan.model.interrupt import StopFlag, stoppable
from bayplan.score.packing import ucac_of_counts


class CoveredPacking(NamedTuple):
    """A packing, and what its patterns hold."""

    result: Result[Placement]
    pattern_ucac: float  # sum_j v_j u_j of (8), with what is beyond the demand, in the written unit
    surplus: int  # containers beyond the demand


def csp_mac(problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The fewest machines, and no look at uncertainty ([UCaC] §6, baseline CSP-Mac)."""
    return covered_packing(problem, options, budget=budget, seed=seed, progress=progress).result


def covered_packing(
    problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress
) -> CoveredPacking:
    """The result of CSP-Mac, and the UCaC of its patterns before what is too much was taken off."""
    clock = budget.clock()
    with stoppable() as stop:
        run = _Run(clock=clock, stop=stop, progress=progress, engine=LazyEngine(options.engine, workers=budget.threads))
        pattern = _pattern_gen(problem, options.patterns, run)  # Algorithm 1, line 1
        master = _master(problem, pattern, run)
        cover = _solve_csp(master, run)  # Algorithm 1, line 2
    count = _without_surplus(cover, problem.unplaced, np.random.default_rng(seed))  # Algorithm 1, line 3
    missing = problem.unplaced - count.sum(axis=0)
    extra = _first_fit(master.sizes, with_containers(master.sizes, bins_of(problem), count), missing)
    result = pack_result(problem, count + extra, seconds=clock.seconds, goal="machines")
    resource, surplus = problem.cluster.resources[problem.main.resource], int(cover.sum() - count.sum())
    held = float(ucac_of_counts(problem.main, problem.running + cover + extra).sum()) / resource.scale
    notes = run.engine.notes
    if surplus:
        note = f"the patterns hold {surplus:,} containers beyond the demand, taken off at random; with them UCaC is {held:,.6g}"
        notes = (note, *notes)
    return CoveredPacking(replace(result, notes=(*result.notes, *notes)), held, surplus)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Run:
    """When to stop, whom to tell how far it is, and where patterns are priced."""

    clock: Clock
    stop: StopFlag
    progress: Progress
    engine: LazyEngine

    def generate(self, master: PatternMaster) -> None:
        """Column generation until nothing pays, or until the time for it is over."""
        end = end_of_generation(self.clock)

        def seconds_left() -> float:
            return 0.0 if self.stop.requested else end - self.clock.seconds

        def report(cost: float) -> None:
            self.progress(Tick(stage="patterns", done=min(1.0, self.clock.seconds / end), score=cost))

        with self.engine:
            master.generate(self.clock.budget, seconds_left, report)

    def solve(self, master: PatternMaster) -> None:
        """The master over the patterns that it has, without whole numbers, if there is time."""
        master.solve(0.0 if self.stop.requested else 0.5 * self.clock.seconds_left)

    def over(self) -> bool:
        """Is there no time for another pattern?"""
        return self.stop.requested or self.clock.seconds >= end_of_generation(self.clock)


def _pattern_gen(problem: PackProblem, earlier: IntArray | None, run: _Run) -> IntArray:
    """(pattern, workload) P: patterns of empty machines, enough for a least (14)."""
    from_empty = _emptied(problem)
    bins = bins_of(from_empty)
    groups = groups_of(from_empty, bins)
    master = PatternMaster(
        sizes=sizes_of(from_empty),
        groups=groups,
        unplaced=from_empty.unplaced,  # m_k + sum_i z_ik
        starts_empty=np.ones(len(groups.machines)),  # each pattern costs 1
        minimise_ucac=False,
        engine=run.engine,
    )
    for g in range(len(groups.machines)):
        if not run.over():
            master.add_diagonal(g)  # P(0)
            for pattern in () if earlier is None else earlier:
                master.add(g, master.shortened(g, pattern))
    run.generate(master)  # (14), (16)
    return np.unique(np.array(master.pattern).reshape(-1, len(problem.unplaced)), axis=0)


def _emptied(problem: PackProblem) -> PackProblem:
    """The problem in which nothing runs, and all containers are to be placed."""
    return replace(
        problem,
        before=Placement.empty(len(problem.before.machine_of)),
        free=problem.free + problem.running @ problem.request,
        running=np.zeros_like(problem.running),
        unplaced=problem.unplaced + problem.running.sum(axis=0),
    )


def _master(problem: PackProblem, patterns: IntArray, run: _Run) -> PatternMaster:
    """(8) without whole numbers: every group of equal machines with its patterns, as what they add to z_i."""
    bins = bins_of(problem)
    groups = groups_of(problem, bins)
    master = PatternMaster(
        sizes=sizes_of(problem),
        groups=groups,
        unplaced=problem.unplaced,
        starts_empty=starts_empty(problem, groups),
        minimise_ucac=False,
    )
    for g, machines in enumerate(groups.machines):
        if run.over():
            break
        covers = _covers(master, g, problem.running[machines[0]], patterns)
        for added in covers:
            master.add(g, added)
        if not len(covers):
            master.add_diagonal(g)
    run.solve(master)
    return master


def _covers(master: PatternMaster, g: int, runs: IntArray, patterns: IntArray) -> list[IntArray]:
    """p_j - z_i of all patterns that cover what runs on the machines of a group: p_j >= z_i (8)."""
    covering = patterns[(patterns >= runs).all(axis=1)]
    added = [np.minimum(pattern - runs, master.groups.bins.max_count[g]) for pattern in covering]
    return [one for one in added if np.array_equal(master.shortened(g, one), one)]  # a smaller machine may not take it


def _solve_csp(master: PatternMaster, run: _Run) -> IntArray:
    """(machine, workload) p_j - z_i, which may hold more than is demanded: (8) in whole numbers, or else rounded down."""
    times = np.floor(master.value + 1e-9) if len(master.value) == len(master.pattern) else np.zeros(len(master.pattern))
    seconds = seconds_for_highs(run.clock)
    if seconds > 0 and master.pattern and not run.stop.requested:
        machines = np.array([len(machines) for machines in master.groups.machines])
        least = np.where(master.starts_empty > 0, 0, machines)  # every machine with containers takes a pattern (8)
        solved = solved_in_whole_numbers(master, times, seconds, least=least)
        times = times if solved is None else solved
    return patterns_on_machines(master, times)


def _without_surplus(cover: IntArray, demand: IntArray, rng: np.random.Generator) -> IntArray:
    """The cover without what exceeds the demand (workload,), which is drawn at random."""
    count = cover.copy()
    surplus = cover.sum(axis=0) - demand
    for w in np.flatnonzero(surplus > 0).tolist():
        count[:, w] -= rng.multivariate_hypergeometric(cover[:, w], int(surplus[w]), method="marginals")
    return count


def _first_fit(sizes: Sizes, bins: Bins, missing: IntArray) -> IntArray:
    """(machine, workload) where the missing containers go: machines and workloads in the order of the input."""
    count = np.zeros(bins.max_count.shape, dtype=np.int64)
    if (missing > 0).any():
        machines, workloads = np.arange(len(count)), np.arange(len(missing))
        fill_in_order(sizes, copy_bins(bins), machines, workloads, np.maximum(0, missing), count)
    return count
