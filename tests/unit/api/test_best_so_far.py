"""The best so far of a search is a whole answer, and it is the search's own best."""

import numpy as np
import pytest

import bayplan as bp
from bayplan.api.planning.best_so_far import NOT_ORDERED, placement_question
from bayplan.api.planning.target import DROPPING, drop_idle_moves
from bayplan.check import check
from bayplan.model import singled_out

CALLS = {
    "plan": {"goal": "balance", "max_moves": "10%"},
    "rebalance": {"freeze": ["cart*"]},
    "place": {},
    "collocate": {"max_moves": "20%"},
}


def _watched(verb, snapshot, **options):
    """The answer of a verb, and every placement that it passed on the way with its rank."""
    question, passed = placement_question(verb, snapshot, options), []

    def progress(tick):
        if tick.solution is not None:
            placement = tick.solution()
            passed.append((question.rank(placement), placement))

    answer = getattr(bp, verb)(snapshot, budget=bp.Budget(iterations=20_000), progress=progress, **options)
    return question, answer, passed


@pytest.mark.parametrize("verb", CALLS)
def test_a_search_passes_placements_that_the_referee_accepts(verb):
    question, _, passed = _watched(verb, bp.generate("boutique"), **CALLS[verb])
    ranked = [entry for entry in passed if entry[0] is not None]
    assert ranked
    best = question.answer(min(ranked, key=lambda entry: entry[0])[1], seconds=1.5)
    assert best.interrupted and best.seconds == 1.5 and best.verb == verb
    assert not best.still_violated
    assert best.to_dict()["moved"] == best.moved
    assert (NOT_ORDERED in best.notes) == (verb == "plan")


def test_watching_a_search_does_not_change_its_answer():
    shop, budget = bp.generate("boutique"), bp.Budget(iterations=20_000)
    for verb in ("rebalance", "collocate", "plan"):
        _, watched, _ = _watched(verb, shop)
        assert watched.moves == getattr(bp, verb)(shop, budget=budget).moves


def test_the_last_best_of_a_rebalance_is_its_answer():
    question, answer, passed = _watched("rebalance", bp.generate("boutique"))
    assert min(rank for rank, _ in passed if rank is not None).cost == pytest.approx(answer.score["objective"])
    assert question.answer(passed[-1][1], 0.0).goal == answer.goal


def test_a_placement_that_moves_more_than_allowed_has_no_rank():
    shop = bp.generate("boutique")
    moved = bp.rebalance(shop, budget=bp.Budget(iterations=20_000))
    assert moved.moved > 1
    assert placement_question("rebalance", shop, {"max_moves": 1}).rank(moved.placement) is None
    assert placement_question("rebalance", shop, {}).rank(moved.placement) is not None


def test_only_a_better_placement_within_the_limit_of_moves_makes_a_better_answer():
    shop = bp.generate("boutique")
    moved = bp.rebalance(shop, budget=bp.Budget(iterations=20_000))
    question = placement_question("rebalance", shop, {})
    start, reached = question.rank(shop.placement), question.rank(moved.placement)
    assert reached < start
    rank, answer = question.better_answer(moved.placement, start, 1.5)
    assert rank == reached and answer.to_dict() == question.answer(moved.placement, 1.5).to_dict()
    assert question.better_answer(moved.placement, reached, 1.5) is None
    assert question.better_answer(shop.placement, reached, 1.5) is None
    assert placement_question("rebalance", shop, {"max_moves": 1}).better_answer(moved.placement, None, 1.5) is None


def test_replicas_that_only_change_names_have_not_moved():
    shop = bp.generate("boutique")
    workload, machine_of = shop.cluster.containers.workload, shop.placement.machine_of.copy()
    for w in set(workload.tolist()):
        own = np.flatnonzero((workload == w) & ~singled_out(shop.cluster))
        machine_of[own] = np.roll(machine_of[own], 1)
    swapped = bp.Placement(machine_of=machine_of)
    assert len(swapped.moved_from(shop.placement))
    question = placement_question("rebalance", shop, {"max_moves": 0})
    assert question.rank(swapped) == question.rank(shop.placement)
    assert question.answer(swapped, 0.0).moved == 0


def test_a_plan_reports_every_long_stage():
    stages = {}
    bp.plan(bp.generate("boutique"), budget=bp.Budget(iterations=20_000), progress=lambda tick: stages.setdefault(tick.stage))
    named = [stage for stage in stages if not stage.startswith("compiling")]
    assert named[0] == "preparing" and named[-1] == "explaining the moves"
    assert named.index("searching") < named.index(DROPPING) < named.index("planning")


def test_what_is_left_while_moves_are_dropped_is_the_best_so_far():
    shop, ticks = bp.generate("boutique"), []
    other = bp.plan(shop, goal="local-traffic", budget=bp.Budget(iterations=20_000)).placement
    question = placement_question("plan", shop, {"goal": "balance", "max_moves": "100%"})
    paid = drop_idle_moves(question.problem, other, progress=ticks.append)
    assert paid.dropped and {tick.stage for tick in ticks} == {DROPPING} and ticks[-1].done == 1.0
    passed = [tick.solution() for tick in ticks]
    cluster, before = question.problem.cluster, question.problem.before
    known = {violation.place: violation.excess for violation in check(cluster, before)}
    for placement in passed:
        assert all(violation.excess <= known.get(violation.place, 0.0) for violation in check(cluster, placement, before))
    ranks = [question.rank(placement) for placement in passed]
    assert ranks == sorted(ranks, reverse=True) and ranks[-1] < ranks[0]
    assert (passed[-1].machine_of == paid.placement.machine_of).all()


def test_a_call_that_makes_no_sense_has_no_question():
    shop = bp.generate("boutique")
    assert placement_question("plan", shop, {"goal": "nothing"}) is None
    assert placement_question("pack", shop, {}) is None
