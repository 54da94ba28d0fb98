"""`bp.migrate`: the plan as an answer."""

import json
from dataclasses import replace

import pytest
from tests.builders.tiny_clusters import on, tiny

import bayplan as bp
from bayplan.api.migrate import rollback
from bayplan.api.partial_run import PartialRun
from bayplan.formats import read_plan
from bayplan.model import Action, Capacity, Pinned, Plan, Running, Step

CLUSTER = tiny([[4], [4], [4]], [[1], [2]], [4, 2], rules=(Capacity(resources=(0,)),))
SHOP = bp.Snapshot(
    cluster=CLUSTER, placement=on(0, 0, 0, 1, 1, -1), objective=bp.Objective.default(CLUSTER), notes=("drawn by hand",)
)
TARGET = on(2, 0, 0, 1, 1, 2)


def migrated(**options):
    return bp.migrate(SHOP, TARGET, budget=bp.Budget(iterations=2), **options)


def test_an_answer_says_what_moves_what_is_placed_and_how_long_it_takes():
    answer = migrated()
    assert answer.complete and answer.status == "optimal" and answer.bound == 2
    assert [str(move) for move in answer.moves] == ["w0-0: m0 -> m2"]
    assert (answer.moved, answer.placed, answer.held_back, answer.notes[0]) == (1, 1, 0, "drawn by hand")
    assert answer.headline.startswith("1 container changes machines in 2 batches (3 steps), in about")
    assert answer.duration == answer.timetable.seconds > 0
    assert "least" in answer.summary() and "waves" in answer.summary()


def test_the_object_of_an_answer_has_the_same_keys_whatever_happened():
    refused = bp.migrate(SHOP, on(0, 0, 0, 0, 0, 0), budget=bp.Budget(iterations=2))
    assert refused.plan is None and not refused.complete and refused.headline.startswith("refused: machine 'm0'")
    assert migrated().to_dict().keys() == refused.to_dict().keys()
    assert migrated().to_dict()["details"].keys() == refused.to_dict()["details"].keys()
    assert refused.to_dict()["still_violated"] == ["machine 'm0': 8 r0 requested of 4 (4 too much)"]


def test_plan_way_back_and_page_are_written(tmp_path):
    plan, back, page = tmp_path / "plan.json", tmp_path / "back.json", tmp_path / "plan.html"
    answer = migrated()
    answer.save(plan)
    answer.save_rollback(back)
    answer.report(page, command="by hand")
    start = Running.of(SHOP.placement)
    again = start.after(read_plan(plan, CLUSTER)).after(read_plan(back, CLUSTER))
    assert again.machine_of.tolist() == start.machine_of.tolist()
    assert "In which order" in page.read_text(encoding="utf-8") and "batches" in json.loads(plan.read_text(encoding="utf-8"))


def test_containers_that_are_never_to_move_are_held_back_and_the_rest_is_complete():
    answer = migrated(never=["w0-0"])
    assert answer.complete and answer.held_back == 1 and [reason.subject for reason in answer.left_out] == ["w0-0"]


def test_a_snapshot_may_be_the_target():
    other = bp.Snapshot(cluster=CLUSTER, placement=TARGET, objective=bp.Objective.default(CLUSTER))
    assert bp.migrate(SHOP, other, budget=bp.Budget(iterations=2)).moves == migrated().moves


def test_a_partial_run_is_planned_on_from_where_it_was_left():
    plan = migrated().plan
    created = next(step for step in plan.batches[0] if step.container == 0)
    resumed = migrated(resume=PartialRun(plan=plan, done=1, failed=[created]))
    assert resumed.complete and resumed.placed == 0 and [move.container for move in resumed.moves] == ["w0-0"]
    assert migrated(resume=PartialRun(plan=plan)).plan == Plan(batches=())


def test_a_rollback_leads_to_where_the_snapshot_has_its_containers():
    plan = migrated().plan
    answer = rollback(SHOP, plan, done=1)
    assert answer.method == "rollback" and answer.complete
    assert answer.plan == plan.inverse(1) and Step(Action.DELETE, 5, 2) in answer.plan.steps()


def test_a_rollback_from_the_middle_of_a_plan_has_the_alive_shares_of_that_plan():
    """Two become one, so one is enough on the way there: on the way back, too, although two run in the middle."""
    cluster = tiny([[4], [4]], [[1]], [2], rules=(Capacity(resources=(0,)),))
    pair = bp.Snapshot(cluster=cluster, placement=on(1, 0), objective=bp.Objective.default(cluster))
    steps = [Step(Action.DELETE, 1, 0), Step(Action.CREATE, 1, 1), Step(Action.DELETE, 0, 1)]
    plan = Plan(batches=tuple((step,) for step in steps))
    assert all(rollback(pair, plan, done=done, way="replace").complete for done in range(4))
    assert rollback(pair, plan, done=2, way="replace", alive=1.0).complete
    stays = Plan(batches=plan.batches[:2])  # both are to run at its end: one is not enough
    assert not rollback(pair, stays, way="replace").complete


def test_a_rollback_deletes_what_the_plan_created_though_it_is_pinned():
    pinned = replace(SHOP, cluster=replace(CLUSTER, rules=(*CLUSTER.rules, Pinned(containers=(3, 5)))))
    plan = bp.migrate(pinned, TARGET, budget=bp.Budget(iterations=2)).plan
    answer = rollback(pinned, plan)
    assert answer.complete and Step(Action.DELETE, 5, 2) in answer.plan.steps()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "wave"}, "no method 'wave'; expected one of waves, rasa; did you mean 'waves'"),
        ({"surges": ["w0"]}, "no option 'surges'"),
        ({"way": "serge"}, "did you mean 'surge'"),
        ({"seconds": -1}, "seconds -1"),
    ],
)
def test_an_option_that_does_not_exist_names_the_nearest(options, message):
    with pytest.raises(bp.UsageError, match=message):
        migrated(**options)


def test_a_number_that_must_run_counts_where_it_is_more_than_the_alive_share():
    free = migrated(alive=0.0, way="replace")
    assert (free.complete, free.request.migration.least_alive.tolist()) == (True, [0, 0])
    held = migrated(alive=0.0, way="replace", needed={"w0": 4})
    assert (held.complete, held.request.migration.least_alive.tolist()) == (False, [4, 0])
    assert str(held.left_out[0]) == "w0-0: stays on 'm0': 4 of 'w0' run, at least 4 must"
    assert migrated(alive=0.0, way="surge", needed={"w0": 4}).complete


def test_a_workload_that_is_not_there_is_said():
    with pytest.raises(bp.UsageError, match="no workload 'nothing'"):
        migrated(needed={"nothing": 1})


def test_a_cost_of_no_such_name_is_refused():
    shop = bp.generate("boutique")
    with pytest.raises(bp.UsageError, match="no cost 'pul'; expected one of pull, start, stop; did you mean 'pull'"):
        bp.migrate(shop, shop.placement, costs={"pul": 3})
