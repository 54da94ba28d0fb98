"""What a user says about a decision, and what it becomes."""

import numpy as np
import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.api.decide import budget_for, chosen
from bayplan.api.wishes import Wishes, problem_of
from bayplan.errors import UsageError
from bayplan.model import Objective, Snapshot, Term


def snapshot() -> Snapshot:
    cluster = tiny([[9], [9]], [[1], [2]], [3, 2])
    return Snapshot(cluster=cluster, placement=on(0, 0, 1, 1, -1), objective=Objective.default(cluster))


def test_weights_change_the_terms_that_are_named():
    weight = problem_of(snapshot(), Wishes(weights=["affinity=2", "balance=0"])).objective.weight
    assert (weight[Term.AFFINITY], weight[Term.BALANCE], weight[Term.UTILISATION]) == (2.0, 0.0, 1.0)


@pytest.mark.parametrize(("text", "most"), [("3", 3), ("0", 0), ("50%", 2), ("30%", 1)])
def test_moves_are_limited_by_number_or_by_share_of_what_runs(text, most):
    assert problem_of(snapshot(), Wishes(max_moves=text)).max_moves == most


@pytest.mark.parametrize(
    ("pattern", "frozen"),
    [("w0-1", [False, True, False, False, False]), ("w0-*", [True] * 3 + [False] * 2), ("w1", [False] * 3 + [True, False])],
)
def test_containers_are_frozen_by_name_pattern_or_workload_if_they_run(pattern, frozen):
    assert problem_of(snapshot(), Wishes(freeze=[pattern])).frozen.tolist() == frozen


def test_without_wishes_the_problem_is_the_snapshot():
    some = snapshot()
    problem = problem_of(some, Wishes())
    assert problem.objective is some.objective
    assert (problem.before, problem.start, problem.max_moves) == (some.placement, some.placement, None)
    assert problem.frozen.shape == np.zeros(0).shape


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (Wishes(objective="cheap"), "no objective 'cheap'; expected one of file, default, gmrp"),
        (Wishes(objective="gmrp"), "has no move costs; expected a GMRP model"),
        (Wishes(weights=["fun=1"]), "weight 'fun=1': expected TERM=VALUE, TERM one of utilisation"),
        (Wishes(weights=["moves"]), "weight 'moves': expected TERM=VALUE"),
        (Wishes(weights=["moves=-1"]), "'-1' is not a number of 0 or more"),
        (Wishes(weights=["moves=nan"]), "'nan' is not a number of 0 or more"),
        (Wishes(max_moves="some"), "at most 'some' moves: expected a whole number"),
        (Wishes(max_moves="x%"), "'x' is not a number"),
        (Wishes(freeze=["db-*"]), "nothing to freeze is called 'db-\\*'"),
    ],
)
def test_a_wish_that_cannot_be_names_itself_and_what_was_expected(wishes, said):
    with pytest.raises(UsageError, match=said):
        problem_of(snapshot(), wishes)


def test_an_unknown_method_lists_the_known_ones():
    with pytest.raises(UsageError, match="no method 'magic'; expected one of a, b"):
        chosen({"a": 1, "b": 2}, "magic")


def test_a_budget_is_what_is_left_of_the_seconds():
    budget = budget_for(snapshot(), seconds=10.0, used=4.0, threads=2)
    assert 5.0 < budget.seconds < 6.0
    assert budget.threads == 2
    assert budget_for(snapshot(), seconds=1.0, used=4.0, threads=1).seconds == 0.0
