"""The best method that bayplan knows: annealing in counts, then column generation from the machines that the walks passed.

A last, shorter walk begins at what that makes of them. Where there are too many machines for column generation, or where moves
have a price or a cap, the walks have all the time.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from bayplan.check import check
from bayplan.decide.collocate.annealing.count_state import Int32Array, count_state, item_machines, placement_of
from bayplan.decide.collocate.annealing.walker_pool import WalkerPool, WalkLimits
from bayplan.decide.collocate.columns.merge_solutions import can_merge, merge_solutions
from bayplan.decide.collocate.finish import (
    finish_placement,
    has_other_terms,
    make_way,
    net_gain,
    start_with_new_containers,
    time_to_solve,
)
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.permute_equal_machines import permute_equal_machines
from bayplan.decide.collocate.subproblem import has_other_rules
from bayplan.engine.lazy import LazyEngine
from bayplan.model import Budget, Clock, IntArray, Placement, Progress, Result, Term, Tick
from bayplan.model.interrupt import StopFlag, stoppable
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity
from bayplan.search.anneal import search

PREPARING = "preparing"  # the first stage, in reports of progress
EXPLORE = 0.4  # of the time, for rounds from the start ...
LONGEST = 12.0  # ... and seconds of them at most, where column generation can make more of what they pass ...
REFINE = 0.1  # ... for the last walk ...
SETTLE = 0.04  # ... and for sending home containers that gain nothing elsewhere; what remains is for column generation
STEPS = 2_000  # of a walk, for each container, where no budget is given
AFFINITY_FIRST = (20_000, 0.5), (math.inf, 0.8)  # containers, and of the time, for affinity alone, where other terms count, too:
# in little time for each container the annealing in counts gains far more than the search over all terms


def best(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The most gained affinity, less the price of moves, under the cap on moves. An iteration is a step of each walk.

    Where the objective has other terms than affinity and moves, or there is a rule that counts cannot express, the one
    search over all terms and rules goes on from there.
    """
    clock = budget.clock()
    progress(Tick(stage=PREPARING, done=0.0))
    engine = LazyEngine(options.engine, workers=budget.threads)
    with stoppable() as stop:
        still = start_with_new_containers(problem, clock, seed)
        placement = make_way(problem, still, options, still, clock=clock, seed=seed)
        from_start = replace(problem, start=placement)
        other_terms, other_rules = has_other_terms(problem.objective), has_other_rules(problem)
        if not other_rules:
            first = next(share for most, share in AFFINITY_FIRST if len(problem.before.machine_of) <= most)
            seconds = time_to_solve(problem, clock) * (first if other_terms else 1.0)
            placement = _annealed(from_start, options, _limits(clock, stop, progress, seconds), seed, engine)
        stopped = stop.requested and not check(problem.cluster, placement, problem.before)  # with nothing left to repair
        if len(placement.placed) and (other_rules or (other_terms and not stopped)):
            placement = _searched(from_start, options, placement, clock, seed, progress)
    placement = make_way(problem, placement, options, still, clock=clock, seed=seed)
    none = np.zeros(len(problem.cluster.containers.name), dtype=np.bool_)
    result = finish_placement(problem, placement, options, may_go=none, clock=clock, seed=seed, notes=engine.notes)
    answer = result.solution
    assert answer is not None
    progress(Tick(stage="collocating", done=1.0, score=net_gain(problem, answer, options), solution=lambda: answer))
    return result


def move_price(problem: Problem, options: CollocateOptions) -> float:
    """The gained affinity that one move has to be worth: the objective's, or the option's."""
    weight = problem.objective.weight
    if weight.get(Term.AFFINITY, 0.0) > 0 and weight.get(Term.MOVES, 0.0) > 0:
        return weight[Term.MOVES] / weight[Term.AFFINITY]
    return options.move_price / max(1, len(problem.cluster.containers.name))


def _limits(clock: Clock, stop: StopFlag, progress: Progress, seconds: float) -> WalkLimits:
    until = None if clock.budget.seconds is None else clock.seconds + seconds
    return WalkLimits(clock=clock, stop=stop, progress=progress, began=clock.seconds, until=until, steps=clock.budget.iterations)


def _annealed(problem: Problem, options: CollocateOptions, limits: WalkLimits, seed: int, engine: LazyEngine) -> Placement:
    """Explore, then merge the solutions and refine."""
    limits.progress(Tick(stage=PREPARING, done=0.5))
    state, items = count_state(problem, problem.start, max_moves=problem.max_moves)
    limits.progress(Tick(stage=PREPARING, done=1.0))
    price = move_price(problem, options)
    pool = WalkerPool(state, threads=limits.clock.budget.threads, seed=seed, price=price)
    if pool.hopeless:
        return problem.start
    if limits.until is None and limits.steps is None:
        limits = replace(limits, steps=STEPS * len(state.machine_of))
    limits = replace(limits, placement_of=partial(placement_of, problem.start, items))
    free = price == 0 and problem.max_moves is None
    settle = SETTLE if free else 0.0
    merge = free and limits.until is not None and can_merge(problem)  # by steps alone, equal seeds must give equal answers
    explored = _explored(limits) if merge else 1.0 - REFINE - settle
    pool.explore(_part(limits, 0.0, explored))
    machine_of = pool.best_of
    if merge and not limits.stop.requested:
        machine_of = _merged(problem, pool, items, _part(limits, explored, 1.0 - REFINE - settle), seed, engine)
    pool.refine(_part(limits, 1.0 - REFINE - settle, 1.0 - settle), machine_of)
    if free and not limits.stop.requested:
        placement = permute_equal_machines(problem, placement_of(problem.start, items, pool.best_of))
        pool.settle(_part(limits, 1.0 - SETTLE, 1.0), item_machines(placement, items))
    return placement_of(problem.start, items, pool.best_of)


def _explored(limits: WalkLimits) -> float:
    """The part of a walk after which patterns are generated."""
    return min(EXPLORE, LONGEST / max(1e-9, (limits.until or np.inf) - limits.began))


def _merged(problem: Problem, pool: WalkerPool, items: IntArray, part: WalkLimits, seed: int, engine: LazyEngine) -> Int32Array:
    """(item,) What column generation makes of the machines that the walkers passed; the best of theirs, if that gains more."""
    solutions = [placement_of(problem.start, items, each) for each in (pool.best_of, *pool.passed[::-1])]
    part.progress(Tick(stage="generating patterns", done=0.0))
    seconds = max(0.0, (part.until or 0.0) - part.clock.seconds)
    merged = merge_solutions(problem, solutions, seconds=seconds, clock=part.clock, seed=seed, engine=engine)
    better = gained_affinity(problem.cluster, merged) > pool.best
    return item_machines(merged, items) if better else pool.best_of


def _part(limits: WalkLimits, begin: float, end: float) -> WalkLimits:
    """A part of a walk."""
    length = 0.0 if limits.until is None else limits.until - limits.began
    until = None if limits.until is None else limits.began + end * length
    steps = None if limits.steps is None else int((end - begin) * limits.steps)
    return replace(limits, began=limits.began + begin * length, until=until, steps=steps)


def _searched(
    problem: Problem, options: CollocateOptions, placement: Placement, clock: Clock, seed: int, progress: Progress
) -> Placement:
    """What the search over all terms and rules makes of a placement."""
    objective = problem.objective
    if not objective.weight.get(Term.AFFINITY):
        objective = objective.with_weights({Term.AFFINITY: 1.0, Term.MOVES: move_price(problem, options)})
    from_placement = replace(problem, objective=objective, start=placement)
    budget = replace(clock.budget, seconds=None if clock.budget.seconds is None else time_to_solve(problem, clock))
    return search(from_placement, budget=budget, seed=seed, progress=progress)
