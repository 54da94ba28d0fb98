"""Every way to collocate keeps its promises, on any cluster."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.builders.strategies import snapshots, valid_snapshots
from tests.builders.tiny_clusters import on, tiny
from tests.naive.collocate_new import placeable

from bayplan.check import check
from bayplan.decide.collocate import COLLOCATORS, CollocateOptions
from bayplan.errors import UsageError
from bayplan.model import (
    UNPLACED,
    Budget,
    Capacity,
    Confidence,
    Objective,
    Pinned,
    Term,
    Tick,
    Traffic,
    Transient,
    TransientMode,
    silent,
)
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity
from bayplan.score.gmrp import moves
from bayplan.search.answer import excess_by_kind

every_collocator = pytest.mark.parametrize("name", COLLOCATORS)
few = settings(max_examples=8, deadline=None, phases=(Phase.explicit, Phase.generate))  # integer programs shrink slowly
OPTIONS = CollocateOptions(engine="here")
KNOW_ALL_RULES = {"best", "original"}
SHORT = Budget(iterations=40)


def asked(snapshot, name, **problem):
    """The problem of a snapshot, its objective the gained affinity, without the rules that a method refuses."""
    cluster = snapshot.cluster
    if name not in KNOW_ALL_RULES:
        rules = tuple(rule for rule in cluster.rules if not isinstance(rule, Transient | Confidence))
        cluster = replace(cluster, rules=rules)
    objective = snapshot.objective.with_weights({Term.AFFINITY: 1.0})
    return Problem.of(replace(snapshot, cluster=cluster, objective=objective), **problem)


def problem_at(cluster, start):
    """The problem of a hand-made cluster, its objective the gained affinity."""
    objective = Objective.default(cluster).with_weights({Term.AFFINITY: 1.0})
    return Problem(cluster=cluster, objective=objective, before=start, start=start)


def answer(name, problem, options=OPTIONS, *, budget=SHORT, seed=1, progress=silent):
    result = COLLOCATORS[name](problem, options, budget=budget, seed=seed, progress=progress)
    assert result.solution is not None
    return result


def solution(name, problem, options=OPTIONS, **how):
    return answer(name, problem, options, **how).solution


@every_collocator
@few
@given(snapshot=valid_snapshots(), seed=st.integers(0, 3))
def test_never_breaks_a_rule_that_was_kept(name, snapshot, seed):
    problem = asked(snapshot, name)
    assert not check(problem.cluster, solution(name, problem, seed=seed), problem.before)


@every_collocator
@few
@given(snapshot=snapshots(), seed=st.integers(0, 3))
def test_never_breaks_a_kind_of_rule_by_more(name, snapshot, seed):
    problem = asked(snapshot, name)
    after = solution(name, problem, seed=seed)
    then, now = (excess_by_kind(check(problem.cluster, some, problem.before)) for some in (problem.before, after))
    assert all(excess <= then.get(kind, 0.0) + 1e-6 for kind, excess in now.items())


@every_collocator
@few
@given(snapshot=snapshots(), seed=st.integers(0, 3))
def test_leaves_no_container_without_the_machine_it_had(name, snapshot, seed):
    problem = asked(snapshot, name)
    ran = problem.before.machine_of != UNPLACED
    assert (solution(name, problem, seed=seed).machine_of[ran] != UNPLACED).all()


@every_collocator
@few
@given(snapshot=st.one_of(snapshots(), valid_snapshots(complete=False), valid_snapshots(complete=True)))
def test_gains_no_less_than_the_start_and_says_how_much(name, snapshot):
    problem = asked(snapshot, name)
    result = answer(name, problem)
    gained = gained_affinity(problem.cluster, result.solution)
    assert gained >= gained_affinity(problem.cluster, problem.start) - 1e-9
    assert result.goal == "affinity" and result.score["affinity"] == pytest.approx(gained)


@every_collocator
@few
@given(snapshot=valid_snapshots(complete=False), seed=st.integers(0, 3))
def test_leaves_nothing_out_that_fits_beside_the_others(name, snapshot, seed):
    problem = asked(snapshot, name)
    result = answer(name, problem, seed=seed)
    assert bool(result.left_out) == bool(len(result.solution.unplaced))
    assert name == "original" or not placeable(problem, result.solution)


@every_collocator
@few
@given(snapshot=snapshots())
def test_the_same_seed_and_iterations_give_the_same_answer(name, snapshot):
    problem = asked(snapshot, name)
    first, second = (solution(name, problem, budget=Budget(iterations=23), seed=5) for _ in range(2))
    assert np.array_equal(first.machine_of, second.machine_of)


@every_collocator
@few
@given(snapshot=snapshots(), data=st.data())
def test_what_is_frozen_or_pinned_stays(name, snapshot, data):
    n_c = len(snapshot.cluster.containers.name)
    frozen = np.array(data.draw(st.lists(st.booleans(), min_size=n_c, max_size=n_c)), dtype=np.bool_)
    after = solution(name, asked(snapshot, name, frozen=frozen))
    stays = frozen.copy()
    for rule in snapshot.cluster.rules:
        if isinstance(rule, Pinned):
            stays[list(rule.containers)] = True
    stays &= snapshot.placement.machine_of != UNPLACED
    assert np.array_equal(after.machine_of[stays], snapshot.placement.machine_of[stays])


@every_collocator
@few
@given(snapshot=valid_snapshots(), most=st.integers(0, 3))
def test_moves_no_more_than_the_churn_budget(name, snapshot, most):
    problem = asked(snapshot, name, max_moves=most)
    assert moves(problem.cluster, solution(name, problem), problem.before) <= most


@every_collocator
@few
@given(snapshot=valid_snapshots(complete=True))
def test_nothing_moves_if_less_is_gained_than_wanted(name, snapshot):
    problem = asked(snapshot, name)
    after = solution(name, problem, replace(OPTIONS, least_gain=1.01))
    assert np.array_equal(after.machine_of, problem.before.machine_of)


@every_collocator
@few
@given(snapshot=valid_snapshots(complete=True))
def test_nothing_moves_if_moves_cost_more_than_there_is_to_gain(name, snapshot):
    n_c = len(snapshot.cluster.containers.name)
    options, problem = replace(OPTIONS, move_price=1.01 * max(1, n_c)), asked(snapshot, name)
    weight = {Term.AFFINITY: 1.0, Term.MOVES: options.move_price / max(1, n_c)}
    priced = replace(problem, objective=problem.objective.with_weights(weight))
    assert moves(problem.cluster, solution(name, priced, options), problem.before) == 0


@every_collocator
@few
@given(snapshot=valid_snapshots(complete=True))
def test_a_bound_is_never_below_an_answer(name, snapshot):
    result = answer(name, asked(snapshot, name), replace(OPTIONS, bound=True), budget=Budget(iterations=40, seconds=0.2))
    assert result.bound is None or result.bound >= result.score["affinity"] - 1e-9


@every_collocator
@few
@given(snapshot=snapshots())
def test_no_time_at_all_gives_an_answer_all_the_same(name, snapshot):
    solution(name, asked(snapshot, name), budget=Budget(seconds=0.0))


@every_collocator
@pytest.mark.parametrize("order", [(1, 2), (2, 1, 2)], ids=str)
def test_one_process_may_ask_with_one_thread_and_with_two(name, order):
    cluster = tiny([[10]] * 4, [[3], [2], [3]], [4, 4, 4], edges=[(0, 1, 2.0), (1, 2, 1.0)], rules=(Capacity(resources=(0,)),))
    problem = problem_at(cluster, on(0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1))
    gained = [answer(name, problem, budget=Budget(seconds=1.0, threads=n)).score["affinity"] for n in order]
    assert gained == [pytest.approx(gained[0])] * len(order)


@every_collocator
@few
@given(snapshot=snapshots())
def test_tells_how_far_it_is(name, snapshot):
    ticks: list[Tick] = []
    answer(name, asked(snapshot, name), progress=ticks.append)
    assert all(0 <= tick.done <= 1 for tick in ticks)


@every_collocator
@few
@given(snapshot=valid_snapshots(complete=True))
def test_without_traffic_nothing_moves_and_nothing_is_gained(name, snapshot):
    quiet = replace(snapshot, cluster=replace(snapshot.cluster, traffic=Traffic.none()))
    problem = asked(quiet, name)
    result = answer(name, problem)
    assert result.score["affinity"] == 0.0
    assert moves(problem.cluster, result.solution, problem.before) == 0


@every_collocator
@few
@given(snapshot=valid_snapshots())
def test_a_rule_that_counts_for_every_move_is_known_or_refused_by_name(name, snapshot):
    cluster = snapshot.cluster
    rules = tuple(rule for rule in cluster.rules if not isinstance(rule, Transient | Confidence))
    strict = replace(cluster, rules=(*rules, Transient(resource=0, mode=TransientMode.JOINT)))
    problem = Problem.of(replace(snapshot, cluster=strict))
    if name in KNOW_ALL_RULES:
        then, now = (excess_by_kind(check(strict, some, problem.before)) for some in (problem.before, solution(name, problem)))
        assert all(excess <= then.get(kind, 0.0) + 1e-6 for kind, excess in now.items())
    else:
        with pytest.raises(UsageError, match=f"method '{name}' does not know transient rules; expected 'best'"):
            solution(name, problem)
