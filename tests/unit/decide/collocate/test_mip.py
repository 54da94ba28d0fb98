"""The integer program of 004: what it may not break, and what it may not lose."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.builders.collocations import drawn_task

import bayplan.decide.collocate.assignment_mip as assignment_mip
from bayplan.decide.collocate.assignment_mip import repaired, solve_mip
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import Subproblem, gained, violations


@pytest.mark.parametrize("seed", range(30))
def test_amounts_beyond_a_solvers_precision_break_nothing_and_lose_nothing(seed):
    task = drawn_task(seed, huge=True)
    counts = solve_mip(task, seconds=10)
    assert violations(task, counts) == []
    assert gained(task, counts) >= gained(task, greedy_counts(task))


@pytest.mark.parametrize("seed", range(30))
def test_what_stands_now_is_never_worsened(seed):
    task = drawn_task(seed, services=5, machines=4, most=4, edges=6)
    counts = solve_mip(task, seconds=0.2)
    assert violations(task, task.now) or gained(task, counts) >= gained(task, task.now)


def test_the_same_seed_gives_the_same_counts():
    task = drawn_task(3, services=5, machines=4, most=4, edges=6)
    assert (solve_mip(task, seconds=10, seed=5) == solve_mip(task, seconds=10, seed=5)).all()


def test_a_hopeless_size_is_not_tried(monkeypatch):
    task = drawn_task(1)
    monkeypatch.setattr(assignment_mip, "MOST_ENTRIES", 0)
    monkeypatch.setattr(assignment_mip, "solve", lambda *_, **__: pytest.fail("HiGHS was asked"))
    assert gained(task, solve_mip(task, seconds=10)) >= gained(task, greedy_counts(task))


def test_without_time_the_start_comes_back():
    task = drawn_task(1)
    assert violations(task, solve_mip(task, seconds=0.0)) == []


@pytest.mark.parametrize("empty", ["edges", "services", "machines"])
def test_nothing_to_decide_is_no_fault(empty):
    task = drawn_task(2)
    if empty == "edges":
        task = replace(task, a=task.a[:0], b=task.b[:0], weight=task.weight[:0])
    elif empty == "machines":
        task = without_machines(task)
    else:
        task = replace(task, demand=np.zeros_like(task.demand), now=np.zeros_like(task.now))
    counts = solve_mip(task, seconds=1)
    assert counts.shape == task.shape
    assert violations(task, counts) == []


def without_machines(task: Subproblem) -> Subproblem:
    return replace(
        task,
        machine=task.machine[:0],
        room=task.room[:0],
        allow=task.allow[:, :0],
        spare=task.spare[:, :0],
        now=task.now[:, :0],
        fixed=task.fixed[:, :0],
    )


@pytest.mark.parametrize("seed", range(30))
def test_repair_takes_containers_away_until_nothing_is_broken(seed):
    task = drawn_task(seed, services=5, machines=4, most=4, edges=6)
    broken = np.random.default_rng(seed).integers(-1, 5, task.shape)
    counts = repaired(task, broken)
    assert violations(task, counts) == []
    assert (counts <= np.maximum(0, broken)).all()


def test_repair_leaves_alone_what_breaks_nothing():
    task = drawn_task(4)
    counts = greedy_counts(task)
    assert (repaired(task, counts) == counts).all()


@pytest.mark.data
def test_a_greedy_pass_over_m3_gains_most_of_it(data_folder: Path):
    from tests.builders.collocations import whole

    from bayplan.formats import read

    task = whole(read(data_folder / "rasa" / "M3.json"))
    counts = greedy_counts(task)
    assert violations(task, counts) == []
    assert gained(task, task.now) == pytest.approx(0.06995, abs=1e-5)
    assert gained(task, counts) >= 0.70
    assert counts.sum() == 3485
