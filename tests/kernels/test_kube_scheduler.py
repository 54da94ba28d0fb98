import subprocess
import sys

import numpy as np
import pytest
from tests.naive import kube_scheduler as naive

from bayplan.kernels.kube_scheduler import Filters, machines_to_find, schedule


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


@pytest.mark.parametrize(("seed", "n_m", "n_c"), [*((s, 7, 60) for s in range(12)), (1, 1, 5), (2, 130, 200), (3, 260, 150)])
def test_fast_equals_naive(seed, n_m, n_c):
    rng, workload_of, request, capacity, allow_row, allowed, sets = random_case(seed, n_m, 9, n_c)
    order, tie = rng.permutation(n_c), rng.random(n_c)
    fast = np.empty(n_c, dtype=np.int64)
    schedule(order, tie, workload_of, request, capacity, filters_of(9, allow_row, allowed, sets), fast)
    slow = naive.schedule(
        order.tolist(),
        tie.tolist(),
        workload_of.tolist(),
        request.tolist(),
        capacity.tolist(),
        [set(np.flatnonzero(allowed[row]).tolist()) for row in allow_row],
        sets,
    )
    assert fast.tolist() == slow


def test_samples_as_many_machines_as_kube_scheduler():
    assert [machines_to_find(n) for n in (1, 99, 100, 500, 1000, 5000, 10000)] == [1, 99, 100, 230, 420, 500, 500]


def test_a_balanced_machine_beats_an_equally_free_one():
    # the third container leaves 80 % free on either machine; on machine 1 both resources end at 20 %
    request = np.array([[20, 0], [10, 10], [10, 10]])
    filters = filters_of(3, np.zeros(3, dtype=np.int64), np.ones((1, 2), dtype=bool), [])
    machine_of = np.empty(3, dtype=np.int64)
    schedule(np.arange(3), np.zeros(3), np.arange(3), request, np.full((2, 2), 100), filters, machine_of)
    assert machine_of.tolist() == [0, 1, 1]


def test_warm_up_compiles_what_the_generator_calls():
    code = (
        "from bayplan.kernels import kube_scheduler as k; k.warm_up(); before = k.schedule.signatures; "
        "from bayplan.generate.rasa import rasa_m3; rasa_m3(); assert k.schedule.signatures == before, k.schedule.signatures"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
