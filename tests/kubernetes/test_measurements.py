"""A real Prometheus with series in the shapes of all presets and of kubelets: what was put in is what is measured."""

import math
import time

import pytest
from tests.builders import prometheus
from tests.kubernetes.exporter import (
    EPOCH,
    OUTSIDE,
    SHAPES,
    Place,
    PodUsage,
    Series,
    cadvisor,
    exporter,
    hubble,
    linkerd,
    otel,
    rate,
)

from bayplan.errors import InputError, UsageError, WorldError
from bayplan.kubernetes.prometheus import (
    PRESETS,
    KnownPod,
    KnownService,
    KnownWorkloads,
    MeasurementSettings,
    TrafficQuery,
    connected,
    measured,
)
from bayplan.kubernetes.prometheus.server import QueryRefusedError, QueryTooLargeError
from bayplan.kubernetes.prometheus.traffic import measured_traffic
from bayplan.kubernetes.prometheus.usage import measured_usage

pytestmark = pytest.mark.prometheus

HOUR = 3600.0
END = EPOCH + 4 * HOUR
WEB, CART, STORE, JOB = (
    Place("shop", "web"),
    Place("shop", "cart"),
    Place("data", "store", "StatefulSet"),
    Place("data", "nightly", "Job"),
)
GONE = Place("old", "gone")
EDGES = {(WEB, CART): 40.0, (CART, STORE): 25.0, (WEB, WEB): 5.0, (OUTSIDE, WEB): 20.0, (CART, GONE): 10.0}  # 70 of 100 are known
KNOWN_EDGES = {("shop/web", "shop/cart"): 40.0, ("shop/cart", "data/store"): 25.0}
COVERAGE = 0.7
REPLICAS = {WEB: 3, CART: 2, STORE: 2}


def _pod(place, number):
    through = (("ReplicaSet", f"{place.name}-5d9c"),) if place.kind == "Deployment" else ()
    name = f"{place.name}-5d9c-{number}" if through else f"{place.name}-{number}"
    labels = {"app": place.name}
    return KnownPod(place.namespace, name, f"{place.namespace}/{place.name}", (*through, (place.kind, place.name)), labels)


PODS = [_pod(place, number) for place, replicas in REPLICAS.items() for number in range(replicas)]
KNOWN = KnownWorkloads.of(PODS, [KnownService("shop", "cart-service", {"app": "cart"})])
USED = {
    ("shop", "web-5d9c-0"): PodUsage(0.2, 100e6),
    ("shop", "web-5d9c-1"): PodUsage(0.4, 200e6),
    ("shop", "web-5d9c-2"): PodUsage(0.6, 300e6),
    ("shop", "cart-5d9c-0"): PodUsage(1.0, 50e6, wave=0.5),
    ("shop", "cart-5d9c-1"): PodUsage(1.0, 50e6, wave=0.5),
    ("old", "gone-1"): PodUsage(1.0, 10e6),
}


@pytest.fixture(scope="module")
def require_prometheus():
    if words := prometheus.missing():
        prometheus.skip_or_fail(words)


@pytest.fixture(scope="module")
def history(require_prometheus):
    """One server with the series of all presets and of usage, over four hours."""
    traffic = [series for shape in SHAPES.values() for series in shape(EDGES)]
    own = [Series("link_bits_total", {"from": "web", "ns": "shop", "to": "data/store"}, rate(7.0))]
    recorded = prometheus.History(series=[*traffic, *own, *cadvisor(USED)], start=EPOCH, end=END)
    with prometheus.server(history=recorded, options=["--query.max-samples=20000000"]) as server:
        yield server


@pytest.fixture
def connection(history):
    return connected(history.url, None)


@pytest.mark.parametrize("preset", PRESETS)
def test_each_preset_measures_the_traffic_that_was_put_in(connection, preset):
    got = measured_traffic(connection, PRESETS[preset], KNOWN, window=HOUR, at=END)
    assert got.edges == pytest.approx(KNOWN_EDGES, rel=0.01)
    assert got.coverage == pytest.approx(COVERAGE, abs=0.005)
    assert [each.rate for each in got.unattributed] == pytest.approx([20.0, 10.0], rel=0.01)
    assert "gone" in got.unattributed[1].name
    assert (got.unit, got.at) == (PRESETS[preset].unit, END)


@pytest.mark.parametrize(
    ("preset", "series"),
    [
        ("linkerd", linkerd(EDGES, metric="request_total")),
        ("hubble", hubble(EDGES, context="workload")),
        ("hubble", hubble(EDGES, context="workload-name")),
        ("otel", otel(EDGES, metric="servicegraph_traces_service_graph_request_total")),
        ("otel", otel(EDGES, dimensions=True)),
    ],
    ids=["linkerd-requests", "hubble-workload", "hubble-workload-name", "otel-prefixed", "otel-dimensions"],
)
def test_other_versions_of_a_product_give_the_same_traffic(require_prometheus, preset, series):
    with prometheus.server(history=prometheus.History(series=series, start=END - HOUR, end=END)) as server:
        got = measured(connected(server.url, None), KNOWN, MeasurementSettings(usage=False), at=END)
    assert got.traffic == pytest.approx(KNOWN_EDGES, rel=0.01)
    assert got.coverage == pytest.approx(COVERAGE, abs=0.005)


def test_a_service_is_the_workload_that_it_selects(require_prometheus):
    edges = {(WEB, Place("shop", "cart-service", "Service")): 8.0, (WEB, Place("shop", "nothing", "Service")): 2.0}
    with prometheus.server(history=prometheus.History(series=SHAPES["caretta"](edges), start=END - HOUR, end=END)) as server:
        got = measured_traffic(connected(server.url, None), PRESETS["caretta"], KNOWN, window=HOUR, at=END)
    assert got.edges == pytest.approx({("shop/web", "shop/cart"): 8.0}, rel=0.01)
    assert got.coverage == pytest.approx(0.8, abs=0.005)


def test_usage_is_pooled_over_replicas_and_time(connection):
    got = measured_usage(connection, KNOWN, window=2 * HOUR, at=END)
    web, cart = got.usage["shop/web"], got.usage["shop/cart"]
    assert tuple(web["cpu"]) == pytest.approx((400.0, math.sqrt(8 / 3) * 100, 600.0), rel=0.01)
    assert tuple(web["memory"]) == pytest.approx((200e6, math.sqrt(2 / 3) * 100e6, 300e6), rel=0.01)
    assert tuple(cart["cpu"]) == pytest.approx((1000.0, 500 / math.sqrt(2), 1500.0), rel=0.02)  # a sine's deviation
    assert tuple(cart["memory"]) == pytest.approx((50e6, 0.0, 50e6), abs=1.0)
    assert got.at == END
    assert got.missing == (
        "usage of cpu: not measured for 1 workload (data/store)",
        "usage of cpu: 24% belongs to pods that are gone or were not collected",
        "usage of memory: not measured for 1 workload (data/store)",
        "usage of memory: 1% belongs to pods that are gone or were not collected",
    )


def test_a_window_that_is_too_large_for_the_server_is_measured_in_parts(history, connection):
    whole = measured_usage(connection, KNOWN, window=2 * HOUR, at=END)
    recorded = prometheus.History(series=cadvisor(USED), start=EPOCH, end=END)
    with prometheus.server(history=recorded, options=["--query.max-samples=200"]) as server:
        narrow = connected(server.url, None)
        with pytest.raises(QueryTooLargeError, match="too many samples"):
            narrow.query("sum_over_time(container_memory_working_set_bytes[2h])", END)
        parts = measured_usage(narrow, KNOWN, window=2 * HOUR, at=END)
    assert parts.missing == whole.missing
    for workload, resources in whole.usage.items():
        for resource, usage in resources.items():
            assert tuple(parts.usage[workload][resource]) == pytest.approx(tuple(usage), rel=1e-9, abs=1e-3)


def test_a_query_of_the_users_own_is_attributed_by_the_labels_that_are_named(connection):
    query = TrafficQuery.parse("sum by (ns, from, to) (rate(link_bits_total[$window]))", "ns,from,,to")
    got = measured(connection, KNOWN, MeasurementSettings(traffic=query, usage=False), at=END)
    assert got.traffic == pytest.approx({("shop/web", "data/store"): 7.0}, rel=0.01)
    assert got.coverage == 1.0


def test_a_label_that_the_query_does_not_keep_is_a_numbered_fault(connection):
    query = TrafficQuery.parse("sum by (ns, from) (rate(link_bits_total[$window]))", "ns,from,,to")
    with pytest.raises(InputError, match=r"E2602 label 'to'.*from, ns"):
        measured(connection, KNOWN, MeasurementSettings(traffic=query), at=END)


@pytest.mark.parametrize("value", ["0 / 0", "1 / 0", "-1"])
def test_a_rate_that_is_no_amount_is_a_numbered_fault(connection, value):
    query = TrafficQuery.parse(f"link_bits_total * ({value})", "ns,from,,to")
    with pytest.raises(InputError, match=r"E2603 traffic 'shop/web -> data/store'"):
        measured(connection, KNOWN, MeasurementSettings(traffic=query), at=END)


def test_a_range_is_a_numbered_fault(connection):
    with pytest.raises(InputError, match="E2601"):
        measured(connection, KNOWN, MeasurementSettings(traffic=TrafficQuery.parse("link_bits_total[5m]", "ns,from,,to")), at=END)


def test_a_query_that_is_refused_brings_the_servers_words(connection):
    with pytest.raises(QueryRefusedError, match="parse error"):
        connection.query("sum by (", END)


def test_a_preset_without_series_says_what_is_there_instead(require_prometheus):
    recorded = prometheus.History(series=SHAPES["caretta"](EDGES), start=END - HOUR, end=END)
    with prometheus.server(history=recorded) as server, pytest.raises(WorldError) as error:
        measured(connected(server.url, None), KNOWN, MeasurementSettings(traffic="istio"), at=END)
    assert "no istio_requests_total in the last 1h" in str(error.value)
    assert "look like traffic: caretta_links_observed" in str(error.value)
    assert str(error.value).endswith("try --traffic caretta")


def test_without_a_preset_the_only_product_is_taken_and_several_are_refused(connection, require_prometheus):
    with pytest.raises(UsageError, match="istio and of linkerd and of hubble and of caretta and of otel"):
        measured(connection, KNOWN, at=END)
    with prometheus.server(history=prometheus.History(series=SHAPES["istio-bytes"](EDGES), start=END - HOUR, end=END)) as server:
        got = measured(connected(server.url, None), KNOWN, at=END)
    assert (got.traffic_unit, len(got.traffic)) == ("bytes/s", 2)
    assert got.missing == (
        "usage of cpu: no container_cpu_usage_seconds_total of any pod",
        "usage of memory: no container_memory_working_set_bytes of any pod",
    )


def test_an_empty_server_measures_nothing_and_says_so(require_prometheus):
    with prometheus.server() as server:
        got = measured(connected(server.url, None), KNOWN, at=END)
    assert (got.traffic, got.coverage, got.usage, got.traffic_at) == ({}, None, {}, 0.0)
    assert got.missing[0].endswith("has no metric of istio, istio-bytes, linkerd, hubble, hubble-flows, caretta, otel")


def test_series_that_ended_are_dated_by_their_last_sample(connection):
    got = measured_traffic(connection, PRESETS["istio"], KNOWN, window=HOUR, at=END + HOUR / 2)
    assert got.at == pytest.approx(END, abs=60)


def test_counters_that_stand_still_are_no_traffic(require_prometheus):
    still = [Series(each.metric, each.labels, lambda at: 5.0) for each in SHAPES["istio"](EDGES)]
    with prometheus.server(history=prometheus.History(series=still, start=END - HOUR, end=END)) as server:
        got = measured(connected(server.url, None), KNOWN, MeasurementSettings(usage=False), at=END)
    assert (got.traffic, got.coverage) == ({}, None)
    assert got.missing == ("no traffic in the last 1h: every counter stands still",)


def test_hubble_without_context_says_what_to_turn_on(require_prometheus):
    bare = [Series("hubble_http_requests_total", {"method": "GET", "reporter": "server"}, rate(3.0))]
    turned_on = r"names its source.*labelsContext=source_namespace,source_workload"
    recorded = prometheus.History(series=bare, start=END - HOUR, end=END)
    with prometheus.server(history=recorded) as server, pytest.raises(WorldError, match=turned_on):
        measured(connected(server.url, None), KNOWN, MeasurementSettings(traffic="hubble"), at=END)


def test_what_an_exporter_serves_now_is_scraped_and_measured(require_prometheus):
    with exporter(lambda: SHAPES["istio"](EDGES)) as address, prometheus.server(scrape=[address]) as server:
        connection = connected(server.url, None)

        def scraped() -> bool:
            counts = connection.query("min(count_over_time(istio_requests_total[5s]))", time.time())
            return bool(counts) and counts[0].value >= 5

        prometheus.until(scraped, "five scrapes are in")
        got = measured_traffic(connection, PRESETS["istio"], KNOWN, window=5.0, at=time.time())
    assert got.edges == pytest.approx(KNOWN_EDGES, rel=0.3)  # rate() of so few samples reaches beyond them
    assert got.coverage == pytest.approx(COVERAGE, abs=0.01)
