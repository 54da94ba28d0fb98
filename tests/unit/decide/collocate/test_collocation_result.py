"""Answers carry their gained affinity, and are only given where they are worth it."""

from dataclasses import replace

import pytest
from tests.builders.three_services import problem_of

from bayplan.decide.collocate.finish import collocation_result, objection
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.errors import ModelError
from bayplan.model import Capacity, Placement, Term, Traffic, ints
from bayplan.score.affinity import gained_affinity

TOGETHER = Placement(machine_of=ints([0, 0, 0, 0, 0, 0, 0, 1, 2]))
APART = Placement(machine_of=ints([0, 0, 0, 0, 1, 1, 1, 1, 2]))
NOW = 1 / 3 + 1 / 2  # what the start gains


def test_the_goal_is_the_gained_affinity():
    result = collocation_result(problem_of(), TOGETHER, bound=1.0, seconds=2.0)
    assert (result.goal, result.score["affinity"], result.bound, result.seconds) == ("affinity", 1.0, 1.0, 2.0)
    assert result.score["moves"] == 4


@pytest.mark.parametrize("weight", [{}, {Term.MOVES: 1.0}, {Term.AFFINITY: 1.0}])
def test_affinity_is_scored_whatever_the_objective(weight):
    problem = problem_of()
    problem = replace(problem, objective=problem.objective.with_weights(weight))
    assert collocation_result(problem, TOGETHER).score["affinity"] == 1.0


def test_without_traffic_nothing_is_gained():
    problem = problem_of()
    problem = replace(problem, cluster=replace(problem.cluster, traffic=Traffic.none()))
    assert collocation_result(problem, TOGETHER).score["affinity"] == 0.0


def test_a_bound_may_be_passed_by_rounding_only():
    assert collocation_result(problem_of(), TOGETHER, bound=1.0 - 1e-12).bound == 1.0
    with pytest.raises(ModelError, match="no bound"):
        collocation_result(problem_of(), TOGETHER, bound=0.9)


def test_a_broken_rule_never_gets_out():
    problem = problem_of(rules=(Capacity(resources=(0,)),), capacity=8)
    with pytest.raises(ModelError, match="capacity"):
        collocation_result(problem, TOGETHER)


def objection_to(placement, problem=None, **options):
    problem = problem or problem_of()
    return objection(problem, placement, CollocateOptions(**options), problem.start)


def test_a_good_answer_is_given():
    assert objection_to(TOGETHER, least_gain=0.1) == ""


def test_a_small_gain_is_not_worth_any_move():
    why = objection_to(TOGETHER, least_gain=0.2)
    assert why == "the best placement gains 0.1667 of the total affinity, less than 0.2"


def test_a_worse_answer_is_not_given():
    assert "worse by 0.8333" in objection_to(APART)


def test_moves_that_gain_nothing_are_not_made():
    problem = problem_of()
    problem = replace(problem, cluster=replace(problem.cluster, traffic=Traffic.none()))
    assert objection_to(TOGETHER, problem) == "there is nothing to gain by a move"


@pytest.mark.parametrize(("weight", "given"), [(0.001, False), (1000.0, True)])  # APART loses affinity, and is more even
def test_where_other_terms_count_all_of_them_say_what_is_worse(weight, given):
    problem = problem_of()
    terms = {Term.AFFINITY: 1.0, Term.UTILISATION: weight}
    both = replace(problem, objective=problem.objective.with_weights(terms))
    assert (objection_to(APART, both) == "") is given


def test_moves_have_their_price():
    assert objection_to(TOGETHER, move_price=0.3) == ""  # four of nine move
    assert objection_to(TOGETHER, move_price=0.4) != ""


def test_more_moves_than_allowed_are_not_given():
    assert objection_to(TOGETHER, replace(problem_of(), max_moves=3)) == "4 containers would move, at most 3 may"


def test_an_answer_that_leaves_more_out_is_not_given():
    fewer = Placement(machine_of=ints([0, 0, 0, 0, 0, 0, 0, 1, -1]))
    assert objection_to(fewer) == "containers without a machine would be 1 instead of 0"


def test_more_containers_are_no_reason_to_lose_affinity():
    problem = problem_of()
    start = Placement(machine_of=ints([*problem.start.machine_of[:-1], -1]))
    problem = replace(problem, start=start, before=start)
    loss = gained_affinity(problem.cluster, start)
    assert objection_to(APART, problem) == f"the placement with most containers loses {loss:.4f} of the total affinity"
    assert objection_to(TOGETHER, problem, least_gain=0.9) == ""  # a container more is worth the moves


def test_where_other_terms_count_more_containers_may_cost_affinity():
    problem = problem_of()
    start = Placement(machine_of=ints([*problem.start.machine_of[:-1], -1]))
    terms = problem.objective.with_weights({Term.AFFINITY: 1.0, Term.UTILISATION: 1.0})
    assert objection_to(APART, replace(problem, start=start, before=start, objective=terms)) == ""
