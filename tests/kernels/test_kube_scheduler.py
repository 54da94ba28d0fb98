import subprocess
import sys

import numpy as np
import pytest
from tests.naive import kube_scheduler as naive

from bayplan.kernels.kube_scheduler import Filters, Jobs, nothing_placed, schedule


def random_case(seed, n_m, n_w, n_c):
    """A small crowded cluster: some machines lack a resource, some containers will not fit."""
    rng = np.random.default_rng(seed)
    request = rng.integers(0, 6, (n_w, 2))
    capacity = rng.integers(0, 20, (n_m, 2)) * (rng.random((n_m, 2)) < 0.9)
    allowed = np.vstack([np.ones((1, n_m), dtype=bool), rng.random((2, n_m)) < 0.6])
    sets = [(sorted(rng.choice(n_w, rng.integers(1, 4), replace=False).tolist()), int(rng.integers(1, 4))) for _ in range(4)]
    return rng, np.sort(rng.integers(0, n_w, n_c)), request, capacity, rng.integers(0, 3, n_w), allowed, sets


def filters_of(n_w, allow_row, allowed, sets):
    mine = [[k for k, (group, _) in enumerate(sets) if w in group] for w in range(n_w)]
    start = np.cumsum([0, *map(len, mine)])
    flat = np.array([k for ks in mine for k in ks], dtype=np.int64)
    return Filters(allow_row, allowed, start, flat, np.array([limit for _, limit in sets], dtype=np.int64))


def jobs_of(workload_of, request):
    kinds, kind_of = np.unique(request, axis=0, return_inverse=True)
    return Jobs(workload_of, kind_of.ravel(), kinds)


def scheduled(slices, tie, jobs, capacity, filters, window):
    """The machine of each container when they arrive in these slices."""
    state = nothing_placed(jobs, filters, capacity)
    for order in slices:
        schedule(order, tie, jobs, capacity, filters, window, state)
    return state.machine_of.tolist()


CASES = [*((seed, 7, 60, 1 + seed % 7) for seed in range(12)), (1, 1, 5, 1), (2, 130, 200, 16), (3, 40, 300, 5)]


@pytest.mark.parametrize(("seed", "n_m", "n_c", "window"), CASES)
def test_fast_equals_naive(seed, n_m, n_c, window):
    rng, workload_of, request, capacity, allow_row, allowed, sets = random_case(seed, n_m, 9, n_c)
    order, tie = rng.permutation(n_c), rng.random(n_c)
    filters = filters_of(9, allow_row, allowed, sets)
    fast = scheduled(np.array_split(order, 3), tie, jobs_of(workload_of, request), capacity, filters, window)
    slow = naive.schedule(
        order.tolist(),
        tie.tolist(),
        workload_of.tolist(),
        request.tolist(),
        capacity.tolist(),
        [set(np.flatnonzero(allowed[row]).tolist()) for row in allow_row],
        sets,
        window,
    )
    assert fast == slow


def free_for_all(n_w, n_m):
    return filters_of(n_w, np.zeros(n_w, dtype=np.int64), np.ones((1, n_m), dtype=bool), [])


@pytest.mark.parametrize(("window", "machines"), [(1, [0, 0, 1, 1]), (2, [0, 1, 0, 2]), (3, [0, 1, 2, 0])])
def test_only_the_first_machines_that_fit_are_scored(window, machines):
    jobs = jobs_of(np.arange(4), np.full((4, 1), 4))
    capacity = np.full((3, 1), 10)  # two containers each; when machine 0 is full, machine 2 is the second that fits
    assert scheduled([np.arange(4)], np.zeros(4), jobs, capacity, free_for_all(4, 3), window) == machines


def test_a_balanced_machine_beats_an_equally_free_one():
    # the third container leaves 80 % free on either machine; on machine 1 both resources end at 20 %
    jobs = jobs_of(np.arange(3), np.array([[20, 0], [10, 10], [10, 10]]))
    assert scheduled([np.arange(3)], np.zeros(3), jobs, np.full((2, 2), 100), free_for_all(3, 2), 2) == [0, 1, 1]


def test_warm_up_compiles_what_the_generator_calls():
    code = (
        "from bayplan.kernels import kube_scheduler as k; k.warm_up(); before = k.schedule.signatures; "
        "from bayplan.generate.rasa import rasa_m3; rasa_m3(); assert k.schedule.signatures == before, k.schedule.signatures"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
