"""The referee of groups of containers that ask to be let in (001 (1a)-(1f))."""

import pytest

from bayplan.model import Admission, ClusterRequest, Resource, Zones
from bayplan.score.check import check_admission


def request(name: str, start: float, end: float) -> ClusterRequest:
    """Two members that need 3 cpu each and talk one way."""
    return ClusterRequest(
        name=name, members=("a", "b"), demand=[[3], [3]], traffic=[[0, 2.0], [0, 0]], arrival=0.0, start=start, end=end, value=1.0
    )


@pytest.fixture
def admission() -> Admission:
    """Two zones with a link from 'n' to 's' and none back."""
    zones = Zones(
        name=("n", "s"),
        resources=(Resource(name="cpu"),),
        capacity=[[6], [7]],
        request_cap=[[5], [6]],
        bandwidth=[[0, 3], [0, 0]],
    )
    return Admission(zones=zones, requests=(request("p", 0, 2), request("q", 1, 3), request("r", 2, 4)))


def sentences(admission: Admission, accepted: dict[int, list[int]]) -> list[str]:
    return [violation.sentence for violation in check_admission(admission, accepted)]


def test_what_fits_is_accepted(admission):
    assert sentences(admission, {0: [0, 1], 2: [0, 1]}) == []  # p is gone when r starts
    assert sentences(admission, {}) == []


def test_every_member_needs_a_zone(admission):
    assert sentences(admission, {0: [0, -1], 1: [1]}) == [
        "request 'p' is accepted, but 1 of its 2 members have no zone of the 2",
        "request 'q' is accepted, but 1 of its 2 members have no zone of the 2",
    ]
    assert sentences(admission, {7: [0, 0]}) == ["there is no request 7"]


def test_one_request_takes_no_more_than_its_cap(admission):
    assert sentences(admission, {0: [0, 0]}) == ["request 'p' takes 6 cpu in zone 'n', one request may take 5"]


def test_a_zone_and_a_link_hold_what_runs_at_one_time(admission):
    assert sentences(admission, {0: [0, 1], 1: [0, 1]}) == ["link from zone 'n' to 's': 4 traffic of 3 during (1, 2]"]
    assert sentences(admission, {0: [1, 1], 1: [0, 1]}) == ["zone 's': 9 cpu requested of 7 during (1, 2] (2 too much)"]


def test_a_missing_link_is_forbidden_not_free(admission):
    assert sentences(admission, {0: [1, 0]}) == ["link from zone 's' to 'n': 2 traffic of 0 during (0, 2]"]


def test_traffic_within_a_zone_uses_no_link(admission):
    assert sentences(admission, {0: [1, 1]}) == []
