"""An admission as people look at it: prices over time, shares over time, its tables, its page."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from bayplan.model import Acceptance, ClusterRequest, Result, Status, floats, ints
from bayplan.report.answers.admit_page import REFUSED, AdmitPageData, admit_page
from bayplan.report.answers.admit_tables import AdmitFigures, RefusedGroup, admit_report
from bayplan.report.pictures.axis import Axis, number_marks
from bayplan.report.pictures.over_time import ShareCurve, shares_over_time
from bayplan.report.pictures.prices import (
    MOST_ROWS,
    NONE,
    PriceBand,
    PriceRow,
    level_of,
    most_expensive,
    prices_over_time,
    steps_of,
)
from bayplan.report.terminal import text_of

EVIL = "<script>alert('&\"')</script>\x00"
EDGE = floats(np.arange(11.0))
FIGURES = AdmitFigures(
    method="primal-dual, local",
    requests=30,
    accepted=24,
    skipped=2,
    offered=200.0,
    parameters=(("U", "50 (given)"), ("lambda", "202")),
    use=(("cpu", 0.4, 0.9), ("links", 0.1, 0.3)),
    ratio=1.25,
    why=(
        RefusedGroup(kind="too expensive", why="too expensive, mostly for cpu in zone 'a'", requests=4, value=20.0),
        RefusedGroup(kind="no capacity", why="no capacity, short of cpu in zone 'b'", requests=2, value=10.0),
    ),
)


def rows(count: int, peak: float = 0.9) -> list[PriceRow]:
    rng = np.random.default_rng(1)
    return [PriceRow(name=f"zone-{k}", level=rng.uniform(0, peak * (k + 1) / count, 10)) for k in range(count)]


def page_data(name: str = "stream", **changes: object) -> AdmitPageData:
    asked = ClusterRequest(
        name=name, members=("x",), demand=ints([[1]]), traffic=np.zeros((1, 1)), arrival=1.0, start=1.0, end=2.0, value=7.0
    )
    parts: dict = {
        "name": name,
        "result": Result(
            status=Status.FEASIBLE, solution=Acceptance(zone_of=()), score={"value": 160.0}, goal="value", bound=200.0
        ),
        "figures": FIGURES,
        "edge": EDGE,
        "bands": [
            PriceBand(name="cpu", rows=rows(3)),
            PriceBand(name="links", rows=[PriceRow(name=f"{name} → b", level=np.full(10, 0.5))]),
        ],
        "base": 202.0,
        "use": [ShareCurve(name="cpu", share=np.linspace(0, 1, 10))],
        "value": [
            ShareCurve(name="arrived", share=np.linspace(0, 1, 10)),
            ShareCurve(name="accepted", share=np.linspace(0, 0.8, 10)),
        ],
        "refused": [(asked, f"too expensive: value 7 is not above its cost 9; 5 of it is for cpu in zone '{name}'")],
        "zones": 3,
        "links": 6,
    }
    return AdmitPageData(**{**parts, **changes})


def titles(picture: str) -> list[str]:
    return re.findall(r"<rect[^>]*><title>(.*?)</title>", picture, re.DOTALL)


def test_a_level_is_the_load_that_has_this_price():
    load = np.linspace(0, 1, 5)
    assert level_of(floats(202.0**load - 1), 202.0) == pytest.approx(load)


def test_levels_have_ten_colours_and_none_where_there_is_nothing():
    assert steps_of(floats([0, 0.05, 0.1, 0.95, 1.0, np.nan])).tolist() == [0, 0, 1, 9, 9, NONE]


def test_a_row_says_its_prices_for_each_run_of_one_colour():
    row = PriceRow(name="zone-1", level=floats([0.0, 0.0, 0.5, 0.55, 1.0]))
    picture = prices_over_time([PriceBand(name="cpu", rows=[row])], floats(np.arange(6.0)), base=100.0, title="x")
    assert titles(picture) == ["zone-1\n(0, 2]: 0", "zone-1\n(2, 4]: 9 to 11.6", "zone-1\n(4, 5]: 99"]


def test_without_prices_rows_show_shares():
    row = PriceRow(name="zone-1", level=floats([0.25, 0.25]))
    picture = prices_over_time([PriceBand(name="cpu", rows=[row])], floats([0, 1, 2]), base=1.0, title="x")
    assert titles(picture) == ["zone-1\n(0, 2]: 25\u00a0%"] and "fuller" in picture


def test_only_the_most_expensive_rows_are_drawn_in_their_order_and_the_others_counted():
    band = most_expensive("links", rows(40))
    assert len(band.rows) == MOST_ROWS and band.more == 28
    drawn = [int(row.name.split("-")[1]) for row in band.rows]
    assert drawn == sorted(drawn) and min(drawn) > 10
    assert "the 12 most expensive of 40" in prices_over_time([band], EDGE, base=2.0, title="x")


@pytest.mark.parametrize("edge", [floats([0, 1]), floats([-5e6, 7e6]), floats([0.1, 0.101])])
def test_moments_are_round_and_few(edge):
    axis = Axis(left=100, right=1000, low=float(edge[0]), high=float(edge[1]))
    marks = re.findall(r">([-\d,.e]+)</text>", number_marks(axis, 50, "time"))
    numbers = [float(mark.replace(",", "")) for mark in marks]
    assert 2 <= len(numbers) <= 40 and numbers == sorted(set(numbers)) and edge[0] - 1e-9 <= numbers[0]


def test_lines_over_time_are_stairs_from_edge_to_edge():
    picture = shares_over_time([ShareCurve(name="cpu", share=floats([0.5, 1.0]))], floats([0, 1, 2]), title="x", words="y")
    assert len(re.findall("H", re.search(r' d="([^"]*)"', picture).group(1))) == 2
    assert "75\u00a0% on average, 100\u00a0% at most" in picture


@pytest.mark.parametrize("name", ["stream", EVIL])
def test_pictures_are_xml_and_nothing_escapes_from_a_name(name):
    told = page_data(name)
    for picture in (
        prices_over_time(told.bands, EDGE, base=202.0, title=name),
        shares_over_time([ShareCurve(name=name, share=floats(np.zeros(10)), note=name)], EDGE, title=name, words=name),
    ):
        ET.fromstring(picture)
        assert "<script" not in picture


def test_a_page_says_what_was_accepted_what_it_cost_and_what_was_refused():
    page = admit_page(page_data(), made={"command": "bayplan admit x", "version": "bayplan 0"})
    expected = (
        "80\u00a0% accepted",
        "160",
        "at most 1.25 times what was accepted",
        "U: 50 (given)",
        "6 requests: 4 too expensive, 2 no capacity",
    )
    assert [words for words in expected if words not in page] == []
    assert "not above its cost 9" in page


def test_nothing_escapes_from_the_page():
    page = admit_page(page_data(EVIL), made={"command": EVIL})
    assert "<script>alert" not in page and "\x00" not in page


def test_a_long_list_of_refusals_is_cut_and_the_rest_counted():
    (refused,) = page_data().refused
    page = admit_page(page_data(refused=[refused] * (REFUSED + 5)), made={})
    assert "and 5 more, each worth less" in page


def test_the_page_of_a_method_without_prices_shows_how_full_it_is():
    page = admit_page(page_data(base=1.0), made={})
    assert "Where is it full?" in page and "This method has no prices" in page


@pytest.mark.parametrize("width", [60, 120])
def test_tables_keep_their_numbers_at_any_width(width):
    printed = " ".join(text_of(admit_report(page_data().result, FIGURES, seed=3, wall=1.0), width=width).split())
    words = (
        "24 of 30 requests, 80",
        "50 (given)",
        "Refused: 4 too expensive, 2 no capacity",
        "2 more requests had faults",
        "1.25 times",
    )
    assert [part for part in words if part not in printed] == []
