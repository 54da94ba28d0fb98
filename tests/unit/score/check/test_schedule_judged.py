"""The referee of timed requests."""

from bayplan.model import Resource, TimedRequests
from bayplan.score.check import check_schedule


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


def test_half_open_intervals_that_touch_do_not_meet():
    assert check_schedule(requests(), {0: 0, 1: 0}, machines=1) == ()


def test_overload_is_said_with_its_time():
    assert [v.sentence for v in check_schedule(requests(), {0: 0, 2: 0}, machines=1)] == [
        "machine 0: 2.5 cpu requested of 2 during (1, 2] (500m too much)",
    ]


def test_machines_are_judged_apart():
    assert check_schedule(requests(), {0: 0, 1: 0, 2: 1}, machines=2) == ()


def test_a_machine_that_does_not_exist_serves_nobody():
    found = check_schedule(requests(), {0: 2, 9: 0}, machines=2)
    assert [v.sentence for v in found] == ["request 'early' is served on machine 2; there are 2", "there is no request 9"]


def test_nothing_served_breaks_nothing():
    assert check_schedule(requests(), {}, machines=0) == ()
