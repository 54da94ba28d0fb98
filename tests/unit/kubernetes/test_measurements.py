"""The value that holds what was measured."""

import pytest

from bayplan.errors import ModelError
from bayplan.kubernetes.measurements import NOT_MEASURED, Measurements, Unattributed, UsageStatistics

CPU = UsageStatistics(mean=200.0, deviation=20.0, peak=300.0)
MEASURED = Measurements(
    traffic={("shop/web", "shop/cart"): 12.0, ("shop/cart", "data/store"): 6.0},
    traffic_unit="requests/s",
    traffic_at=7.0,
    coverage=0.9,
    unattributed=(Unattributed("unknown", 2.0, 0.1),),
    usage={"shop/web": {"cpu": CPU}},
    usage_at=7.0,
    missing=("usage of memory: no metric",),
)


def test_a_workload_that_stands_as_several_has_its_traffic_divided_by_replicas():
    got = MEASURED.divided({"shop/web": {"shop/web": 3, "shop/web (other volumes)": 1}, "data/store": {"data/store": 2}})
    assert got.traffic == {
        ("shop/web", "shop/cart"): 9.0,
        ("shop/web (other volumes)", "shop/cart"): 3.0,
        ("shop/cart", "data/store"): 6.0,
    }
    assert got.usage == {"shop/web": {"cpu": CPU}, "shop/web (other volumes)": {"cpu": CPU}}
    assert (got.coverage, got.missing) == (0.9, MEASURED.missing)


def test_dividing_keeps_the_total():
    got = MEASURED.divided({"shop/web": {"a": 1, "b": 2}, "shop/cart": {"c": 5, "d": 2, "e": 0}})
    assert sum(got.traffic.values()) == pytest.approx(18.0)


def test_a_whole_without_replicas_stays_one():
    assert MEASURED.divided({"shop/web": {}}) == MEASURED


def test_people_are_told_what_was_measured_and_what_was_not():
    assert MEASURED.sentences() == (
        "traffic: 2 edges, 18 requests/s; 90.0% of all traffic is between workloads that were collected; "
        "the rest has an end that is no workload here: unknown (10%)",
        "usage: measured for 1 workload",
        "not measured: usage of memory: no metric",
    )
    assert NOT_MEASURED.sentences() == ()


@pytest.mark.parametrize("wrong", [{"traffic": {("a", "a"): 1.0}}, {"coverage": 1.5}, {"coverage": -0.1}])
def test_what_contradicts_itself_is_no_measurement(wrong):
    with pytest.raises(ModelError):
        Measurements(**wrong)
