"""The kernels of K8S+ and ApplSci19 do what their slow twins do."""

from importlib import import_module

import numpy as np
import pytest
from tests.naive import collocate_baselines as naive

from bayplan.kernels.collocate.bisect import BisectedPart, bisect
from bayplan.kernels.collocate.k8s_plus import MachinesByWorkload, schedule
from bayplan.kernels.collocate.packing_state import PackingState, best_fit, fits, return_home
from bayplan.kernels.collocate.parts import new_part_scratch, pack_part

every_seed = pytest.mark.parametrize("seed", range(60))


def drawn(seed):
    """A small case; sizes are odd numbers, so that sums of shares are hardly ever equal by chance."""
    rng = np.random.default_rng(seed)
    n_s, n_m = int(rng.integers(2, 7)), int(rng.integers(1, 6))
    pairs = [(a, b) for a in range(n_s) for b in range(a + 1, n_s) if rng.random() < 0.6]
    return rng, {
        "request": rng.integers(0, 71, (n_s, 2)).tolist(),
        "capacity": rng.integers(40, 301, (n_m, 2)).tolist(),
        "allow": (rng.random((n_s, n_m)) < 0.85).tolist(),
        "sets": [
            (sorted(set(rng.integers(0, n_s, 2).tolist())), int(rng.integers(1, 5))) for _ in range(int(rng.integers(0, 3)))
        ],
        "edges": [(a, b, float(rng.uniform(0.1, 1.0))) for a, b in pairs],
        "replicas": rng.integers(1, 8, n_s).tolist(),
    }


def packing_state_of(case):
    n_s, n_m = len(case["request"]), len(case["capacity"])
    mine = [[k for k, (members, _) in enumerate(case["sets"]) if s in members] for s in range(n_s)]
    near = [[(b if a == s else a, w) for a, b, w in case["edges"] if s in (a, b)] for s in range(n_s)]
    capacity = np.array(case["capacity"])
    return PackingState(
        request=np.array(case["request"]),
        one_over=1.0 / np.array(case["replicas"]),
        row_of=np.arange(n_s),
        allow=np.array(case["allow"]),
        set_start=np.cumsum([0, *map(len, mine)]),
        set_of=np.array([k for some in mine for k in some], dtype=np.int64),
        edge_start=np.cumsum([0, *map(len, near)]),
        neighbour=np.array([t for some in near for t, _ in some], dtype=np.int64),
        weight=np.array([w for some in near for _, w in some]),
        traffic_row=np.arange(n_s),
        unit=1.0 / np.maximum(1, capacity),
        free=capacity.copy(),
        set_free=np.array([[limit] * n_m for _, limit in case["sets"]], dtype=np.int32).reshape(len(case["sets"]), n_m),
        placed=np.zeros((n_s, n_m), dtype=np.int32),
    )


def one_each(rng, case):
    """Containers of all services in random order."""
    return rng.permutation(np.repeat(np.arange(len(case["replicas"])), case["replicas"]))


@every_seed
def test_k8s_plus_chooses_what_the_twin_chooses(seed):
    rng, case = drawn(seed)
    state, services = packing_state_of(case), one_each(rng, case)
    start = np.cumsum([0, *case["replicas"]])
    size = np.zeros(len(case["replicas"]), dtype=np.int64)
    seen = MachinesByWorkload(
        start=start, size=size, machine=np.zeros(start[-1], dtype=np.int32), score=np.zeros(len(state.free))
    )
    found = np.empty(len(services), dtype=np.int64)
    schedule(state, seen, services, found)
    naive_packing = naive.NaivePacking(case)
    assert found.tolist() == naive.schedule(naive_packing, services.tolist())
    assert state.placed.T.tolist() == [[at[s] for s in range(len(size))] for at in naive_packing.at]


@every_seed
def test_best_fit_chooses_what_the_twin_chooses(seed):
    rng, case = drawn(seed)
    services = one_each(rng, case)
    found = np.empty(len(services), dtype=np.int64)
    best_fit(packing_state_of(case), services, found)
    assert found.tolist() == naive.best_fit(naive.NaivePacking(case), services.tolist())


@every_seed
def test_a_part_goes_where_the_twin_puts_it(seed):
    rng, case = drawn(seed)
    state, naive_packing = packing_state_of(case), naive.NaivePacking(case)
    desk = new_part_scratch(state)
    for _ in range(8):
        service = np.flatnonzero(rng.random(len(state.request)) < 0.5)
        if not len(service):
            continue
        number = rng.integers(1, 3, len(service))
        part = dict(zip(service.tolist(), number.tolist(), strict=True))
        assert pack_part(state, desk, service, number) == naive.pack_part(naive_packing, part)
    assert not desk.member.any()


@every_seed
def test_a_cut_keeps_what_it_says_and_never_more_than_the_best_one(seed):
    rng, case = drawn(seed)
    state, naive_packing = packing_state_of(case), naive.NaivePacking(case)
    n_s = len(state.request)
    number = np.array([int(rng.integers(1, min(3, d) + 1)) for d in case["replicas"]])
    side = np.zeros(n_s, dtype=np.int64)
    part = BisectedPart(
        number=number,
        one_over=state.one_over,
        size=rng.random(n_s),
        edge_start=state.edge_start,
        neighbour=state.neighbour,
        weight=state.weight,
        side=np.zeros(n_s, dtype=np.int64),
        bond=np.zeros(n_s),
    )
    value = bisect(part, 0.75, 4, np.array([seed + 1], dtype=np.uint64), side)
    whole = dict(enumerate(number.tolist()))
    assert 0 < side.sum() < number.sum() and (side >= 0).all() and (side <= number).all()
    assert value == pytest.approx(naive.kept(naive_packing, whole, dict(enumerate(side.tolist()))))
    assert value <= naive.best_cut(naive_packing, whole) + 1e-9


def test_two_pairs_are_cut_between_and_one_large_pair_through():
    def cut(number, replicas, edges):
        n_s = len(number)
        near = [[(b if a == s else a, w) for a, b, w in edges if s in (a, b)] for s in range(n_s)]
        side = np.zeros(n_s, dtype=np.int64)
        part = BisectedPart(
            number=np.array(number),
            one_over=1.0 / np.array(replicas),
            size=np.ones(n_s),
            edge_start=np.cumsum([0, *map(len, near)]),
            neighbour=np.array([t for some in near for t, _ in some]),
            weight=np.array([w for some in near for _, w in some]),
            side=np.zeros(n_s, dtype=np.int64),
            bond=np.zeros(n_s),
        )
        return bisect(part, 0.75, 4, np.array([1], dtype=np.uint64), side), sorted([side.tolist(), (part.number - side).tolist()])

    assert cut([1, 1, 1, 1], [1, 1, 1, 1], [(0, 1, 0.5), (1, 2, 0.1), (2, 3, 0.4)]) == (
        pytest.approx(0.9),
        [[0, 0, 1, 1], [1, 1, 0, 0]],
    )
    assert cut([4, 8], [4, 8], [(0, 1, 1.0)]) == (pytest.approx(1.0), [[2, 4], [2, 4]])


def test_who_waits_goes_home_if_there_is_room():
    _, case = drawn(0)
    case |= {"request": [[6, 0], [5, 0]], "capacity": [[10, 0], [10, 0]], "allow": [[1, 1], [1, 1]], "sets": [], "edges": []}
    state = packing_state_of(case | {"replicas": [2, 2]})
    state = state._replace(allow=state.allow.astype(np.bool_))
    machine = np.array([-1, -1, -1, -1])
    return_home(state, np.array([0, 1, 1, 0]), np.array([0, 0, 1, -1]), machine)
    assert machine.tolist() == [0, -1, 1, -1]
    assert not fits(state, 0, 0) and fits(state, 1, 1)


@pytest.mark.parametrize("name", ["packing_state", "k8s_plus", "parts", "bisect"])
def test_can_be_warmed_up(name):
    import_module(f"bayplan.kernels.collocate.{name}").warm_up()
