"""RASA's pieces fit together: machines shared out, time shared, answers finished. Solvers of the pool are stand-ins here."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import snapshots, valid_snapshots
from tests.builders.three_services import problem_of

from bayplan.check import check
from bayplan.decide.collocate.finish import SolvedSubproblems, finish, time_to_solve
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.parallel import time_shares
from bayplan.decide.collocate.rasa import (
    AS_IT_RUNS,
    GREEDY,
    POOL,
    SubproblemAnswer,
    _integer_program,
    column_generation,
    mip,
    rasa,
    solve_one,
    solver_notes,
)
from bayplan.decide.collocate.subproblem import SolvedCounts, subproblems_of, violations, whole_cluster
from bayplan.errors import UsageError
from bayplan.model import UNPLACED, Budget, Capacity, Confidence, Placement, Transient, ints, silent
from bayplan.model.problem import Problem
from bayplan.search.answer import expect_no_worse

HERE = CollocateOptions(engine="here", select="mip")
few = settings(max_examples=30)
every_wish = pytest.mark.parametrize("trivial", ["pinned", "refit"])


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch):
    def first_fit(subproblem, *, seconds, seed, threads, iterations=None, engine=None):
        counts = np.zeros(subproblem.shape, dtype=np.int64)
        for s, demand in enumerate(subproblem.demand.tolist()):
            for m in [m for m in range(len(subproblem.machine)) for _ in range(demand)]:
                counts[s, m] += 1
                counts[s, m] -= bool(violations(subproblem, counts))
        return SolvedCounts(counts, solver_ran=True)

    def lazy(subproblem, *, seconds, seed, threads, iterations=None, engine=None):
        return SolvedCounts(np.zeros(subproblem.shape, dtype=np.int64), solver_ran=False)

    monkeypatch.setitem(POOL, "mip", first_fit)
    monkeypatch.setitem(POOL, "cg", lazy)


def known(snapshot):
    """The problem without the rules that are refused."""
    rules = tuple(rule for rule in snapshot.cluster.rules if not isinstance(rule, Transient | Confidence))
    return Problem.of(replace(snapshot, cluster=replace(snapshot.cluster, rules=rules)))


def solution(problem, options=HERE, method=rasa, **budget):
    result = method(problem, options, budget=Budget(**budget), seed=1, progress=silent)
    assert result.solution is not None
    return result.solution


@every_wish
@pytest.mark.parametrize("method", [rasa, mip], ids=["rasa", "mip"])
def test_workloads_that_talk_come_together(trivial, method):
    problem = problem_of(rules=(Capacity(resources=(0,)),))
    result = method(problem, replace(HERE, trivial=trivial), budget=Budget(seconds=1), seed=1, progress=silent)
    assert (result.goal, result.score["affinity"]) == ("affinity", pytest.approx(1.0))
    assert not len(result.solution.unplaced)


def test_pinned_workloads_do_not_move():
    problem = problem_of(rules=(Capacity(resources=(0,)),))
    assert solution(problem, replace(HERE, trivial="pinned"), seconds=1).machine_of[7:].tolist() == [1, 2]


@every_wish
@few
@given(snapshot=valid_snapshots(), select=st.sampled_from(["mip", "cg"]))
def test_keeps_every_rule_and_leaves_nobody_out(trivial, snapshot, select):
    problem = known(snapshot)
    after = solution(problem, replace(HERE, trivial=trivial, select=select), seconds=0.2)
    assert not check(problem.cluster, after, problem.before)
    assert not set(after.unplaced) - set(problem.start.unplaced)


@every_wish
@few
@given(snapshot=snapshots())
def test_a_bad_start_gets_no_worse(trivial, snapshot):
    problem = known(snapshot)
    after = solution(problem, replace(HERE, trivial=trivial), seconds=0.2)
    expect_no_worse(problem, after)
    assert not set(after.unplaced) - set(problem.start.unplaced)


@pytest.mark.parametrize("method", [rasa, mip, column_generation], ids=["rasa", "mip", "column-generation"])
def test_rules_that_count_for_every_move_are_refused_by_name(method):
    problem = problem_of(rules=(Transient(resource=0),))
    with pytest.raises(UsageError, match="transient rules; expected 'best'"):
        solution(problem, method=method)


def test_new_containers_get_a_machine_even_if_nothing_is_worth_a_move():
    problem = problem_of()
    before = Placement(machine_of=ints([*problem.start.machine_of[:8], UNPLACED]))
    problem = replace(problem, before=before, start=before)
    after = solution(problem, replace(HERE, least_gain=1.0))
    assert not len(after.unplaced)
    assert after.machine_of[:8].tolist() == before.machine_of[:8].tolist()


def test_what_fits_nowhere_is_left_out_with_its_reason():
    problem = problem_of(rules=(Capacity(resources=(0,)),), capacity=7)
    before = Placement(machine_of=ints([0, 0, 0, 0, 1, 1, 1, 2, UNPLACED]))  # 4 of 7, 6 of 7, 3 of 7
    problem = replace(problem, before=before, start=before)
    tight = replace(problem.cluster, rules=(Capacity(resources=(0,)),))
    huge = replace(tight, workloads=replace(tight.workloads, request=ints([[1, 1], [2, 1], [6, 1]])))
    result = rasa(replace(problem, cluster=huge), HERE, budget=Budget(seconds=1), seed=1, progress=silent)
    assert result.solution.unplaced.tolist() in ([7], [8])
    assert any("trivial" in reason.subject for reason in result.left_out)


def test_time_is_kept_for_the_answer():
    problem = problem_of()
    subproblem = whole_cluster(problem)
    assert 9.0 < time_to_solve(problem, Budget(seconds=10).clock(), [subproblem]) < 10.0
    assert time_to_solve(problem, Budget(seconds=0).clock()) == 0.0
    assert time_to_solve(problem, Budget(seconds=10).clock(already=20), [subproblem]) == 0.0


def test_large_subproblems_and_those_with_much_affinity_get_more_time():
    problem = problem_of()
    small, large = subproblems_of(problem, [ints([2]), ints([0, 1])], ints([0, 1, 1]), trivial="pinned")
    share = time_shares([small, large])
    assert share[1] > share[0]
    assert share.sum() == pytest.approx(1.0)


def test_a_subproblem_without_machines_is_not_solved():
    problem = problem_of()
    (subproblem,) = subproblems_of(problem, [ints([0, 1])], ints([-1, -1, -1]), trivial="pinned")
    assert solve_one(subproblem, "none", 1.0, 1, 1).counts.shape == (2, 0)


def test_the_integer_program_runs_if_it_has_the_time():
    subproblem = whole_cluster(problem_of())
    assert _integer_program(subproblem, seconds=5.0, seed=0, threads=1).solver_ran
    assert not _integer_program(subproblem, seconds=0.0, seed=0, threads=1).solver_ran


def test_what_became_of_the_subproblems_is_noted():
    counts = np.zeros((1, 1), dtype=np.int64)
    some = [SubproblemAnswer(counts, by) for by in ("mip", "cg", "cg", GREEDY, AS_IT_RUNS, "")]
    assert solver_notes(some) == (
        "subproblems: 2 by cg, 1 by mip, 1 by greedy placement alone (too large, or no time left), "
        "1 left as they run (interrupted, out of time, or lost)",
    )
    assert solver_notes([SubproblemAnswer(counts, "cg")]) == ("subproblems: 1 by cg",)
    assert solver_notes([SubproblemAnswer(counts, "")]) == ()


def test_a_solver_that_did_not_run_is_noted():
    problem = problem_of(rules=(Capacity(resources=(0,)),))
    for select, by in (("mip", "1 by mip"), ("cg", f"1 by {GREEDY}")):
        result = rasa(problem, replace(HERE, select=select), budget=Budget(seconds=1), seed=1, progress=silent)
        assert any(by in note for note in result.notes)


def test_the_start_is_given_where_the_counts_are_worse():
    problem = problem_of()
    subproblem = whole_cluster(problem)
    apart = np.array([[0, 0, 4], [3, 0, 0]])
    result = finish(problem, SolvedSubproblems([subproblem], [apart]), HERE, clock=Budget().clock(), seed=1)
    assert result.solution.machine_of.tolist() == problem.start.machine_of.tolist()
    assert "worse" in result.notes[0]


def test_tells_where_it_stands():
    stages = []
    rasa(problem_of(), HERE, budget=Budget(seconds=1), seed=1, progress=lambda tick: stages.append(tick.stage))
    assert list(dict.fromkeys(stages)) == ["partitioning", "solving", "placing leftovers"]
