"""The offline optimum: small ones proven, none above its bound, stopped ones as good as they were."""

import signal
from dataclasses import replace

import numpy as np
import pytest

from bayplan.decide.admit.offline import offline, offline_bound
from bayplan.decide.admit.offline.aggregate_bound import aggregate_bound
from bayplan.decide.admit.offline.slot_loads import SlotLoads
from bayplan.decide.admit.offline.time_expanded import time_expanded
from bayplan.decide.admit.options import AdmitOptions
from bayplan.generate import GENERATORS
from bayplan.model import Budget, ClusterRequest, ClusterRequests, Resource, Status, Zones, floats, ints, silent
from bayplan.solvers.master import Master


def generated(**settings):
    return GENERATORS["container-clusters"].make(**settings)


def solved(stream, budget, progress=silent):
    return offline(stream, AdmitOptions(), budget=budget, seed=0, progress=progress)


def pair_of_zones(bandwidth):
    """Two zones with capacity for one of two members each, that send one unit to each other."""
    zones = Zones(
        name=("a", "b"),
        resources=(Resource(name="cpu", scale=1, unit="cores"),),
        capacity=ints([[1], [1]]),
        request_cap=ints([[1], [1]]),
        bandwidth=ints([[0, bandwidth], [bandwidth, 0]]),
    )
    request = ClusterRequest(
        name="pair",
        members=("v", "w"),
        demand=ints([[1], [1]]),
        traffic=floats([[0, 1], [1, 0]]),
        arrival=0.0,
        start=0.0,
        end=1.0,
        value=3.0,
    )
    return ClusterRequests(zones=zones, requests=(request,))


def test_a_missing_link_is_forbidden():
    apart = solved(pair_of_zones(0), Budget())
    assert apart.score["value"] == 0
    assert apart.status is Status.OPTIMAL
    assert [reason.subject for reason in apart.left_out] == ["pair"]
    assert solved(pair_of_zones(1), Budget()).score["value"] == 3.0


@pytest.mark.parametrize("seed", range(3))
def test_a_few_requests_that_do_not_all_fit_are_proven(seed):
    result = solved(generated(count=24, zones=1, members_least=2, members_most=3, slots=1, seed=seed), Budget())
    assert result.score["served"] < 1
    assert result.status is Status.OPTIMAL
    assert result.gap == pytest.approx(0, abs=1e-9)


def test_without_iterations_there_is_the_bound_of_the_totals_and_a_first_answer():
    stream = generated(count=200, zones=3, members_least=3, members_most=3, seed=1)
    ground = time_expanded(stream)
    totals = aggregate_bound(ground, lambda: False)
    first, better = solved(stream, Budget(iterations=0)), offline_bound(stream, budget=Budget(iterations=0))
    assert first.bound == better == totals.bound * ground.unit
    assert first.score["value"] / ground.unit <= totals.bound < 0.9 * ground.value.sum()
    assert totals.spread(ground).sum() == pytest.approx(totals.price.sum())


def test_every_stream_has_a_bound_at_once():
    stream = generated(count=4000, members_most=3, seed=2)
    bound = offline_bound(stream, budget=Budget(seconds=0.0))
    assert 0 < bound <= sum(request.value for request in stream.requests) * (1 + 1e-9)


def test_who_is_interrupted_keeps_the_best_so_far():
    stream = generated(count=60, zones=2, members_least=3, members_most=3, seed=3)

    def interrupt(tick):
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    result = solved(stream, Budget(), progress=interrupt)
    assert signal.getsignal(signal.SIGINT) is before
    assert 0 < result.score["value"] <= result.bound


def test_slots_are_those_where_something_may_be_full():
    stream = generated(count=50, slots=20, seed=4)
    ground = time_expanded(stream)
    active = [{i for i in range(50) if ground.first[i] <= t < ground.last[i]} for t in range(ground.slots)]
    assert (ground.first < ground.last).all()
    assert not any(one <= other for t, one in enumerate(active) for s, other in enumerate(active) if s != t)
    for time in np.arange(0.5, 20):
        runs = {i for i, request in enumerate(stream.requests) if request.start < time <= request.end}
        assert any(runs <= some for some in active)


def test_the_interior_master_finds_the_same_value():
    found = []
    for interior in (False, True):
        master = Master(np.full(2, -np.inf), np.ones(2), interior=interior)
        for cost, rows, by in ((-3.0, [0, 1], [0.6, 1.0]), (-2.0, [0], [0.5]), (-2.5, [0, 1], [0.4, 0.5])):
            master.add(cost, rows, by)
        solution = master.solve_within(None)
        assert solution is not None
        found.append(solution[0])
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_removed_traffic_leaves_no_share_below_zero():
    loads = SlotLoads(time_expanded(pair_of_zones(1)))
    loads._traffic += 0.1 + 0.2
    loads._traffic -= 0.30000000000000016  # a little more than was added, as sums of floats may be
    assert (loads.share(0) >= 0).all()


def test_values_are_counted_in_a_power_of_two():
    for value in (0.0, 5e-324, 1e-10, 1.0, 3e12, 1.7e308):
        stream = pair_of_zones(1)
        ground = time_expanded(replace(stream, requests=(replace(stream.requests[0], value=value),)))
        assert ground.value[0] * ground.unit == value
        assert 1 <= ground.value[0] < 2 or value == 0
