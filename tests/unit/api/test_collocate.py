"""What a caller says about collocation, and what the answer says."""

import numpy as np
import pytest
from tests.builders.tiny_clusters import on, tiny

import bayplan as bp
from bayplan.api.collocate import prioritised
from bayplan.cli.options.shared import share
from bayplan.errors import UsageError
from bayplan.model import Objective, Reason, Result, Snapshot, Status, Term


def snapshot(edges=((0, 1, 6.0), (1, 2, 2.0))) -> Snapshot:
    cluster = tiny([[9], [9]], [[1], [1], [1]], [2, 2, 2], edges=edges)
    return Snapshot(cluster=cluster, placement=on(0, 1, 0, 0, 1, 1), objective=Objective.default(cluster))


@pytest.fixture
def answers(monkeypatch):
    """Makes the method 'best' a fake that gives one answer, and keeps the problems that it was asked."""
    asked = []

    def give(placement, **fields):
        def fake(problem, options, *, budget, seed, progress):
            asked.append(problem)
            return Result(status=Status.FEASIBLE, solution=placement, score={"affinity": 0.5}, goal="affinity", **fields)

        from bayplan.decide import collocate as package

        monkeypatch.setattr(package, "COLLOCATORS", {"best": fake, "rasa": fake})
        return asked

    return give


def problem_for(answers, **arguments):
    asked = answers(snapshot().placement)
    bp.collocate(snapshot(), **arguments)
    return asked[-1]


def test_the_objective_is_gained_affinity_and_nothing_else(answers):
    assert problem_for(answers, method="rasa").objective.weight == {Term.AFFINITY: 1.0}


def test_a_price_of_moves_is_shared_by_all_containers_and_added_to_a_weight(answers):
    weight = problem_for(answers, move_price=0.6, weights={"moves": 0.5, "balance": 2}).objective.weight
    assert weight == {Term.AFFINITY: 1.0, Term.BALANCE: 2.0, Term.MOVES: pytest.approx(0.5 + 0.6 / 6)}


def test_a_cap_on_moves_and_frozen_containers_go_into_the_problem(answers):
    problem = problem_for(answers, max_moves="50%", freeze=["w1"])
    assert problem.max_moves == 3
    assert problem.frozen.tolist() == [False, False, True, True, False, False]


def test_an_edge_takes_the_larger_priority_of_its_ends():
    cluster, notes = prioritised(snapshot().cluster, {"w0": 5, "w1": 3})
    assert cluster.traffic.weight.tolist() == [30.0, 6.0]
    assert "2 of 2 pairs" in notes[0]


def test_the_last_priority_that_matches_counts_and_low_ones_need_both_ends():
    cluster, _ = prioritised(snapshot().cluster, {"w*": 0.5, "w2": 1})
    assert cluster.traffic.weight.tolist() == [3.0, 2.0]


def test_gains_are_shares_of_the_multiplied_traffic(answers):
    answers(on(0, 1, 0, 0, 1, 1))
    answer = bp.collocate(snapshot(), priority={"w2": 9})
    assert answer.before["affinity"] == pytest.approx((6 * 0.5 + 18 * 0.0) / 24)
    assert "priorities multiply the traffic" in answer.notes[0]


@pytest.mark.parametrize(("text", "gain"), [("0.03", 0.03), ("3%", 0.03), ("0", 0.0), ("100%", 1.0)])
def test_a_least_gain_is_a_share_or_a_percentage(text, gain):
    assert share(text, "--min-gain") == pytest.approx(gain)


@pytest.mark.parametrize("text", ["3", "101%", "-1%", "much", "nan", ""])
def test_a_least_gain_beyond_the_total_affinity_is_a_usage_fault(text):
    with pytest.raises(UsageError, match="--min-gain"):
        share(text, "--min-gain")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": {"balance": 1}, "method": "rasa"}, "method 'rasa' looks at gained affinity alone; expected method 'best'"),
        ({"weights": {"fun": 1}}, "no term 'fun'"),
        ({"max_moves": "few"}, "at most 'few' moves"),
        ({"freeze": ["db*"]}, "nothing to freeze is called 'db"),
        ({"priority": {"db": 2}}, "no workload is called 'db'"),
        ({"priority": {"w0": 0}}, "a multiplier above 0 and at most 1,000,000"),
        ({"priority": {"w0": float("nan")}}, "'nan' is not a number of 0 or more"),
        ({"priority": {"w0": 1e300}}, "a multiplier above 0 and at most"),
        ({"partition": "halves"}, "partition 'halves': expected one of multi-stage"),
        ({"select": "dice"}, "select 'dice': expected one of gcn"),
        ({"engine": "steam"}, "engine 'steam': expected one of"),
        ({"trivial": "gone"}, "trivial 'gone': expected one of refit, pinned"),
        ({"move_price": float("nan")}, "move price nan: expected a number of 0 or more"),
        ({"move_price": float("inf")}, "move price inf"),
        ({"masters": 0}, "masters 0: expected 1 or more"),
        ({"least_gain": 3.0}, "least gain 3.0: expected a share of the total affinity"),
        ({"engin": "pool"}, "no option 'engin'; expected one of .*did you mean 'engine'"),
    ],
)
def test_an_argument_that_makes_no_sense_names_itself_and_what_was_expected(arguments, message, answers):
    answers(snapshot().placement)
    with pytest.raises(UsageError, match=message):
        bp.collocate(snapshot(), **arguments)


def test_a_cluster_without_traffic_is_noted(answers):
    answers(snapshot().placement)
    assert "no affinity to gain" in bp.collocate(snapshot(edges=())).notes[0]


def test_moves_are_a_share_of_what_ran(answers):
    answers(on(0, 1, 0, 1, 1, 1))
    answer = bp.collocate(snapshot())
    assert answer.before["affinity"] == pytest.approx(6 / 8 * 0.5)
    assert answer.moved_share == answer.details()["moved_share"] == pytest.approx(1 / 6)
    assert [tuple(move) for move in answer.moves] == [("w1-1", "m0", "m1")]


def test_why_nothing_moves_is_a_note_and_no_container_that_is_left_out(answers):
    notes = ("nothing moves: too little", "partition: none is balanced")
    answers(snapshot().placement, left_out=(Reason("w0", "0/2 machines fit"),), notes=notes)
    answer = bp.collocate(snapshot())
    assert (answer.notes, [reason.subject for reason in answer.left_out]) == (notes, ["w0"])
    assert np.array_equal(answer.placement.machine_of, snapshot().placement.machine_of)
