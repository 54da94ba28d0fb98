"""What a caller says about a decision, and the problem that it becomes."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.tiny_clusters import on, tiny

import bayplan as bp
from bayplan.api import registry
from bayplan.api.control import Control, options_from
from bayplan.api.problem import problem_of
from bayplan.api.registry import method_of
from bayplan.decide.rebalance import RebalanceOptions
from bayplan.errors import UsageError
from bayplan.model import Budget, Objective, Snapshot, Term


def snapshot() -> Snapshot:
    cluster = tiny([[9], [9]], [[1], [2]], [3, 2])
    stated = replace(Objective.default(cluster), explicit=True)
    return Snapshot(cluster=cluster, placement=on(0, 0, 1, 1, -1), objective=stated)


def test_weights_change_the_terms_that_are_named():
    weight = problem_of(snapshot(), weights={"affinity": 2, "balance": 0}).objective.weight
    assert (weight[Term.AFFINITY], weight[Term.BALANCE], weight[Term.UTILISATION]) == (2.0, 0.0, 1.0)


@pytest.mark.parametrize(("limit", "most"), [(3, 3), ("3", 3), (0, 0), ("50%", 2), ("30%", 1)])
def test_moves_are_limited_by_number_or_by_share_of_what_runs(limit, most):
    assert problem_of(snapshot(), max_moves=limit).max_moves == most


@pytest.mark.parametrize(
    ("pattern", "frozen"),
    [("w0-1", [False, True, False, False, False]), ("w0-*", [True] * 3 + [False] * 2), ("w1", [False] * 3 + [True, False])],
)
def test_containers_are_frozen_by_name_pattern_or_workload_if_they_run(pattern, frozen):
    assert problem_of(snapshot(), freeze=[pattern]).frozen.tolist() == frozen


def test_without_more_the_problem_is_the_snapshot():
    stated = snapshot()
    problem = problem_of(stated)
    assert problem.objective is stated.objective
    assert (problem.before, problem.start, problem.max_moves) == (stated.placement, stated.placement, None)
    assert problem.frozen.shape == np.zeros(0).shape


def test_an_input_without_an_objective_gets_that_of_the_default_goal():
    silent = replace(snapshot(), objective=Objective.default(snapshot().cluster))
    weight = problem_of(silent).objective.weight
    assert weight == problem_of(snapshot(), objective="steady").objective.weight
    assert weight[Term.OVERLOAD] > 10 * max(value for term, value in weight.items() if term is not Term.OVERLOAD)
    assert problem_of(silent, objective="freecontainer").objective.weight == silent.objective.weight


def test_an_objective_may_be_given_as_a_value():
    other = Objective.default(snapshot().cluster).with_weights({Term.AFFINITY: 1.0})
    assert problem_of(snapshot(), objective=other).objective is other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"objective": "cheap"}, "no objective 'cheap'; expected one of file, steady, freecontainer, gmrp"),
        ({"objective": "freecontaner"}, "did you mean 'freecontainer'"),
        ({"objective": "gmrp"}, "has no move costs; expected a GMRP model"),
        ({"weights": {"fun": 1}}, "no term 'fun'; expected one of utilisation"),
        ({"weights": {"afinity": 1}}, "did you mean 'affinity'"),
        ({"weights": {"moves": -1}}, "'-1' is not a number of 0 or more"),
        ({"weights": {"moves": float("nan")}}, "'nan' is not a number of 0 or more"),
        ({"max_moves": "some"}, "at most 'some' moves: expected a whole number"),
        ({"max_moves": -1}, "at most '-1' moves: expected a whole number"),
        ({"max_moves": "x%"}, "'x' is not a number"),
        ({"freeze": ["db-*"]}, "nothing to freeze is called 'db-\\*'"),
        ({"freeze": ["w00"]}, "did you mean 'w0-0'"),
    ],
)
def test_an_argument_that_makes_no_sense_names_itself_and_what_was_expected(arguments, message):
    with pytest.raises(UsageError, match=message):
        problem_of(snapshot(), **arguments)


@pytest.mark.parametrize("verb", ["place", "rebalance", "collocate", "pack", "admit", "schedule", "migrate"])
def test_an_unknown_method_lists_the_known_ones(verb):
    with pytest.raises(UsageError, match=f"no method 'magic'; expected one of {bp.methods(verb)[0]}"):
        method_of(verb, "magic")


def test_a_misspelt_method_verb_or_option_gets_a_hint():
    with pytest.raises(UsageError, match="did you mean 'sweep-search'"):
        method_of("rebalance", "sweepsearch")
    with pytest.raises(UsageError, match=r"no verb 'rebalanse'.*did you mean 'rebalance'"):
        bp.methods("rebalanse")
    with pytest.raises(UsageError, match=r"no option 'dleta'.*did you mean 'delta'"):
        options_from(RebalanceOptions, {"dleta": 0.1})


def test_an_option_out_of_range_is_a_usage_fault_and_none_is_the_default():
    with pytest.raises(UsageError, match=r"delta is 2.0; expected a share"):
        options_from(RebalanceOptions, {"delta": 2.0})
    assert options_from(RebalanceOptions, {"delta": None, "threads": 2}) == RebalanceOptions()


def test_a_budget_is_what_is_left_of_the_seconds():
    control = Control.of(10.0, 0, {"threads": 2})
    budget = control.method_budget(finish=0.1)
    assert 9.0 < budget.seconds < 9.86
    assert budget.threads == 2
    assert Control.of(0.0, 0, {}).method_budget(finish=0.1).seconds == 0.0
    stated = Budget(iterations=3)
    assert Control.of(10.0, 0, {"budget": stated}).method_budget(finish=0.1) is stated


def test_a_registered_method_works_by_its_name_and_cannot_hide_ours(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})

    @bp.register("rebalance", "stays")
    def stays(problem, options, *, budget, seed, progress):
        from bayplan.search.answer import answer

        return answer(problem, problem.start)

    assert "stays" in bp.methods("rebalance")
    assert bp.rebalance(snapshot(), method="stays").moved == 0
    with pytest.raises(UsageError, match="method 'search' of rebalance exists already"):
        bp.register("rebalance", "search")
