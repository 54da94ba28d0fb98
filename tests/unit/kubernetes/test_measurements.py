"""The value that holds what was measured."""

import pytest

from bayplan.errors import ModelError, UsageError
from bayplan.kubernetes.measurements import NOT_MEASURED, Measurements, Unattributed, UsageStatistics, at_peak

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


# ---- at the peak ---------------------------------------------------------------------------------------------------------------


def hour(**means):
    return Measurements(usage={name: {"cpu": UsageStatistics(mean, mean / 10, 2 * mean)} for name, mean in means.items()})


def test_each_workload_has_the_usage_of_its_own_busiest_window():
    got = at_peak([hour(web=1.0, cart=5.0), hour(web=3.0, cart=2.0)])
    assert (got.usage["web"]["cpu"], got.usage["cart"]["cpu"]) == (
        UsageStatistics(3.0, 0.3, 6.0),
        UsageStatistics(5.0, 0.5, 10.0),
    )


def test_all_have_the_usage_of_the_clusters_busiest_window():
    hours = [hour(web=1.0, cart=5.0, old=1.0), hour(web=3.0, cart=2.0)]
    got = at_peak(hours, of="cluster", replicas={"web": 9})
    assert {name: used["cpu"].mean for name, used in got.usage.items()} == {"web": 3.0, "cart": 2.0, "old": 1.0}
    assert at_peak(hours, of="cluster").usage["web"]["cpu"].mean == 1.0


def test_a_peak_of_nothing_is_refused():
    with pytest.raises(UsageError, match="expected one at least"):
        at_peak([])
