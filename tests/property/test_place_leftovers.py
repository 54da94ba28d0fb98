"""Whatever is lifted and put elsewhere: everyone who had a machine gets one, and no rule is broken more."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import snapshots, valid_snapshots

from bayplan.check import check
from bayplan.decide.collocate.finish import assemble
from bayplan.decide.collocate.place_leftovers import place_leftovers
from bayplan.decide.collocate.subproblem import movable, violations, whole_cluster
from bayplan.model import Budget, Confidence, Transient
from bayplan.model.problem import Problem
from bayplan.search.answer import expect_no_worse

few = settings(max_examples=60)


def known(snapshot):
    """The problem without the rules that are refused."""
    rules = tuple(rule for rule in snapshot.cluster.rules if not isinstance(rule, Transient | Confidence))
    return Problem.of(replace(snapshot, cluster=replace(snapshot.cluster, rules=rules)))


def shuffled(problem, seed):
    """Some workloads lifted, some of their containers put where nothing is broken."""
    rng = np.random.default_rng(seed)
    n_w = len(problem.cluster.workloads.name)
    lifted = np.flatnonzero(rng.random(n_w) < 0.7)
    subproblem = whole_cluster(problem, workloads=lifted)
    counts = np.zeros(subproblem.shape, dtype=np.int64)
    for _ in range(int(rng.integers(0, 12))):
        more = counts.copy()
        if more.size:
            more[rng.integers(more.shape[0]), rng.integers(more.shape[1])] += 1
        counts = counts if violations(subproblem, more) else more
    return assemble(problem, [subproblem], [counts])[0], np.isin(problem.cluster.containers.workload, lifted)


@few
@given(snapshot=valid_snapshots(), seed=st.integers(0, 9))
def test_everyone_who_had_a_machine_has_one_and_no_rule_is_broken(snapshot, seed):
    problem = known(snapshot)
    placement, lifted = shuffled(problem, seed)
    after = place_leftovers(problem, placement, may_go=lifted, clock=Budget(iterations=1).clock(), seed=seed)
    assert not check(problem.cluster, after, problem.before)
    assert not set(after.unplaced) - set(problem.start.unplaced)
    stays = ~(movable(problem) & lifted)
    placed = stays & (problem.start.machine_of >= 0)
    assert (after.machine_of[placed] == problem.start.machine_of[placed]).all()


@few
@given(snapshot=snapshots(), seed=st.integers(0, 9))
def test_a_bad_start_gets_no_worse(snapshot, seed):
    problem = known(snapshot)
    placement, lifted = shuffled(problem, seed)
    after = place_leftovers(problem, placement, may_go=lifted, clock=Budget(iterations=1).clock(), seed=seed)
    expect_no_worse(problem, after)
    assert not set(after.unplaced) - set(problem.start.unplaced)
