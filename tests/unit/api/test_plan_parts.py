"""A plan that is a part of the way: it leads to a target of more moves than may be made at once, and violates nothing."""

import pytest

import bayplan as bp
from bayplan.api.planning.part import part_of_the_way
from bayplan.api.planning.question import goal_of, plan_question
from bayplan.api.planning.target import renamed
from bayplan.api.what_if import WhatIf
from bayplan.check import check
from bayplan.generate import GENERATORS
from bayplan.model import Placement, ints
from bayplan.score.goal.state_figures import local_share

STEPS = bp.Budget(iterations=20_000)


@pytest.fixture(scope="module")
def generated():
    return GENERATORS["rasa-m3"].make(seed=1)


@pytest.fixture(scope="module")
def whole(generated):
    return bp.plan(generated, goal="local-traffic", max_moves="100%", budget=STEPS)


@pytest.mark.parametrize("limit", [1, 40, 150])
def test_a_part_of_the_way_makes_some_of_the_moves_and_violates_nothing(generated, whole, limit):
    problem = plan_question(generated, goal_of("local-traffic"), WhatIf()).problem
    part, target = part_of_the_way(problem, whole.placement, limit), renamed(problem, whole.placement)
    moved = part.moved_from(generated.placement)
    assert 0 < len(moved) <= limit < whole.moved
    assert (part.machine_of[moved] == target.machine_of[moved]).all()
    assert not check(generated.cluster, part, generated.placement)


def test_a_machine_gets_all_that_talks_before_the_next_one_gets_anything():
    builder = bp.ClusterBuilder("pairs").machines("m-{}", 4, cpu=4, memory="8Gi")
    for w, m in (("a", 0), ("b", 1), ("c", 0), ("d", 1)):
        builder = builder.workload(w, cpu=1, memory="1Gi", on=f"m-{m}")
    snapshot = builder.traffic("a", "b", 1.0).traffic("c", "d", 3.0).build()
    problem = plan_question(snapshot, goal_of("local-traffic"), WhatIf()).problem
    part = part_of_the_way(problem, Placement(machine_of=ints([2, 2, 3, 3])), 2)
    assert part.machine_of.tolist() == [0, 1, 3, 3]


def test_there_is_no_part_that_would_violate_a_rule():
    builder = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi")
    builder = builder.workload("a", cpu=1, memory="1Gi", on="m-0").workload("b", cpu=1, memory="1Gi", on="m-1")
    snapshot = builder.rule(bp.Interference(a=0, b=1, limit=0)).traffic("a", "b", 1.0).build()
    problem = plan_question(snapshot, goal_of("local-traffic"), WhatIf()).problem
    assert part_of_the_way(problem, Placement(machine_of=ints([1, 1])), 1) is None


@pytest.mark.long
def test_plans_in_turn_lead_further_than_plans_of_few_moves_each(generated):
    parts, alone = generated, generated
    for _ in range(2):
        answer = bp.plan(parts, goal="local-traffic", max_moves="100%", at_once=174, budget=STEPS)
        assert answer.moved <= 174
        parts = answer.after
        alone = bp.plan(alone, goal="local-traffic", max_moves=174, budget=STEPS).after
    shares = [local_share(each.cluster, each.placement) for each in (parts, alone)]
    assert shares[0] > shares[1] + 0.03


def test_what_is_urgent_comes_before_the_way():
    shop = bp.generate("boutique")
    answer = bp.plan(shop, max_moves="100%", at_once=7, budget=bp.Budget(iterations=20_000))
    assert answer.moved <= 7 and answer.urgent
    assert answer.figures.after.overload < answer.figures.before.overload
    assert answer.whole_gain is None


def test_a_plan_that_makes_all_moves_is_no_part(generated):
    answer = bp.plan(generated, max_moves="2%", at_once="50%", budget=bp.Budget(iterations=20_000))
    assert answer.whole_gain is None
