from itertools import product

import numpy as np
import pytest

from bayplan.errors import UsageError
from bayplan.generate.container_clusters import REQUEST_CAP, UNIT, container_clusters, largest_use
from bayplan.model import floats, ints


def test_defaults_are_the_papers():
    admission = container_clusters()
    zones = admission.zones
    assert (len(zones.name), len(zones.resources), len(admission.requests)) == (9, 2, 100)
    assert {len(request.members) for request in admission.requests} == set(range(2, 9))
    off = ~np.eye(9, dtype=bool)
    for amounts in (zones.capacity, zones.bandwidth[off]):
        assert 50 * UNIT <= amounts.min() < amounts.max() <= 100 * UNIT
    assert (zones.request_cap == 10 * UNIT).all()
    assert not zones.bandwidth.diagonal().any()


def test_slots_become_half_open_intervals():
    admission = container_clusters(slots=20, count=300)
    starts = {request.start for request in admission.requests}
    ends = {request.end for request in admission.requests}
    assert (min(starts), max(starts), max(ends)) == (0, 19, 20)
    assert min(request.end - request.start for request in admission.requests) == 1
    assert all(request.arrival == request.start for request in admission.requests)


def test_traffic_is_between_zero_and_ten_units_and_not_to_oneself():
    for request in container_clusters(seed=4).requests:
        assert 0 <= request.traffic.min() <= request.traffic.max() <= 10 * UNIT
        assert not request.traffic.diagonal().any()


def test_every_member_fits_the_cap_alone():
    assert all((r.demand <= REQUEST_CAP * UNIT).all() and (r.demand > 0).all() for r in container_clusters(count=500).requests)


def test_value_lies_between_one_and_the_ratio_times_the_largest_use():
    ratio = [r.value / largest_use(r.demand, r.traffic) for r in container_clusters(value_ratio=7.0, count=300).requests]
    assert 1 <= min(ratio) < 1.5
    assert 6.5 < max(ratio) <= 7


def test_largest_use_is_the_largest_over_all_placements_in_two_zones():
    rng = np.random.default_rng(1)
    demand, traffic = ints(rng.integers(1, 900, (4, 2))), floats(rng.uniform(0, 900, (4, 4)) * (1 - np.eye(4)))
    largest = 0.0
    for side in product([0, 1], repeat=4):
        link = sum(traffic[v, w] for v in range(4) for w in range(4) if side[v] == 0 and side[w] == 1)
        zone = max(sum(demand[v, k] for v in range(4) if side[v] == 0) for k in range(2))
        largest = max(largest, link, zone)
    assert largest_use(demand, traffic) == pytest.approx(largest)


def test_bad_settings_are_all_named():
    with pytest.raises(UsageError, match=r"zones is 0.*members are 5 to 3.*value_ratio is 0\.5"):
        container_clusters(zones=0, members_least=5, members_most=3, value_ratio=0.5)
