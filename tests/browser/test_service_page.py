"""The page of the service as a person uses it, on the demo: five jobs, each from its beginning to its end."""

import json
import os

import pytest
from tests.browser import axe
from tests.builders.served import ServerProcess

import bayplan as bp

try:
    from playwright.sync_api import expect
except ImportError:  # the tests are collected all the same; the fixture `browser` says what is missing
    expect = None

pytestmark = pytest.mark.browser

PANELS = ("overview", "plan", "run", "admission", "capacity")
LONG = 90_000  # milliseconds: kernels may have to be compiled first
SERIOUS = ("serious", "critical")
CHOOSE_SHOP = """async () => {
  const select = document.getElementById("snapshot");
  const shop = [...select.options].find(option => option.textContent.startsWith("boutique"));
  if (select.value === shop.value) return;
  select.value = shop.value;
  await bayplan.choose(shop.value);
}"""
COLOURS = "c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size"


@pytest.fixture(scope="module")
def demo():
    with ServerProcess("--demo") as server:
        yield server.address


@pytest.fixture
def open_panel(demo, visit):
    def opened(panel="overview", **options):
        page = visit(f"{demo.url}/#{panel}", **options)
        page.evaluate(CHOOSE_SHOP)  # another test may have uploaded a newer one
        return page

    return opened


def machine_at(page, card, name):
    """Where the middle of a machine's stack is on the canvas of a card."""
    box = page.evaluate(
        "([card, name]) => { const { bay } = bayplan.panels[card].card; const m = bay.cluster.machines.indexOf(name);"
        " const { x, right, bottom, tall } = bay.view.box(m); return [(x + right) / 2, bottom - tall * 0.1]; }",
        [card, name],
    )
    return {"x": box[0], "y": box[1]}


# ---- overview


def test_the_overview_draws_the_shop_and_says_what_is_wrong(open_panel):
    page = open_panel()
    expect(page.locator("#overview-title")).to_have_text("boutique")
    expect(page.locator(".findings li").first).to_contain_text("2 containers have no machine")
    assert page.locator("#overview-canvas").evaluate(COLOURS) > 8


def test_a_finding_lights_up_its_machine(open_panel):
    page = open_panel()
    page.get_by_role("button", name="b1: 96").click()
    expect(page.locator("#overview .detail h3").first).to_have_text("b1: 9 containers")
    lit = page.evaluate(
        "(() => { const { lit, running, cluster } = bayplan.panels.overview.card.bay;"
        " return [...lit].flatMap((on, c) => on ? [cluster.machines[running.machine[c]]] : []); })()"
    )
    assert set(lit) == {"b1"} and len(lit) == 9


def test_pointing_says_what_is_there_and_a_click_chooses_it(open_panel):
    page = open_panel()
    place = machine_at(page, "overview", "a1")
    page.locator("#overview-canvas").hover(position=place)
    expect(page.locator("#tip")).to_contain_text("a1: 8 containers")
    page.locator("#overview-canvas").click(position=place)
    expect(page.locator("#overview .detail")).to_contain_text("workload")


def test_a_keyboard_chooses_machines_and_enlarges(open_panel):
    page = open_panel()
    page.locator("#overview-canvas").focus()
    for key in ("ArrowRight", "ArrowRight", "+"):
        page.keyboard.press(key)
    expect(page.locator("#overview .detail h3").first).to_contain_text("a2")
    assert page.evaluate("bayplan.panels.overview.card.bay.view.scale") == 1.5
    page.keyboard.press("0")
    assert page.evaluate("bayplan.panels.overview.card.bay.view.scale") == 1
    page.keyboard.press("Escape")
    expect(page.locator("#overview .detail")).to_contain_text("Click a machine")


def test_wheel_and_drag_look_around(open_panel):
    page = open_panel()
    page.locator("#overview-canvas").hover(position={"x": 300, "y": 200})
    page.mouse.wheel(0, -600)
    scale = page.evaluate("bayplan.panels.overview.card.bay.view.scale")
    assert scale > 2
    before = page.evaluate("bayplan.panels.overview.card.bay.view.x")
    page.mouse.down()
    page.mouse.move(200, 400)
    page.mouse.up()
    assert page.evaluate("bayplan.panels.overview.card.bay.view.x") != before


@pytest.mark.parametrize("by", ["service", "workload", "level:zone", "utilisation", "risk"])
def test_every_colouring_has_a_legend_and_draws(open_panel, by):
    page = open_panel()
    page.select_option("#overview-by", by)
    assert page.locator("#overview .legend").inner_text().strip()
    assert page.locator("#overview-canvas").evaluate(COLOURS) > 3


def test_a_search_lights_up_what_it_names(open_panel):
    page = open_panel()
    page.fill("#overview-search", "frontend")
    expect(page.locator("#overview .found")).to_contain_text("10 containers")


def test_a_snapshot_is_uploaded_and_chosen(open_panel, tmp_path):
    builder = (
        bp.ClusterBuilder("mine").machines("m-{}", 3, cpu=8).workload("web", replicas=4, cpu=1, on=["m-0", "m-0", "m-1", None])
    )
    bp.write(builder.build(), tmp_path / "mine.json")
    page = open_panel()
    page.set_input_files("#upload", tmp_path / "mine.json")
    expect(page.locator("#overview-title")).to_have_text("mine")
    expect(page.locator(".findings li").first).to_contain_text("1 container has no machine")


def test_a_file_that_cannot_be_read_is_said_with_its_number(demo, browser, tmp_path):
    (tmp_path / "broken.json").write_text(json.dumps({"bayplan": 1, "machines": "none"}))
    page = browser.new_page()
    page.goto(demo.url)  # the console tells of the refusal, so the fixture would
    page.wait_for_selector("html[data-ready]", state="attached")
    page.set_input_files("#upload", tmp_path / "broken.json")
    expect(page.locator("#notice.bad")).to_contain_text("E1")
    page.close()


# ---- plan


def test_a_plan_is_searched_read_and_followed_along_the_front(open_panel):
    page = open_panel("plan")
    page.fill("#plan-seconds", "3")
    page.click("#plan-start")
    expect(page.locator("#plan-best")).to_contain_text("containers move", timeout=LONG)
    expect(page.locator("#plan .chart .line")).to_have_count(1)
    expect(page.locator("#plan-result .headline")).to_contain_text("Plan:", timeout=LONG)
    assert page.locator("#rows tbody tr[data-move]").count() > 3
    page.locator("#rows tbody tr[data-move]").first.click()
    expect(page.locator("#detail .why")).not_to_be_empty()
    expect(page.locator("#front")).to_be_enabled(timeout=LONG)
    page.locator("#front").focus()
    page.keyboard.press("Home")
    few = page.evaluate("bayplan.panels.plan.points[0].moved")
    expect(page.locator("#plan-result .headline")).to_contain_text(f"Plan: {few} of 75", timeout=LONG)


def test_what_if_by_clicking_machines(open_panel):
    page = open_panel("plan")
    page.click(".scenario summary")
    page.locator("#plan-canvas").click(position=machine_at(page, "plan", "a1"))
    page.get_by_label("add one like it").check()
    page.locator("#plan-canvas").click(position=machine_at(page, "plan", "c1"))
    assert page.locator(".chips li").all_inner_texts() == ["drain a1\n×", "1 more like c1\n×"]
    assert page.evaluate("bayplan.panels.plan.whatIf.options") == {"what_if": {"drain": ["a1"], "add_machines": ["1:c1"]}}
    page.get_by_label("let it fail").check()
    page.locator("#plan-canvas").focus()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.evaluate("bayplan.panels.plan.whatIf.options")["what_if"]["remove_machines"] == ["a1"]
    page.fill("#plan-seconds", "2")
    page.click("#plan-start")
    expect(page.locator("#plan-result .headline")).to_contain_text("Plan:", timeout=LONG)


def test_a_search_is_stopped_with_its_best_so_far(open_panel):
    page = open_panel("plan")
    page.fill("#plan-seconds", "120")
    page.click("#plan-start")
    expect(page.locator("#plan-best")).to_contain_text("containers move", timeout=LONG)
    page.click("#plan-stop")
    expect(page.locator("#plan-stop")).to_be_hidden(timeout=LONG)
    expect(page.locator("#plan-stage")).to_contain_text("this is the best that was found")
    expect(page.locator("#plan-result .headline")).to_contain_text("Plan:")


# ---- run


def test_the_loop_is_watched_paused_approved_and_its_week_is_shown(open_panel):
    page = open_panel("run")
    expect(page.locator("#run-approve")).to_be_visible(timeout=LONG)
    page.click("#run-pause")
    expect(page.locator("#run-headline")).to_contain_text("Paused by")
    page.click("#run-resume")
    expect(page.locator("#run-pause")).to_be_visible()
    expect(page.locator("#run-approve")).to_be_visible(timeout=LONG)
    page.click("#run-approve")
    expect(page.locator("#run-plan .badge.good").nth(0)).to_be_visible(timeout=LONG)
    expect(page.locator("#run-rollback")).to_be_visible(timeout=LONG)
    page.click("#run-week")
    expect(page.locator("#run-history figure svg").first).to_be_visible()
    assert page.locator("#run-canvas").evaluate(COLOURS) > 5


def test_a_plan_made_on_what_the_loop_sees_is_approved_and_carried_out(demo, open_panel):
    page = open_panel("run")
    expect(page.locator("#run .turns")).to_contain_text("proposed", timeout=LONG)  # the head start is over
    page.click("#run-pause")  # so that the loop plans nothing of its own meanwhile
    expect(page.locator("#run-resume")).to_be_visible()
    page.click("#run-plan-here")
    expect(page.locator("#plan")).to_be_visible()
    expect(page.locator("#snapshot option:checked")).to_contain_text("boutique, seen")
    page.click(".scenario summary")
    fullest = page.evaluate(
        "(() => { const { running, cluster } = bayplan.panels.plan.card.bay, on = cluster.machines.map(() => 0);"
        " running.machine.forEach(m => { if (m >= 0) on[m] += 1; }); return cluster.machines[on.indexOf(Math.max(...on))]; })()"
    )
    page.locator("#plan-canvas").click(position=machine_at(page, "plan", fullest))
    page.fill("#plan-seconds", "2")
    page.click("#plan-start")
    expect(page.locator("#plan-approve")).to_be_visible(timeout=LONG)
    page.click("#plan-approve")
    expect(page.locator("#notice")).to_contain_text("handed in as plan handed-")
    page.click("#plan-follow")
    expect(page.locator("#run-plan")).to_contain_text("handed-")
    page.click("#run-resume")
    expect(page.locator("#run-plan h2")).to_contain_text("handed-", timeout=LONG)
    expect(page.locator("#run-plan td .badge.good").first).to_be_visible(timeout=LONG)
    for _ in range(LONG // 500):
        handed = [plan for plan in demo.get("/v1/loop/history").content["plans"] if plan["id"].startswith("handed-")]
        if handed[-1]["status"] in ("done", "stopped", "rolled-back"):
            break
        page.wait_for_timeout(500)
    assert handed[-1]["status"] == "done", handed[-1]["why"]


def test_a_plan_is_taken_back(open_panel):
    page = open_panel("run")
    expect(page.locator("#run .turns")).to_contain_text("proposed", timeout=LONG)  # the head start is over: time passes slowly
    expect(page.locator("#run-rollback")).to_be_visible(timeout=LONG)
    page.click("#run-rollback")
    expect(page.locator("#run .story")).to_contain_text("rollback: asked for by", timeout=LONG)


# ---- admission


def test_a_request_is_offered_and_its_verdict_has_a_reason(open_panel):
    page = open_panel("admission")
    expect(page.locator("#admission .chart .line").first).to_be_visible()
    page.fill("#offer-name", "browser-1")
    page.click("#offer-send")
    expect(page.locator("#verdict")).to_contain_text("browser-1: ")
    expect(page.locator("#admission td", has_text="browser-1")).to_have_count(1)
    page.fill("#offer-name", "worthless")
    page.fill("#offer-value", "0")
    page.click("#offer-send")
    expect(page.locator("#verdict .badge")).to_have_text("refused")


def test_an_admission_is_created(open_panel):
    page = open_panel("admission")
    page.click("#admission-create")
    expect(page.locator("#admission-name")).to_have_value("shop")
    page.click("#offer-send")
    expect(page.locator("#verdict .badge")).to_have_text("accepted")


# ---- capacity


@pytest.mark.parametrize(("question", "words"), [("pack", "UCaC"), ("sweep", "machines needed"), ("capacity", "machine")])
def test_questions_of_capacity_are_answered_with_pictures(open_panel, question, words):
    page = open_panel("capacity")
    page.select_option("#capacity-question", question)
    page.fill("#capacity-seconds", "3")
    page.click("#capacity-start")
    expect(page.locator("#capacity-result")).to_contain_text(words, timeout=LONG)
    assert page.locator("#capacity-result svg").count() > 0


# ---- tokens

OPERATOR, READER = "an-operator-of-the-tests", "a-reader-of-the-tests"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A service with tokens, and the record of a loop that proposes a plan."""
    folder = tmp_path_factory.mktemp("guarded")
    settings = bp.LoopSettings(mode="approve", budget=bp.Budget(iterations=20_000), min_gain=0.0)
    bp.run(bp.generate("boutique"), turns=1, churn="quiet", settings=settings, store=str(folder / "loop.db"))
    tokens = {"BAYPLAN_TOKEN": OPERATOR, "BAYPLAN_READ_TOKEN": READER}
    with ServerProcess("--record", str(folder / "loop.db"), environment=tokens, folder=folder) as server:
        bp.write(bp.generate("boutique"), folder / "shop.json")
        assert server.address.ask("POST", "/v1/snapshots", (folder / "shop.json").read_bytes()).status == 201
        yield server.address


def signed_in(page, token):
    page.fill("#token", token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#sign-in")).to_be_hidden()


def test_an_operator_signs_in_and_approves_the_plan_of_a_loop(guarded, visit):
    page = visit(f"{guarded.url}/#plan")
    signed_in(page, OPERATOR)
    expect(page.locator("#proposal")).to_contain_text("The loop proposes")
    page.locator("#proposal button").click()
    expect(page.locator("#notice")).to_contain_text("approved plan")
    expect(page.locator("#proposal")).to_be_hidden()
    page.click("#tabs a[href='#run']")
    expect(page.locator("#run-plan h2")).to_contain_text("approved")
    cookies = page.context.cookies()
    assert [cookie["httpOnly"] and cookie["sameSite"] == "Strict" for cookie in cookies] == [True]


def test_a_reader_finds_no_buttons_that_change_anything(guarded, visit):
    page = visit(f"{guarded.url}/#run")
    signed_in(page, READER)
    expect(page.locator("#run-plan h2")).to_be_visible()
    assert not page.locator("#run-pause").is_visible() and not page.locator("#run-approve").is_visible()
    page.click("#tabs a[href='#plan']")
    assert not page.locator("#plan-start").is_visible()
    page.click("#tabs a[href='#overview']")
    expect(page.locator("#overview-title")).to_have_text("boutique")
    page.click("#sign-out")
    expect(page.locator("#sign-in")).to_be_visible()


# ---- everywhere


@pytest.mark.parametrize("panel", PANELS)
def test_a_narrow_page_does_not_scroll_sideways(open_panel, panel):
    page = open_panel(panel, width=400, height=800)
    page.wait_for_timeout(400)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_is_reached_with_a_keyboard(open_panel, panel):
    page = open_panel()
    page.locator(f"#tabs a[href='#{panel}']").focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"#{panel}")).to_be_visible()
    assert page.locator(f"#tabs a[href='#{panel}']").get_attribute("aria-current") == "page"


def test_dark_and_light_differ_on_page_and_canvas(open_panel):
    dark, light = (open_panel(color_scheme=scheme) for scheme in ("dark", "light"))
    colours = [page.evaluate("getComputedStyle(document.body).backgroundColor") for page in (dark, light)]
    assert colours[0] == "rgb(13, 17, 22)" != colours[1]
    first = "c => c.getContext('2d').getImageData(0, 0, 1, 1).data[0]"
    assert dark.locator("#overview-canvas").evaluate(first) < light.locator("#overview-canvas").evaluate(first)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("panel", PANELS)
def test_axe_has_no_serious_finding(open_panel, panel, scheme):
    if words := axe.missing():
        pytest.fail(words) if os.environ.get("BAYPLAN_BROWSER") == "required" else pytest.skip(words)
    page = open_panel(panel, color_scheme=scheme, bypass_csp=True)
    page.wait_for_timeout(500)
    page.evaluate(axe.script())
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    serious = [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found if each["impact"] in SERIOUS]
    assert serious == []
