"""Failures of clusters that are easy to follow, by the library and by the command."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.builders.first_calls import kernels_used
from tests.builders.first_calls import snapshots as first_snapshots
from tests.builders.tiny_clusters import on, tiny

import bayplan as bp
from bayplan.api import warm_up
from bayplan.api.capacity.further_machines import machine_types
from bayplan.cli.main import main
from bayplan.model import AntiAffinity, Capacity, Dependency, Objective, Pinned, Skew, Snapshot, Spread
from bayplan.model.failures import FailureVerdict

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "schema" / "capacity.json").read_text(encoding="utf-8"))


def snapshot(capacity, request, replicas, placement, *rules, **parts) -> Snapshot:
    cluster = tiny(capacity, request, replicas, rules=(Capacity(resources=(0,)), *rules), **parts)
    return Snapshot(cluster=cluster, placement=on(*placement), objective=Objective.default(cluster))


def full() -> Snapshot:
    """Three machines of 10 in two racks; 4 + 4, 4 + 4 and 8: nothing of a machine fits elsewhere."""
    return snapshot([[10]] * 3, [[4], [8]], [4, 1], (0, 0, 1, 1, 2), racks=[0, 0, 1])


def roomy() -> Snapshot:
    """Three machines of 10 with 3 each."""
    return snapshot([[10]] * 3, [[3]], [3], (0, 1, 2), racks=[0, 0, 1], safety=[[5]] * 3)


def verdicts(answer: bp.api.capacity.CapacityAnswer, level: str) -> dict[str, str]:
    return {outcome.failure.group: outcome.verdict.value for outcome in answer.of_level(level)}


def test_where_there_is_free_capacity_everything_may_fail():
    answer = bp.capacity(roomy())
    assert answer.holds and answer
    assert verdicts(answer, "machine") == dict.fromkeys(["m0", "m1", "m2"], "holds-above-safety")
    assert answer.worst("machine").replacement.above_safety == 1
    assert verdicts(answer, "rack") == {"k0": "holds-above-safety", "k1": "holds-above-safety"}
    assert answer.worst("rack").replacement.fullness == pytest.approx(0.9)


def test_what_cannot_fit_is_proven_and_more_machines_are_counted():
    answer = bp.capacity(full())
    assert answer.holds is False
    worst = answer.worst("machine")
    assert (worst.verdict, worst.further.enough, worst.further.at_least) == (FailureVerdict.IMPOSSIBLE, 1, 1)
    rack = next(outcome for outcome in answer.of_level("rack") if outcome.failure.group == "k0")
    assert (len(rack.replacement.left_out), rack.further.enough, rack.further.at_least) == (4, 2, 2)
    assert answer.likes[rack.further.kind] == "m2"  # m0 and m1 are in the rack that fails
    assert "2 more machines like m2 would do (at least 2, proven)" in answer.headline


def test_greedy_failing_is_not_called_impossible():
    """6 + 5 + 5 have to go to 11 and 5: the largest first goes to the emptiest, or to the fullest it fits: both lose."""
    crowded = snapshot([[16], [11], [6]], [[6], [5], [5]], [1, 1, 1], (0, 0, 0))
    outcome = next(o for o in bp.capacity(crowded).of_level("machine") if o.failure.group == "m0")
    assert outcome.holds or outcome.verdict is FailureVerdict.NOT_FOUND


def test_others_may_move():
    """5 has to go to machines with 4 free each, until the 2 of one of them has moved."""
    tight = snapshot([[10], [10], [10]], [[5], [6], [2], [4]], [1, 1, 1, 1], (0, 1, 2, 2))
    assert verdicts(bp.capacity(tight), "machine")["m1"] == "impossible"
    answer = bp.capacity(tight, may_move=True)
    outcome = next(o for o in answer.of_level("machine") if o.failure.group == "m1")
    assert (outcome.verdict.value, len(outcome.replacement.moved)) == ("holds-with-moves", 1)
    assert bp.check(answer.after(outcome)).valid


def test_pinned_containers_are_lost_with_their_machine():
    agents = snapshot([[10]] * 2, [[1], [2]], [2, 1], (0, 1, 0), Pinned(containers=(0, 1)))
    answer = bp.capacity(agents)
    first = next(o for o in answer.of_level("machine") if o.failure.group == "m0")
    assert first.holds
    assert (first.loss.containers, first.loss.pinned.tolist()) == (2, [0])
    assert (first.replacement.container.tolist(), first.replacement.machine.tolist()) == ([2], [1])


def test_a_spread_rule_that_cannot_be_kept_is_set_aside_and_named():
    two = snapshot([[10]] * 2, [[1]], [2], (0, 1), Spread(service=0, minimum=2), racks=[0, 1])
    worst = bp.capacity(two).worst("machine")
    assert (worst.verdict, worst.all_placed) == (FailureVerdict.IMPOSSIBLE, True)
    assert worst.rules_lost == ("service s0 has to use 2 machines, and can use 1",)


def test_skew_compares_groups_that_are_left():
    """Racks of two machines, one container each: a machine's goes beside it, a rack's to the others, which stay even."""
    even = snapshot([[10]] * 6, [[2]], [3], (0, 2, 4), Skew(workload=0, level=1), racks=[0, 0, 1, 1, 2, 2])
    answer = bp.capacity(even)
    machine = next(outcome for outcome in answer.of_level("machine") if outcome.failure.group == "m0")
    assert machine.holds and machine.replacement.machine.tolist() == [1], "rack k0 would be two behind the others"
    rack = answer.worst("rack")
    assert rack.holds and not rack.rules_lost


def test_skew_leaves_out_what_would_put_a_group_beyond_the_limit():
    """Two of three machines of rack k0 are full and stay: k1 may have two if k0 keeps one, and no third."""
    tight = snapshot([[2], [2], [10]], [[2]], [4], (0, 1, 2, 2), Skew(workload=0, level=1), racks=[0, 0, 1])
    outcome = next(outcome for outcome in bp.capacity(tight).of_level("machine") if outcome.failure.group == "m0")
    assert not outcome.holds and len(outcome.replacement.left_out) == 1, "three in k1 and one in k0 are two more"


def test_dependants_get_back_what_they_depend_on():
    """w1 on m1 depends on w0 in its rack; when m0 fails, w0 has to go to m1, though m2 is emptier."""
    needs = snapshot(
        [[10]] * 3, [[2], [2]], [1, 1], (0, 1), Dependency(service=1, on=0, level=1), racks=[0, 0, 1], service=[0, 1]
    )
    outcome = next(o for o in bp.capacity(needs).of_level("machine") if o.failure.group == "m0")
    assert outcome.holds and outcome.replacement.machine.tolist() == [1]


def test_anti_affinity_counts_places():
    single = snapshot([[10]] * 2, [[1]], [2], (0, 1), AntiAffinity(workloads=(0,), limit=1))
    worst = bp.capacity(single).worst("machine")
    assert worst.proof == "anti-affinity leaves 0 places for 1 container of w0"
    assert (worst.further.enough, worst.further.at_least) == (1, 1)


def test_workloads_below_a_number_of_replicas_are_named():
    answer = bp.capacity(full(), alive=3)
    first = next(o for o in answer.of_level("machine") if o.failure.group == "m0")
    assert (first.loss.down.tolist(), first.loss.below.tolist()) == ([], [0])
    last = next(o for o in answer.of_level("machine") if o.failure.group == "m2")
    assert last.loss.down.tolist() == [1]


def test_types_are_capacity_safety_and_sets():
    shop = bp.generate("boutique").cluster
    types = machine_types(shop)
    assert len(types) == 12 and types[7] != types[4]  # b4 has a gpu


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"survive": "zoen"},
            "survive 'zoen': no such level in cluster 'boutique'; expected machine or rack or zone; did you mean",
        ),
        ({"like": "a9"}, "like 'a9': no such machine in cluster 'boutique'"),
        ({"alive": -1}, "alive -1: expected a number of replicas"),
        ({"seconds": -1}, "seconds -1"),
    ],
)
def test_what_does_not_exist_is_said(options, message):
    with pytest.raises(bp.UsageError, match=message):
        bp.capacity(bp.generate("boutique"), **options)


def test_a_level_of_one_group_cannot_be_survived():
    one = snapshot([[10]] * 2, [[1]], [1], (0,), racks=[0, 0])
    with pytest.raises(bp.UsageError, match="all machines are in one rack"):
        bp.capacity(one, survive="rack")
    assert bp.capacity(one).levels == ("machine",)


def test_no_time_leaves_the_answer_open():
    answer = bp.capacity(bp.generate("boutique"), survive="zone", seconds=0)
    assert (len(answer.outcomes), answer.complete) == (1, False)
    assert answer.outcomes[0].failure.level == "rack"  # groups come before single machines
    assert "Only 1 of 17 failures were looked at." in answer.headline


def test_without_time_nothing_is_claimed():
    answer = bp.capacity(roomy(), seconds=0)
    assert answer.holds is None and not answer


@pytest.mark.parametrize("ask", [full, roomy, lambda: bp.generate("boutique")])
@pytest.mark.parametrize("may_move", [False, True])
def test_the_object_has_the_published_shape(ask, may_move):
    answer = bp.capacity(ask(), may_move=may_move, top=3)
    faults = [f"{f.json_path}: {f.message}" for f in Draft202012Validator(SCHEMA).iter_errors(answer.to_dict())]
    assert faults == []
    assert len(answer.to_dict()["failures"]) <= 3 + len(answer.levels)


def test_text_page_and_notebook_say_the_same(tmp_path):
    answer = bp.capacity(bp.generate("boutique"))
    answer.report(tmp_path / "page.html", command="bayplan capacity")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "1 of 12 machines may not fail" in page and "<svg" in page
    assert "catalogue-db-0: 0/11 machines fit (7 anti-affinity, 4 short of cpu)" in page
    assert "Machine a3 may not fail" in answer.summary() and "Machine a3 may not fail" in answer._repr_html_()
    assert str(answer) == answer.headline


def test_names_are_escaped(tmp_path):
    builder = bp.ClusterBuilder("<b>").machines("<m-{}>", 2, cpu=1, memory=1, zone=lambda i: f"<z{i}>")
    answer = bp.capacity(builder.workload("<w>", replicas=2, cpu=1, memory=1, on=["<m-0>", "<m-1>"]).build())
    answer.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"<(m-0|z0|w|b)>", page)


@pytest.fixture
def shop(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    bp.write(bp.generate("boutique"), "shop.json")
    bp.write(bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi").workload("w", cpu=1, on="m-0").build(), "two.json")
    return "shop.json"


def test_the_exit_code_says_whether_it_holds(shop, capsys):
    assert main(["capacity", "two.json", "--quiet"]) == 0
    assert "Any single machine may fail" in capsys.readouterr().out
    assert main(["capacity", shop, "--quiet"]) == 3
    assert main(["capacity", shop, "--may-move", "--quiet"]) == 0
    assert main(["capacity", shop, "--may-move", "--survive", "zone", "--quiet"]) == 3
    assert main(["capacity", shop, "--survive", "zoen"]) == 2


def test_the_command_prints_what_the_library_says(shop, capsys):
    assert main(["capacity", shop, "--json", "--quiet", "--top", "2", "--report", "page.html"]) == 3
    printed = json.loads(capsys.readouterr().out)
    said = bp.capacity(bp.read(shop), top=2).to_dict()
    assert printed["files"] == {"report": "page.html"} and Path("page.html").is_file()
    assert {**printed, "seconds": 0, "files": {}} == {**said, "seconds": 0}


def test_no_other_kernel_is_needed_than_is_compiled_before():
    compiled = set(warm_up.kernels_of("capacity", "failures"))
    assert compiled
    for each in first_snapshots():
        assert kernels_used(lambda each=each: bp.capacity(each, may_move=True)) <= compiled
