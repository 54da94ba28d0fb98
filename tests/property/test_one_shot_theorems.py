"""Theorem 1 of [Online clusters] on its roundings, and its bounds between methods."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.builders.one_shot_problems import one_shot_problems

from bayplan.decide.admit.one_shot import ONE_SHOTS
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions
from bayplan.decide.admit.one_shot.sampling import candidates, estimate_of, fits_alone, rounded, sample_placements

few = settings(max_examples=60, deadline=None)


@few
@given(problem=one_shot_problems(resources=1), epsilon=st.sampled_from([0.1, 0.3, 0.6]), samples=st.integers(1, 3))
def test_before_repair_no_zone_gets_more_than_twice_its_room(problem, epsilon, samples):
    """Theorem 1: with y_vs fixed to 0 where a_v > B_s."""
    assume(fits_alone(problem).any(axis=1).all())
    rng = np.random.default_rng(0)
    estimate = estimate_of(problem, OneShotOptions(epsilon=epsilon, samples=samples), rng)
    placement, _ = sample_placements(problem.cost.shape[1], len(estimate.sample), 1000, rng)
    for zone in candidates(estimate, placement):
        used = np.bincount(zone, weights=problem.demand[:, 0], minlength=len(problem.free))
        assert (used <= 2 * problem.free[:, 0] * (1 + 1e-6)).all()


def test_theorem_1_fails_where_a_member_is_larger_than_the_zone():
    """A member of 30 in thirds over three zones of 10 keeps (4a); rounded, one zone gets three times its capacity."""
    share, cost, free = np.full((1, 3), 1 / 3), np.zeros((1, 3)), np.full((3, 1), 10)
    zone = rounded(share, cost, np.array([[30]]), free)
    assert 2 * free[zone[0], 0] < 30


@few
@given(data=st.data())
def test_rounding_any_shares_that_keep_the_room_gives_at_most_twice_it_and_costs_no_more(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    v, z = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 5))
    share = rng.dirichlet(np.full(z, 0.5), v)
    share[share < 1e-3] = 0.0
    share /= share.sum(axis=1, keepdims=True)
    demand, cost = rng.integers(0, 20, (v, 1)), rng.random((v, z))
    held = np.where(share > 0, demand, 0).max(axis=0)  # a_v <= B_s where y_vs > 0
    free = np.maximum(np.ceil((share * demand).sum(axis=0)), held).astype(np.int64).reshape(z, 1)
    zone = rounded(share, cost, demand, free)
    assert (np.bincount(zone, weights=demand[:, 0], minlength=z) <= 2 * free[:, 0]).all()
    assert (share[np.arange(v), zone] > 0).all()
    assert cost[np.arange(v), zone].sum() <= (cost * share).sum() + 1e-5


@few
@given(problem=one_shot_problems(most_members=3))
def test_no_method_is_better_than_exact(problem):
    best = ONE_SHOTS["exact"](problem, OneShotOptions(), seed=0).cost
    for one_shot in ONE_SHOTS.values():
        assert one_shot(problem, OneShotOptions(), seed=0).cost >= best * (1 - 1e-9)
