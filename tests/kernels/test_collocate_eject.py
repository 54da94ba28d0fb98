"""Ejections are those of the slow twin, and leave no rule broken."""

import numpy as np
import pytest
from tests.naive.collocate_eject import NaiveEjection

from bayplan.kernels.collocate.eject import MAX_LEAVING, NOWHERE, EjectionPool, place, place_unplaced
from bayplan.kernels.collocate.packing_state import PackingState, fits


def drawn(seed):
    """A crowded small state: services, machines, what stands where and who waits."""
    rng = np.random.default_rng(seed)
    n_s, n_m = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    n_c = int(rng.integers(2, 5 * n_m + 3))
    service = np.sort(rng.integers(0, n_s, n_c))
    case = {
        "request": rng.integers(0, 7, (n_s, 2)),
        "capacity": rng.integers(4, 16, (n_m, 2)),
        "allow": rng.random((n_s, n_m)) < 0.8,
        "sets": [(sorted(set(rng.integers(0, n_s, 2).tolist())), int(rng.integers(1, 4))) for _ in range(2)],
    }
    return rng, service, case


def packing_state_of(case):
    n_s, n_m = case["allow"].shape
    mine = [[k for k, (members, _) in enumerate(case["sets"]) if s in members] for s in range(n_s)]
    return PackingState(
        request=case["request"],
        one_over=np.ones(n_s),
        row_of=np.arange(n_s),
        allow=case["allow"],
        set_start=np.cumsum([0, *map(len, mine)]),
        set_of=np.array([k for some in mine for k in some], dtype=np.int64),
        edge_start=np.zeros(n_s + 1, dtype=np.int64),
        neighbour=np.zeros(0, dtype=np.int64),
        weight=np.zeros(0),
        traffic_row=np.full(n_s, -1),
        unit=1.0 / np.maximum(1, case["capacity"]),
        free=case["capacity"].copy(),
        set_free=np.repeat([[limit] for _, limit in case["sets"]], n_m, axis=1).astype(np.int32),
        placed=np.zeros((0, n_m), dtype=np.int32),
    )


def pool_of(rng, service, state):
    """Containers where they happen to fit; the others wait."""
    n_c, n_m = len(service), len(state.free)
    none = [np.full(n, NOWHERE, dtype=np.int64) for n in (n_c, n_m, n_c, n_c, n_c)]
    pool = EjectionPool(
        workload=service,
        may_leave=rng.random(n_c) < 0.8,
        machine_of=none[0],
        price=1.0 + rng.random(len(state.row_of)),
        head=none[1],
        after=none[2],
        before=none[3],
        unplaced=none[4],
        size=np.zeros(1, dtype=np.int64),
        leaving=np.zeros((2, MAX_LEAVING), dtype=np.int64),
        shortage=np.zeros(2, dtype=np.int64),
    )
    for c in range(n_c):
        m = int(rng.integers(n_m))
        if rng.random() < 0.8 and fits(state, service[c], m):
            place(state, pool, c, m)
        else:
            pool.unplaced[pool.size[0]] = c
            pool.size[0] += 1
    return pool


@pytest.mark.parametrize("steps", [1, 7, 60])
def test_every_ejection_is_that_of_the_slow_twin(steps):
    crowded = 0
    for seed in range(60):
        rng, service, case = drawn(seed)
        state = packing_state_of(case)
        pool = pool_of(rng, service, state)
        start = pool.machine_of.copy()
        naive_ejection = NaiveEjection(service, pool.may_leave, start, pool.price, pool.unplaced[: pool.size[0]].tolist(), **case)
        chances = [np.array([seed + 1], dtype=np.uint64) for _ in range(2)]
        left = place_unplaced(state, pool, steps, chances[0])
        assert (left, pool.machine_of.tolist()) == (naive_ejection.settle(steps, chances[1]), naive_ejection.machine_of)
        assert np.allclose(pool.price, naive_ejection.price)
        crowded += bool((pool.machine_of != start)[start >= 0].any())
    assert steps < 7 or crowded > 5  # somebody was sent away


def test_nothing_is_broken_and_nobody_is_lost():
    for seed in range(100, 160):
        rng, service, case = drawn(seed)
        state = packing_state_of(case)
        pool = pool_of(rng, service, state)
        stays = ~pool.may_leave & (pool.machine_of >= 0)
        start = pool.machine_of.copy()
        left = place_unplaced(state, pool, 50, np.array([seed], dtype=np.uint64))
        assert (state.free >= 0).all() and (state.set_free >= 0).all()
        assert sorted(pool.unplaced[:left].tolist()) == np.flatnonzero(pool.machine_of < 0).tolist()
        assert (pool.machine_of[stays] == start[stays]).all()
        for m, free in enumerate(state.free):
            assert (free == case["capacity"][m] - case["request"][service[pool.machine_of == m]].sum(axis=0)).all()
