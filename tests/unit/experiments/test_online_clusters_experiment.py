"""The experiments of [Online clusters]: settings, verdicts that can fail, and docs that come from the files."""

import pytest
from experiments.online_clusters import oneshot, online, pages
from experiments.online_clusters.claims import (
    counted_claims,
    one_shot_claims,
    online_claims,
    own_lines,
    own_one_shot,
    own_online,
)
from experiments.online_clusters.settings import MADE, ONLINE, QUICK, Scope, Setting
from experiments.online_clusters.tables import one_shot_table, online_ratios
from experiments.results import put, rows
from experiments.verdicts import Verdict

ONE = Scope(online_members=(3,), online_zones=(), ratios=(), requests=())
REPRODUCED, DIRECTION, NOT, UNTESTED = Verdict


def placed(method, cost, *, optimum=1.0, members=5, trial=0):
    cell = oneshot.Cell(members=members, zones=9, resources=1, inside="free", trial=trial, method=method)
    found = {"cost": str(cost), "optimum": str(optimum), "proven": "yes", "seconds": "0.001", "commit": "abc", "machine": "m"}
    return {**dict(zip(oneshot.KEY, cell.key, strict=True)), **found}


def one_shot_verdicts(**costs):
    measured = [placed(method.replace("_", " ").replace("0 ", "0."), cost) for method, cost in costs.items()]
    judged = {claim.text: claim.verdict for claim in one_shot_claims(measured, "free")}
    return judged | {text: all(holds.values()) for text, holds in own_one_shot(measured, "free")}


def admitted(method, value, *, bound="", seed=0, **setting):
    cell = online.Cell(setting=Setting(**setting), seed=seed, method=method)
    found = {"value": str(value), "winners": "50", "bound": bound, "broken": "0", "seconds": "1", "commit": "a", "machine": "m"}
    return {**dict(zip(online.KEY, cell.key, strict=True)), **found}


def online_verdicts(**values):
    measured = [admitted("offline", 90, bound="100"), *(admitted(method, value) for method, value in values.items())]
    judged = {claim.text: claim.verdict for claim in online_claims(measured, MADE, ONE)}
    return judged | {text: all(holds.values()) for text, holds in own_online(measured, MADE, ONE)}


def test_our_own_questions_are_answered_with_yes_or_no():
    lines = own_lines([("x", {"a": True, "b": True}), ("y", {"a": True, "b": False})])
    assert lines[2:] == ["| x | 2 of 2 | yes |", "| y | 1 of 2; not at b | **no** |"]


def test_a_ratio_below_two_is_judged_on_the_mean():
    found = one_shot_verdicts(greedy=1.9, local=1.04)
    assert found["`greedy` is below 2"] == REPRODUCED
    assert found["`sampling 0.6` is below 2"] == UNTESTED
    assert found["`local`: mean ratio at most 1.05"]
    found = one_shot_verdicts(greedy=2.1, local=1.06, nscd=1.5)
    assert found["`greedy` is below 2"] == NOT
    assert found["`greedy` is better than `nscd`, or equal"] == NOT
    assert not found["`local`: mean ratio at most 1.05"]


def test_the_table_has_the_mean_and_the_largest_ratio():
    measured = [placed("greedy", 1.0), placed("greedy", 3.0, trial=1), placed("local", float("inf"))]
    assert one_shot_table(measured, "free")[2] == "| 5 | 9 | 1 | - | - | 2.000 (3.00) | - | - | - |"


def test_ratios_are_against_the_proven_bound():
    measured = [admitted("offline", 90, bound="100"), admitted("greedy", 80)]
    assert list(online_ratios(measured, "greedy").values()) == [pytest.approx(1.25)]


def test_who_is_behind_is_said_to_be_behind():
    values = dict(zip(ONLINE, (80, 80, 80, 80, 85, 50), strict=True))
    found = online_verdicts(**values)
    assert found["A_online with `greedy` is better than `available`"] == NOT
    assert found["A_online with `greedy` is better than `swmoa`"] == REPRODUCED
    assert not found["`ours` is at least as good as `available`"]
    assert online_verdicts(**{**values, "ours": 85})["`ours` is best of all"]


def test_value_winners_and_seconds_are_judged_over_the_number_of_requests():
    scope = Scope(requests=(10, 20), capacities=(50, 100))
    measured = [
        admitted(method, value * n, requests=n, capacity=capacity)
        for method, value in (("sampling", 2), ("greedy", 1))
        for n in (10, 20)
        for capacity in (0, 50, 100)
    ]
    found = {claim.text: claim.verdict for claim in counted_claims(measured, MADE, scope)}
    assert found["the value grows with I (`greedy`)"] == REPRODUCED
    assert found["`sampling` accepts more value than `greedy`"] == REPRODUCED
    assert found["the share of winners falls with I (`greedy`, C = 50)"] == REPRODUCED  # 50 of 10, then of 20
    assert found["more capacity gives a higher share of winners (`greedy`)"] == NOT


def test_every_figure_of_the_paper_has_its_settings():
    compared = list(Scope().compared(MADE))
    assert len(compared) == len(set(compared)) == 16  # 4 + 5 + 5 + 5, of which the base is in each
    assert {setting.capacity for setting in Scope().counted()} == {0, 50, 100}
    assert len(Scope().trials) == 20


def test_a_capacity_that_is_set_is_the_same_everywhere():
    made = online.stream(Setting(zones=3, requests=4, capacity=50), seed=0)
    assert set(made.zones.capacity.ravel().tolist()) == {50_000}
    assert len(made.requests) == 4 and {len(request.members) for request in made.requests} == {3}


def test_the_page_is_made_from_the_files():
    text = (pages.DOCS / "verbs" / "admit.md").read_text(encoding="utf-8")
    one_shot, streams = rows(pages.HERE / "oneshot.csv"), rows(pages.HERE / "online.csv")
    again = put(text, pages.ONE_SHOT, pages.one_shot_lines(one_shot))
    assert put(again, pages.ONLINE_MARKER, pages.online_lines(streams, Scope())) == text
    for name, drawing in pages.pictures(one_shot, streams, Scope()).items():
        assert (pages.DOCS / "pictures" / name).read_text(encoding="utf-8") == drawing


def test_a_first_look_is_small():
    assert sum(1 for _ in online.cells(QUICK)) < 100
