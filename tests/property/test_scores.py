"""Theorems about scores, on clusters of every shape."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import placements, snapshots, valid_snapshots
from tests.naive import scores as naive

from bayplan.model import Objective, Placement, Snapshot, Term, floats, ints, relabelled
from bayplan.score import (
    balance_cost,
    bounds,
    communication_cost,
    gained_affinity,
    gained_shares,
    gmrp_cost,
    loads,
    machine_ucac,
    moved,
    moves,
    normalised,
    overload_cost,
    score,
    service_counts,
    summarise,
    ucac,
    usage,
    utilisation_cost,
    violation_probability,
    weighted,
    workload_counts,
)

close = pytest.approx
few = settings(max_examples=30)


def hopping(objective: Objective) -> Objective:
    """The objective, with a distance at every level."""
    return replace(objective, hop=floats(np.arange(1.0, len(objective.hop) + 1)))


@given(snapshots(), st.data())
def test_every_score_agrees_with_its_slow_twin(snapshot: Snapshot, data: st.DataObject):
    cluster, placement, objective = snapshot.cluster, snapshot.placement, snapshot.objective
    before = data.draw(placements(cluster))
    assert utilisation_cost(cluster, placement) == close(naive.utilisation_cost(cluster, placement), abs=1e-12)
    assert balance_cost(cluster, placement, objective) == close(naive.balance_cost(cluster, placement, objective), abs=1e-12)
    assert communication_cost(cluster, placement, objective) == close(
        naive.communication_cost(cluster, placement, objective), abs=1e-12
    )
    assert gained_affinity(cluster, placement) == close(naive.gained_affinity(cluster, placement), abs=1e-12)
    assert overload_cost(cluster, placement, objective) == close(naive.overload_cost(cluster, placement, objective))
    assert moves(cluster, placement, before) == naive.moves(cluster, placement, before)
    parts = gmrp_cost(cluster, placement, objective, before)
    assert parts.balance == naive.target_cost(cluster, placement, objective)
    assert parts.moves.total == naive.move_cost(cluster, placement, objective, before)
    assert weighted(cluster, placement, objective, before) == close(
        naive.weighted(cluster, placement, objective, before), abs=1e-9
    )
    for r in range(len(cluster.resources)):
        assert ucac(cluster, placement, r, alpha=0.99) == close(naive.ucac(cluster, placement, r, 0.99), abs=1e-9)


@few
@given(snapshots())
def test_counts_of_all_levels_add_up_to_the_placed_containers(snapshot: Snapshot):
    cluster, placement = snapshot.cluster, snapshot.placement
    for level in range(len(cluster.levels)):
        assert workload_counts(cluster, placement, level).sum() == len(placement.placed)
        assert service_counts(cluster, placement, level).sum() == len(placement.placed)
    load = np.array([[naive.load(cluster, placement, m, r) for r in naive.resources(cluster)] for m in naive.machines(cluster)])
    assert (loads(cluster, placement) == load).all()


@few
@given(snapshots(), st.data())
def test_no_score_depends_on_which_replica_runs_where(snapshot: Snapshot, data: st.DataObject):
    cluster, placement, objective = snapshot.cluster, snapshot.placement, snapshot.objective
    before = data.draw(placements(cluster))
    machine_of = placement.machine_of.copy()
    for w in range(len(cluster.workloads.name)):
        own = np.flatnonzero(cluster.containers.workload == w)
        machine_of[own] = machine_of[data.draw(st.permutations(own.tolist()))] if own.size else []
    other = Placement(machine_of=ints(machine_of))
    objective = replace(objective, move_costs=None)  # those prices are per container: from where it came matters
    assert score(cluster, placement, objective, before) == close(score(cluster, other, objective, before))
    assert weighted(cluster, placement, objective, before) == close(weighted(cluster, other, objective, before))


@few
@given(snapshots(), st.data())
def test_moves_are_the_moved_containers_once_replicas_are_relabelled(snapshot: Snapshot, data: st.DataObject):
    cluster, placement = snapshot.cluster, snapshot.placement
    before = data.draw(placements(cluster))
    fewest = moves(cluster, placement, before)
    assert fewest <= moved(placement, before)
    assert fewest == moved(relabelled(placement, before, cluster.containers.workload), before)


@few
@given(snapshots(), st.integers(0, 5))
def test_communication_costs_nothing_on_one_machine(snapshot: Snapshot, m: int):
    cluster = snapshot.cluster
    together = np.full(len(cluster.containers.name), m % len(cluster.machines.name))
    assert communication_cost(cluster, Placement(machine_of=ints(together)), hopping(snapshot.objective)) == 0.0


@few
@given(snapshots())
def test_gained_affinity_is_a_share(snapshot: Snapshot):
    share = gained_shares(snapshot.cluster, snapshot.placement)
    assert ((share >= 0) & (share <= 1)).all()
    assert 0 <= gained_affinity(snapshot.cluster, snapshot.placement) <= 1 + 1e-12


@few
@given(snapshots())
def test_all_affinity_is_gained_on_one_machine(snapshot: Snapshot):
    cluster = snapshot.cluster
    together = Placement(machine_of=ints(np.zeros(len(cluster.containers.name))))
    exists = (cluster.replicas[cluster.traffic.a] > 0) & (cluster.replicas[cluster.traffic.b] > 0)
    assert gained_shares(cluster, together) == close(exists.astype(float))


@few
@given(snapshots(), st.floats(0.5, 0.9999))
def test_ucac_is_at_least_the_mean_usage_and_grows_with_confidence(snapshot: Snapshot, alpha: float):
    cluster, placement = snapshot.cluster, snapshot.placement
    for r in range(len(cluster.resources)):
        mean, _ = usage(cluster, placement, r)
        at_alpha = machine_ucac(cluster, placement, r, alpha=alpha)
        assert (at_alpha >= mean).all()
        assert (machine_ucac(cluster, placement, r, alpha=0.99999) >= at_alpha).all()


@few
@given(snapshots(complete=True), st.floats(0.5, 0.9999))
def test_ucac_never_grows_when_all_containers_share_a_machine(snapshot: Snapshot, alpha: float):
    cluster = snapshot.cluster
    together = Placement(machine_of=ints(np.zeros(len(cluster.containers.name))))
    for r in range(len(cluster.resources)):
        assert ucac(cluster, together, r, alpha=alpha) <= ucac(cluster, snapshot.placement, r, alpha=alpha) + 1e-9


@few
@given(snapshots())
def test_a_machine_as_large_as_its_ucac_overflows_with_the_remaining_probability(snapshot: Snapshot):
    cluster, placement = snapshot.cluster, snapshot.placement
    big = np.ceil(np.stack([machine_ucac(cluster, placement, r, alpha=0.99) for r in naive.resources(cluster)], axis=1))
    machines = replace(cluster.machines, capacity=ints(big), safety=ints(big))
    for r in range(len(cluster.resources)):
        assert (violation_probability(replace(cluster, machines=machines), placement, r) <= 0.01 + 1e-9).all()


@given(valid_snapshots())
def test_valid_placements_lie_between_the_bounds(snapshot: Snapshot):
    cluster, placement, objective = snapshot.cluster, snapshot.placement, hopping(snapshot.objective)
    limits = bounds(cluster, placement, objective)
    value = {
        Term.UTILISATION: utilisation_cost(cluster, placement),
        Term.BALANCE: balance_cost(cluster, placement, objective),
        Term.COMMUNICATION: communication_cost(cluster, placement, objective),
    }
    for term, (lower, upper) in limits.items():
        assert 0 <= lower <= value[term] + 1e-9, term
        assert value[term] <= upper + 1e-9, term
    assert all(0 <= share <= 1 for share in normalised(cluster, placement, objective).values())


@few
@given(snapshots())
def test_a_summary_says_what_the_scores_say(snapshot: Snapshot):
    cluster, placement, objective = snapshot.cluster, snapshot.placement, snapshot.objective
    summary = summarise(snapshot, hot=3)
    assert summary.score == score(cluster, placement, objective)
    three = {
        Term.UTILISATION: naive.utilisation_cost(cluster, placement),
        Term.BALANCE: naive.balance_cost(cluster, placement, objective),
        Term.COMMUNICATION: naive.communication_cost(cluster, placement, objective),
    }
    total = sum(objective.weight.get(term, 0.0) * cost for term, cost in three.items())
    assert summary.score.get("total", 0.0) == close(total, abs=1e-9)
    assert sum(use.load for use in summary.use) == loads(cluster, placement).sum()
    assert [hot.utilisation for hot in summary.hot] == sorted((hot.utilisation for hot in summary.hot), reverse=True)
    assert all(use.p50 <= use.p95 <= use.maximum and use.top10 <= use.top5 + 1e-12 <= use.top1 + 2e-12 for use in summary.use)
