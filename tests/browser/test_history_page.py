"""The page about a history as a person uses it: wide, on a telephone, dark, with a keyboard."""

import pytest
from tests.builders.histories import default_scheduler, fresh_optimisation, week

from bayplan.report.history import history_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def html():
    return history_page(week(), title="shop", made={}, baseline=default_scheduler(), fresh=fresh_optimisation(), safety=0.82)


def opened(open_page, html, **more):
    return open_page(html, ready="main", **more)


@pytest.mark.parametrize(("width", "shown", "hidden"), [(1200, "wide", "narrow"), (400, "narrow", "wide")])
def test_one_picture_is_shown_and_nothing_is_wider_than_the_window(open_page, html, width, shown, hidden):
    page = opened(open_page, html, width=width)
    assert page.locator(f"figure.{shown}").is_visible()
    assert not page.locator(f"figure.{hidden}").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    box = page.locator(f"figure.{shown} svg").bounding_box()
    assert 0.85 * width < box["width"] < width


def test_words_of_a_picture_stay_inside_and_can_be_read_on_a_telephone(open_page, html):
    page = opened(open_page, html, width=400)
    sizes = "s => [...s.querySelectorAll('text')].map(t => t.getBoundingClientRect()).filter(b => b.width)"
    boxes = page.locator("figure.narrow svg").evaluate(f"s => ({sizes})(s).map(b => [b.left, b.right, b.height])")
    assert min(left for left, _, _ in boxes) >= 0
    assert max(right for _, right, _ in boxes) <= 400
    assert min(height for _, _, height in boxes) >= 9


def test_the_turn_under_the_pointer_is_lit(open_page, html):
    page = opened(open_page, html)
    column = page.locator("figure.wide .turn").nth(100)
    opacity = "e => getComputedStyle(e).fillOpacity"
    assert column.evaluate(opacity) == "0"
    column.hover()
    assert float(column.evaluate(opacity)) > 0


def test_a_keyboard_opens_a_day(open_page, html):
    page = opened(open_page, html)
    first = page.locator("details:has(ol)").first
    assert first.get_attribute("open") is None
    first.locator("summary").focus()
    page.keyboard.press("Enter")
    assert first.get_attribute("open") is not None
    assert first.locator("li").count() > 5


def test_plans_are_sorted_by_time_not_by_the_name_of_the_day(open_page, html):
    page = opened(open_page, html)
    table = page.locator("table").first
    table.locator("th button").first.click()
    last_first = table.locator("tbody tr td:first-child").all_inner_texts()
    assert last_first[0].startswith("Sun 13 Sep")
    assert last_first[-1] == "Mon 7 Sep 00:00"


def test_light_and_dark_differ_and_both_have_contrast(open_page, html):
    shades = []
    for scheme in ("light", "dark"):
        page = opened(open_page, html, color_scheme=scheme)
        picture = page.locator("figure.wide svg")
        ground = picture.locator(".ground").evaluate("e => getComputedStyle(e).fill")
        ink = picture.locator("text.strong").first.evaluate("e => getComputedStyle(e).fill")
        shades.append((ground, ink))
        assert abs(_brightness(ground) - _brightness(ink)) > 150
    assert shades[0] != shades[1]


def _brightness(colour):
    red, green, blue = (int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
    return 0.3 * red + 0.59 * green + 0.11 * blue
