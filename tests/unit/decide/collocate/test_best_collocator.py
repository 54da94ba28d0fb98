"""The best collocator: what it weighs, what it keeps, and that it finds what can be seen."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from tests.builders.collocations import pairs_apart

from bayplan.decide.collocate import CollocateOptions
from bayplan.decide.collocate.best import best, move_price
from bayplan.decide.collocate.finish import has_other_terms
from bayplan.model import Budget, Objective, Result, Term, Transient, TransientMode, silent
from bayplan.model.interrupt import stoppable
from bayplan.model.problem import Problem

OPTIONS = CollocateOptions()


def asked(problem: Problem, options: CollocateOptions = OPTIONS, steps: int = 4_000, seed: int = 0, threads: int = 1) -> Result:
    return best(problem, options, budget=Budget(iterations=steps, threads=threads), seed=seed, progress=silent)


def test_pairs_come_together():
    result = asked(Problem.of(pairs_apart(4)))
    assert result.score["affinity"] == pytest.approx(1.0)
    assert 8 <= result.score["moves"] <= 12  # of two services that talk, one at least moves; 16 containers could


def test_a_cap_on_moves_is_kept_and_used():
    result = asked(Problem.of(pairs_apart(4, spare=2), max_moves=4), steps=20_000)
    assert result.score["moves"] <= 4
    assert result.score["affinity"] == pytest.approx(0.5)


def test_moves_that_cost_more_than_they_gain_are_not_made():
    problem = Problem.of(pairs_apart(4))
    assert asked(problem, CollocateOptions(move_price=100.0)).score["moves"] == 0
    assert asked(problem, CollocateOptions(move_price=0.01)).score["affinity"] == pytest.approx(1.0)


def test_a_gain_below_the_least_moves_nothing():
    result = asked(Problem.of(pairs_apart(4), max_moves=2), CollocateOptions(least_gain=0.5))
    assert result.score["moves"] == 0
    assert any("less than 0.5" in note for note in result.notes)


def test_what_is_frozen_stays():
    snapshot = pairs_apart(3)
    frozen = np.zeros(len(snapshot.placement.machine_of), dtype=np.bool_)
    frozen[:6] = True
    result = asked(Problem.of(snapshot, frozen=frozen))
    assert (result.solution.machine_of[:6] == snapshot.placement.machine_of[:6]).all()
    assert result.score["affinity"] == pytest.approx(0.5)  # one pair is apart, and there is no room for both others


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_seed_and_steps_give_the_same_answer(threads):
    problem = Problem.of(pairs_apart(6, replicas=3))
    answers = [asked(problem, seed=5, steps=300, threads=threads).solution.machine_of for _ in range(2)]
    assert (answers[0] == answers[1]).all()


def test_a_transient_rule_is_kept_by_the_search_over_all_rules():
    snapshot = pairs_apart(2)
    rule = Transient(resource=0, mode=TransientMode.JOINT)
    tight = replace(snapshot, cluster=replace(snapshot.cluster, rules=(*snapshot.cluster.rules, rule)))
    result = asked(Problem.of(tight), steps=2_000)
    assert result.score["affinity"] == pytest.approx(0.5)  # a machine takes one more container beside those that leave


def test_other_terms_are_weighed_beside_affinity():
    snapshot = pairs_apart(3)
    default = Objective.default(snapshot.cluster)
    assert not has_other_terms(default)  # it says nothing of affinity: then affinity is what is meant
    both = default.with_weights({Term.AFFINITY: 1.0, Term.UTILISATION: 1e6})
    assert has_other_terms(both)
    result = asked(replace(Problem.of(snapshot), objective=both), steps=2_000)
    assert np.bincount(result.solution.machine_of).tolist() == [4, 4, 4]


def test_the_price_of_a_move_is_the_objectives_or_the_options():
    problem = Problem.of(pairs_apart(2))
    assert move_price(problem, CollocateOptions(move_price=0.8)) == pytest.approx(0.1)
    weighted = problem.objective.with_weights({Term.AFFINITY: 2.0, Term.MOVES: 0.5})
    assert move_price(replace(problem, objective=weighted), CollocateOptions(move_price=0.8)) == pytest.approx(0.25)


def test_no_traffic_moves_nothing():
    snapshot = pairs_apart(2)
    from bayplan.model import Traffic

    silent_cluster = replace(snapshot, cluster=replace(snapshot.cluster, traffic=Traffic.none()))
    result = asked(Problem.of(silent_cluster))
    assert result.score["affinity"] == 0.0
    assert result.score["moves"] == 0


def test_a_search_that_is_stopped_while_it_anneals_begins_no_other(monkeypatch):
    snapshot = pairs_apart(4)
    both = Objective.default(snapshot.cluster).with_weights({Term.AFFINITY: 1.0, Term.UTILISATION: 0.1})
    problem = replace(Problem.of(snapshot), objective=both)
    searched, scores = [], []
    monkeypatch.setattr(import_module("bayplan.decide.collocate.best"), "search", lambda at, **_: searched.append(at) or at.start)
    with stoppable() as stop:

        def stop_it(tick):
            if tick.stage == "annealing" and tick.done > 0.5:
                stop.requested = True
                scores.append(tick.score)

        result = best(problem, OPTIONS, budget=Budget(iterations=4_000), seed=0, progress=stop_it)
    assert scores and not searched
    assert result.score["affinity"] >= scores[-1] - 1e-9  # the best so far is kept
    asked(problem)
    assert searched  # one that is not stopped goes on with all terms
