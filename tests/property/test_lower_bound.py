"""No valid placement costs less than the lower bound: all placements of small clusters are tried."""

from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from tests.builders.strategies import clusters, gmrp_objectives, objectives, placements, subsets

from bayplan.check import violations
from bayplan.model import Capacity, Cluster, Objective, Placement, Term, Transient, ints
from bayplan.score import loads, weighted
from bayplan.score.bound import lower_bound
from bayplan.score.bound.lower_bound import move_fees
from bayplan.score.bound.overload_bound import hinges
from bayplan.score.bound.price_bound import Prices, evaluate_prices, priced_problem
from bayplan.score.bound.reachable import reachable

MOST_PLACEMENTS = 128
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 3.0])
PRICED = (Term.OVERLOAD, Term.TARGETS, Term.BALANCE, Term.MOVES, Term.MOVE_COST)
LOADS = (Term.UTILISATION, Term.BALANCE, Term.OVERLOAD, Term.TARGETS)


@st.composite
def small_clusters(draw: DrawFn, *, rules: bool) -> Cluster:
    cluster = draw(clusters(max_machines=3, max_workloads=4, rules=rules))
    assume(len(cluster.machines.name) ** len(cluster.containers.name) <= MOST_PLACEMENTS)
    return cluster


def any_objectives(cluster: Cluster) -> SearchStrategy[Objective]:
    """The usual ones, or every term at once."""
    weights = st.fixed_dictionaries(dict.fromkeys(Term, WEIGHTS))
    return objectives(cluster) | st.builds(lambda gmrp, weight: replace(gmrp, weight=weight), gmrp_objectives(cluster), weights)


def movables(cluster: Cluster):
    n_c = len(cluster.containers.name)
    flags = st.lists(st.booleans(), min_size=n_c, max_size=n_c).map(lambda marks: np.array(marks, dtype=np.bool_))
    return st.one_of(st.none(), flags)


def best_valid(cluster, objective, before, movable):
    """The least cost of a valid placement of all containers; None if there is none."""
    held = np.zeros(len(cluster.containers.name), dtype=np.bool_) if movable is None else ~movable
    best = None
    for machine_of in product(range(len(cluster.machines.name)), repeat=len(cluster.containers.name)):
        placement = Placement(machine_of=ints(np.array(machine_of, dtype=np.int64)))
        if not held[placement.moved_from(before)].any() and next(violations(cluster, placement, before), None) is None:
            cost = weighted(cluster, placement, objective, before)
            best = cost if best is None else min(best, cost)
    return best


def expect_a_bound(cluster, objective, before, movable):
    bound, best = lower_bound(cluster, objective, before, movable), best_valid(cluster, objective, before, movable)
    assert best is None or (bound is not None and bound <= best + 1e-9 * max(1.0, abs(best)))


@settings(max_examples=30)
@given(st.data())
def test_nothing_valid_costs_less_under_any_rules(data):
    cluster = data.draw(small_clusters(rules=True))
    objective, before = data.draw(any_objectives(cluster)), data.draw(placements(cluster))
    expect_a_bound(cluster, objective, before, data.draw(movables(cluster)))


@st.composite
def hard_moves(draw: DrawFn) -> tuple[Cluster, Placement]:
    """Machines are just large enough for what they run, and what leaves frees nothing before the end."""
    cluster = draw(small_clusters(rules=False))
    before = draw(placements(cluster))
    capacity = ints(np.maximum(cluster.machines.safety, loads(cluster, before) + draw(st.integers(0, 6))))
    n_r = len(cluster.resources)
    rules = (Capacity(resources=tuple(range(n_r))), *(Transient(resource=r) for r in draw(subsets(n_r, 0))))
    return replace(cluster, machines=replace(cluster.machines, capacity=capacity), rules=rules), before


@settings(max_examples=30)
@given(hard_moves(), st.data())
def test_nothing_valid_costs_less_where_moves_are_hard(hard, data):
    cluster, before = hard
    expect_a_bound(cluster, data.draw(any_objectives(cluster)), before, data.draw(movables(cluster)))


@settings(max_examples=35)
@given(hard_moves(), st.data())
def test_any_prices_give_a_bound(hard, data):
    cluster, before = hard
    weights = st.fixed_dictionaries(dict.fromkeys(PRICED, WEIGHTS))
    objective = replace(data.draw(gmrp_objectives(cluster)), weight=data.draw(weights))
    within = reachable(cluster, before)
    assume(within is not None and within.can.size)
    problem = priced_problem(
        cluster, within, within.can, hinges(cluster, objective, within), move_fees(cluster, objective, within)
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    sizes = [problem.hinges.weight.shape, problem.capacity.shape, problem.free.shape]
    share, of_capacity, of_arrival = (rng.choice([0.0, 0.3, 1.0], size=size) for size in sizes)
    prices = Prices(share, 2.0 * of_capacity, 2.0 * of_arrival)
    best = best_valid(cluster, objective, before, None)
    assert best is None or evaluate_prices(problem, prices).bound <= best + 1e-9 * max(1.0, abs(best))


@settings(max_examples=30)
@given(st.data())
def test_the_bound_is_the_cost_where_nothing_may_move(data):
    cluster = data.draw(clusters(rules=False))
    before, objective = data.draw(placements(cluster, complete=True)), data.draw(gmrp_objectives(cluster))
    objective = replace(objective, weight={term: data.draw(WEIGHTS) for term in LOADS})
    frozen = np.zeros(len(cluster.containers.name), dtype=np.bool_)
    cost = weighted(cluster, before, objective, before)
    lacking = any(use[has == 0].any() for use, has in zip(loads(cluster, before).T, cluster.machines.capacity.T, strict=True))
    bound = lower_bound(cluster, objective, before, frozen)
    assert bound is not None
    assert bound <= cost + 1e-9 * max(1.0, cost)
    assert lacking or bound >= cost - 1e-6 * max(1.0, cost)
