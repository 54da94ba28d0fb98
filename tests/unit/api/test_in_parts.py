"""`plan`, `rebalance` and `collocate` in parts: when, how it is said, and the same on every engine."""

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

import bayplan as bp
from bayplan.errors import UsageError
from bayplan.search.parts import PARTS_FROM, number_of_parts
from bayplan.search.parts.solve import PART_SIZE

BUDGET = bp.Budget(iterations=3_000)
VERBS = {"plan": bp.plan, "rebalance": bp.rebalance, "collocate": bp.collocate}
every_verb = pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)


@pytest.fixture(scope="module")
def shop() -> bp.Snapshot:
    return cluster_of(machines=12, services=6, replicas=6)


def test_small_clusters_are_solved_as_a_whole_and_very_large_ones_in_parts():
    assert number_of_parts(PARTS_FROM) == 1
    assert number_of_parts(PARTS_FROM + 1) == -(-(PARTS_FROM + 1) // PART_SIZE) > 1
    assert number_of_parts(10, wanted=3) == 3
    assert number_of_parts(10 * PARTS_FROM, wanted=1) == 1


@every_verb
def test_notes_say_that_it_was_done_in_parts(verb, shop: bp.Snapshot):
    assert any(note.startswith("in 3 parts") for note in verb(shop, parts=3, budget=BUDGET, engine="here").result.notes)
    assert not any("parts" in note for note in verb(shop, budget=BUDGET).result.notes)


@every_verb
def test_the_answer_is_the_same_on_every_engine_and_number_of_workers(verb, shop: bp.Snapshot):
    budgets = bp.Budget(iterations=3_000), bp.Budget(iterations=3_000, threads=2)
    answers = [
        verb(shop, parts=3, max_moves=8, budget=budget, engine=engine).placement.machine_of
        for engine, budget in (("here", budgets[0]), ("here", budgets[1]), ("pool", budgets[1]))
    ]
    assert all(np.array_equal(answers[0], other) for other in answers[1:])


@every_verb
def test_no_more_containers_move_than_may(verb, shop: bp.Snapshot):
    assert 0 < verb(shop, parts=3, max_moves=8, budget=BUDGET, engine="here").moved <= 8


@every_verb
@pytest.mark.parametrize("parts", [0, -1, 1.5, True, "2"])
def test_a_number_of_parts_that_makes_no_sense_is_refused(verb, shop: bp.Snapshot, parts):
    with pytest.raises(UsageError, match="parts"):
        verb(shop, parts=parts, budget=BUDGET)


def test_methods_that_know_no_parts_say_so(shop: bp.Snapshot):
    with pytest.raises(UsageError, match="as a whole"):
        bp.rebalance(shop, method="greedy", parts=2)
    with pytest.raises(UsageError, match="as a whole"):
        bp.plan(shop, goal="fewer-machines", parts=2)


def test_more_parts_than_machines_are_as_many_as_there_are_machines(shop: bp.Snapshot):
    assert bp.rebalance(shop, parts=500, budget=BUDGET, engine="here").result.solution is not None


def test_a_part_of_the_way_is_decided_on_in_parts_too(shop: bp.Snapshot):
    answer = bp.plan(shop, parts=3, at_once=4, max_moves="50%", budget=BUDGET, engine="here")
    assert 0 < answer.moved <= 4
