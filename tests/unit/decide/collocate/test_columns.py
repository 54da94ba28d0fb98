"""Column generation of small subproblems, against trying every count."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.collocations import drawn_subproblem
from tests.naive.collocate import most_gained
from tests.naive.columns import every_pattern

from bayplan.decide.collocate.columns.integer_master import choose_patterns, patterns_of
from bayplan.decide.collocate.columns.pattern_master import AffinityMaster, machine_types_of
from bayplan.decide.collocate.columns.rounds import PricingRounds
from bayplan.decide.collocate.columns.solve import run_columns, solve_columns
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import gained, violations

SEEDS = range(40)


def never():
    return False


@pytest.mark.parametrize("seed", SEEDS)
def test_machines_of_a_type_are_alike_and_those_of_others_are_not(seed):
    subproblem = drawn_subproblem(seed, machines=6)
    subproblem = replace(subproblem, free=subproblem.free[[0, 1, 0, 1, 4, 5]], fixed=subproblem.fixed[:, [0, 1, 0, 1, 4, 5]])
    types = machine_types_of(subproblem)
    traits = [
        (
            tuple(subproblem.free[m]),
            tuple(subproblem.allow[:, m]),
            tuple(subproblem.set_free[:, m]),
            tuple(subproblem.fixed[:, m]),
        )
        for m in range(6)
    ]
    for m in range(6):
        assert [n for n in range(6) if traits[n] == traits[m]] == types.machines(int(types.of_machine[m])).tolist()
    assert types.number.sum() == 6
    assert (types.of_machine[types.first] == np.arange(len(types.first))).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_between_now_and_the_optimum(seed):
    subproblem = drawn_subproblem(seed)
    counts = solve_columns(subproblem, seconds=0.15, seed=seed)
    assert violations(subproblem, counts) == []
    assert gained(subproblem, counts) <= most_gained(subproblem) + 1e-12
    if not violations(subproblem, subproblem.now):
        assert gained(subproblem, counts) >= gained(subproblem, subproblem.now) - 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_is_the_linear_master_in_the_end_and_never_below_the_optimum(seed):
    subproblem = drawn_subproblem(seed)
    rounds = PricingRounds(master=AffinityMaster(subproblem=subproblem, types=machine_types_of(subproblem)), seed=seed)
    for _ in range(60):
        rounds.price(never)
        if rounds.done:
            break
    assert rounds.done
    assert rounds.bound >= most_gained(subproblem) - 1e-12
    assert rounds.bound == pytest.approx(rounds.master.gain, abs=2e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_every_pattern_the_choice_is_the_optimum(seed):
    subproblem = drawn_subproblem(seed)
    types = machine_types_of(subproblem)
    patterns = [(t, pattern) for t, m in enumerate(types.first.tolist()) for pattern in every_pattern(subproblem, m)]
    counts = choose_patterns(types, patterns, subproblem, 20.0)
    assert violations(subproblem, counts) == []
    assert gained(subproblem, counts) == pytest.approx(most_gained(subproblem), rel=2e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_patterns_of_an_answer_give_it_back(seed):
    subproblem = drawn_subproblem(seed)
    counts, types = greedy_counts(subproblem), machine_types_of(subproblem)
    again = choose_patterns(types, patterns_of(types, counts), subproblem, 1.0)
    assert violations(subproblem, again) == []
    assert gained(subproblem, again) >= (1 - 2e-4) * gained(subproblem, counts)


def test_others_keep_their_room():
    subproblem = drawn_subproblem(5, workloads=4, machines=4, edges=6)
    rest = (subproblem.free.sum(axis=0) * 0.7).astype(np.int64)
    master = AffinityMaster(
        subproblem=subproblem, types=machine_types_of(subproblem), left=np.maximum(1.0, subproblem.free.sum(axis=0) - rest)
    )
    rounds = PricingRounds(master=master, seed=1)
    for _ in range(30):
        rounds.price(never)
    used = sum(y * (p @ subproblem.request) for y, p in zip(master.value, master.pattern, strict=True))
    assert (used <= master.left * (1 + 1e-9)).all()
    assert rounds.bound >= master.gain - 1e-9


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_no_time_gives_an_answer_too(seconds):
    subproblem = drawn_subproblem(11)
    answer = run_columns(subproblem, seconds=seconds)
    assert violations(subproblem, answer.counts) == []
    assert seconds or not answer.solver_ran


def test_a_solver_with_time_runs():
    assert run_columns(drawn_subproblem(11), seconds=5.0).solver_ran


def test_a_subproblem_without_affinity_is_placed():
    subproblem = drawn_subproblem(2)
    none = replace(subproblem, a=subproblem.a[:0], b=subproblem.b[:0], weight=subproblem.weight[:0])
    assert violations(none, solve_columns(none, seconds=0.1)) == []
