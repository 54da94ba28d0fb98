"""The dashboard and the alerts ask for metrics that there are, and alerts fire when they should and only then."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from tests.builders import prometheus

from bayplan.kubernetes.controller.metrics import METRICS, MetricKind

ROOT = Path(__file__).parents[3]
FILES = ROOT / "deploy" / "helm" / "bayplan" / "files"
RULES = yaml.safe_load((FILES / "alerts.yaml").read_text(encoding="utf-8"))
ALERTS = {rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"]}
DASHBOARD = json.loads((FILES / "dashboard.json").read_text(encoding="utf-8"))
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
SERIES = re.compile(r"(bayplan_\w+)(?:\{([^}]*)\})?")


@pytest.fixture(autouse=True)
def promtool(request):
    """What is marked with `prometheus` needs its tool."""
    if request.node.get_closest_marker("prometheus") and (words := prometheus.missing()):
        prometheus.skip_or_fail(words)


@pytest.mark.parametrize("expression", [*(rule["expr"] for rule in ALERTS.values()), *QUERIES])
def test_every_metric_exists_with_its_labels_and_values(expression):
    series = SERIES.findall(expression)
    assert series
    for name, matchers in series:
        metric = METRICS.get(name) or METRICS[re.sub(r"_(bucket|sum|count)$", "", name)]
        assert name.endswith("_bucket") == (metric.kind is MetricKind.HISTOGRAM)
        for label, values in re.findall(r'(\w+)(?:=~|!=|=)"([^"]*)"', matchers):
            assert label == "job" or set(values.split("|")) <= set(metric.labels[label])


@pytest.mark.parametrize("expression", [*(rule["expr"] for rule in ALERTS.values()), *QUERIES])
def test_counters_are_asked_for_their_increase_and_gauges_are_not(expression):
    for name, _ in SERIES.findall(expression):
        counted = re.search(rf"(increase|rate)\({name}\b", expression) is not None
        assert counted == (METRICS.get(name) is None or METRICS[name].kind is not MetricKind.GAUGE)


def test_every_alert_says_what_happened_and_what_to_do():
    for rule in ALERTS.values():
        assert set(rule["annotations"]) == {"summary", "description"} and rule["labels"]["severity"] in (
            "info",
            "warning",
            "critical",
        )


def test_panels_do_not_overlap():
    taken = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.prometheus  # has promtool
def test_prometheus_accepts_the_alerts():
    subprocess.run(["promtool", "check", "rules", str(FILES / "alerts.yaml")], check=True, capture_output=True)


CALM = {
    "bayplan_build_info": "1x200",
    "bayplan_leader": "1x200",
    "bayplan_last_turn_timestamp_seconds": "0+60x200",
    'bayplan_turns_total{verdict="failed"}': "0x200",
    "bayplan_rollbacks_total": "0x200",
    'bayplan_moves_total{outcome="started"}': "0+1x200",
    'bayplan_moves_total{outcome="blocked"}': "0x200",
    "bayplan_overdue_reservations_total": "0x200",
    "bayplan_unplaced_containers": "0x200",
    "bayplan_hot_machines": "0x200",
}
TROUBLE = {  # alert -> what differs from the calm, minute by minute
    "BayplanDown": {"bayplan_build_info": "_x200"},
    "BayplanNoLeader": {"bayplan_leader": "0x200"},
    "BayplanTwoLeaders": {"bayplan_leader": "2x200"},
    "BayplanNoTurn": {"bayplan_last_turn_timestamp_seconds": "1x200"},
    "BayplanTurnsFail": {'bayplan_turns_total{verdict="failed"}': "0+1x200"},
    "BayplanRollsBack": {"bayplan_rollbacks_total": "0+0.1x200"},
    "BayplanMovesBlocked": {'bayplan_moves_total{outcome="blocked"}': "0+1x200"},
    "BayplanGatesOverdue": {"bayplan_overdue_reservations_total": "0x150 1x50"},
    "BayplanUnplacedContainers": {"bayplan_unplaced_containers": "3x200"},
    "BayplanHotMachines": {"bayplan_hot_machines": "3x200"},
}


def firing(series, tmp_path):
    """The names of all alerts that fire after three hours, by Prometheus itself."""
    tests = [
        {
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": [
                {"expr": f'count(ALERTS{{alertname="{alert}", alertstate="firing"}}) or vector(0)', "eval_time": "3h",
                 "exp_samples": [{"labels": "{}", "value": 1}]}
            ],
        }
        for alert in ALERTS
    ]  # fmt: skip
    fired = []
    for alert, each in zip(ALERTS, tests, strict=True):
        file = tmp_path / f"{alert}.yaml"
        file.write_text(
            yaml.safe_dump({"rule_files": [str(FILES / "alerts.yaml")], "evaluation_interval": "1m", "tests": [each]})
        )
        if subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, check=False).returncode == 0:
            fired.append(alert)
    return fired


@pytest.mark.prometheus  # has promtool
def test_no_alert_fires_while_all_is_well(tmp_path):
    assert firing(CALM, tmp_path) == []


@pytest.mark.prometheus  # has promtool
@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_fires_alone_when_it_should(alert, tmp_path):
    assert firing(CALM | TROUBLE[alert], tmp_path) == [alert]
