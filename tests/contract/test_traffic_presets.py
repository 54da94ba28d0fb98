"""What every traffic preset keeps to."""

import re
from pathlib import Path

import pytest
from tests.builders.canned_prometheus import canned
from tests.kubernetes.exporter import EPOCH, SHAPES, Place

from bayplan.cli.options.measurements import PRESET_NAMES
from bayplan.kubernetes.prometheus import PRESETS, KnownPod, KnownWorkloads
from bayplan.kubernetes.prometheus.traffic import measured_traffic

PAGE = (Path(__file__).parents[2] / "docs" / "kubernetes" / "traffic.md").read_text(encoding="utf-8")
WEB, CART = Place("shop", "web"), Place("shop", "cart")
PODS = [KnownPod("shop", f"{place.name}-1", f"shop/{place.name}", (("Deployment", place.name),)) for place in (WEB, CART)]
KNOWN = KnownWorkloads.of(PODS)
every_preset = pytest.mark.parametrize("name", PRESETS)


def test_help_names_every_preset_and_no_other():
    assert tuple(PRESETS) == PRESET_NAMES


@every_preset
def test_the_page_has_its_metrics_its_unit_and_its_first_labels(name):
    preset = PRESETS[name]
    (row,) = re.findall(rf"^\| `{name}` \|.*$", PAGE, re.MULTILINE)
    assert f"| {preset.unit} |" in row
    assert all(metric in PAGE for group in preset.metrics for metric in group)
    assert all(f"`{end.name}`" in PAGE for ends in (preset.source, preset.destination) for end in (ends[0], ends[-1]))


@every_preset
def test_its_query_keeps_every_label_that_is_read_and_nothing_of_the_reporter(name):
    preset = PRESETS[name]
    query = preset.query(preset.metrics[0][0], 3600.0)
    kept = re.search(r"sum by \(([^)]*)\)", query)
    assert kept is not None
    assert set(kept[1].split(", ")) == {*preset.labels, *([preset.reporter] if preset.reporter else [])}
    assert query.startswith(f"max without ({preset.reporter})") is bool(preset.reporter)
    assert f"[{3600}s]" in query


@every_preset
def test_it_reads_the_series_of_its_product(name):
    """Series as the product writes them, summed as its query asks: the edge between the two workloads comes out."""
    preset, at = PRESETS[name], EPOCH + 10.0
    answers = {"timestamp": [({}, at)]}
    for metric in preset.metrics[0]:
        rows = [one for one in SHAPES[name]({(WEB, CART): 4.0}) if one.metric == metric and _counts(preset, one.labels)]
        answers[metric] = _summed(preset, rows, at)
    got = measured_traffic(canned(answers), preset, KNOWN, window=3600.0, at=at)
    assert got.edges == pytest.approx({("shop/web", "shop/cart"): 4.0})
    assert (got.coverage, got.unit) == (1.0, preset.unit)


def _counts(preset, labels):
    return all(labels.get(key) == value for key, value in re.findall(r'(\w+)="([^"]*)"', preset.matching))


def _summed(preset, rows, at):
    """What `sum by` and `max without` make of the rates of these series."""
    sums: dict[tuple, dict[str, float]] = {}
    for one in rows:
        key = tuple((label, one.labels[label]) for label in preset.labels if one.labels.get(label))
        by_reporter = sums.setdefault(key, {})
        reporter = one.labels.get(preset.reporter, "")
        by_reporter[reporter] = by_reporter.get(reporter, 0.0) + one.value(at) / (at - EPOCH)
    return [(dict(key), max(by_reporter.values())) for key, by_reporter in sums.items()]
