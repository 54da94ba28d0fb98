"""Hypothesis strategies for one-shot problems of [Online clusters] (4): small, so that all placements can be tried.

    from tests.builders.one_shot_problems import one_shot_problems, fits

Sizes: 1-4 members, 1-4 zones, 1-3 resources. Some have missing links, closed zones, narrow links, no traffic, no prices.
"""

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from bayplan.decide.admit.one_shot.one_shot_problem import OneShotProblem
from bayplan.model import IntArray

ROUNDING = 1 + 1e-9


@st.composite
def one_shot_problems(draw: DrawFn, *, resources: int | None = None, most_members: int = 4) -> OneShotProblem:
    """Any problem; with one table of link prices for all pairs, or one for each."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    v, z = draw(st.integers(1, most_members)), draw(st.integers(1, 4))
    k = draw(st.integers(1, 3)) if resources is None else resources
    general, same_zone, free_of_charge = draw(st.booleans()), draw(st.booleans()), draw(st.sampled_from([False] * 5 + [True]))
    missing, closed = draw(st.sampled_from([0.0, 0.0, 0.3])), draw(st.sampled_from([0.0, 0.0, 0.2]))
    link = rng.random((v * v if general else 1, z, z)) * (not free_of_charge)
    link[:, ~np.eye(z, dtype=bool) & (rng.random((z, z)) < missing)] = np.inf
    if not same_zone:
        link[:, np.arange(z), np.arange(z)] = 0.0
    cost = rng.random((v, z)) * (not free_of_charge)
    cost[rng.random((v, z)) < closed] = np.inf
    traffic = rng.integers(0, 6, (v, v)) * (rng.random((v, v)) < draw(st.sampled_from([0.0, 0.4, 1.0])))
    np.fill_diagonal(traffic, 0)
    width = draw(st.sampled_from([3, 8, np.inf]))
    return OneShotProblem(
        cost=cost,
        demand=rng.integers(0, draw(st.sampled_from([3, 6, 12])), (v, k)),
        free=rng.integers(0, 13, (z, k)),
        traffic=traffic,
        link=link,
        pair=np.arange(v * v).reshape(v, v) if general else np.zeros((v, v)),
        bandwidth=np.full((z, z), width),
    )


def fits(problem: OneShotProblem, zone: IntArray) -> bool:
    """Does a placement keep capacity, bandwidth and links?"""
    used = np.zeros_like(problem.free)
    np.add.at(used, zone, problem.demand)
    flow = np.zeros_like(problem.bandwidth)
    np.add.at(flow, (zone[:, None], zone[None, :]), problem.traffic)
    np.fill_diagonal(flow, 0.0)
    return bool(
        (used <= problem.free).all() and (flow <= problem.bandwidth * ROUNDING).all() and np.isfinite(problem.cost_of(zone))
    )
