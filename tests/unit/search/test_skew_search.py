"""The search under skew rules against all placements of small clusters."""

from itertools import product

import numpy as np
import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.check import check
from bayplan.decide.rebalance import REBALANCERS, RebalanceOptions
from bayplan.model import Budget, Capacity, Cluster, Objective, Placement, Skew, Snapshot, ints, silent
from bayplan.model.problem import Problem
from bayplan.score.terms import weighted
from bayplan.search.answer import excess_by_kind


def drawn(seed: int) -> Snapshot:
    """Two workloads, five containers, four machines in three racks; skew of one over racks, of both together over machines."""
    rng = np.random.default_rng(seed)
    rules = (
        Capacity(resources=(0, 1)),
        Skew(workload=0, limit=int(rng.integers(1, 3)), level=1),
        Skew(workload=1, counted=(0, 1), limit=int(rng.integers(1, 3))),
    )
    capacity, request = rng.integers(9, 14, (4, 2)).tolist(), rng.integers(1, 4, (2, 2)).tolist()
    edges = [(0, 1, float(rng.integers(1, 9)))]
    cluster = tiny(capacity, request, [3, 2], rules=rules, racks=[0, 0, 1, 2], edges=edges)
    return Snapshot(cluster=cluster, placement=on(*rng.integers(0, 4, 5).tolist()), objective=Objective.default(cluster))


def searched(snapshot: Snapshot) -> Placement:
    budget = Budget(iterations=3_000)
    result = REBALANCERS["search"](Problem.of(snapshot), RebalanceOptions(), budget=budget, seed=0, progress=silent)
    assert result.solution is not None
    return result.solution


def every_valid(cluster: Cluster) -> list[Placement]:
    placements = (Placement(machine_of=ints(machines)) for machines in product(range(4), repeat=5))
    return [placement for placement in placements if not check(cluster, placement)]


@pytest.mark.parametrize("seed", range(8))
def test_no_valid_placement_is_better(seed):
    snapshot = drawn(seed)
    cluster, before = snapshot.cluster, snapshot.placement
    found, valid = searched(snapshot), every_valid(snapshot.cluster)
    assert valid and not check(cluster, found), "what is beyond a limit at the start is repaired"
    least = min(weighted(cluster, placement, snapshot.objective, before) for placement in valid)
    assert weighted(cluster, found, snapshot.objective, before) == pytest.approx(least, rel=1e-9)


def test_some_starts_are_beyond_a_limit_and_some_are_not():
    skewed = [excess_by_kind(check(drawn(seed).cluster, drawn(seed).placement)).get("skew", 0.0) > 0 for seed in range(8)]
    assert 0 < sum(skewed) < len(skewed)
