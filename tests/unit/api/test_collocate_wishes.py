"""What a user says about collocation, and what it becomes."""

import numpy as np
import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.api.collocate import STAYS, collocate, collocate_object
from bayplan.api.collocate_wishes import CollocateWishes, collocate_options, prioritised, question_of, read_gain
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.errors import UsageError
from bayplan.model import Objective, Reason, Result, Snapshot, Status, Term

KNOWN = {"partition": ["multi-stage", "none"], "select": ["gcn"], "engine": ["pool"]}


def snapshot(edges=((0, 1, 6.0), (1, 2, 2.0))) -> Snapshot:
    cluster = tiny([[9], [9]], [[1], [1], [1]], [2, 2, 2], edges=edges)
    return Snapshot(cluster=cluster, placement=on(0, 1, 0, 0, 1, 1), objective=Objective.default(cluster))


def answered(placement, left_out=(), notes=()):
    return lambda problem: Result(
        status=Status.FEASIBLE, solution=placement, score={"affinity": 0.5}, left_out=left_out, notes=notes
    )


def test_the_objective_is_gained_affinity_and_nothing_else():
    assert question_of(snapshot(), CollocateWishes(), "rasa").problem.objective.weight == {Term.AFFINITY: 1.0}


def test_a_price_of_moves_is_shared_by_all_containers_and_added_to_a_weight():
    wishes = CollocateWishes(move_price=0.6, weights=["moves=0.5", "balance=2"])
    weight = question_of(snapshot(), wishes, "best").problem.objective.weight
    assert weight == {Term.AFFINITY: 1.0, Term.BALANCE: 2.0, Term.MOVES: pytest.approx(0.5 + 0.6 / 6)}


def test_churn_budget_and_frozen_containers_go_into_the_problem():
    problem = question_of(snapshot(), CollocateWishes(max_moves="50%", freeze=["w1"]), "best").problem
    assert problem.max_moves == 3
    assert problem.frozen.tolist() == [False, False, True, True, False, False]


def test_an_edge_takes_the_larger_priority_of_its_ends():
    cluster, notes = prioritised(snapshot().cluster, ["w0=5", "w1=3"])
    assert cluster.traffic.weight.tolist() == [30.0, 6.0]
    assert "2 of 2 pairs" in notes[0]


def test_the_last_priority_that_fits_counts_and_low_ones_need_both_ends():
    cluster, _ = prioritised(snapshot().cluster, ["w*=0.5", "w2=1"])
    assert cluster.traffic.weight.tolist() == [3.0, 2.0]


def test_gains_are_shares_of_the_multiplied_traffic():
    question = question_of(snapshot(), CollocateWishes(priority=["w2=9"]), "best")
    before = collocate(question, answered(on(0, 1, 0, 0, 1, 1))).before
    assert before == pytest.approx((6 * 0.5 + 18 * 0.0) / 24)


@pytest.mark.parametrize(("text", "gain"), [("0.03", 0.03), ("3%", 0.03), ("0", 0.0), ("100%", 1.0)])
def test_a_least_gain_is_a_share_or_a_percentage(text, gain):
    assert read_gain(text) == pytest.approx(gain)


@pytest.mark.parametrize("text", ["3", "101%", "-1%", "much", "nan", ""])
def test_a_least_gain_beyond_the_total_affinity_is_a_usage_fault(text):
    with pytest.raises(UsageError, match="--min-gain"):
        read_gain(text)


@pytest.mark.parametrize(
    ("wishes", "method", "said"),
    [
        (
            CollocateWishes(weights=["balance=1"]),
            "rasa",
            "method 'rasa' looks at gained affinity alone; expected '--method best'",
        ),
        (CollocateWishes(weights=["fun=1"]), "best", "weight 'fun=1': expected TERM=VALUE"),
        (CollocateWishes(max_moves="few"), "best", "at most 'few' moves"),
        (CollocateWishes(freeze=["db*"]), "best", "nothing to freeze is called 'db"),
        (CollocateWishes(priority=["w0"]), "best", "--priority 'w0': expected NAME=X"),
        (CollocateWishes(priority=["=2"]), "best", "--priority '=2': expected NAME=X"),
        (CollocateWishes(priority=["db=2"]), "best", "no workload is called 'db'"),
        (CollocateWishes(priority=["w0=0"]), "best", "a multiplier above 0 and at most 1,000,000"),
        (CollocateWishes(priority=["w0=nan"]), "best", "'nan' is not a number of 0 or more"),
        (CollocateWishes(priority=["w0=1e300"]), "best", "a multiplier above 0 and at most"),
    ],
)
def test_a_wish_that_cannot_be_names_itself_and_what_was_expected(wishes, method, said):
    with pytest.raises(UsageError) as fault:
        question_of(snapshot(), wishes, method)
    assert said in str(fault.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (CollocateOptions(partition="halves"), "--partition 'halves': expected one of multi-stage, none"),
        (CollocateOptions(select="dice"), "--select 'dice': expected one of gcn"),
        (CollocateOptions(engine="steam"), "--engine 'steam': expected one of pool"),
        (CollocateOptions(trivial="gone"), "--trivial 'gone': expected one of refit, pinned"),
        (CollocateOptions(move_price=float("nan")), "--move-price nan: expected a number of 0 or more"),
        (CollocateOptions(move_price=float("inf")), "--move-price inf"),
        (CollocateOptions(masters=0), "--masters 0: expected 1 or more"),
    ],
)
def test_a_choice_that_does_not_exist_lists_those_that_do(options, said):
    with pytest.raises(UsageError, match=said):
        collocate_options(options, KNOWN)


def test_a_cluster_without_traffic_is_told_so():
    assert "no affinity to gain" in question_of(snapshot(edges=()), CollocateWishes(), "best").notes[0]


def test_moves_are_a_share_of_what_ran():
    done = collocate(question_of(snapshot(), CollocateWishes(), "best"), answered(on(0, 1, 0, 1, 1, 1)))
    assert (done.before, done.after) == pytest.approx((6 / 8 * 0.5, 6 / 8 * 1.0 + 2 / 8 * 0.5))
    assert collocate_object(done)["moved_share"] == pytest.approx(1 / 6)


def test_why_nothing_moves_is_no_container_that_is_left_out():
    some = snapshot()
    notes = (f"{STAYS}too little", "partition: none is balanced")
    answer = answered(some.placement, left_out=(Reason("w0", "0/2 machines fit"),), notes=notes)
    done = collocate(question_of(some, CollocateWishes(), "best"), answer)
    assert (done.stays, [reason.subject for reason in done.left_out]) == ("too little", ["w0"])
    assert done.remarks == ("partition: none is balanced",)
    assert np.array_equal(done.decision.after.placement.machine_of, some.placement.machine_of)
