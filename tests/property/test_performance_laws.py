"""Laws of the performance model that hold for every cluster, placement and policy."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.builders.strategies import clusters, placements

from bayplan.errors import ModelError
from bayplan.model import Placement
from bayplan.score.performance import Assumptions, pair_performance, performance_of, walks_of
from bayplan.score.performance.assumptions import QUEUES, ROUTERS
from bayplan.score.performance.simulation import simulate_walks


@st.composite
def states(draw):
    cluster = draw(clusters())
    router, queue = draw(st.sampled_from(ROUTERS)), draw(st.sampled_from(QUEUES))
    return cluster, draw(placements(cluster)), Assumptions(router=router, queue=queue, peer_calls=draw(st.integers(1, 3)))


@given(states())
def test_every_figure_is_finite_and_in_its_range(state):
    walks = walks_of(*state)
    if walks is None:
        return
    made = performance_of(walks)
    assert np.isfinite([made.mean_ms, made.p50_ms, made.p95_ms, made.error_rate, made.local_share, made.calls]).all()
    assert 0 <= made.p50_ms <= made.p95_ms
    assert 0 <= made.error_rate <= 1 + 1e-9
    assert 0 <= made.local_share <= 1
    assert made.max_load is None or 0 <= made.max_load < np.inf


@given(states())
def test_a_router_loses_no_visit(state):
    walks = walks_of(*state)
    if walks is None:
        return
    routing = walks.routing
    shares = np.bincount(routing.row, weights=routing.share, minlength=len(routing.runs))
    assert np.allclose(shares[routing.runs], 1.0)
    assert (routing.local >= 0).all()


@given(states())
def test_slower_calls_and_more_errors_never_make_a_request_better(state):
    cluster, placement, assumed = state
    worse = replace(assumed, network_ms=2 * assumed.network_ms, ipc_ms=2 * assumed.ipc_ms, network_error=0.1)
    good, bad = (walks_of(cluster, placement, each) for each in (assumed, worse))
    if good is None:
        return
    first, second = performance_of(good), performance_of(bad)
    assert second.mean_ms >= first.mean_ms - 1e-12
    assert second.error_rate >= first.error_rate - 1e-12
    assert (pair_performance(bad).latency_ms >= pair_performance(good).latency_ms - 1e-12).all()


@given(states())
def test_names_of_machines_do_not_matter(state):
    cluster, placement, assumed = state
    turn = len(cluster.machines.name) - 1 - np.arange(len(cluster.machines.name))
    capacity, safety = cluster.machines.capacity[turn], cluster.machines.safety[turn]
    turned = replace(cluster, machines=replace(cluster.machines, capacity=capacity, safety=safety), rules=())
    moved = np.where(placement.machine_of >= 0, turn[placement.machine_of], -1)
    one, other = walks_of(replace(cluster, rules=()), placement, assumed), walks_of(turned, Placement(machine_of=moved), assumed)
    if one is None:
        return
    first, second = performance_of(one), performance_of(other)
    assert np.isclose(first.mean_ms, second.mean_ms)
    assert np.isclose(first.error_rate, second.error_rate)
    assert (first.max_load is None) == (second.max_load is None)


@given(states(), st.integers(0, 100))
def test_the_simulation_of_any_state_ends(state, seed):
    walks = walks_of(*state)
    if walks is None:
        return
    try:
        run = simulate_walks(walks, requests=40, seed=seed)
    except ModelError as error:  # calls that multiply on a machine without capacity: refused, with what to do
        assert "assume less load" in str(error)
        return
    assert (run.latency_ms >= 0).all()
    assert np.isfinite(run.latency_ms).all()
