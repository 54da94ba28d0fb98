"""Integer programs over a few machines: the best for these, while everything else stays where it is."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from bayplan.check import check
from bayplan.model import Clock, FloatArray, IntArray, Placement, Progress, Tick, silent
from bayplan.model.interrupt import stoppable
from bayplan.model.problem import Problem
from bayplan.score.gmrp import moves
from bayplan.score.terms import weighted
from bayplan.search.answer import excess_by_kind
from bayplan.search.state import SearchState, new_search_state
from bayplan.search.window_mip.model import MAX_COLUMNS, MAX_PAIRS, Square, WindowModel, traffic_pairs
from bayplan.search.window_mip.rules import keep_rules
from bayplan.search.window_mip.window import StateViews, Window
from bayplan.solvers.highs import solve

ROUNDS = 8  # of tangents
CLOSE = 1e-6  # of the gain: what squares may still lack
LEAST_GAIN = 1e-9  # relative: less is rounding
WINDOW_SECONDS = 0.5  # the most that `polish` spends on one window
CHECK_EVERY = 50  # changes: the referee looks at the whole cluster, which takes longer than a window
SIZES, SIZE_SHARE = (2, 3, 4), (0.2, 0.4, 0.4)  # machines of a window
COSTLY_SHARE = 0.75  # of the windows start from a machine drawn by its cost

Change = tuple[IntArray, IntArray]  # items, and the machines that they go to


def reoptimise(problem: Problem, placement: Placement, machines: IntArray, *, seconds: float) -> Placement | None:
    """The best placement of what is on `machines` among these, all else fixed; None if nothing better was found.

    `window_model` states the program. Refused, so None: confidence rules, more columns or more talking pairs than HiGHS
    would solve at once. What comes out is strictly better and violates no kind of rule more than `placement` does.
    """
    state = new_search_state(replace(problem, start=placement))
    change = _best_change(StateViews(state), sorted(set(machines.tolist())), seconds)
    if change is None:
        return None
    candidate = _moved(state, placement, change)
    return candidate if _is_better(problem, candidate, placement) else None


def polish(problem: Problem, placement: Placement, *, clock: Clock, seed: int, progress: Progress = silent) -> Placement:
    """`placement`, improved by small windows of machines until the clock expires or windows have long found nothing.

    An iteration is a window. Large windows cost time, not quality: what is not solved in WINDOW_SECONDS gives its best so far.
    """
    state = new_search_state(replace(problem, start=placement))
    views, rng = StateViews(state), np.random.default_rng(seed)
    n_m, windows, fruitless, taken = views.size["machines"], 0, 0, 0
    checked = here = placement
    if n_m < 2 or views.size["risks"]:
        return placement
    with stoppable() as stop:
        while not (clock.expired(windows) or stop.requested or fruitless > 4 * n_m * n_m):
            limit, windows = clock.budget.seconds, windows + 1
            left = min(WINDOW_SECONDS, clock.seconds_left)
            change, fruitless = _best_change(views, _drawn(views, rng), left), fruitless + 1
            if change is not None and _take(state, change):
                here, fruitless, taken = _moved(state, here, change), 0, taken + 1
                if taken % CHECK_EVERY == 0:
                    checked = here = _checked(problem, state, here, checked)
            progress(Tick(stage="polishing", done=min(1.0, clock.seconds / limit) if limit else 0.0))
    return here if here is checked else _checked(problem, state, here, checked)


def _checked(problem: Problem, state: SearchState, here: Placement, checked: Placement) -> Placement:
    """`here` if the referee and the score agree; else back to the last that they have agreed to."""
    if _is_better(problem, here, checked):
        return here
    state.move_to(checked.machine_of[state.items.first])
    return checked


def _take(state: SearchState, change: Change) -> bool:
    """Make the change on the state; take it back if the state finds it no better."""
    back, total = state.machine_of.copy(), state.total
    then = back.copy()
    then[change[0]] = change[1]
    state.move_to(then)
    if state.total < total:
        return True
    state.move_to(back)
    return False


def _moved(state: SearchState, placement: Placement, change: Change) -> Placement:
    machine_of, items = placement.machine_of.copy(), state.items
    for i, m in zip(*change, strict=True):
        machine_of[items.container[items.start[i] : items.start[i + 1]]] = m
    return Placement(machine_of=machine_of)


def _drawn(views: StateViews, rng: np.random.Generator) -> list[int]:
    """A few machines: often a costly one, and any others."""
    n_m, cost = views.size["machines"], np.maximum(0.0, views.of["cost"])
    share = cost / cost.sum() if cost.sum() > 0 and rng.random() < COSTLY_SHARE else None
    first = int(rng.choice(n_m, p=share))
    size = min(n_m, int(rng.choice(SIZES, p=SIZE_SHARE)))
    others = rng.choice(n_m - 1, size=size - 1, replace=False)
    return [first, *(others + (others >= first)).tolist()]


def _best_change(views: StateViews, machines: Sequence[int], seconds: float) -> Change | None:
    """What the integer program would move, if that gains anything."""
    window = Window(views, machines, apart=len(views.of["local_gain"]) > 0)
    if views.size["risks"] or len(machines) < 2 or not window.items or window.placed.size > MAX_COLUMNS:
        return None
    if sum(1 for _ in islice(traffic_pairs(window), MAX_PAIRS + 1)) > MAX_PAIRS:
        return None
    model = WindowModel(window)
    keep_rules(model)
    point = _best_point(model, seconds)
    if point is None:
        return None
    share = point[model.x].astype(np.int64)
    return window.assigned(share) if window.within_limits(share) else None


def _best_point(model: WindowModel, seconds: float) -> FloatArray | None:
    """The cheapest point of the model, touching squares where it is cheaper than they allow; None if nothing is gained."""
    draft = model.draft
    now = float(np.dot(draft.cost, draft.start))
    best, best_cost = None, now - LEAST_GAIN * (1.0 + abs(now))
    for _ in range(ROUNDS):
        answer = solve(draft.program(), seconds=seconds / ROUNDS if model.squares else seconds)
        if answer.point is None or answer.cost is None or answer.cost >= best_cost:
            return best
        lacking = [_lacks(answer.point, square) for square in model.squares]
        cost = answer.cost + sum(draft.cost[square.column] * lack for square, lack in zip(model.squares, lacking, strict=True))
        if cost < best_cost:
            best, best_cost = answer.point, cost
        if cost - answer.cost <= CLOSE * (now - answer.cost):
            return best
        for square, lack in zip(model.squares, lacking, strict=True):
            if lack > 0:
                model.touch(square, _value(answer.point, square))
    return best


def _value(point: FloatArray, square: Square) -> float:
    return square.line.constant + float(np.dot(square.line.by, point[list(square.line.column)]))


def _lacks(point: FloatArray, square: Square) -> float:
    """By how much the column is below the square."""
    return max(0.0, _value(point, square) ** 2 - float(point[square.column]))


def _is_better(problem: Problem, candidate: Placement, than: Placement) -> bool:
    """Strictly cheaper, by the score; no kind of rule violated more, by the referee; within the churn budget."""
    cluster, most = problem.cluster, problem.max_moves
    costs = [weighted(cluster, each, problem.objective, problem.before) for each in (candidate, than)]
    moved = [moves(cluster, each, problem.before) for each in (candidate, than)]
    if not costs[0] < costs[1] or (most is not None and moved[0] > max(most, moved[1])):
        return False
    excesses, before = (excess_by_kind(check(cluster, each, problem.before)) for each in (candidate, than))
    return all(excess <= before.get(kind, 0.0) for kind, excess in excesses.items())
