"""Random migrations for tests, from explicit seeds.

- `small(seed)`: 2-5 machines, up to 6 moves, tight; all kinds of rules, kept by both ends. An order may exist or not.
- `backwards(seed, ...)`: 5-40 machines, 20-200 moves, built by walking a safe order, so a complete plan exists;
  `known_order` gives that order too.

    migration = backwards(7, machines=20, moves=100, full=0.95, rules=True, style="large")
    migration, plan = known_order(7)

- `migrations()`: a Hypothesis strategy over the odd clusters of `strategies.py`: ends may violate rules, containers may be new.
"""

from dataclasses import replace

import numpy as np
from experiments.migrate.backwards import backwards, known_order
from experiments.migrate.drawn import Rng, drawn_cluster, load_of, ruled, with_capacity
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.builders.strategies import clusters, placements, skews

from bayplan.model import (
    UNPLACED,
    Capacity,
    Cluster,
    Migration,
    MigrationPolicy,
    Placement,
    Running,
    Skew,
    StepLimits,
    Transient,
    TransientMode,
    Way,
)

__all__ = ["backwards", "known_order", "migrations", "small"]


def small(seed: int, *, max_moves: int = 6, rules: bool = True) -> Migration:
    """Up to `max_moves` moves on 2-5 machines that are as good as full at both ends; both ends keep every rule."""
    rng = np.random.default_rng([seed, 1])
    n_m, n_w = int(rng.integers(2, 6)), int(rng.integers(2, 6))
    replicas = rng.integers(1, 6, n_w)
    request = np.stack([rng.integers(1, 5, n_w), rng.integers(0, 3, n_w)], axis=1)
    cluster = drawn_cluster(request, replicas, np.zeros((n_m, 2), dtype=int), rng, services=int(rng.integers(1, n_w + 1)))
    start = rng.integers(0, n_m, int(replicas.sum()))
    start[rng.random(len(start)) < 0.08] = UNPLACED
    after = _changed(start, n_m, int(max(rng.integers(1, max_moves + 1, 2))), rng)
    units = _units(start, after, max_moves, rng) if rules and rng.random() < 0.4 else []
    needed = np.maximum(load_of(cluster, start), load_of(cluster, after))
    cluster = with_capacity(cluster, needed + rng.choice([0, 0, 0, 0, 0, 1, 2], needed.shape))
    ends = [_pairs(start), _pairs(after)]
    if rules:
        cluster = ruled(cluster, [(pairs, pairs) for pairs in ends], start == after, units, rng)
        cluster = _joint(cluster, start, after) if rng.random() < 0.1 else cluster
        cluster = _skewed(cluster, start, after, np.random.default_rng([seed, 2]))
    cluster = replace(cluster, rules=(Capacity(resources=(0, 1)), *cluster.rules))
    policy = _policy(cluster, rng, units)
    return Migration(
        cluster=cluster, start=Running.of(Placement(machine_of=start)), target=Placement(machine_of=after), policy=policy
    )


def _changed(start, n_m: int, moves: int, rng: Rng) -> np.ndarray:
    """Some containers elsewhere; exchanges are frequent, a few are deleted."""
    after = start.copy()
    chosen = rng.permutation(len(start))[:moves]
    after[chosen] = rng.permutation(start[chosen]) if rng.random() < 0.5 else rng.integers(0, n_m, len(chosen))
    after[chosen[rng.random(len(chosen)) < 0.08]] = UNPLACED
    return after


def _units(start, after, max_moves: int, rng: Rng) -> list[tuple[int, ...]]:
    """Two neighbours become one unit: `start` and `after` are changed so that they run together."""
    together = [c for c in rng.permutation(len(start)) if start[c] != UNPLACED]
    for c in together:
        beside = [k for k in together if k != c and start[k] == start[c]]
        if beside and (after != start).sum() < max_moves:
            after[beside[0]] = after[c]
            return [tuple(sorted((int(c), int(beside[0]))))]
    return []


def _pairs(machine_of) -> np.ndarray:
    placed = np.flatnonzero(machine_of != UNPLACED)
    return np.column_stack([placed, machine_of[placed]])


def _joint(cluster: Cluster, start, after) -> Cluster:
    """Nothing of memory is freed before the end; machines have the capacity for that."""
    left = np.where(start == after, UNPLACED, start)
    capacity = cluster.machines.capacity.copy()
    capacity[:, 1] = np.maximum(capacity[:, 1], (load_of(cluster, after) + load_of(cluster, left))[:, 1])
    others = tuple(rule for rule in cluster.rules if not isinstance(rule, Transient))
    return replace(with_capacity(cluster, capacity), rules=(*others, Transient(resource=1, mode=TransientMode.JOINT)))


def _skewed(cluster: Cluster, start, after, rng: Rng) -> Cluster:
    """Sometimes with skew rules, as strict as both ends allow."""
    rules: list[Skew] = []
    for _ in range(int(rng.integers(0, 3))):
        drawn = rng.permutation(len(cluster.workloads.name))[: int(rng.choice([1, 1, 2]))].tolist()
        level, least = int(rng.random() < 0.6), int(rng.choice([0, 0, 0, 9]))
        rule = Skew(workload=drawn[0], counted=tuple(drawn), level=level, min_groups=least)
        if cluster.machine_sets and rng.random() < 0.3:
            rule = replace(rule, machines=sorted(cluster.machine_sets)[0])
        ends = (Placement(machine_of=machine_of) for machine_of in (start, after))
        rules.append(replace(rule, limit=max([1, *(skew for end in ends for skew in skews(cluster, end, rule))])))
    return replace(cluster, rules=(*cluster.rules, *rules))


def _policy(cluster: Cluster, rng: Rng, units: list[tuple[int, ...]]) -> MigrationPolicy:
    ways = rng.choice([Way.AUTO, Way.EITHER, Way.REPLACE, Way.SURGE], len(cluster.workloads.name), p=[0.55, 0.15, 0.15, 0.15])
    limits = StepLimits()
    if rng.random() < 0.2:
        least = 2 if units else 1
        limits = StepLimits(
            batch=int(rng.integers(least, 6)), machine=least, service=int(rng.integers(least, 4)), group=3, level=1
        )
    way = tuple(Way(str(way)) for way in ways) if rng.random() < 0.5 else ()
    return MigrationPolicy(alive=float(rng.choice([0.0, 0.5, 0.75, 0.75, 1.0])), way=way, limits=limits)


@st.composite
def migrations(draw: DrawFn) -> Migration:
    """Any cluster and rules, any two placements: ends may violate rules, containers may be new or deleted."""
    cluster = draw(clusters())
    start, after = draw(placements(cluster)), draw(placements(cluster))
    ways = draw(st.lists(st.sampled_from(Way), min_size=(n_w := len(cluster.workloads.name)), max_size=n_w))
    limits = draw(st.sampled_from([StepLimits(), StepLimits(batch=2), StepLimits(machine=1), StepLimits(service=1, group=2)]))
    policy = MigrationPolicy(
        alive=draw(st.sampled_from([0.0, 0.5, 0.75, 1.0])), way=tuple(ways) if draw(st.booleans()) else (), limits=limits
    )
    return Migration(cluster=cluster, start=Running.of(start), target=after, policy=policy)
