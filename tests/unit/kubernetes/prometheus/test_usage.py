"""Usage of workloads, pooled from what Prometheus computed for each pod."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders.canned_prometheus import CannedTransport, canned

from bayplan.kubernetes.prometheus import KnownPod, KnownWorkloads, Prometheus
from bayplan.kubernetes.prometheus.server import QueryTooLargeError
from bayplan.kubernetes.prometheus.usage import Moments, measured_usage, step_of

KNOWN = KnownWorkloads.of(
    [
        KnownPod("shop", f"{name}-{number}", f"shop/{name}", (("Deployment", name),))
        for name in ("web", "cart")
        for number in (1, 2)
    ]
)
NOON = 1_700_000_000.0
samples = st.lists(st.floats(0, 1e9), min_size=1, max_size=8)


def _moments(values):
    array = np.array(values)
    return Moments(number=len(values), mean=array.mean(), squares=((array - array.mean()) ** 2).sum(), peak=array.max())


@given(parts=st.lists(samples, min_size=1, max_size=5))
def test_pooled_moments_are_those_of_all_measurements(parts):
    pooled, whole = Moments.pooled(map(_moments, parts)), _moments([value for part in parts for value in part])
    assert (pooled.number, pooled.peak) == (whole.number, whole.peak)
    assert pooled.mean == pytest.approx(whole.mean, rel=1e-9)
    assert pooled.squares == pytest.approx(whole.squares, rel=1e-6, abs=1e-3 * (1 + whole.peak))


def _pod(name, value, namespace="shop"):
    return {"namespace": namespace, "pod": name}, value


def _answers(metric, count, mean, deviation, peak):
    return {
        f"count_over_time((sum by (namespace, pod) (max by (namespace, pod, container) ({metric}": count,
        f"avg_over_time((sum by (namespace, pod) (max by (namespace, pod, container) ({metric}": mean,
        f"stddev_over_time((sum by (namespace, pod) (max by (namespace, pod, container) ({metric}": deviation,
        f"max_over_time((sum by (namespace, pod) (max by (namespace, pod, container) ({metric}": peak,
    }


def _cpu(*pods):
    columns = list(zip(*pods, strict=True))
    return _answers(
        "rate(container_cpu", *([_pod(*cell) for cell in zip(columns[0], values, strict=True)] for values in columns[1:])
    )


def test_the_pods_of_a_workload_are_pooled_and_cpu_is_in_thousandths():
    answers = {**_cpu(("web-1", 12, 0.1, 0.0, 0.1), ("web-2", 12, 0.3, 0.0, 0.5)), "timestamp": [({}, NOON - 7)]}
    got = measured_usage(canned(answers), KNOWN, window=3600.0, at=NOON)
    assert tuple(got.usage["shop/web"]["cpu"]) == pytest.approx((200.0, 100.0, 500.0))
    assert got.at == NOON - 7
    assert got.missing == (
        "usage of cpu: not measured for 1 workload (shop/cart)",
        "usage of memory: no container_memory_working_set_bytes of any pod",
    )


def test_a_workload_with_hardly_any_measurements_is_not_measured():
    answers = {**_cpu(("web-1", 12, 0.1, 0.0, 0.1), ("cart-1", 3, 0.1, 0.0, 0.1)), "timestamp": [({}, NOON)]}
    got = measured_usage(canned(answers), KNOWN, window=3600.0, at=NOON)
    assert set(got.usage) == {"shop/web"}
    assert got.missing[0] == "usage of cpu: not measured for 1 workload (shop/cart)"


def test_values_that_are_no_numbers_are_not_measured():
    answers = {**_cpu(("web-1", 12, "NaN", 0.0, 0.1), ("cart-1", 12, 0.1, 0.0, "+Inf")), "timestamp": [({}, NOON)]}
    got = measured_usage(canned(answers), KNOWN, window=3600.0, at=NOON)
    assert got.usage == {}


def test_pods_that_are_gone_are_said():
    answers = {**_cpu(("web-1", 12, 0.3, 0.0, 0.3), ("gone-1", 12, 0.1, 0.0, 0.1)), "timestamp": [({}, NOON)]}
    got = measured_usage(canned(answers), KNOWN, window=3600.0, at=NOON)
    assert got.missing[1] == "usage of cpu: 25% belongs to pods that are gone or were not collected"


def test_a_scope_is_asked_for_alone():
    transport = CannedTransport({})
    known = KnownWorkloads.of([KnownPod("shop", "web-1", "shop/web")], scope=["shop", "pay"])
    measured_usage(Prometheus(transport), known, window=3600.0, at=NOON)
    assert transport.queries
    assert all('namespace=~"pay|shop"' in query for query, _ in transport.queries)


def test_runtimes_that_report_totals_of_pods_only_are_measured_by_these():
    answers = {'container!=""': [], "timestamp": [({}, NOON)], **_cpu(("web-1", 12, 0.1, 0.0, 0.1))}
    got = measured_usage(canned(answers), KNOWN, window=3600.0, at=NOON)
    assert got.usage["shop/web"]["cpu"].mean == pytest.approx(100.0)


class _Narrow(CannedTransport):
    """Refuses windows that are longer than 15 minutes."""

    def ask(self, path, parameters):
        window = float(parameters["query"].rpartition("[")[2].partition("s")[0]) if "_over_time" in parameters["query"] else 0.0
        if window > 900:
            self.queries.append((parameters["query"], float(parameters["time"])))
            raise QueryTooLargeError("too many samples")
        return super().ask(path, parameters)


def test_a_window_that_is_too_large_is_halved_until_its_parts_cover_it_once():
    answers = {**_cpu(("web-1", 3, 0.1, 0.0, 0.1)), "timestamp": [({}, NOON)]}
    transport = _Narrow(answers)
    got = measured_usage(Prometheus(transport), KNOWN, window=3600.0, at=NOON)
    counted = [(query, at) for query, at in transport.queries if query.startswith("count_over_time") and "[900s:300s]" in query]
    ends = sorted({at for query, at in counted if "cpu" in query})
    assert [later - earlier for earlier, later in pairwise(ends)] == [900.0] * 3
    assert NOON - 300 < ends[-1] <= NOON
    assert got.usage["shop/web"]["cpu"].mean == pytest.approx(100.0)


def test_one_step_that_is_too_large_is_an_error():
    answers = {"_over_time": QueryTooLargeError("too many samples")}
    with pytest.raises(QueryTooLargeError):
        measured_usage(canned(answers), KNOWN, window=3600.0, at=NOON)


@pytest.mark.parametrize(("window", "step"), [(3600.0, 300.0), (86400.0, 600.0), (600.0, 150.0)])
def test_measurements_are_five_minutes_apart_but_at_least_four_and_at_most_144_of_a_window(window, step):
    assert step_of(window) == step
