"""Which containers are deleted: those that save most UCaC, and where usage has outgrown the confidence first."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.packings import packing, packings, problem_of

from bayplan.decide.pack import pack_problem
from bayplan.decide.pack.scale_down import containers_to_delete, machines_over
from bayplan.model import UNPLACED, Pinned
from bayplan.score.packing import ucac_of_counts


def deleted(pair, *surplus):
    return containers_to_delete(pack_problem(*pair), np.array(surplus)).tolist()


def test_what_has_no_machine_goes_first():
    pair = packing([10], [2], [4], capacity=[100], running=[(0, 0), (0, 0)])
    assert deleted(pair, 1) == [3]
    assert deleted(pair, 3) == [1, 2, 3]


def test_machines_run_empty_one_after_the_other():
    """Machine 0 runs three containers, machine 1 one of another service, too, machine 2 two: the least variance goes first."""
    running = [(0, 0), (0, 0), (0, 0), (0, 1), (0, 1), (0, 2), (0, 2), (1, 1)]
    pair = packing([10, 10], [2, 5], [7, 1], capacity=[100] * 3, running=running)
    assert deleted(pair, 2, 0) == [5, 6]
    assert deleted(pair, 5, 0) == [0, 1, 2, 5, 6]


def test_a_machine_above_its_confidence_comes_first():
    running = [(0, 0), *[(0, 1)] * 6]
    pair = packing([15], [5], [7], capacity=[100, 100], running=running)
    assert machines_over(pack_problem(*pair)).tolist() == [False, True]
    assert deleted(pair, 1) == [6]
    assert 0 in deleted(pair, 3)  # as soon as the confidence holds, the most UCaC is saved by a machine that runs empty


def test_pinned_containers_go_when_no_other_is_left():
    cluster, before = packing([10], [2], [4], capacity=[100, 100], running=[(0, 0), (0, 1), (0, 1), (0, 1)])
    pair = replace(cluster, rules=(*cluster.rules, Pinned(containers=(0,)))), before
    assert deleted(pair, 3) == [1, 2, 3]
    assert deleted(pair, 4) == [0, 1, 2, 3]


@settings(max_examples=30, deadline=None)
@given(pair=packings(), data=st.data())
def test_as_many_go_as_are_too_many_and_no_machine_gets_more_ucac(pair, data):
    cluster, before = pair
    problem = problem_of(pair)
    surplus = np.array([data.draw(st.integers(0, int(n))) for n in cluster.replicas])
    going = containers_to_delete(problem, surplus)
    assert np.bincount(cluster.containers.workload[going], minlength=len(surplus)).tolist() == surplus.tolist()
    left = problem.running.copy()
    placed = going[before.machine_of[going] != UNPLACED]
    np.subtract.at(left, (before.machine_of[placed], cluster.containers.workload[placed]), 1)
    assert (left >= 0).all()
    assert (ucac_of_counts(problem.main, left) <= ucac_of_counts(problem.main, problem.running) * (1 + 1e-9)).all()


@settings(max_examples=30, deadline=None)
@given(pair=packings(), seed=st.integers(0, 9))
def test_one_deletion_saves_as_much_as_any_other_could(pair, seed):
    cluster, before = pair
    problem = problem_of(pair)
    running = np.flatnonzero(before.machine_of != UNPLACED)
    assert not machines_over(problem).any()
    for w in np.unique(cluster.containers.workload[running]).tolist():
        if (before.machine_of[cluster.containers.workload == w] == UNPLACED).any():
            continue
        surplus = np.zeros(len(cluster.workloads.name), dtype=np.int64)
        surplus[w] = 1

        def after(c, w=w):
            left = problem.running.copy()
            left[before.machine_of[c], w] -= 1
            return ucac_of_counts(problem.main, left).sum()

        best = min(after(c) for c in running[cluster.containers.workload[running] == w].tolist())
        assert after(int(containers_to_delete(problem, surplus)[0])) == pytest.approx(best)
