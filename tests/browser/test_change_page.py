"""The page about a change as a person uses it: with a pointer, with a keyboard, narrow, dark, printed, at three sizes."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.change_pages import change_of, with_notes
from tests.builders.report_clusters import cluster_of

import bayplan as bp
from bayplan.model import Containers, Machines, Workloads
from bayplan.report.change_page import change_page
from bayplan.report.loads import machine_use

pytestmark = pytest.mark.browser

SIZES = {
    "10 machines": lambda: change_of(cluster_of(machines=10, services=8, replicas=6), 9, per_batch=3),
    "100 machines": lambda: change_of(cluster_of(machines=100, services=60, replicas=25), 180, per_batch=30),
    "5,284 machines": lambda: change_of(bp.generate("rasa-m2"), 8000, per_batch=400),
}
ROW = "#rows tbody tr[data-move]"
POSITIONS = "Array.from(bayplan.now.machine)"
EVIL = '</script><script>alert("\'&")</script>é✓漢'


@pytest.fixture(scope="module", params=SIZES)
def data(request):
    return with_notes(SIZES[request.param]())


@pytest.fixture(scope="module")
def few():
    return with_notes(SIZES["10 machines"]())


@pytest.fixture(scope="module")
def many():
    return with_notes(SIZES["100 machines"]())


def texts(page, column):
    return page.locator(f"{ROW} td:nth-child({column})").all_inner_texts()


def test_every_size_shows_headline_moves_and_pictures(open_page, data):
    html = change_page(data)
    assert len(html.encode()) < 5_000_000
    page = open_page(html)
    assert page.locator("h1").inner_text() == data.headline
    assert page.locator("#shown").inner_text() == f"{len(data.moves):,} moves"
    assert 5 < page.locator(ROW).count() < 100 or len(data.moves) < 100
    coloured = "c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size"
    assert all(page.locator(f"#bay-{side}").evaluate(coloured) > 5 for side in ("before", "after"))


def test_every_size_is_as_full_as_the_scores_say(open_page, data):
    page = open_page(change_page(data))
    for state, placement in (("before", data.snapshot.placement), ("end", data.after)):
        use = machine_use(data.snapshot.cluster, placement)
        level, fullest = page.evaluate(f"[Array.from(bayplan.{state}.level), Array.from(bayplan.{state}.fullest)]")
        assert level == pytest.approx(use.level)
        assert np.array_equal(fullest, use.fullest)
        hot, full = (page.evaluate(f"bayplan.{state}.state.filter(value => value >= {least}).length") for least in (1, 2))
        assert (hot, full) == (use.hot.sum(), use.full.sum())


def test_a_machine_that_runs_what_it_has_none_of_is_over_capacity(open_page, few):
    machines = few.snapshot.cluster.machines
    capacity, safety = machines.capacity.copy(), machines.safety.copy()
    capacity[0, 1] = safety[0, 1] = 0
    bare = replace(few.snapshot.cluster, machines=Machines(name=machines.name, capacity=capacity, safety=safety))
    page = open_page(change_page(replace(few, snapshot=replace(few.snapshot, cluster=bare))))
    assert page.evaluate("[bayplan.before.endless[0], bayplan.before.state[0]]") == [1, 2]
    assert page.evaluate("Array.from(bayplan.before.level)") == pytest.approx(machine_use(bare, few.snapshot.placement).level)
    assert "1 of them over capacity" in page.locator("#state-before").inner_text()


def test_every_size_replays_from_before_to_after(open_page, data):
    page = open_page(change_page(data))
    assert np.array_equal(page.evaluate(POSITIONS), data.after.machine_of)
    page.locator("#slider").focus()
    page.keyboard.press("Home")
    assert page.locator("#title-after").inner_text() == "Before the first batch"
    assert np.array_equal(page.evaluate(POSITIONS), data.snapshot.placement.machine_of)
    page.keyboard.press("End")
    assert page.locator("#title-after").inner_text() == "After"
    assert np.array_equal(page.evaluate(POSITIONS), data.after.machine_of)


def test_every_size_finds_a_move_by_its_container(open_page, data):
    page, move = open_page(change_page(data)), data.moves[-1]
    name = data.snapshot.cluster.containers.name[move.container]
    page.fill("#filter-text", name)
    assert name in texts(page, 1)
    page.locator(ROW).nth(texts(page, 1).index(name)).click()
    assert page.locator("#detail h3").inner_text() == name
    assert page.locator("#arrows .from").count() == page.locator("#arrows .to").count() == 1


def test_the_slider_passes_through_every_batch_of_a_real_plan(open_page):
    shop = bp.generate("boutique")
    better = bp.rebalance(shop, weights={"overload": 100}, max_moves="10%", budget=bp.Budget(iterations=20_000))
    answer = bp.migrate(shop, better.placement)
    html = change_page(replace(change_of(shop, 1), after=better.placement, plan=answer.plan, timetable=answer.timetable))
    page = open_page(html)
    page.locator("#slider").focus()
    page.keyboard.press("Home")
    for _ in answer.plan.batches:
        page.keyboard.press("ArrowRight")
    assert page.locator("#when").inner_text().startswith(f"after batch {len(answer.plan.batches)} of")
    assert np.array_equal(page.evaluate(POSITIONS), better.placement.machine_of)


def test_play_reaches_the_end_and_pauses(open_page, few):
    page = open_page(change_page(few), reduced_motion="reduce")
    page.click("#play")
    assert page.locator("#play").inner_text() == "Pause"
    page.click("#play")
    assert page.locator("#play").inner_text() == "Play"
    page.click("#play")
    page.locator("#play:text-is('Play')").wait_for(timeout=20_000)
    assert page.locator("#title-after").inner_text() == "After"


def test_filters_keep_only_what_they_name(open_page, many):
    page, cluster = open_page(change_page(many)), many.snapshot.cluster
    page.select_option("#filter-reason", "balance")
    assert page.locator("#shown").inner_text() == f"{sum(m.reason == 'balance' for m in many.moves)} of 180 moves"
    page.click("#clear")
    page.select_option("#filter-batch", "3")
    assert page.locator("#shown").inner_text() == "30 of 180 moves"
    page.click("#clear")
    machine = cluster.machines.name[many.moves[0].source]
    page.fill("#filter-machine", machine)
    assert all(machine in pair for pair in zip(texts(page, 2), texts(page, 3), strict=True))
    page.click("#clear")
    page.fill("#filter-workload", "work-1")
    own = sum(int(cluster.containers.workload[move.container]) == 1 for move in many.moves)
    assert page.locator("#shown").inner_text() == f"{own} of 180 moves"
    page.fill("#filter-workload", "no such workload")
    assert "No move passes these filters." in page.locator("#rows tbody").inner_text()


@pytest.mark.parametrize("column", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_every_column_sorts_both_ways(open_page, few, column):
    page = open_page(change_page(few))
    head = page.locator(f"#rows th:nth-child({column}) button")
    head.click()
    once, first = texts(page, column), page.locator(f"#rows th:nth-child({column})").get_attribute("aria-sort")
    head.click()
    assert first in ("ascending", "descending")
    assert len(once) == 9
    assert texts(page, column) == once[::-1]


def test_pointing_at_a_row_draws_an_arrow_and_leaving_takes_it_away(open_page, few):
    page = open_page(change_page(few))
    page.locator(ROW).first.hover()
    assert page.locator("#arrows .arrow").count() == 2
    page.locator("h1").hover()
    assert page.locator("#arrows .arrow").count() == 0


def test_pointing_at_a_moved_block_marks_its_row_and_says_what_it_is(open_page, few):
    page, move = open_page(change_page(few)), few.moves[0]
    box = page.evaluate(f"bayplan.plans.before.boxOf({move.container}, {move.source})")
    page.locator("#bay-before").hover(position={"x": box["x"] + box["wide"] / 2, "y": box["y"] + box["tall"] / 2})
    name = few.snapshot.cluster.containers.name[move.container]
    assert page.locator("#tip").inner_text().startswith(name)
    assert page.locator("#rows tr.pointed td").first.inner_text() == name


def test_a_keyboard_is_enough(open_page, few):
    page = open_page(change_page(few))
    page.locator("#rows").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = texts(page, 1)[1]
    assert page.locator("#rows tr[aria-selected=true] td").first.inner_text() == second
    assert page.locator("#detail h3").inner_text() == second
    page.keyboard.press("End")
    assert page.locator("#detail h3").inner_text() == texts(page, 1)[-1]
    page.locator("#bay-before").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#detail h3").inner_text() == texts(page, 1)[-2]
    page.keyboard.press("Escape")
    assert page.locator("#arrows .lit").count() == 0
    page.locator(".spot[tabindex]").first.focus()
    assert "moved" in page.locator("#tip").inner_text()


def test_a_click_on_a_block_brings_its_row_in_sight(open_page, many):
    page, move = open_page(change_page(many)), many.moves[-1]
    box = page.evaluate(f"bayplan.plans.before.boxOf({move.container}, {move.source})")
    page.locator("#bay-before").click(position={"x": box["x"] + box["wide"] / 2, "y": box["y"] + box["tall"] / 2})
    chosen = page.locator("#rows tr[aria-selected=true]")
    assert chosen.locator("td").first.inner_text() == many.snapshot.cluster.containers.name[move.container]
    assert chosen.get_attribute("aria-rowindex") == "181"


def test_thousands_of_rows_are_scrolled_to_without_drawing_them_all(open_page):
    page = open_page(change_page(with_notes(change_of(cluster_of(machines=40, services=60, replicas=200), 8000))))
    page.locator("#rows").focus()
    page.keyboard.press("End")
    assert page.locator(ROW).count() < 100
    assert page.locator("#rows tr[aria-selected=true]").get_attribute("aria-rowindex") == "8001"


@pytest.mark.parametrize("name", ["few", "many"])
def test_a_narrow_page_does_not_scroll_sideways(open_page, request, name):
    page = open_page(change_page(request.getfixturevalue(name)), width=500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 500


def test_pictures_that_were_drawn_before_the_page_was_laid_out_are_drawn_again(open_page, few):
    page, width = open_page(change_page(few)), "document.getElementById('bay-before').width"
    before = page.evaluate(width)
    page.evaluate("document.querySelector('main').style.display = 'none'; bayplan.draw()")
    assert page.evaluate(width) < before
    page.evaluate("document.querySelector('main').style.display = ''")
    page.wait_for_timeout(300)
    assert page.evaluate(width) == before


def test_dark_mode_changes_page_and_pictures(open_page, few):
    pixels = "c => Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).reduce((a, b) => a + b, 0)"
    dark, light = (open_page(change_page(few), color_scheme=scheme) for scheme in ("dark", "light"))
    assert dark.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 22)"
    dark_sum, light_sum = (page.locator("#bay-before").evaluate(pixels) for page in (dark, light))
    assert dark_sum < light_sum


def test_print_has_every_move_and_no_controls(open_page, many):
    page = open_page(change_page(many), color_scheme="dark")
    page.emulate_media(media="print")
    page.locator(ROW).nth(179).wait_for(state="attached")
    assert page.locator(ROW).count() == 180
    assert not any(page.locator(control).is_visible() for control in ("#filter-text", "#play", "#slider", "#show-machines"))
    assert page.locator("#bay-after").is_visible() and page.locator(".graphs svg").first.is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_names_cannot_leave_their_place(open_page, few):
    cluster = few.snapshot.cluster
    workloads = {name: getattr(cluster.workloads, name) for name in Workloads.__slots__}
    renamed = replace(
        cluster,
        name=EVIL,
        workloads=Workloads(**{**workloads, "name": tuple(f"{EVIL}{w}" for w in range(8))}),
        containers=Containers(name=tuple(f"{EVIL}{c}" for c in range(48)), workload=cluster.containers.workload),
        machines=replace(cluster.machines, name=tuple(f"{EVIL}{m}" for m in range(10))),
    )
    renamed = replace(renamed, levels=(replace(renamed.levels[0], group=renamed.machines.name), *renamed.levels[1:]))
    evil = replace(few, snapshot=replace(few.snapshot, cluster=renamed), headline=EVIL, warnings=(EVIL,), made={EVIL: EVIL})
    page = open_page(change_page(evil))
    page.on("dialog", lambda dialog: pytest.fail("a name was run"))
    assert page.locator("h1").inner_text() == EVIL
    assert texts(page, 1)[0] == f"{EVIL}{evil.moves[0].container}"
    page.locator(ROW).first.click()
    assert page.locator("#detail h3").inner_text() == f"{EVIL}{evil.moves[0].container}"
    assert page.evaluate("document.scripts.length") == 3


def test_a_change_without_notes_and_without_a_plan_is_shown_too(open_page, few):
    page = open_page(change_page(replace(few, moves=(), plan=None, timetable=None, front=(), cards=())))
    assert page.locator("#timeline").is_hidden()
    assert page.locator("#rows th").all_inner_texts() == ["container", "from", "to"]
    page.locator(ROW).first.click()
    assert page.locator("#arrows .arrow").count() == 2


def test_a_page_where_nothing_moves_says_so(open_page, few):
    page = open_page(change_page(replace(few, moves=(), plan=None, timetable=None, after=few.snapshot.placement)))
    assert page.locator("#detail").inner_text() == "Nothing moves."
    assert page.locator("#rows").is_hidden() and page.locator("#filter-text").is_hidden()
