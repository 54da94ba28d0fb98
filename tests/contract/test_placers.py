"""What holds for every placement method."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import snapshots, valid_snapshots
from tests.builders.tiny_clusters import on, tiny

from bayplan.check import check
from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.model import (
    UNPLACED,
    Budget,
    Capacity,
    Objective,
    Placement,
    Progress,
    Result,
    Snapshot,
    Spread,
    machine_level,
    silent,
)
from bayplan.model.problem import Problem
from bayplan.score.terms import weighted
from bayplan.search.answer import excess_by_kind

BUDGET = Budget(iterations=500, seconds=10.0)
every_placer = pytest.mark.parametrize("name", PLACERS)
few = settings(max_examples=12)
partly_placed = st.one_of(snapshots(complete=False), valid_snapshots(complete=False))


def placed(
    name: str, snapshot: Snapshot, *, seed: int = 0, candidates: int = 2, progress: Progress = silent
) -> Result[Placement]:
    return PLACERS[name](Problem.of(snapshot), PlaceOptions(candidates=candidates), budget=BUDGET, seed=seed, progress=progress)


def each_rule_once(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, cluster=replace(snapshot.cluster, rules=tuple(dict.fromkeys(snapshot.cluster.rules))))


@every_placer
@few
@given(snapshot=partly_placed)
def test_never_violates_a_rule_further(name, snapshot):
    solution = placed(name, snapshot).solution
    before = excess_by_kind(check(snapshot.cluster, snapshot.placement, snapshot.placement))
    after = excess_by_kind(check(snapshot.cluster, solution, snapshot.placement))
    assert all(excess <= before.get(kind, 0) + 1e-6 for kind, excess in after.items())


@every_placer
@few
@given(snapshot=partly_placed)
def test_moves_nothing_that_runs(name, snapshot):
    ran = snapshot.placement.placed
    assert (placed(name, snapshot).solution.machine_of[ran] == snapshot.placement.machine_of[ran]).all()


@every_placer
@few
@given(snapshot=partly_placed, seed=st.integers(0, 3), candidates=st.integers(1, 9))
def test_the_same_seed_gives_the_same_answer(name, snapshot, seed, candidates):
    one, other = (placed(name, snapshot, seed=seed, candidates=candidates).solution.machine_of for _ in range(2))
    assert (one == other).all()


@every_placer
@few
@given(snapshot=partly_placed)
def test_what_is_left_out_has_a_reason(name, snapshot):
    result = placed(name, snapshot)
    names = snapshot.cluster.containers.name
    assert [reason.subject for reason in result.left_out] == [names[c] for c in result.solution.unplaced]
    assert all(reason.text for reason in result.left_out)


@every_placer
@few
@given(snapshot=valid_snapshots(complete=False).map(each_rule_once))
def test_what_fits_somewhere_is_placed(name, snapshot):
    result = placed(name, snapshot)
    for reason in result.left_out:
        assert reason.text.startswith("0/") or "cannot take it" in reason.text


@every_placer
def test_fills_a_machine_with_more_containers_than_any_had_before(name):
    """The state of the search starts with short lists of containers per machine; that is no rule."""
    crowd = Snapshot(
        cluster=tiny([[100], [1000]], [[1]], [200], rules=(Capacity(resources=(0,)),)),
        placement=Placement.empty(200),
        objective=Objective.default(tiny([[100], [1000]], [[1]], [200])),
    )
    assert (placed(name, crowd).solution.machine_of != UNPLACED).all()


@every_placer
@pytest.mark.parametrize("capacity", [[[1, 0], [1, 0]], []], ids=["no machine has any", "no machines"])
def test_what_requests_far_more_than_any_machine_has_is_left_out(name, capacity):
    cluster = tiny([[1, 0], [1, 0]], [[1, 2**40]], [2], rules=(Capacity(resources=(0, 1)),))
    machines = replace(cluster.machines, name=cluster.machines.name[: len(capacity)], capacity=np.array(capacity).reshape(-1, 2))
    machines = replace(machines, safety=machines.capacity)
    small = replace(cluster, machines=machines, levels=(machine_level(machines.name),))
    waiting = Snapshot(cluster=small, placement=Placement.empty(2), objective=Objective.default(small))
    assert len(placed(name, waiting).left_out) == 2


@every_placer
def test_a_service_that_lacks_a_group_already_still_gets_its_new_containers(name):
    """Two of four run in one group, three groups are needed: another group for each of the others makes it no worse."""
    cluster = tiny([[9]] * 4, [[1]], [4], rules=(Capacity(resources=(0,)), Spread(service=0, minimum=3)))
    crowded = Snapshot(cluster=cluster, placement=on(1, 1, -1, -1), objective=Objective.default(cluster))
    result = placed(name, crowded)
    assert not result.left_out
    assert excess_by_kind(check(cluster, result.solution, crowded.placement)).get("spread", 0) <= 1  # as before


@every_placer
def test_a_spread_that_cannot_be_kept_keeps_nothing_waiting_that_makes_it_no_worse(name):
    cluster = tiny([[9], [9]], [[1]], [4], rules=(Spread(service=0, minimum=4),))
    crowded = Snapshot(cluster=cluster, placement=on(1, 1, -1, -1), objective=Objective.default(cluster))
    assert len(placed(name, crowded).solution.unplaced) == 1  # the fourth would make it complete, with two groups of four


@few
@given(snapshot=valid_snapshots(complete=False), seed=st.integers(0, 3))
def test_best_never_costs_more_than_ca_wfd(snapshot, seed):
    first, best = (placed(name, snapshot, seed=seed) for name in ("ca-wfd", "best"))
    assert len(best.solution.unplaced) <= len(first.solution.unplaced)
    if len(best.solution.unplaced) == len(first.solution.unplaced):
        costs = [weighted(snapshot.cluster, r.solution, snapshot.objective, snapshot.placement) for r in (first, best)]
        assert costs[1] <= costs[0] + 1e-9 * max(1.0, abs(costs[0]))
