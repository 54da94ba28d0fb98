"""The best so far of a search is a whole answer, and it is the search's own best."""

import pytest

import bayplan as bp
from bayplan.api.planning.best_so_far import NOT_ORDERED, placement_question

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
    for verb in ("rebalance", "collocate"):
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


def test_a_call_that_makes_no_sense_has_no_question():
    shop = bp.generate("boutique")
    assert placement_question("plan", shop, {"goal": "nothing"}) is None
    assert placement_question("pack", shop, {}) is None
