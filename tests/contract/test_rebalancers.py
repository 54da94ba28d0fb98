"""What holds for every method to rebalance, on any cluster."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import every_term_objectives, snapshots, valid_snapshots

from bayplan.check import check
from bayplan.decide.rebalance import REBALANCERS, RebalanceOptions, literal_greedy, search_only, sweep_only
from bayplan.formats.builder import ClusterBuilder
from bayplan.model import UNPLACED, Budget, Pinned, Tick, silent
from bayplan.model.problem import Problem
from bayplan.score.gmrp import moves
from bayplan.score.terms import weighted
from bayplan.search.answer import excess_by_kind

STAGES = {"sweep-only": sweep_only, "search-only": search_only, "literal-greedy": literal_greedy}  # for comparisons
every_rebalancer = pytest.mark.parametrize("rebalance", REBALANCERS.values(), ids=REBALANCERS)
every_stage_too = pytest.mark.parametrize("rebalance", [*REBALANCERS.values(), *STAGES.values()], ids=[*REBALANCERS, *STAGES])
few = settings(max_examples=25, deadline=None)
OPTIONS = RebalanceOptions(delta=0.3, safety=0.3)  # small clusters: most machines are at one end


def solution(rebalance, problem, iterations=60, seed=1):
    result = rebalance(problem, OPTIONS, budget=Budget(iterations=iterations), seed=seed, progress=silent)
    assert result.solution is not None
    return result.solution


def cost(problem, placement):
    return weighted(problem.cluster, placement, problem.objective, problem.before)


@every_stage_too
@few
@given(snapshot=valid_snapshots(), seed=st.integers(0, 3))
def test_never_violates_a_rule_that_was_kept(rebalance, snapshot, seed):
    after = solution(rebalance, Problem.of(snapshot), seed=seed)
    assert not check(snapshot.cluster, after, snapshot.placement)


@every_stage_too
@few
@given(snapshot=snapshots(), seed=st.integers(0, 3))
def test_never_violates_a_kind_of_rule_by_more(rebalance, snapshot, seed):
    after = solution(rebalance, Problem.of(snapshot), seed=seed)
    placements = (snapshot.placement, after)
    then, now = (excess_by_kind(check(snapshot.cluster, placement, snapshot.placement)) for placement in placements)
    assert all(excess <= then.get(kind, 0.0) + 1e-6 for kind, excess in now.items())


@every_rebalancer
@few
@given(snapshot=valid_snapshots(), data=st.data())
def test_is_never_worse_than_a_valid_start(rebalance, snapshot, data):
    snapshot = replace(snapshot, objective=data.draw(every_term_objectives(snapshot.cluster)))
    problem = Problem.of(snapshot)
    start = cost(problem, problem.start)
    assert cost(problem, solution(rebalance, problem)) <= start + 1e-9 * max(1.0, abs(start))


@every_stage_too
@few
@given(snapshot=snapshots())
def test_the_same_seed_and_iterations_give_the_same_answer(rebalance, snapshot):
    problem = Problem.of(snapshot)
    first, second = (solution(rebalance, problem, iterations=37, seed=5) for _ in range(2))
    assert np.array_equal(first.machine_of, second.machine_of)


@every_stage_too
@few
@given(snapshot=snapshots(), data=st.data())
def test_what_is_frozen_pinned_or_unplaced_stays(rebalance, snapshot, data):
    n_c = len(snapshot.cluster.containers.name)
    frozen = np.array(data.draw(st.lists(st.booleans(), min_size=n_c, max_size=n_c)), dtype=np.bool_)
    after = solution(rebalance, Problem.of(snapshot, frozen=frozen))
    stays = frozen | (snapshot.placement.machine_of == UNPLACED)
    for rule in snapshot.cluster.rules:
        if isinstance(rule, Pinned):
            stays[list(rule.containers)] = True
    assert np.array_equal(after.machine_of[stays], snapshot.placement.machine_of[stays])


@every_stage_too
@few
@given(snapshot=valid_snapshots(), most=st.integers(0, 3))
def test_moves_no_more_than_the_churn_budget(rebalance, snapshot, most):
    after = solution(rebalance, Problem.of(snapshot, max_moves=most))
    assert moves(snapshot.cluster, after, snapshot.placement) <= most


@every_stage_too
@few
@given(snapshot=snapshots())
def test_reports_its_progress(rebalance, snapshot):
    ticks: list[Tick] = []
    rebalance(Problem.of(snapshot), OPTIONS, budget=Budget(iterations=30), seed=1, progress=ticks.append)
    assert all(0 <= tick.done <= 1 for tick in ticks)
    assert [tick.done for tick in ticks] == sorted(tick.done for tick in ticks)


@every_rebalancer
@pytest.mark.parametrize("cap", [0, 1])
def test_bringing_co_located_containers_together_keeps_the_cap_on_moves(rebalance, cap):
    together = ClusterBuilder("scattered").machines("m-{}", 3, cpu=9)
    for k in range(3):
        together.workload(f"w{k}", cpu=1, on=[f"m-{k}"])
    snapshot = together.co_locate("w0-0", "w1-0", "w2-0").build()
    problem = Problem.of(snapshot, max_moves=cap)
    assert (solution(rebalance, problem).machine_of != snapshot.placement.machine_of).sum() <= cap
