"""Rates become edges between workloads, with the share that could be attributed."""

import pytest
from tests.builders.canned_prometheus import CannedTransport, canned

from bayplan.errors import InputError, UsageError, WorldError
from bayplan.kubernetes.prometheus import (
    PRESETS,
    KnownPod,
    KnownWorkloads,
    MeasurementSettings,
    Prometheus,
    TrafficQuery,
    measured,
)
from bayplan.kubernetes.prometheus.traffic import measured_traffic, words_of

PODS = [KnownPod(namespace, f"{name}-1", f"{namespace}/{name}", (("Deployment", name),)) for namespace, name in
        (("shop", "web"), ("shop", "cart"), ("pay", "bank"))]  # fmt: skip
KNOWN = KnownWorkloads.of(PODS)
NOON = 1_700_000_000.0


def _istio(source, destination, rate):
    (first, a), (second, b) = (end.partition("/")[::2] for end in (source, destination))
    return {
        "source_workload_namespace": first,
        "source_workload": a,
        "destination_workload_namespace": second,
        "destination_workload": b,
    }, rate


def _measured(*series, known=KNOWN):
    prometheus = canned({"timestamp": [({}, NOON)], "istio_requests_total": series})
    return measured_traffic(prometheus, PRESETS["istio"], known, window=3600.0, at=NOON)


def test_edges_add_up_and_what_a_workload_tells_itself_is_covered_but_no_edge():
    got = _measured(_istio("shop/web", "shop/cart", 3), _istio("shop/web", "shop/cart", 4), _istio("shop/web", "shop/web", 3))
    assert got.edges == {("shop/web", "shop/cart"): 7.0}
    assert (got.coverage, got.unattributed, got.missing) == (1.0, (), ())


def test_what_has_an_unknown_end_lowers_the_coverage_and_is_listed_with_the_largest_first():
    series = [_istio("shop/web", "shop/cart", 5), _istio("unknown/unknown", "shop/web", 2), _istio("old/a", "old/b", 3)]
    got = _measured(*series)
    assert got.coverage == pytest.approx(0.5)
    assert [tuple(each) for each in got.unattributed] == [("old/a", 3.0, 0.3), ("old/b", 3.0, 0.3), ("unknown", 2.0, 0.2)]


def test_at_most_ten_unattributed_names_are_listed():
    got = _measured(*(_istio(f"old/a{number}", "shop/web", number + 1) for number in range(30)))
    assert [each.rate for each in got.unattributed] == [float(rate) for rate in range(30, 20, -1)]


def test_traffic_that_neither_begins_nor_ends_in_the_scope_does_not_count():
    known = KnownWorkloads.of(PODS, scope=["shop"])
    got = _measured(
        _istio("shop/web", "shop/cart", 6), _istio("shop/web", "pay/bank", 2), _istio("old/a", "pay/bank", 90), known=known
    )
    assert got.edges == {("shop/web", "shop/cart"): 6.0}
    assert got.coverage == pytest.approx(0.75)


def test_a_database_of_a_service_graph_is_no_workload_even_if_one_has_its_name():
    series = [
        ({"client": "web", "server": "cart", "connection_type": kind}, 1.0) for kind in ("", "messaging_system", "database")
    ]
    prometheus = canned({"timestamp": [({}, NOON)], "traces_service_graph_request_total": series})
    got = measured_traffic(prometheus, PRESETS["otel"], KNOWN, window=3600.0, at=NOON)
    assert got.edges == {("shop/web", "shop/cart"): 2.0}
    assert [each.name for each in got.unattributed] == ["cart (database)"]


def test_no_series_of_any_product_is_an_error_that_lists_metrics_which_look_like_traffic():
    prometheus = canned({}, names=["up", "nginx_requests_total"])
    with pytest.raises(
        WorldError, match=r"no response_total or request_total with direction=\"outbound\" in the last 30m.*nginx_requests"
    ):
        measured_traffic(prometheus, PRESETS["linkerd"], KNOWN, window=1800.0, at=NOON)
    with pytest.raises(WorldError, match="no metric there looks like traffic"):
        measured_traffic(canned({}, names=["up"]), PRESETS["linkerd"], KNOWN, window=1800.0, at=NOON)


def test_the_second_metric_of_a_preset_is_asked_only_if_the_first_has_no_series():
    labels = {"namespace": "shop", "deployment": "web", "dst_namespace": "shop", "dst_deployment": "cart"}
    transport = CannedTransport(
        {"timestamp": [({}, NOON)], "rate(response_total": [(labels, 2.0)], "rate(request_total": [(labels, 9.0)]}
    )
    got = measured_traffic(Prometheus(transport), PRESETS["linkerd"], KNOWN, window=3600.0, at=NOON)
    assert got.edges == {("shop/web", "shop/cart"): 2.0}
    assert not any("request_total" in query for query, _ in transport.queries)


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-0.5"])
def test_every_rate_that_is_no_amount_is_a_fault_of_its_own(value):
    with pytest.raises(InputError) as error:
        _measured(
            _istio("shop/web", "shop/cart", value), _istio("shop/cart", "shop/web", value), _istio("shop/web", "shop/web", 1)
        )
    assert [(fault.code, fault.name) for fault in error.value.faults] == [
        ("E2603", "shop/web -> shop/cart"),
        ("E2603", "shop/cart -> shop/web"),
    ]


@pytest.mark.parametrize("labels", ["", "a,b", "a,b,c,d,e", "a,,c,d", "a,b,c,"])
def test_labels_that_do_not_name_two_ends_are_refused(labels):
    with pytest.raises(UsageError, match="four labels"):
        TrafficQuery.parse("x", labels)


def test_a_query_of_ones_own_without_series_is_an_error_that_shows_it():
    query = TrafficQuery.parse("rate(x[$window])", "a,b,c,d")
    with pytest.raises(WorldError, match=r"gives no series: rate\(x\[600s\]\)"):
        measured_traffic(canned({}), query, KNOWN, window=600.0, at=NOON)


def test_settings_know_their_presets_and_refuse_a_window_of_seconds():
    with pytest.raises(UsageError, match=r"no traffic preset 'isto'.*did you mean 'istio'"):
        MeasurementSettings(traffic="isto")
    with pytest.raises(UsageError, match="one minute or more"):
        MeasurementSettings(window=5.0)


def test_warnings_of_the_server_are_said_once():
    prometheus = canned({"timestamp": [({}, NOON)], "istio": [_istio("shop/web", "shop/cart", 1)]}, warnings=["partial response"])
    got = measured(prometheus, KNOWN, MeasurementSettings(traffic="istio", usage=False), at=NOON)
    assert got.missing == ("Prometheus warns: partial response",)


def test_traffic_may_be_left_out():
    got = measured(canned({}), KNOWN, MeasurementSettings(traffic="none", usage=False), at=NOON)
    assert (got.traffic, got.coverage, got.missing) == ({}, None, ())


@pytest.mark.parametrize(("seconds", "words"), [(3600, "1h"), (5400, "90m"), (259200, "3d"), (90, "90s"), (1.5, "1.5s")])
def test_lengths_of_time_in_words(seconds, words):
    assert words_of(seconds) == words
