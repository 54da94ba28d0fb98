"""The referee of groups of containers that ask for admission ([Online clusters] (1a)-(1f))."""

import pytest

from bayplan.check import check_admission
from bayplan.errors import ModelError
from bayplan.model import Acceptance, ClusterRequest, ClusterRequests, Resource, Zones


def request(name: str, start: float, end: float) -> ClusterRequest:
    """Two members that need 3 cpu each and talk one way."""
    return ClusterRequest(
        name=name, members=("a", "b"), demand=[[3], [3]], traffic=[[0, 2.0], [0, 0]], arrival=0.0, start=start, end=end, value=1.0
    )


@pytest.fixture
def admission() -> ClusterRequests:
    """Two zones with a link from 'n' to 's' and none back."""
    zones = Zones(
        name=("n", "s"),
        resources=(Resource(name="cpu"),),
        capacity=[[6], [7]],
        request_cap=[[5], [6]],
        bandwidth=[[0, 3], [0, 0]],
    )
    return ClusterRequests(zones=zones, requests=(request("p", 0, 2), request("q", 1, 3), request("r", 2, 4)))


def sentences(admission: ClusterRequests, accepted: dict[int, list[int]]) -> list[str]:
    acceptance = Acceptance(zone_of=tuple(accepted.get(i) for i in range(len(admission.requests))))
    return [violation.sentence for violation in check_admission(admission, acceptance)]


def test_what_fits_is_accepted(admission):
    assert sentences(admission, {0: [0, 1], 2: [0, 1]}) == []  # p is gone when r starts
    assert sentences(admission, {}) == []


def test_every_member_needs_a_zone(admission):
    assert sentences(admission, {0: [0, 2], 1: [1]}) == [
        "request 'p' is accepted, but 1 of its 2 members have no zone of the 2",
        "request 'q' is accepted, but 1 of its 2 members have no zone of the 2",
    ]


def test_an_acceptance_of_other_requests_is_refused(admission):
    with pytest.raises(ModelError, match="of 1 requests, not of 3"):
        check_admission(admission, Acceptance(zone_of=([0, 0],)))


@pytest.mark.parametrize("size", [2**62, 2**63 - 1])
def test_sums_beyond_int64_are_exact(size):
    huge = ClusterRequest(
        name="p", members=("a", "b"), demand=[[size]] * 2, traffic=[[0.0] * 2] * 2, arrival=0.0, start=0.0, end=1.0, value=1.0
    )
    small = ClusterRequest(name="q", members=("a",), demand=[[1]], traffic=[[0.0]], arrival=0.0, start=0.0, end=1.0, value=1.0)
    zones = Zones(
        name=("n",), resources=(Resource(name="memory"),), capacity=[[2**63 - 1]], request_cap=[[size]], bandwidth=[[0]]
    )
    acceptance = Acceptance(zone_of=([0, 0], [0]))
    listed = check_admission(ClusterRequests(zones=zones, requests=(huge, small)), acceptance)
    assert {v.rule: v.excess for v in listed} == {"request-cap": size, "capacity": 2 * size + 1 - (2**63 - 1)}


def test_one_request_takes_no_more_than_its_cap(admission):
    assert sentences(admission, {0: [0, 0]}) == ["request 'p' takes 6 cpu in zone 'n', one request may take 5"]


def test_a_zone_and_a_link_hold_what_runs_at_one_time(admission):
    assert sentences(admission, {0: [0, 1], 1: [0, 1]}) == ["link from zone 'n' to 's': 4 traffic of 3 during (1, 2]"]
    assert sentences(admission, {0: [1, 1], 1: [0, 1]}) == ["zone 's': 9 cpu requested of 7 during (1, 2] (2 too much)"]


def test_a_missing_link_is_forbidden_not_free(admission):
    assert sentences(admission, {0: [1, 0]}) == ["link from zone 's' to 'n': 2 traffic of 0 during (0, 2]"]


def test_traffic_within_a_zone_uses_no_link(admission):
    assert sentences(admission, {0: [1, 1]}) == []
