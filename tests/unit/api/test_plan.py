"""`plan` as a caller sees it: goals, limits, words, what-if, the front, the gate, files."""

import json

import numpy as np
import pytest
from tests.builders.tiny_clusters import on, tiny

import bayplan as bp
from bayplan.api.planning.question import goal_of
from bayplan.errors import InputError, UsageError
from bayplan.formats.goals import read_goal
from bayplan.formats.targets import read_plan_of
from bayplan.model import Objective, Snapshot
from bayplan.model.goal import GOALS

BUDGET = bp.Budget(iterations=20_000)


@pytest.fixture(scope="module")
def shop():
    return bp.generate("boutique")


@pytest.fixture(scope="module")
def steady(shop):
    return bp.plan(shop, budget=BUDGET)


def test_the_default_takes_all_load_off_hot_machines_with_few_moves_and_loses_no_local_traffic(shop, steady):
    before, after = steady.figures.before, steady.figures.after
    assert (before.hot, after.hot) == (4, 0)
    assert steady.moved_share <= 0.15
    assert after.local >= before.local
    assert steady.migration.complete
    assert not bp.check(steady.after, before=shop.placement).violations


def test_it_says_price_and_gain_and_every_move_with_its_reason(steady):
    words = steady.summary()
    assert words.startswith(f"Plan: {steady.moved} of 75 containers move")
    assert "Machines above safety 4 -> 0." in words
    assert "Traffic that can stay on one machine" in words
    assert len(steady.reasons) == steady.moved
    assert all(note.why for note in steady.reasons)
    assert {"load above safety"} <= {note.reason for note in steady.reasons}


@pytest.mark.long
@pytest.mark.parametrize("goal", GOALS)
def test_every_goal_keeps_the_first_two_ranks(shop, goal):
    answer = bp.plan(shop, goal=goal, budget=bp.Budget(iterations=5_000))
    assert answer.figures.after.overload <= answer.figures.before.overload
    assert answer.figures.after.violated == 0
    assert answer.migration.complete
    assert answer.headline.startswith("Plan: ")


def test_the_same_seed_and_iterations_give_the_same_plan(shop, steady):
    again = bp.plan(shop, budget=BUDGET)
    assert again.plan == steady.plan
    assert again.to_dict()["details"] == steady.to_dict()["details"]


def test_a_gate_stops_what_gains_too_little_but_nothing_urgent(shop, steady):
    settled = bp.plan(steady.after, budget=BUDGET, min_gain=0.9)
    assert not settled.worth_it
    assert settled.headline.startswith("Not worth it")
    assert bp.plan(shop, budget=bp.Budget(iterations=5_000), min_gain=0.9).worth_it  # hot machines are urgent


def test_nothing_to_do_is_said(steady):
    answer = bp.plan(steady.after, budget=bp.Budget(iterations=5_000), max_moves=0)
    assert answer.moved == 0
    assert answer.headline.startswith("No change")


def test_the_front_rises_with_the_moves_and_marks_the_plan(shop):
    answer = bp.plan(shop, budget=bp.Budget(iterations=3_000), front=True, at=5)
    gains = [point.gain for point in answer.front]
    assert len(answer.front) >= 4
    assert sum(point.chosen for point in answer.front) == 1
    assert answer.moved <= 5
    assert gains[-1] > gains[0]


def test_what_if_compares_three_states_and_names_what_cannot_leave(shop):
    answer = bp.plan(shop, budget=BUDGET, what_if=bp.WhatIf(drain=("a1",)))
    words = answer.summary()
    assert "what if: machine a1 is drained" in words
    assert "Machine a1 is emptied: 8 -> 1 container that goes with it." in words
    left = [name for name, m in zip(shop.cluster.containers.name, answer.placement.machine_of, strict=True) if m == 0]
    assert left == ["log-agent-0"]
    assert all(column in words for column in ("now", "what if", "with the plan"))


def test_a_failed_zone_places_what_fits_and_names_the_rest(shop):
    answer = bp.plan(shop, budget=bp.Budget(iterations=5_000), what_if=bp.WhatIf(fail_zone=("west",)))
    west = {m for m, zone in enumerate(shop.cluster.level("zone").group_of) if shop.cluster.level("zone").group[zone] == "west"}
    assert not west.intersection(answer.placement.machine_of.tolist())
    assert answer.figures.after.unplaced < answer.figures.before.unplaced
    assert len(answer.left_out) >= 4  # the agents of the failed machines


def test_weights_of_a_goal_can_be_changed_and_wrong_ones_are_named():
    assert goal_of("steady", {"balance": 2}).balance == 2
    assert goal_of("steady", {"communication": 0.1}).weights == {"communication": 0.1}
    for name, value, message in (("balnce", 1, "did you mean 'balance'"), ("price", -1, "is not a number of 0 or more")):
        with pytest.raises(UsageError, match=message):
            goal_of("steady", {name: value})
    with pytest.raises(UsageError, match="did you mean 'steady'"):
        goal_of("stedy")


def test_a_goal_of_ones_own_is_read_from_toml(tmp_path):
    file = tmp_path / "quiet.toml"
    file.write_text('balance = 1\nmax-moves = "5%"\nconfidence = 0.99\n[weights]\ncommunication = 0.5\n')
    goal = read_goal(file)
    assert (goal.name, goal.balance, goal.max_moves, goal.confidence) == ("quiet", 1, "5%", 0.99)
    assert goal.weights == {"communication": 0.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("balnce = 1", "E1108 goal 'balnce'.*did you mean 'balance'"),
        ('balance = "much"', "E1101 goal 'balance'.*expected a number of 0 or more"),
        ("safety = 1", "E1101 goal 'safety'.*expected true or false"),
        ("balance = -1", "E1522.*expected a number of 0 or more"),
        ("confidence = 0.2", "E1522.*more than 0.5"),
        ("[weights]\nfun = 1", "E1109 weight 'fun'"),
        ("balance = ", "E1013"),
    ],
)
def test_a_goal_that_makes_no_sense_is_refused_with_a_number(tmp_path, text, message):
    file = tmp_path / "goal.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_goal(file)


def test_a_plan_file_says_what_it_was_made_for_and_why_each_container_moves(shop, steady, tmp_path):
    file = tmp_path / "plan.json"
    steady.save(file)
    document = json.loads(file.read_text())
    assert [move["container"] for move in document["moves"]] == [
        shop.cluster.containers.name[note.container] for note in steady.reasons
    ]
    assert document["summary"][0] == steady.headline
    _, plan = read_plan_of(file, shop)
    assert plan.batches == steady.plan.batches
    with pytest.raises(InputError, match=r"E1521 plan: machine '\w+' runs other containers now"):
        read_plan_of(file, steady.after)


def test_the_plan_to_drain_a_machine_is_for_the_real_cluster(shop, tmp_path):
    answer = bp.plan(shop, budget=bp.Budget(iterations=5_000), what_if=bp.WhatIf(drain=("c1",)))
    answer.save(tmp_path / "plan.json")
    _, plan = read_plan_of(tmp_path / "plan.json", shop)
    assert bp.simulate(shop, plan).succeeded


def test_a_container_that_stays_is_explained_by_what_a_move_would_cost(shop, steady):
    why = {shop.cluster.containers.name[note.container]: note.why for note in steady.reasons}
    moved = next(iter(why))
    assert f": {why[moved]}" in str(bp.explain(shop, moved, plan=steady.plan, why=why))
    stays = [name for name in shop.cluster.containers.name if name not in why and name.startswith("email")]
    assert "the plan does not move it" in str(bp.explain(shop, stays[0], plan=steady.plan, why=why))
    words = [str(bp.explain(steady.after, name)) for name in shop.cluster.containers.name]
    assert any("a move does not pay" in text for text in words)


def test_a_cluster_without_traffic_is_planned_too():
    builder = bp.ClusterBuilder("plain").machines("m-{}", 4, cpu=10, memory="10Gi")
    crowd = builder.workload("web", replicas=8, cpu=1, memory="1Gi", on=["m-0"] * 8).build()
    answer = bp.plan(crowd, goal="balance", max_moves="100%", budget=bp.Budget(iterations=5_000))
    assert answer.figures.after.variance < answer.figures.before.variance
    assert answer.figures.after.local is None
    assert answer.performance is None
    assert "by a model" not in answer.summary()
    assert answer.to_dict()["details"]["performance"] is None


def test_a_plan_says_what_it_is_worth_to_requests_by_a_model_and_names_what_is_assumed(shop, steady):
    change = steady.performance
    assert change.after.p95_ms < change.before.p95_ms
    assert change.after.error_rate < change.before.error_rate
    assert change.after.max_load > change.before.max_load
    words = " ".join(steady.summary().split())
    assert "Requests, by a model (not measured)" in words
    assert "A model: read it to compare placements, not as a forecast. Assumed: router spill-over" in words
    told = steady.to_dict()["details"]["performance"]
    assert told["before"]["p50_ms"] == change.before.p50_ms
    assert told["assumptions"]["network_ms"] == 0.5


def test_assumptions_change_what_is_said_and_not_the_plan(shop, steady):
    slow = bp.plan(shop, budget=BUDGET, assume={"network_ms": 5, "router": "random"})
    assert slow.plan == steady.plan
    assert slow.performance.before.p50_ms > steady.performance.before.p50_ms
    assert "router random" in slow.summary()
    with pytest.raises(UsageError, match="did you mean 'network_ms'"):
        bp.plan(shop, budget=BUDGET, assume={"network": 5})


def test_the_page_of_a_plan_calls_the_model_a_model_and_lists_every_assumption(steady, tmp_path):
    steady.report(tmp_path / "plan.html")
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert "Requests, by a model (not measured)" in page
    assert all(name in page for name in ("network_ms", "overload_error", "saturated_at"))


def test_an_empty_cluster_has_nothing_to_plan():
    cluster = tiny([[9], [9]], [[1]], [0])
    empty = Snapshot(cluster=cluster, placement=on(), objective=Objective.default(cluster))
    assert bp.plan(empty, seconds=1).headline.startswith("No change")


def test_the_objective_of_the_input_is_left_alone(shop, steady):
    assert not shop.objective.explicit
    assert shop.objective.weight == Objective.default(shop.cluster).weight
    assert not steady.after.objective.explicit


def hot_cluster(seed: int) -> Snapshot:
    """Twenty machines, a quarter of them above safety, and workloads that talk to each other at random."""
    rng = np.random.default_rng(seed)
    builder = bp.ClusterBuilder(f"hot-{seed}").machines(
        "m-{}", 20, cpu=32, memory="64Gi", safety="80%", zone=lambda i: f"z{i % 4}"
    )
    free = np.full(20, 22.0)
    free[rng.choice(20, size=5, replace=False)] = 31.0  # these come above 80 % of 32
    names = []
    for number in range(58):
        cpu = float(rng.choice([1, 2, 4]))
        on = []
        for _ in range(int(rng.integers(2, 6))):
            fits = np.flatnonzero(free >= cpu)
            if not fits.size:
                break
            machine = int(fits[np.argmax(free[fits] + rng.uniform(0, 8, size=fits.size))])
            free[machine] -= cpu
            on.append(f"m-{machine}")
        if on:
            names.append(f"w{number}")
            builder.workload(names[-1], replicas=len(on), cpu=cpu, memory=f"{int(cpu)}Gi", on=on)
    for a, b in zip(names, rng.permutation(names).tolist(), strict=True):
        if a != b:
            builder.traffic(a, b, float(rng.uniform(1, 10)))
    return builder.build()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_on_clusters_with_hot_machines_the_default_does_what_it_does_for_the_shop(seed):
    hot = hot_cluster(seed)
    answer = bp.plan(hot, budget=bp.Budget(iterations=30_000))
    before, after = answer.figures.before, answer.figures.after
    assert before.hot > 0
    assert after.hot == 0
    assert answer.moved_share <= 0.15
    assert after.local >= before.local
    assert answer.migration.complete
    assert answer.least_alive >= 0.75


def test_the_steps_of_a_plan_lead_to_its_placement_by_name(monkeypatch):
    """Replicas may be renamed before their steps are ordered, never after."""
    from bayplan.model import Placement, Running, ints

    def swapped(placement, before, workload, fixed=None):
        machine_of = placement.machine_of.copy()
        moved = np.flatnonzero((machine_of != before.machine_of) & (before.machine_of >= 0))
        pairs = [(a, b) for a in moved for b in moved if a < b and workload[a] == workload[b]]
        for a, b in pairs[:1]:
            machine_of[a], machine_of[b] = machine_of[b], machine_of[a]
        return Placement(machine_of=ints(machine_of))

    shop = bp.generate("boutique")
    monkeypatch.setattr("bayplan.search.answer.relabelled", swapped)
    answer = bp.plan(shop, budget=bp.Budget(iterations=20_000))
    end = Running.of(shop.placement).after(answer.plan).placement
    assert end.machine_of.tolist() == answer.placement.machine_of.tolist()
