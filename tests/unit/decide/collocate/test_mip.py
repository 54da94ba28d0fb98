"""The integer program of [RASA]: what it may not break, and what it may not lose."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.builders.collocations import drawn_subproblem

import bayplan.decide.collocate.assignment_mip as assignment_mip
from bayplan.decide.collocate.assignment_mip import repaired, solve_mip
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import Subproblem, gained, violations


@pytest.mark.parametrize("seed", range(30))
def test_amounts_beyond_a_solvers_precision_break_nothing_and_lose_nothing(seed):
    subproblem = drawn_subproblem(seed, huge=True)
    counts = solve_mip(subproblem, seconds=10)
    assert violations(subproblem, counts) == []
    assert gained(subproblem, counts) >= gained(subproblem, greedy_counts(subproblem))


@pytest.mark.parametrize("seed", range(30))
def test_what_stands_now_is_never_worsened(seed):
    subproblem = drawn_subproblem(seed, workloads=5, machines=4, most=4, edges=6)
    counts = solve_mip(subproblem, seconds=0.2)
    assert violations(subproblem, subproblem.now) or gained(subproblem, counts) >= gained(subproblem, subproblem.now)


def test_the_same_seed_gives_the_same_counts():
    subproblem = drawn_subproblem(3, workloads=5, machines=4, most=4, edges=6)
    assert (solve_mip(subproblem, seconds=10, seed=5) == solve_mip(subproblem, seconds=10, seed=5)).all()


def test_a_hopeless_size_is_not_tried(monkeypatch):
    subproblem = drawn_subproblem(1)
    monkeypatch.setattr(assignment_mip, "MOST_ENTRIES", 0)
    monkeypatch.setattr(assignment_mip, "solve", lambda *_, **__: pytest.fail("HiGHS was asked"))
    assert gained(subproblem, solve_mip(subproblem, seconds=10)) >= gained(subproblem, greedy_counts(subproblem))


def test_without_time_the_start_comes_back():
    subproblem = drawn_subproblem(1)
    assert violations(subproblem, solve_mip(subproblem, seconds=0.0)) == []


@pytest.mark.parametrize("empty", ["edges", "services", "machines"])
def test_nothing_to_decide_is_no_fault(empty):
    subproblem = drawn_subproblem(2)
    if empty == "edges":
        subproblem = replace(subproblem, a=subproblem.a[:0], b=subproblem.b[:0], weight=subproblem.weight[:0])
    elif empty == "machines":
        subproblem = without_machines(subproblem)
    else:
        subproblem = replace(subproblem, demand=np.zeros_like(subproblem.demand), now=np.zeros_like(subproblem.now))
    counts = solve_mip(subproblem, seconds=1)
    assert counts.shape == subproblem.shape
    assert violations(subproblem, counts) == []


def without_machines(subproblem: Subproblem) -> Subproblem:
    return replace(
        subproblem,
        machine=subproblem.machine[:0],
        free=subproblem.free[:0],
        allow=subproblem.allow[:, :0],
        set_free=subproblem.set_free[:, :0],
        now=subproblem.now[:, :0],
        fixed=subproblem.fixed[:, :0],
    )


@pytest.mark.parametrize("seed", range(30))
def test_repair_takes_containers_away_until_nothing_is_broken(seed):
    subproblem = drawn_subproblem(seed, workloads=5, machines=4, most=4, edges=6)
    broken = np.random.default_rng(seed).integers(-1, 5, subproblem.shape)
    counts = repaired(subproblem, broken)
    assert violations(subproblem, counts) == []
    assert (counts <= np.maximum(0, broken)).all()


def test_repair_leaves_alone_what_breaks_nothing():
    subproblem = drawn_subproblem(4)
    counts = greedy_counts(subproblem)
    assert (repaired(subproblem, counts) == counts).all()


@pytest.mark.data
def test_a_greedy_pass_over_m3_gains_most_of_it(data_folder: Path):
    from tests.builders.collocations import whole_subproblem

    from bayplan.formats import read

    subproblem = whole_subproblem(read(data_folder / "rasa" / "M3.json"))
    counts = greedy_counts(subproblem)
    assert violations(subproblem, counts) == []
    assert gained(subproblem, subproblem.now) == pytest.approx(0.06995, abs=1e-5)
    assert gained(subproblem, counts) >= 0.70
    assert counts.sum() == 3485
