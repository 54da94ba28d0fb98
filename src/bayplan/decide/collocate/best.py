"""The best of what bayplan knows: annealing in counts, then column generation from the machines that it has passed.

What that puts together is where a last, shorter walk begins. Where there are too many machines for column generation, or where
moves count, the walks have all the time.
"""

from dataclasses import replace

import numpy as np

from bayplan.decide.collocate.annealing.count_state import Int32Array, count_state, item_machines, placement_of
from bayplan.decide.collocate.annealing.walker_pool import WalkerPool, WalkLimits
from bayplan.decide.collocate.columns.merge_solutions import can_merge, merge_solutions
from bayplan.decide.collocate.finish import (
    collocation_result,
    has_other_terms,
    keep_or_start,
    net_gain,
    start_with_new_containers,
    time_to_solve,
    unplaced_reasons,
)
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.permute_equal_machines import permute_equal_machines
from bayplan.model import Budget, Clock, Confidence, IntArray, Placement, Progress, Result, Term, Tick, Transient
from bayplan.model.interrupt import StopFlag, stoppable
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity
from bayplan.search.drive import search

EXPLORE = 0.4  # of the time, for rounds from the start ...
LONGEST = 12.0  # ... and seconds of them at most, where column generation can make more of what they pass ...
REFINE = 0.1  # ... for the last walk ...
SETTLE = 0.04  # ... and for sending those home who gain nothing elsewhere; the rest is for column generation
STEPS = 2_000  # of a walk, for each container, where no budget is given
BOTH = 0.5  # of the time, for affinity alone, where other terms count, too


def best(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The most gained affinity, less the price of moves, under the cap on moves. An iteration is a step of each walk.

    Where the objective has other terms than affinity and moves, or there is a rule that counting cannot keep, the one search
    over all terms and rules goes on from there.
    """
    clock = budget.clock()
    with stoppable() as stop:
        start = start_with_new_containers(problem, clock, seed)
        asked, combined = replace(problem, start=start), has_other_terms(problem.objective)
        placement, other_rules = start, has_other_rules(problem)
        if not other_rules:
            seconds = time_to_solve(problem, clock) * (BOTH if combined else 1.0)
            placement = _walked(asked, options, _pace(clock, stop, progress, seconds), seed)
        if combined or other_rules:
            placement = _searched(asked, options, placement, clock, seed, progress)
    found, why = keep_or_start(problem, placement, options, start)
    progress(Tick(stage="collocating", done=1.0, score=net_gain(problem, found, options)))
    return collocation_result(problem, found, left_out=unplaced_reasons(problem, found), notes=why, seconds=clock.seconds)


def has_other_rules(problem: Problem) -> bool:
    """Does a rule count for every move that counts of containers cannot keep?"""
    return any(isinstance(rule, Transient | Confidence) for rule in problem.cluster.rules)


def move_price(problem: Problem, options: CollocateOptions) -> float:
    """The gained affinity that one move has to be worth: the objective's, or the option's."""
    weight = problem.objective.weight
    if weight.get(Term.AFFINITY, 0.0) > 0 and weight.get(Term.MOVES, 0.0) > 0:
        return weight[Term.MOVES] / weight[Term.AFFINITY]
    return options.move_price / max(1, len(problem.cluster.containers.name))


def _pace(clock: Clock, stop: StopFlag, progress: Progress, seconds: float) -> WalkLimits:
    until = None if clock.budget.seconds is None else clock.seconds + seconds
    return WalkLimits(clock=clock, stop=stop, progress=progress, began=clock.seconds, until=until, steps=clock.budget.iterations)


def _walked(problem: Problem, options: CollocateOptions, pace: WalkLimits, seed: int) -> Placement:
    """Explore, then put machines together and refine."""
    hold, who = count_state(problem, problem.start, max_moves=problem.max_moves)
    price = move_price(problem, options)
    crew = WalkerPool(hold, threads=pace.clock.budget.threads, seed=seed, price=price)
    if crew.stuck:
        return problem.start
    if pace.until is None and pace.steps is None:
        pace = replace(pace, steps=STEPS * len(hold.machine_of))
    free = price == 0 and problem.max_moves is None
    settling = SETTLE if free else 0.0
    generating = free and pace.until is not None and can_merge(problem)  # by steps alone the answer is always the same
    explored = _explored(pace) if generating else 1.0 - REFINE - settling
    crew.explore(_part(pace, 0.0, explored))
    machine_of = crew.best_of
    if generating and not pace.stop.requested:
        machine_of = _put_together(problem, crew, who, _part(pace, explored, 1.0 - REFINE - settling), seed)
    crew.refine(_part(pace, 1.0 - REFINE - settling, 1.0 - settling), machine_of)
    if free and not pace.stop.requested:
        found = placement_of(problem.start, who, crew.best_of)
        crew.settle(_part(pace, 1.0 - SETTLE, 1.0), item_machines(permute_equal_machines(problem, found), who))
    return placement_of(problem.start, who, crew.best_of)


def _explored(pace: WalkLimits) -> float:
    """The part of a walk after which patterns are generated."""
    return min(EXPLORE, LONGEST / max(1e-9, (pace.until or np.inf) - pace.began))


def _put_together(problem: Problem, crew: WalkerPool, who: IntArray, part: WalkLimits, seed: int) -> Int32Array:
    """(item,) What column generation makes of the machines that the crew has passed; the crew's best, if that gains more."""
    answers = [placement_of(problem.start, who, some) for some in (crew.best_of, *crew.passed[::-1])]
    part.progress(Tick(stage="generating patterns", done=0.0))
    seconds = max(0.0, (part.until or 0.0) - part.clock.seconds)
    found = merge_solutions(problem, answers, seconds=seconds, clock=part.clock, seed=seed)
    better = gained_affinity(problem.cluster, found) > crew.best
    return item_machines(found, who) if better else crew.best_of


def _part(pace: WalkLimits, begin: float, end: float) -> WalkLimits:
    """A part of a walk."""
    length = 0.0 if pace.until is None else pace.until - pace.began
    until = None if pace.until is None else pace.began + end * length
    steps = None if pace.steps is None else int((end - begin) * pace.steps)
    return replace(pace, began=pace.began + begin * length, until=until, steps=steps)


def _searched(
    problem: Problem, options: CollocateOptions, placement: Placement, clock: Clock, seed: int, progress: Progress
) -> Placement:
    """What the search over all terms and rules makes of a placement."""
    objective = problem.objective
    if not objective.weight.get(Term.AFFINITY):
        objective = objective.with_weights({Term.AFFINITY: 1.0, Term.MOVES: move_price(problem, options)})
    asked = replace(problem, objective=objective, start=placement)
    budget = replace(clock.budget, seconds=None if clock.budget.seconds is None else time_to_solve(problem, clock))
    return search(asked, budget=budget, seed=seed, progress=progress)
