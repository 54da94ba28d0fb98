"""What `capacity` says about a failure is true: by the referee where it holds, by trying everything where it is impossible."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.builders.strategies import snapshots, valid_snapshots

import bayplan as bp
from bayplan.api.what_if import WhatIf, what_if
from bayplan.check import check
from bayplan.decide.capacity import failover_state
from bayplan.model import MACHINE, UNPLACED, Confidence, IntArray, Placement, Snapshot, ints
from bayplan.model.allowed_machines import pinned_containers
from bayplan.model.failures import FailureOutcome, FailureVerdict

TRIES = 3000  # placements that are tried one by one
small = valid_snapshots(max_machines=4, max_workloads=4)


def _failed(snapshot: Snapshot, outcome: FailureOutcome) -> Placement:
    """Where containers run when the machines have failed and nothing has been placed yet."""
    machine_of = snapshot.placement.machine_of.copy()
    machine_of[np.isin(machine_of, outcome.failure.machines)] = UNPLACED
    return Placement(machine_of=ints(machine_of))


def _to_place(snapshot: Snapshot, outcome: FailureOutcome) -> IntArray:
    """Containers that have to run elsewhere."""
    ran = np.flatnonzero(np.isin(snapshot.placement.machine_of, outcome.failure.machines))
    return ints(np.setdiff1d(ran, outcome.loss.pinned))


def _placements(snapshot: Snapshot, outcome: FailureOutcome, free: IntArray) -> Iterator[Placement]:
    """Every placement of the free containers on the machines that are left."""
    start = _failed(snapshot, outcome).machine_of
    left = np.setdiff1d(np.arange(len(snapshot.cluster.machines.name)), outcome.failure.machines).tolist()
    assume(len(left) ** len(free) <= TRIES)
    for machines in product(left, repeat=len(free)):
        machine_of = start.copy()
        machine_of[free] = machines
        yield Placement(machine_of=ints(machine_of))


@pytest.mark.parametrize("may_move", [False, True])
@settings(max_examples=30)
@given(snapshot=valid_snapshots())
def test_the_referee_agrees_where_a_failure_is_survived(snapshot, may_move):
    answer = bp.capacity(snapshot, may_move=may_move)
    for outcome in answer.outcomes:
        after, failed = answer.after(outcome).placement, _failed(snapshot, outcome)
        assert not np.isin(after.machine_of, outcome.failure.machines).any()
        moved = np.flatnonzero((failed.machine_of != UNPLACED) & (after.machine_of != failed.machine_of))
        assert moved.tolist() == outcome.replacement.moved.tolist()
        assert may_move or not len(moved)
        if outcome.holds:
            assert (after.machine_of[_to_place(snapshot, outcome)] != UNPLACED).all()
            assert check(snapshot.cluster, after, failed) == ()


@settings(max_examples=30)
@given(snapshot=snapshots())
def test_every_failure_of_any_cluster_is_counted_right(snapshot):
    answer = bp.capacity(snapshot, alive=2)
    assert answer.complete
    cluster, machine_of = snapshot.cluster, snapshot.placement.machine_of
    for outcome in answer.outcomes:
        ran = np.isin(machine_of, outcome.failure.machines)
        assert outcome.loss.containers == ran.sum()
        pinned = np.flatnonzero(ran & pinned_containers(cluster))
        assert set(pinned.tolist()) <= set(outcome.loss.pinned.tolist())
        placed = outcome.replacement.container.tolist()
        assert sorted([*placed, *outcome.replacement.left_out.tolist()]) == _to_place(snapshot, outcome).tolist()
        for w in range(len(cluster.workloads.name)):
            mine = cluster.containers.workload == w
            runs, left = (mine & (machine_of != UNPLACED)).sum(), (mine & (machine_of != UNPLACED) & ~ran).sum()
            assert (w in outcome.loss.down) == (runs > 0 and left == 0)
            assert (w in outcome.loss.below) == (runs >= 2 and left < 2)


@settings(max_examples=30)
@given(snapshot=small)
def test_what_is_called_impossible_is(snapshot):
    for outcome in bp.capacity(snapshot).outcomes:
        if outcome.verdict is FailureVerdict.IMPOSSIBLE:
            failed = _failed(snapshot, outcome)
            places = _placements(snapshot, outcome, _to_place(snapshot, outcome))
            assert not any(check(snapshot.cluster, placement, failed) == () for placement in places)


@settings(max_examples=30)
@given(snapshot=small)
def test_what_is_called_impossible_is_so_if_all_may_move(snapshot):
    stays = pinned_containers(snapshot.cluster)
    for outcome in bp.capacity(snapshot, may_move=True).outcomes:
        if outcome.verdict is FailureVerdict.IMPOSSIBLE:
            failed = _failed(snapshot, outcome)
            running = (failed.machine_of != UNPLACED) & ~stays
            free = ints(np.union1d(np.flatnonzero(running), _to_place(snapshot, outcome)))
            places = _placements(snapshot, outcome, free)
            assert not any(check(snapshot.cluster, placement, failed) == () for placement in places)


@settings(max_examples=30)
@given(snapshot=small)
def test_fewer_further_machines_than_proven_are_never_enough(snapshot):
    assume(not pinned_containers(snapshot.cluster).any())
    answer = bp.capacity(snapshot)
    for outcome in answer.outcomes:
        least, enough = outcome.further.at_least, outcome.further.enough
        assert enough is None or least <= enough
        if least > 1 and outcome.failure.level == MACHINE:
            like = answer.likes[outcome.further.kind]
            wider = what_if(snapshot, WhatIf(add_machines=(f"{least - 1}:{like}",))).snapshot
            failed = _failed(wider, outcome)
            places = _placements(wider, outcome, _to_place(wider, outcome))
            assert not any(check(wider.cluster, placement, failed) == () for placement in places)


@settings(max_examples=30)
@given(snapshot=valid_snapshots(), data=st.data())
def test_failures_do_not_change_each_other(snapshot, data):
    """One state serves all failures: each is as if it were the only one."""
    assume(not any(isinstance(rule, Confidence) for rule in snapshot.cluster.rules))  # sums of floats
    answer = bp.capacity(snapshot)
    again = bp.capacity(snapshot, survive=data.draw(st.sampled_from(answer.levels)))
    by_name = {outcome.failure.name: outcome for outcome in again.outcomes}
    for outcome in answer.outcomes:
        other = by_name[outcome.failure.name]
        assert (outcome.verdict, outcome.proof, outcome.further.enough) == (other.verdict, other.proof, other.further.enough)
        assert outcome.replacement.machine.tolist() == other.replacement.machine.tolist()


@settings(max_examples=30)
@given(snapshot=valid_snapshots())
def test_many_items_are_placed_as_few_are(snapshot):
    """Kinds that fit nowhere are left out before; that changes nothing."""
    plain = bp.capacity(snapshot).outcomes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failover_state, "MANY", 0)
        patch.setattr(failover_state, "CHUNK", 2)
        parts = bp.capacity(snapshot).outcomes
    for outcome, other in zip(plain, parts, strict=True):
        assert (outcome.verdict, outcome.further) == (other.verdict, other.further)
        assert outcome.replacement.machine.tolist() == other.replacement.machine.tolist()
