"""What the running system did, in words, tables, JSON and on a page."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import pytest
from tests.builders.histories import LOST, MONDAY, PAUSED, default_scheduler, fresh_optimisation, week

from bayplan.model.record import Event, History, Hold, PlanStatus, RecordedPlan, Turn, TurnVerdict
from bayplan.report.history import history_details, history_page, history_report, history_story
from bayplan.report.history.clock import DAY, HOUR, days, is_weekend, moment_words, nights, when
from bayplan.report.history.figures import hold_begins, merged, outcomes, reasons, spells, summarised
from bayplan.report.history.picture import SLIM, Comparison, history_picture
from bayplan.report.history.tables import plan_table, turn_table
from bayplan.report.json import to_json
from bayplan.report.terminal import text_of

EMPTY = History(turns=(), plans=(), steps=(), holds=(), events=())
EVIL = "</style><script>alert(1)</script>"


@pytest.fixture(scope="module")
def history():
    return week()


def turn(number, verdict, why="", **more):
    fields = {"containers": 75, "local": 0.19, **more}
    return Turn(id=number, started=MONDAY + 6.5 * HOUR + (number - 1) * 1800, mode="auto", verdict=verdict, why=why, **fields)


def plan(status, number=1, name="3f2a", **more):
    return RecordedPlan(id=name, turn=number, created=MONDAY + 6.5 * HOUR + 9, status=status, **more)


def of(*turns, plans=(), holds=(), events=()):
    return History(turns=turns, plans=plans, steps=(), holds=holds, events=events)


def story(history):
    return text_of(history_story(history), width=250).splitlines()


# ---- the clock -----------------------------------------------------------------------------------------------------------------


def test_times_are_utc_with_weekdays():
    assert when(MONDAY + 6.5 * HOUR) == "Mon 06:30"
    assert moment_words(MONDAY + 6 * DAY) == "Sun 13 Sep 00:00"


def test_days_and_nights_are_cut_at_the_ends():
    low, high = MONDAY + 3 * HOUR, MONDAY + DAY + 21 * HOUR
    assert list(days(low, high)) == [(low, MONDAY + DAY), (MONDAY + DAY, high)]
    assert list(nights(low, high)) == [
        (low, MONDAY + 6 * HOUR),
        (MONDAY + 20 * HOUR, MONDAY + 30 * HOUR),
        (MONDAY + 44 * HOUR, high),
    ]
    assert [is_weekend(MONDAY + k * DAY) for k in range(7)] == [False] * 5 + [True] * 2


# ---- figures -------------------------------------------------------------------------------------------------------------------


def test_sentences_that_differ_in_numbers_only_are_one_reason():
    given = ["the gain of 1.2 % is below 3 %", "paused", "the gain of 0.4 % is below 3 %"]
    assert reasons(given) == {"the gain of 0.4–1.2 % is below 3 %": 2, "paused": 1}


def test_names_with_digits_are_not_numbers():
    assert merged(["machine node-17 rose to 93 %", "machine node-17 rose to 95 %"]) == "machine node-17 rose to 93–95 %"
    assert len(reasons(["machine node-17 is full", "machine node-18 is full"])) == 2


def test_what_came_of_a_plan_is_what_the_next_turn_measured():
    done = plan(PlanStatus.DONE)
    turns = [
        turn(1, TurnVerdict.EXECUTED, planned_local=0.6, moved=12, ended=MONDAY + 6.6 * HOUR),
        turn(2, TurnVerdict.UNSOUND, local=None),
        turn(3, TurnVerdict.NOTHING, local=0.54),
        turn(4, TurnVerdict.NOTHING, local=0.5),
    ]
    (outcome,) = outcomes(of(*turns, plans=[done]))
    assert (outcome.before, outcome.expected, outcome.came) == (0.19, 0.6, 0.54)
    assert outcome.share_moved == 12 / 75


def test_what_a_later_plan_brought_is_not_counted_for_an_earlier_one():
    first, second = plan(PlanStatus.DONE), replace(plan(PlanStatus.DONE, 2, "b0"), created=MONDAY + 7 * HOUR + 5)
    turns = [
        turn(1, TurnVerdict.EXECUTED, ended=MONDAY + 6.6 * HOUR),
        turn(2, TurnVerdict.EXECUTED, local=None, ended=MONDAY + 7.1 * HOUR),
        turn(3, TurnVerdict.NOTHING, local=0.54),
    ]
    assert [outcome.came for outcome in outcomes(of(*turns, plans=[first, second]))] == [None, 0.54]


def test_what_the_verification_measured_counts_before_what_the_next_turn_did():
    done = replace(plan(PlanStatus.DONE), expected={"local": 0.6, "reached": 0.58})
    turns = [turn(1, TurnVerdict.EXECUTED, ended=MONDAY + 6.6 * HOUR), turn(2, TurnVerdict.NOTHING, local=0.54)]
    assert outcomes(of(*turns, plans=[done]))[0].came == 0.58


def test_nothing_came_of_a_plan_that_was_never_carried_out():
    turns = [turn(1, TurnVerdict.DRY_RUN, ended=MONDAY + 6.6 * HOUR), turn(2, TurnVerdict.NOTHING)]
    assert outcomes(of(*turns, plans=[plan(PlanStatus.DRY_RUN)]))[0].came is None


def test_a_plan_from_a_file_has_figures_of_its_own():
    made = replace(plan(PlanStatus.DONE), turn=None, expected={"local": 0.6, "gain": 0.1}, before={"local": 0.2})
    (outcome,) = outcomes(of(turn(2, TurnVerdict.NOTHING, local=0.58), plans=[made]))
    assert (outcome.before, outcome.expected, outcome.gain, outcome.came, outcome.moved) == (0.2, 0.6, 0.1, 0.58, 0)


def test_turns_in_a_row_that_say_the_same_are_one_spell_and_executions_never_are():
    turns = [
        turn(1, TurnVerdict.DRY_RUN, "gain 1 %"),
        turn(2, TurnVerdict.DRY_RUN, "gain 2 %"),
        turn(3, TurnVerdict.EXECUTED, "gain 5 %"),
        turn(4, TurnVerdict.EXECUTED, "gain 5 %"),
    ]
    assert [(len(spell.turns), spell.why) for spell in spells(turns)] == [(2, "gain 1–2 %"), (1, "gain 5 %"), (1, "gain 5 %")]


def test_the_numbers_of_a_week_add_up(history):
    summary = summarised(history)
    assert summary.turns == sum(summary.verdicts.values()) == 336
    assert summary.executions == summary.verdicts[TurnVerdict.EXECUTED] == len(history.plans)
    assert summary.moved == sum(len(made.moves) for made in history.plans)
    assert summary.rollbacks == 1
    assert [hold.workload for hold in summary.holds] == ["payment"]
    assert sum(summary.dry_runs.values()) == summary.verdicts[TurnVerdict.DRY_RUN]
    assert summary.local == pytest.approx((history.turns[0].local, history.turns[-1].local, summary.local[2]))


def test_a_hold_begins_with_its_plan_or_when_the_log_says_so(history):
    begins = dict(zip([hold.workload for hold in history.holds], hold_begins(history), strict=True))
    back = next(made for made in history.plans if made.status is PlanStatus.ROLLED_BACK)
    assert begins["cart"] == back.changed
    assert begins["payment"] == back.changed + 3600
    assert hold_begins(of(turn(1, TurnVerdict.NOTHING), holds=[Hold(workload="x", until=MONDAY + DAY, why="")])) == [
        MONDAY + 6.5 * HOUR
    ]


# ---- story and tables ----------------------------------------------------------------------------------------------------------


def test_an_execution_is_one_sentence():
    turns = [
        turn(1, TurnVerdict.EXECUTED, moved=12, ended=MONDAY + 6.6 * HOUR),
        turn(2, TurnVerdict.NOTHING, "no move pays", local=0.54),
    ]
    assert story(of(*turns, plans=[plan(PlanStatus.DONE)])) == [
        "Monday 7 September 2026",
        "Mon 06:30 executed plan 3f2a: 12 of 75 containers moved, local traffic 19\u00a0% → 54\u00a0%, verified",
        "Mon 07:00 nothing to move: no move pays",
    ]


def test_turns_without_a_move_are_one_sentence_until_something_happens():
    quiet = [turn(k, TurnVerdict.DRY_RUN if k % 2 else TurnVerdict.NOTHING, "gain 1 %" if k % 2 else "none") for k in range(1, 6)]
    assert story(of(*quiet))[1:] == ["Mon 06:30 to 08:30 5 turns without a move: 3 × gain 1 %, 2 × none"]


def test_a_rollback_names_what_is_left_alone():
    held = [Hold(workload=name, until=MONDAY + 2 * DAY, why="", plan="3f2a") for name in ("cart", "pay")]
    back = plan(PlanStatus.ROLLED_BACK, why="node-3 is too full", changed=MONDAY + 7 * HOUR)
    lines = story(of(turn(1, TurnVerdict.EXECUTED, moved=3), plans=[back], holds=held))
    assert lines[2] == "Mon 07:00 rolled back plan 3f2a: node-3 is too full; cart, pay left alone until Wed 9 Sep 00:00"
    assert lines[1].endswith("3 of 75 containers moved, rolled back")


@pytest.mark.parametrize("verdict", [v for v in TurnVerdict if v is not TurnVerdict.EXECUTED])
def test_every_verdict_has_its_words(verdict):
    lines = story(of(turn(1, verdict, "because"), turn(2, TurnVerdict.EXECUTED)))
    assert lines[1].endswith("because")
    assert len(lines) == 3


@pytest.mark.parametrize("status", PlanStatus)
def test_every_status_of_a_plan_can_be_told_and_listed(status):
    made = of(turn(1, TurnVerdict.EXECUTED, moves=2), plans=[plan(status, why="because")])
    assert story(made)
    assert "3f2a" in text_of(history_report(made))
    assert "3f2a" in history_page(made, title="x", made={}) or status in (
        PlanStatus.DRY_RUN,
        PlanStatus.PROPOSED,
        PlanStatus.APPROVED,
        PlanStatus.EXPIRED,
    )


def test_pauses_and_approvals_are_told_and_steps_are_not():
    events = [
        Event(at=MONDAY, kind="pause", text="paused by ana"),
        Event(at=MONDAY + 1, kind="step", text="web-1 created"),
        Event(at=MONDAY + 2, kind="approve", text="approved by ben", plan="3f2a"),
    ]
    assert story(of(turn(1, TurnVerdict.NOTHING, "none"), events=events))[1:3] == [
        "Mon 00:00 paused by ana",
        "Mon 00:00 plan 3f2a approved by ben",
    ]


def test_the_story_of_a_week_has_every_day_and_every_plan(history):
    lines = story(history)
    assert sum(line.endswith("September 2026") for line in lines) == 7
    assert all(any(f"plan {made.id}" in line for line in lines) for made in history.plans)
    assert len(lines) < 100  # 336 turns


def test_the_report_counts_dry_runs_by_reason(history):
    text = text_of(history_report(history), width=140)
    assert re.search(r"dry runs +213 × the gain of 1\.0–2\.9 % is below the gate's 3 %", text)
    assert "26 executions in 336 turns, 1 rolled back" in text
    assert "payment until Wed 16 Sep 00:00" in text


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_the_report_fits_every_terminal(history, width):
    assert max(map(len, text_of(history_report(history), width=width).splitlines())) <= width


def test_turns_with_nothing_to_say_have_no_line(history):
    table = turn_table(history)
    assert not any(cell.text == "nothing to move" for row in table.rows for cell in row)
    assert sum(row[1].value for row in table.rows) == 336 - 83


def test_the_table_of_plans_says_what_was_expected_and_what_came(history):
    table = plan_table(history)
    assert len(table.rows) == len(history.plans)
    names = [column.name for column in table.columns]
    first = dict(zip(names, table.rows[0], strict=True))
    assert first["before"].value == history.turns[0].local
    assert first["expected"].value == history.turns[0].planned_local
    assert first["came"].value == history.turns[1].local
    assert first["came"].style == "good"


def test_nothing_on_record_is_said():
    assert "no turn on record" in text_of(history_report(EMPTY))
    assert story(EMPTY) == ["Nothing has happened yet."]
    assert "There is no turn on record yet." in history_page(EMPTY, title="x", made={})


def test_json_has_all_of_it(history):
    details = history_details(history)
    assert set(details) == {"summary", "turns", "plans", "holds", "events"}
    assert details["summary"]["begin_utc"] == "2026-09-07T00:00:00Z"
    assert details["summary"]["verdicts"]["unsound"] == 5
    assert len(details["turns"]) == 336
    assert details["plans"][0]["local_after"] == history.turns[1].local
    assert "batches" not in details["plans"][0]
    assert to_json(details).startswith('{"summary": ')
    assert to_json(history_details(EMPTY))


# ---- the page ------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def html(history):
    return history_page(
        history,
        title="shop: a week",
        made={"command": "bayplan history"},
        baseline=default_scheduler(),
        fresh=fresh_optimisation(),
        safety=0.82,
    )


def tree(html):
    return ET.fromstring(html.removeprefix("<!DOCTYPE html>\n"))


def pictures(html):
    return [figure[0] for figure in tree(html).iter("figure")]


def drawn(picture, class_):
    return [node for node in picture.iter() if node.get("class") == class_]


def test_the_page_is_well_formed_small_and_needs_no_network(html):
    assert tree(html).find("head/title").text == "shop: a week – bayplan"
    assert len(html) < 400_000
    assert not re.search(r"""(src|href|action)\s*=|url\(|@import|fetch\(|https?://(?!www\.w3\.org/2000/svg)""", html)
    assert not re.search(r"<(td|th|div|p|span|dl|dt|dd|ul|ol|li|script|table|figure|details|summary|time)\b[^>]*/>", html)


def test_there_is_a_wide_picture_and_a_slim_one(html):
    wide, slim = pictures(html)
    assert float(wide.get("width")) > 1000
    assert float(slim.get("width")) < 380


def test_every_turn_says_what_it_came_to_and_why(html, history):
    columns = drawn(pictures(html)[0], "turn")
    assert len(columns) == 336
    lost = columns[int((LOST[0] - MONDAY) / 1800)]
    assert lost[0].text == "Wed 9 Sep 03:00: unsound observation\nusage was measured 30 min ago"
    first = columns[0][0].text
    assert f"plan {history.plans[0].id}, verified" in first
    assert "42 of 42 planned moves made, 420 containers run" in first
    assert "fullest machine" in first


def test_each_execution_has_a_bar_and_a_rollback_is_marked(html, history):
    wide = pictures(html)[0]
    assert len(drawn(wide, "move")) == len(history.plans) - 1
    (mark,) = [node for node in wide.iter("{http://www.w3.org/2000/svg}g") if "rolled back" in (node[0].text or "")]
    assert "node-17" in mark[0].text
    assert len(drawn(mark, "rollback")) == 4  # through four plots


def test_the_band_shows_every_verdict_that_occurs(html, history):
    wide = pictures(html)[0]
    for verdict in {one.verdict for one in history.turns}:
        assert len(drawn(wide, verdict.value)) >= 2  # the key and a block
    assert not drawn(wide, "proposed")


def test_a_line_has_a_gap_where_nothing_was_measured(html):
    assert len(drawn(pictures(html)[0], "curve")) == 3  # two pieces and the key


def test_holds_are_bars_that_end_with_the_picture_at_the_latest(html, history):
    bars = drawn(pictures(html)[0], "held")
    assert len(bars) == len(history.holds)
    ends = [float(bar.get("x")) + float(bar.get("width")) for bar in bars]
    assert max(ends) <= 1120 - 64 + 0.01


def test_comparisons_are_drawn_only_if_there_are_any(html, history):
    plain = pictures(history_page(history, title="x", made={}))[0]
    with_all = pictures(html)[0]
    assert [len(drawn(plain, class_)) for class_ in ("before", "fresh", "safety")] == [0, 0, 0]
    assert [len(drawn(with_all, class_)) for class_ in ("before", "fresh", "safety")] == [2, 8, 1]


def test_weekends_and_nights_are_shaded(html):
    wide = pictures(html)[0]
    assert len(drawn(wide, "weekend")) % 2 == 0
    assert len(drawn(wide, "weekend")) >= 2
    assert len(drawn(wide, "night")) >= 8
    words = [node.text for node in wide.iter("{http://www.w3.org/2000/svg}text")]
    assert "Mon 7 Sep" in words
    assert "Sun 13 Sep" in words


def test_days_are_folded_but_the_last_and_a_keyboard_opens_them(html):
    days_ = [node for node in tree(html).iter("details") if node.find("ol") is not None]
    assert [node.get("open") is not None for node in days_] == [False] * 6 + [True]
    assert days_[0].find("summary").text == "Monday 7 September 2026"
    assert "6 executions, 171 moved" in days_[0].find("summary/small").text


def test_names_from_a_record_are_harmless(history):
    turns = [replace(one, why=EVIL, goal=EVIL, mode=EVIL) for one in history.turns[:4]]
    plans = [replace(history.plans[0], id=EVIL, why=EVIL)]
    evil = of(
        *turns,
        plans=plans,
        holds=[Hold(workload=EVIL, until=MONDAY + DAY, why=EVIL)],
        events=[Event(at=MONDAY, kind=EVIL, text=EVIL)],
    )
    html = history_page(evil, title=EVIL, made={EVIL: EVIL})
    assert len(list(tree(html).iter("script"))) == 1
    assert "alert(1)</script>" not in html


@pytest.mark.parametrize("number", [1, 2])
def test_a_short_history_has_a_picture(number):
    turns = [turn(k + 1, TurnVerdict.EXECUTED, moved=3, fullest=0.5) for k in range(number)]
    html = history_page(of(*turns, plans=[plan(PlanStatus.SETTLING)]), title="x", made={})
    assert len(pictures(html)) == 2
    assert "nan" not in html
    assert "not verified yet" in html


def test_turns_that_measured_nothing_have_a_picture_without_lines():
    html = history_page(of(turn(1, TurnVerdict.UNSOUND, "no metrics", local=None)), title="x", made={})
    assert [len(drawn(picture, "curve")) for picture in pictures(html)] == [1, 1]  # the key


def test_a_year_is_drawn_in_spells_and_stays_small():
    year = week(days=364)
    html = history_page(year, title="a year", made={})
    assert len(html) < 6_000_000
    columns = drawn(pictures(html)[0], "turn")
    assert len(columns) == len(list(spells(year.turns)))
    assert any(" × dry run" in column[0].text for column in columns)


@pytest.mark.parametrize("days_", [0.2, 1, 3, 7, 30, 90])
@pytest.mark.parametrize("width", [SLIM, 1120.0])
def test_marks_of_time_do_not_touch(days_, width):
    picture = ET.fromstring(history_picture(week(days=days_), Comparison(), width=width))
    texts = [node for node in picture.iter("{http://www.w3.org/2000/svg}text") if node.get("class") == "soft small mid"]
    places = sorted((float(node.get("x")), len(node.text) * 6.0) for node in texts)
    assert len(places) >= 1
    assert all(b[0] - a[0] >= (a[1] + b[1]) / 2 for a, b in pairwise(places))


def test_a_pause_is_seen_in_the_band(html):
    columns = drawn(pictures(html)[0], "turn")
    assert "held off\npaused by ana" in columns[int((PAUSED[0] - MONDAY) / 1800)][0].text
