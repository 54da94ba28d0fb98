"""Metrics: the page lists every one, labels have few values, and none names a pod, a workload or a machine."""

import math
import re
from pathlib import Path

import pytest

from bayplan.kubernetes.controller.metrics import METRICS, MetricKind, Metrics

PAGE = Path(__file__).parents[4] / "docs" / "kubernetes" / "controller.md"
MOST = 40  # series of one metric


def test_the_page_lists_every_metric_with_its_kind_and_labels_and_no_other():
    rows = re.findall(r"^\| `(bayplan_\w+)` \| (\w+) \| (.*?) \| (.*?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name: (kind, labels, text) for name, kind, labels, text in rows}
    expected = {
        name: (str(metric.kind), ", ".join(f"`{label}`" for label in metric.labels), metric.help)
        for name, metric in METRICS.items()
    }
    assert listed == expected


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_has_few_series_and_a_name_as_prometheus_wants_it(name):
    metric = METRICS[name]
    assert math.prod(len(values) for values in metric.labels.values()) <= MOST
    assert re.fullmatch(r"bayplan_[a-z_]+", name)
    assert name.endswith("_total") == (metric.kind is MetricKind.COUNTER)
    assert not {"pod", "container", "workload", "namespace", "machine", "node", "plan"} & set(metric.labels)
    assert metric.help.endswith(".")


def test_every_series_is_there_from_the_beginning():
    text = Metrics().text().decode()
    assert 'bayplan_moves_total{outcome="blocked"} 0.0' in text
    assert 'bayplan_turns_total{verdict="dry-run"} 0.0' in text
    for name in METRICS:
        assert f"# TYPE {name}" in text


def test_two_controllers_in_one_process_count_apart():
    one, two = Metrics(), Metrics()
    one.add("bayplan_rollbacks_total")
    assert two.registry.get_sample_value("bayplan_rollbacks_total") == 0.0


def test_a_label_or_value_that_is_not_in_the_list_is_a_fault():
    with pytest.raises(ValueError, match="label"):
        Metrics().add("bayplan_moves_total", pod="web-1")
