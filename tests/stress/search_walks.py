"""Random walks of the search, and what must hold after each: for kernel tests and `tests.stress.random_clusters`."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.builders.strategies import clusters, every_term_objectives, placements, valid_snapshots
from tests.naive.search import breaches, grown

from bayplan.kernels.search.eject import new_lifted_set
from bayplan.kernels.search.incumbent import Incumbent, write_out
from bayplan.kernels.search.state import UNMET
from bayplan.kernels.search.walk import StepSettings, new_mixture, walk
from bayplan.model import UNPLACED, CoLocate, Dependency, Placement, Skew, Snapshot, Term
from bayplan.model.problem import Problem
from bayplan.score.gmrp import moves
from bayplan.score.terms import weighted
from bayplan.search.state import SearchState, new_search_state
from bayplan.search.verify_state import block, verify_state

STYLE = StepSettings(shift_tries=3, eject_tries=4, eject_finds=3, scan=3)
VICTIMS = 0, 0, 1, 4  # of shifts, swaps and ejections
PAIRS = 1, 1, 1, 3  # that an ejection is chosen from
JOURNAL = 96  # a short one, so that it is closed often


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchWalk:
    """A state that has been walked, and the best that was seen on the way."""

    state: SearchState
    incumbent: Incumbent
    best: float
    best_of: np.ndarray
    changes: int  # steps that moved something


@st.composite
def problems(draw: DrawFn, broken: bool | None = None) -> Problem:
    """Any cluster, rules and objective; the start keeps every rule (`violated` False) or need not (True)."""
    if draw(st.booleans()) if broken is None else broken:
        cluster = draw(clusters())
        before = draw(placements(cluster))
    else:
        drawn = draw(valid_snapshots())
        cluster, before = drawn.cluster, drawn.placement
    objective = draw(every_term_objectives(cluster))
    if any(isinstance(rule, CoLocate) for rule in cluster.rules):  # see test_moves_of_units_are_counted_by_name
        objective = objective.with_weights({**objective.weight, Term.MOVES: 0.0})
    max_moves = draw(st.one_of(st.none(), st.integers(0, 5)))
    return Problem.of(Snapshot(cluster=cluster, placement=before, objective=objective), max_moves=max_moves)


def standing(state: SearchState) -> np.ndarray:
    """Items that may be lifted."""
    return np.flatnonzero(state.items.movable & (state.machine_of != UNPLACED))


def walk_incumbent(state: SearchState) -> Incumbent:
    breaches_allowed = int(block(state.arrays, "tally")[UNMET])
    journal = np.zeros(JOURNAL, dtype=np.int64), np.zeros(JOURNAL, dtype=np.int64)
    return Incumbent(np.array([state.total]), state.machine_of.copy(), *journal, np.array([0, 0, breaches_allowed]))


def walked(problem: Problem, *, seed: int = 1, steps: int = 60, heat: float = 0.5) -> SearchWalk:
    """So many single steps, at three temperatures; the totals are watched from outside."""
    state = new_search_state(problem)
    incumbent, movable = walk_incumbent(state), standing(state)
    best, best_of, here, changes = state.total, state.machine_of.copy(), state.machine_of.copy(), 0
    rng = np.array([seed], dtype=np.uint64)
    lifted, mixture = new_lifted_set(len(problem.cluster.resources)), new_mixture(np.array(VICTIMS), np.array(PAIRS))
    for step in range(steps if len(movable) else 0):
        warmth = heat * (2 - 3 * step // steps)
        walk(state.arrays, movable, movable, STYLE, mixture, rng, warmth, False, 1, incumbent, lifted)
        if (state.machine_of == here).all():
            continue  # lifted and put back: the total may differ in its last digit
        here, changes = state.machine_of.copy(), changes + 1
        if state.total < best:
            best, best_of = state.total, here
    write_out(incumbent, state.arrays)
    return SearchWalk(state=state, incumbent=incumbent, best=best, best_of=best_of, changes=changes)


def expect_sound(problem: Problem, walk: SearchWalk) -> None:
    """Sums follow, the objective follows, no rule is violated more than at the start, the best is kept."""
    verify_state(walk.state, problem)
    for machine_of in (walk.state.machine_of, walk.incumbent.best_machine_of):
        placement = walk.state.placement(machine_of)
        expect_no_more_broken(problem, placement)
        expect_few_moves(problem, placement)
    expect_same_change(problem, walk)
    assert walk.incumbent.best[0] == walk.best
    assert walk.incumbent.best_machine_of.tolist() == walk.best_of.tolist()


def expect_no_more_broken(problem: Problem, placement: Placement) -> None:
    """No rule is exceeded more than at the start, in any place; of dependencies and of skew all places together count."""
    start, after = (breaches(problem.cluster, some, problem.before) for some in (problem.start, placement))
    of_kind = [{n for n, rule in enumerate(problem.cluster.rules) if isinstance(rule, kind)} for kind in (Dependency, Skew)]
    together = set.union(*of_kind)
    assert [key for key in grown(after, start) if key[0] not in together] == []
    for numbers in of_kind:
        then, now = (sum(excess for key, excess in some.items() if key[0] in numbers) for some in (start, after))
        assert now <= then


def expect_few_moves(problem: Problem, placement: Placement) -> None:
    if problem.max_moves is not None:
        least = moves(problem.cluster, problem.start, problem.before)
        assert moves(problem.cluster, placement, problem.before) <= max(problem.max_moves, least)


def expect_same_change(problem: Problem, walk: SearchWalk) -> None:
    """The state's total has changed as much as the objective."""
    values = [
        weighted(problem.cluster, some, problem.objective, problem.before) for some in (problem.start, walk.state.placement())
    ]
    gone = walk.state.total - new_search_state(replace(problem, max_moves=None)).total
    assert abs(gone - (values[1] - values[0])) <= 1e-9 * (1 + max(map(abs, values)))
