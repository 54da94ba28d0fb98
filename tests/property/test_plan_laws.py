"""What every plan keeps, on clusters of every shape: rules on the way, safety, moves that pay, gains that are true."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import snapshots, valid_snapshots
from tests.naive.plan_watch import faults_on_the_way

import bayplan as bp
from bayplan.api.planning.answer import PlanAnswer
from bayplan.check import check, check_migration
from bayplan.model import GAINS, UNPLACED, Pinned, Placement, Snapshot, Term
from bayplan.model.goal import GOALS
from bayplan.score.gmrp import machine_overload
from bayplan.score.terms import TERMS, TermInputs

BUDGET = bp.Budget(iterations=1_500)
few = settings(max_examples=15, deadline=None)
goals = st.sampled_from(sorted(GOALS))


def planned(snapshot: Snapshot, goal: str = "steady", **options: object) -> PlanAnswer:
    return bp.plan(snapshot, goal=goal, budget=BUDGET, **options)


@few
@given(snapshots(), goals)
def test_no_rule_is_violated_further_in_any_state_on_the_way(snapshot: Snapshot, goal: str):
    answer = planned(snapshot, goal)
    migration = answer.migration.request.migration
    assert check_migration(migration, answer.plan).safe
    assert not list(faults_on_the_way(migration, answer.plan))  # the slow, obvious twin of the referee
    assert answer.migration.checked is not None
    assert (answer.migration.checked.running.machine_of == answer.placement.machine_of).all()
    before = {v.place: v.excess for v in check(snapshot.cluster, snapshot.placement)}
    for violation in check(snapshot.cluster, answer.placement, snapshot.placement):
        assert violation.excess <= before.get(violation.place, 0.0) * (1 + 1e-9)


@few
@given(
    valid_snapshots(complete=True), st.sampled_from(["steady", "local-traffic", "balance"])
)  # others add rules, which come first
def test_load_above_safety_is_never_raised(snapshot: Snapshot, goal: str):
    after = planned(snapshot, goal).placement
    largest = np.maximum(1, snapshot.cluster.machines.capacity.max(axis=0, initial=0))
    old, new = ((machine_overload(snapshot.cluster, each) / largest).sum() for each in (snapshot.placement, after))
    assert new <= old * (1 + 1e-12) + 1e-12


@few
@given(valid_snapshots(complete=True))
def test_nothing_moves_when_nothing_pays(snapshot: Snapshot):
    settled = planned(snapshot, max_moves="100%").after
    priceless = replace(GOALS["steady"], safety=False, price=1e6)
    assert bp.plan(settled, goal=priceless, budget=BUDGET).moved == 0


@few
@given(valid_snapshots(complete=True), st.data())
def test_drained_machines_are_empty_or_the_answer_says_what_stays_and_why(snapshot: Snapshot, data: st.DataObject):
    machine = data.draw(st.sampled_from(snapshot.cluster.machines.name))
    answer = planned(snapshot, what_if=bp.WhatIf(drain=(machine,)))
    m = snapshot.cluster.machines.name.index(machine)
    left = [snapshot.cluster.containers.name[c] for c in np.flatnonzero(answer.placement.machine_of == m)]
    said = " ".join(answer.details()["warnings"])
    assert all(name in said for name in left[:3]), (left, said)
    pinned = {c for rule in snapshot.cluster.rules if isinstance(rule, Pinned) for c in rule.containers}
    assert all(int(answer.placement.machine_of[c]) == int(snapshot.placement.machine_of[c]) for c in pinned)


@few
@given(valid_snapshots(), goals)
def test_every_reported_gain_is_what_two_whole_scores_differ_by(snapshot: Snapshot, goal: str):
    answer = planned(snapshot, goal)
    cluster, objective, before = answer.snapshot.cluster, answer.snapshot.objective, answer.snapshot.placement
    for note in answer.reasons:
        if any(note.container in rule.containers for rule in cluster.rules if rule.kind == "co-locate"):
            continue  # moves with others: their gain is that of all of them
        machine_of = answer.placement.machine_of.copy()
        machine_of[note.container] = note.source
        without = Placement(machine_of=machine_of)
        net = 0.0
        for term, weight in objective.weight.items():
            if term in (Term.OVERLOAD, Term.MOVES):
                continue
            old, new = (TERMS[term](TermInputs(cluster, each, objective, before)) for each in (without, answer.placement))
            net += weight * (new - old if term in GAINS else old - new)
        assert note.net == pytest.approx(net - objective.weight.get(Term.MOVES, 0.0), abs=1e-9)


@few
@given(valid_snapshots(), st.integers(0, 3))
def test_the_limit_of_moves_is_kept_and_what_ran_still_runs(snapshot: Snapshot, limit: int):
    answer = planned(snapshot, max_moves=limit)
    assert answer.moved <= limit
    ran = snapshot.placement.machine_of != UNPLACED
    assert (answer.placement.machine_of[ran] != UNPLACED).all()
