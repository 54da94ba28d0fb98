"""The referee of timed requests."""

import pytest

from bayplan.check import check_schedule
from bayplan.errors import ModelError
from bayplan.model import UNPLACED, Fleet, Resource, Schedule, TimedRequests


def requests() -> TimedRequests:
    """Three requests; 'early' ends when 'late' starts, 'long' meets both."""
    return TimedRequests(
        name=("early", "late", "long"),
        resources=(Resource(name="cpu", scale=1000), Resource(name="memory")),
        capacity=[2000, 10],
        start=[0.0, 2.0, 1.0],
        end=[2.0, 4.0, 3.0],
        demand=[[1500, 1], [1500, 1], [1000, 9]],
        value=[1.0, 1.0, 1.0],
    )


def sentences(machine_of: list[int], machines: int) -> list[str]:
    return [
        v.sentence
        for v in check_schedule(requests(), Schedule(machine_of=machine_of), Fleet.alike(machines, requests().capacity))
    ]


def test_half_open_intervals_that_touch_do_not_meet():
    assert sentences([0, 0, UNPLACED], machines=1) == []


def test_overload_is_reported_with_its_time():
    assert sentences([0, UNPLACED, 0], machines=1) == ["machine 0: 2.5 cpu requested of 2 during (1, 2] (500m too much)"]


def test_machines_are_checked_apart():
    assert sentences([0, 0, 1], machines=2) == []


def test_a_machine_that_does_not_exist_serves_no_request():
    assert sentences([2, UNPLACED, UNPLACED], machines=2) == ["request 'early' is served on machine 2; there are 2"]


def test_nothing_served_violates_nothing():
    assert sentences([UNPLACED] * 3, machines=0) == []


def test_a_schedule_of_other_requests_is_refused():
    with pytest.raises(ModelError, match="of 1 requests, not of 3"):
        sentences([0], machines=1)


@pytest.mark.parametrize("size", [2**62, 2**63 - 1])
def test_sums_beyond_int64_are_exact(size):
    huge = TimedRequests(
        name=("a", "b", "c"),
        resources=(Resource(name="memory"),),
        capacity=[2**63 - 1],
        start=[0.0, 0.0, 0.0],
        end=[2.0, 2.0, 1.0],
        demand=[[size]] * 3,
        value=[1.0] * 3,
    )
    (violation,) = check_schedule(huge, Schedule(machine_of=[0, 0, 0]), Fleet.alike(1, huge.capacity))
    assert violation.excess == 3 * size - (2**63 - 1)
