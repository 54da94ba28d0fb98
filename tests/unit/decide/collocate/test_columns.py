"""Column generation of small tasks, against trying every count."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.collocations import drawn_task
from tests.naive.collocate import most_gained
from tests.naive.columns import every_pattern

from bayplan.decide.collocate.columns.integer_master import choose_patterns, patterns_of
from bayplan.decide.collocate.columns.pattern_master import PatternMaster, machine_types_of
from bayplan.decide.collocate.columns.rounds import PricingRounds
from bayplan.decide.collocate.columns.solve import solve_columns
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import gained, violations

SEEDS = range(40)


def never():
    return False


@pytest.mark.parametrize("seed", SEEDS)
def test_machines_of_a_type_are_alike_and_those_of_others_are_not(seed):
    task = drawn_task(seed, machines=6)
    task = replace(task, room=task.room[[0, 1, 0, 1, 4, 5]], fixed=task.fixed[:, [0, 1, 0, 1, 4, 5]])
    types = machine_types_of(task)
    traits = [(tuple(task.room[m]), tuple(task.allow[:, m]), tuple(task.spare[:, m]), tuple(task.fixed[:, m])) for m in range(6)]
    for m in range(6):
        assert [n for n in range(6) if traits[n] == traits[m]] == types.machines(int(types.of_machine[m])).tolist()
    assert types.number.sum() == 6
    assert (types.of_machine[types.first] == np.arange(len(types.first))).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_between_now_and_the_optimum(seed):
    task = drawn_task(seed)
    counts = solve_columns(task, seconds=0.15, seed=seed)
    assert violations(task, counts) == []
    assert gained(task, counts) <= most_gained(task) + 1e-12
    if not violations(task, task.now):
        assert gained(task, counts) >= gained(task, task.now) - 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_is_the_linear_master_in_the_end_and_never_below_the_optimum(seed):
    task = drawn_task(seed)
    rounds = PricingRounds(columns=PatternMaster(task=task, types=machine_types_of(task)), seed=seed)
    for _ in range(60):
        rounds.one(never)
        if rounds.done:
            break
    assert rounds.done
    assert rounds.bound >= most_gained(task) - 1e-12
    assert rounds.bound == pytest.approx(rounds.columns.gain, abs=2e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_every_pattern_the_choice_is_the_optimum(seed):
    task = drawn_task(seed)
    types = machine_types_of(task)
    patterns = [(t, pattern) for t, m in enumerate(types.first.tolist()) for pattern in every_pattern(task, m)]
    counts = choose_patterns(types, patterns, task, 20.0)
    assert violations(task, counts) == []
    assert gained(task, counts) == pytest.approx(most_gained(task), rel=2e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_patterns_of_an_answer_give_it_back(seed):
    task = drawn_task(seed)
    counts, types = greedy_counts(task), machine_types_of(task)
    again = choose_patterns(types, patterns_of(types, counts), task, 1.0)
    assert violations(task, again) == []
    assert gained(task, again) >= (1 - 2e-4) * gained(task, counts)


def test_others_keep_their_room():
    task = drawn_task(5, services=4, machines=4, edges=6)
    rest = (task.room.sum(axis=0) * 0.7).astype(np.int64)
    columns = PatternMaster(task=task, types=machine_types_of(task), left=np.maximum(1.0, task.room.sum(axis=0) - rest))
    rounds = PricingRounds(columns=columns, seed=1)
    for _ in range(30):
        rounds.one(never)
    used = sum(y * (p @ task.request) for y, p in zip(columns.value, columns.pattern, strict=True))
    assert (used <= columns.left * (1 + 1e-9)).all()
    assert rounds.bound >= columns.gain - 1e-9


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_no_time_gives_an_answer_too(seconds):
    task = drawn_task(11)
    assert violations(task, solve_columns(task, seconds=seconds)) == []


def test_a_task_without_affinity_is_placed():
    task = drawn_task(2)
    none = replace(task, a=task.a[:0], b=task.b[:0], weight=task.weight[:0])
    assert violations(none, solve_columns(none, seconds=0.1)) == []
