"""Local ratio in n log n, rooms, profiles and best effort against slow obvious loops."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.schedules import drawn
from tests.naive import schedule as naive

from bayplan.decide.schedule.best_effort import best_effort, best_effort_order, profile_of, time_ranks, windows_of
from bayplan.decide.schedule.cradle import class_of, classes, local_ratio
from bayplan.kernels.schedule.first_fit import first_fit
from bayplan.kernels.schedule.free_tree import NO_MACHINE, add_free, build_tree, first_fit_now
from bayplan.kernels.schedule.local_ratio import push
from bayplan.kernels.schedule.profile import fits, put, remove
from bayplan.model import UNPLACED, Fleet

SEEDS = range(60)


def sized(seed):
    """Few or many machines, one to three resources."""
    rng = np.random.default_rng(seed)
    return drawn(
        seed, requests=int(rng.integers(1, 36)), machines=int(rng.integers(1, 7)), resources=int(rng.integers(1, 4)), grid=10
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_residual_weights_are_those_of_the_literal_recursion(seed):
    instance = sized(seed)
    for members, wide in classes(instance, 0, instance.fits(0)):
        order, of = class_of(instance, 0, members, wide=wide)
        residual, found = np.empty(len(order)), np.empty(len(order))
        push(of, np.empty(len(order) + 1), np.empty(len(order) + 1), residual)
        found[order] = residual
        _, literal = naive.local_ratio(instance, 0, members, wide=wide)
        assert ((found > 0) == (literal > 0)).all()
        assert np.allclose(found, literal, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_machines_are_those_of_the_literal_recursion(seed):
    instance = sized(seed)
    for members, wide in classes(instance, 0, instance.fits(0)):
        literal, _ = naive.local_ratio(instance, 0, members, wide=wide)
        assert local_ratio(instance, 0, members, wide=wide).tolist() == literal.tolist()


def test_weights_of_very_different_size_lose_nothing():
    instance = drawn(5, requests=40, machines=3)
    value = np.array(instance.requests.value) * 10.0 ** np.random.default_rng(5).integers(-9, 10, 40)
    instance = replace(instance, requests=replace(instance.requests, value=value))
    for members, wide in classes(instance, 0, instance.fits(0)):
        literal, _ = naive.local_ratio(instance, 0, members, wide=wide)
        assert local_ratio(instance, 0, members, wide=wide).tolist() == literal.tolist()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("machines", [1, 2, 5, 8, 13])
def test_the_first_room_is_that_of_a_linear_scan(seed, machines):
    rng = np.random.default_rng(seed)
    leaves, capacity = 1 << (machines - 1).bit_length(), np.array([9, 9])
    most, demand = np.empty((2 * leaves, 2), dtype=np.int64), rng.integers(0, 7, (40, 2))
    build_tree(capacity, machines, most)
    free = np.repeat(capacity[None, :], machines, axis=0)
    for j in range(40):
        room = np.flatnonzero((free >= demand[j]).all(axis=1))
        m = first_fit_now(most, demand, j)
        assert m == (room[0] if len(room) else NO_MACHINE)
        if m != NO_MACHINE:
            add_free(most, m, demand, j, -1)
            free[m] -= demand[j]
        else:
            freed = int(rng.integers(machines))
            add_free(most, freed, capacity[None, :] - free[freed][None, :], 0, 1)
            free[freed] = capacity


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("cells", [1, 3, 100])
def test_a_profile_follows_what_is_put_and_taken(seed, cells):
    instance, rng = sized(seed), np.random.default_rng(seed)
    profile = profile_of(instance, cells=cells)
    n, k = len(instance.requests.name), instance.fleet.size
    machine_of = np.full(n, UNPLACED)
    for _ in range(3 * n):
        j, m = int(rng.integers(n)), int(rng.integers(k))
        if machine_of[j] != UNPLACED:
            remove(profile, machine_of[j], j)
            machine_of[j] = UNPLACED
        here = np.flatnonzero(machine_of == m).tolist()
        room = naive.holds(instance, 0, [*here, j])
        assert fits(profile, m, j) == room
        if room:
            put(profile, m, j)
            machine_of[j] = m
    fresh = profile_of(instance, machine_of, cells=cells)
    assert (profile.base == fresh.base).all()
    assert (profile.least == fresh.least).all()


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("cells", [1, 4, 7, 64])
def test_first_fit_is_that_of_looking_at_every_machine(seed, cells):
    instance = sized(seed)
    profile = profile_of(instance, _some(instance, seed), cells=cells)
    windows = windows_of(profile)
    for j in range(len(instance.requests.name)):
        room = [m for m in range(instance.fleet.size) if fits(profile, m, j)]
        assert first_fit(windows, profile, j) == (room[0] if room else NO_MACHINE)


@pytest.mark.parametrize("seed", SEEDS)
def test_best_effort_is_that_of_looking_everywhere(seed):
    instance = sized(seed)
    some = _some(instance, seed)
    order = best_effort_order(instance, some)
    assert best_effort(instance, some).tolist() == naive.best_effort(instance, some, order).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_best_effort_looks_at_every_kind_of_machine(seed):
    instance = sized(seed)
    capacity = [[10 + 5 * i for _ in instance.requests.resources] for i in range(3)]
    fleet = Fleet(kind=("small", "none", "large"), machines=[2, 0, 2], capacity=capacity)
    instance = replace(instance, fleet=fleet)
    nobody = np.full(len(instance.requests.name), UNPLACED)
    order = best_effort_order(instance, nobody)
    assert best_effort(instance, nobody).tolist() == naive.best_effort(instance, nobody, order).tolist()


def test_many_requests_on_few_cells_and_many_cells_find_the_same():
    instance = drawn(1, requests=3000, machines=40, grid=400, most=4)
    nobody = np.full(3000, UNPLACED)
    order = best_effort_order(instance, nobody)
    expected = _filled(instance, order, cells=1)
    assert (_filled(instance, order, cells=16) == expected).all()
    assert (_filled(instance, order, cells=700) == expected).all()
    assert (best_effort(instance, nobody) == expected).all()


def test_ranks_count_distinct_times():
    first, last, by_time = time_ranks(np.array([5.0, 1.0, 1.0]), np.array([6.0, 5.0, 2.0]))
    assert (first.tolist(), last.tolist()) == ([2, 0, 0], [3, 2, 1])
    assert by_time.tolist() == [2, 4, 5, 3, 0, 1]  # starts of 1 and 2, end of 2, end of 1 before the start of 0


def _some(instance, seed):
    """Machines for about half of the requests, none over capacity."""
    rng = np.random.default_rng(seed)
    order = np.flatnonzero(rng.random(len(instance.requests.name)) < 0.5)
    return naive.best_effort(instance, np.full(len(instance.requests.name), UNPLACED), rng.permutation(order))


def _filled(instance, order, cells):
    """First fit machine by machine, on profiles of so many cells."""
    profile, machine_of = profile_of(instance, cells=cells), np.full(len(instance.requests.name), UNPLACED)
    for j in order.tolist():
        m = next((m for m in range(instance.fleet.size) if fits(profile, m, j)), UNPLACED)
        if m != UNPLACED:
            machine_of[j] = m
            put(profile, m, j)
    return machine_of
