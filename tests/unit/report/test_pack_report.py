"""A packing as people look at it: the picture of [UCaC] Figure 3, its tables, its page."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from tests.builders.report_clusters import RESOURCES, cluster_of

from bayplan.model import Reason, Result, Status
from bayplan.report.amounts import odds
from bayplan.report.answers.pack_page import PackPageData, pack_page
from bayplan.report.answers.pack_tables import confidence, level_table, pack_report
from bayplan.report.pictures import UcacCurve, ucac_curves
from bayplan.report.terminal import text_of
from bayplan.score.packing import ConfidenceLevel, OverflowOdds, PackedMachine, PackFigures

CPU = RESOURCES[0]
EVIL = "<script>alert('&\"')</script>\x00"
FIGURES = PackFigures(
    resource=CPU,
    alpha=0.999,
    machines=10,
    containers=120,
    capacity=320_000.0,
    ucac=300_000.0,
    mean=200_000.0,
    reserved=480_000.0,
    reserved_by="limits",
    predicted=OverflowOdds(largest=0.0009, mean=0.0004),
    simulated=OverflowOdds(largest=0.002, mean=0.0005),
    draws=1000,
)
LEVELS = (
    ConfidenceLevel(alpha=None, by="limits", machines=16, ucac=480_000.0, left_out=3, saved=None),
    ConfidenceLevel(alpha=0.999, by="", machines=10, ucac=300_000.0, left_out=0, saved=6, at_least=True),
)


def curves(*sizes: int) -> list[UcacCurve]:
    rng = np.random.default_rng(0)
    return [UcacCurve(name=f"method {k}", share=rng.uniform(0.2, 1.05, size)) for k, size in enumerate(sizes)]


def page_data(name: str = "sample", **changes: object) -> PackPageData:
    snapshot = cluster_of(machines=12, services=4, replicas=5, name=name)
    rows = [
        PackedMachine(
            machine=name, containers=9, capacity=32e3, mean=2e4, ucac=3e4, reserved=None, predicted=9e-4, simulated=1e-3
        )
    ]
    parts: dict = {
        "snapshot": snapshot,
        "after": snapshot.placement,
        "result": Result(
            status=Status.FEASIBLE,
            solution=snapshot.placement,
            score={"ucac": 300.0},
            goal="ucac",
            bound=299.0,
            left_out=(Reason(name, "1 of 5 left out: 0/12 machines fit at the start"),),
        ),
        "figures": FIGURES,
        "before": None,
        "curves": curves(10, 7),
        "levels": LEVELS,
        "machines": rows,
    }
    return PackPageData(**{**parts, **changes})


@pytest.mark.parametrize("width", [500, 1120, 1400])
@pytest.mark.parametrize("sizes", [(1,), (12, 30), (4000, 1070, 1071, 1035, 1060, 3)])
def test_a_picture_is_well_formed_and_stays_inside(sizes, width):
    root = ET.fromstring(ucac_curves(curves(*sizes), title="a cluster", width=width))
    paths = [element.attrib["d"] for element in root.iter() if element.tag.endswith("path")]
    assert len(paths) == len(sizes)
    for path in paths:
        across = [float(x) for x in re.findall(r"[MH](-?[\d.]+)", path)]
        assert min(across) >= 0 and max(across) <= width
        assert all(0 <= float(y) <= float(root.attrib["height"]) for y in re.findall(r"V(-?[\d.]+)", path))


def test_a_curve_falls_from_the_fullest_machine_and_ends_where_its_machines_end():
    picture = ET.fromstring(ucac_curves([UcacCurve(name="a", share=np.array([0.2, 1.0, 0.5])), *curves(6)], title="t"))
    path = next(element.attrib["d"] for element in picture.iter() if element.tag.endswith("path"))
    heights = [float(y) for y in re.findall(r"V(-?[\d.]+)", path)]
    ends = [float(x) for x in re.findall(r"H(-?[\d.]+)", path)]
    assert heights == sorted(heights)  # downwards on the page
    full = [float(x) for x in re.findall(r"H(-?[\d.]+)", [e.attrib["d"] for e in picture.iter() if e.tag.endswith("path")][1])]
    assert (ends[-1] - 48) * 2 == pytest.approx(full[-1] - 48, abs=0.05)  # three machines of six


def test_a_picture_of_no_machine_says_so():
    assert "No machine runs anything" in ucac_curves([UcacCurve(name="a", share=np.zeros(0))], title="t")


def test_a_page_escapes_names_and_needs_nothing_from_outside():
    page = pack_page(page_data(EVIL), made={"command": EVIL, "version": "1"})
    assert (
        EVIL not in page
        and "<script>alert" not in page
        and "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    )


@pytest.mark.parametrize(
    "words",
    ["left out: 0/12 machines fit", "99.9", "over-commitment", "1.50 ×", "at least 6", "the sum of limits", "300 cores", "gap"],
)
def test_a_page_says_what_a_planner_asks(words):
    assert words in pack_page(page_data(), made={}).replace("\u00a0", " ")


def test_a_page_compares_with_what_ran_before():
    page = pack_page(page_data(before=FIGURES), made={})
    assert "before" in page and "mean usage" in page


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_tables_of_a_packing_fit_a_terminal(width):
    result = Result(status=Status.FEASIBLE, solution=1, score={"ucac": 300.0}, goal="ucac", left_out=(Reason("web", "no"),))
    text = text_of(pack_report(result, FIGURES, LEVELS), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "at least 6 (38" in text and "web" in text


@pytest.mark.parametrize(("alpha", "words"), [(0.999, "99.9 %"), (0.99, "99 %"), (0.99999, "99.999 %"), (0.501, "50.1 %")])
def test_a_confidence_is_stated_with_all_its_digits(alpha, words):
    assert confidence(alpha) == words


@pytest.mark.parametrize(("probability", "words"), [(0.0, "0"), (0.000412, "0.041 %"), (1e-12, "< 0.000001 %"), (1.0, "100 %")])
def test_small_odds_are_never_rounded_to_nothing(probability, words):
    assert odds(probability) == words


def test_nothing_is_saved_against_limits_that_are_not_stated():
    row = ConfidenceLevel(alpha=0.99, by="", machines=3, ucac=1.0, left_out=0, saved=None)
    assert level_table([row], CPU).rows[0][-1].text == "–"
