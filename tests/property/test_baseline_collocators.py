"""What K8S+, ApplSci19 and the placement as it is promise on any cluster."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import snapshots, valid_snapshots

from bayplan.check import check
from bayplan.decide.collocate.applsci19 import applsci19, pack_parts
from bayplan.decide.collocate.baselines import k8s_plus, original
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.packing_state import packing_state
from bayplan.decide.collocate.place_leftovers import restore_homes
from bayplan.decide.collocate.subproblem import movable
from bayplan.kernels.collocate.packing_state import best_fit
from bayplan.model import UNPLACED, Budget, Confidence, Placement, Transient, ints, silent
from bayplan.model.problem import Problem
from bayplan.search.answer import expect_no_worse

BASELINES = {"k8s-plus": k8s_plus, "applsci19": applsci19, "original": original}
every_baseline = pytest.mark.parametrize("name", BASELINES)
few = settings(max_examples=30, deadline=None)


def known(snapshot):
    """The problem without the rules that are refused."""
    rules = tuple(rule for rule in snapshot.cluster.rules if not isinstance(rule, Transient | Confidence))
    return Problem.of(replace(snapshot, cluster=replace(snapshot.cluster, rules=rules)))


def found(name, problem, seed=0, budget=Budget()):
    return BASELINES[name](problem, CollocateOptions(), budget=budget, seed=seed, progress=silent).solution


@every_baseline
@few
@given(snapshot=valid_snapshots(), seed=st.integers(0, 9), steps=st.sampled_from([0, 1, 3, None]))
def test_breaks_nothing_and_leaves_nobody_out_however_early_it_ends(name, snapshot, seed, steps):
    problem = known(snapshot)
    after = found(name, problem, seed, Budget(iterations=steps))
    assert not check(problem.cluster, after, problem.before)
    assert not set(after.unplaced) - set(problem.start.unplaced)
    stays = ~movable(problem) & (problem.start.machine_of != UNPLACED)
    assert (after.machine_of[stays] == problem.start.machine_of[stays]).all()


@every_baseline
@few
@given(snapshot=snapshots(), seed=st.integers(0, 9))
def test_a_bad_start_gets_no_worse(name, snapshot, seed):
    problem = known(snapshot)
    after = found(name, problem, seed)  # the referee raises if a rule is broken more
    assert not set(after.unplaced) - set(problem.start.unplaced)


@every_baseline
@few
@given(snapshot=valid_snapshots(), seed=st.integers(0, 9))
def test_the_same_seed_gives_the_same_answer(name, snapshot, seed):
    problem = known(snapshot)
    assert (found(name, problem, seed).machine_of == found(name, problem, seed).machine_of).all()


@few
@given(snapshot=valid_snapshots(), seed=st.integers(0, 9))
def test_parts_break_no_rule_but_leave_those_without_traffic_out(snapshot, seed):
    problem = known(snapshot)
    after = pack_parts(problem, clock=Budget().clock(), seed=seed, progress=silent)
    assert {fault.rule for fault in check(problem.cluster, after, problem.before)} <= {"running"}
    quiet = np.setdiff1d(
        np.arange(len(problem.cluster.workloads.name)), np.r_[problem.cluster.traffic.a, problem.cluster.traffic.b]
    )
    lifted = movable(problem) & np.isin(problem.cluster.containers.workload, quiet)
    assert (after.machine_of[lifted] == UNPLACED).all()


@few
@given(snapshot=snapshots(), seed=st.integers(0, 9))
def test_after_a_recall_everyone_has_a_machine_who_had_one(snapshot, seed):
    problem = known(snapshot)
    who = np.random.default_rng(seed).permutation(np.flatnonzero(movable(problem)))
    service, home = problem.cluster.containers.workload[who], problem.start.machine_of[who]
    state, machine_of = packing_state(problem), np.full(len(who), UNPLACED)
    settle_anywhere(state, service, machine_of, seed)
    restore_homes(state, service, home, machine_of)
    assert (machine_of[home != UNPLACED] != UNPLACED).all()
    after = problem.start.machine_of.copy()
    after[who] = machine_of
    expect_no_worse(problem, Placement(machine_of=ints(after)))


def settle_anywhere(state, service, machine_of, seed):
    """Two thirds of the containers go to the fullest machine that takes them, whoever needs it more."""
    some = np.flatnonzero(np.random.default_rng(seed + 1).random(len(service)) < 0.67)
    there = np.empty(len(some), dtype=np.int64)
    best_fit(state, service[some], there)
    machine_of[some] = there
