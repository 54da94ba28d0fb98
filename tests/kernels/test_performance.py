"""The simulation of requests against its naive twin, and against what queueing theory knows exactly."""

import numpy as np
import pytest
from tests.naive.performance import Simulation

from bayplan.kernels.performance.arrays import (
    CONSTANT,
    EXPONENTIAL,
    TWO_PHASES,
    CellArrays,
    MachineArrays,
    SimulationSettings,
    Tally,
    WalkArrays,
)
from bayplan.kernels.performance.simulate import simulate

ROW_LIMIT = 4096
NONE = np.zeros(0, dtype=np.int64)
ONE_NODE = WalkArrays(np.ones(1), np.zeros(2, dtype=np.int64), np.zeros(0), NONE, NONE, np.zeros(1, dtype=np.int64))


def cells_of(rows):
    """Cells of lists of machines, one list for each row."""
    counted = [np.unique(row, return_counts=True) if row else (np.zeros(0, int), np.zeros(0, int)) for row in rows]
    first = np.cumsum([0, *(len(machine) for machine, _ in counted)])
    machine = np.concatenate([machine for machine, _ in counted]).astype(np.int64)
    ends = np.concatenate([np.cumsum(count) for _, count in counted]).astype(np.int64)
    return CellArrays(first.astype(np.int64), machine, ends)


def settings_of(**changed):
    plain = SimulationSettings(0.2, 0.3, 1, 1.0, EXPONENTIAL, 0, 0.125, 0.75, 0.05, 0.2, 0, ROW_LIMIT)
    return plain._replace(**changed)


def tally_of(requests, machines):
    return Tally(np.zeros(requests), np.zeros(requests, dtype=np.int64), np.zeros(2, dtype=np.int64), np.zeros(machines))


def random_case(seed):
    """A small graph without cycles over a few machines; one row may have no containers."""
    rng = np.random.default_rng(seed)
    n_m, n_node = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    rows = [sorted(rng.integers(0, n_m, rng.integers(0 if w else 1, 5)).tolist()) for w in range(n_node)]
    calls = []
    for node in range(n_node):
        later = [v for v in range(node + 1, n_node) if rng.random() < 0.7]
        share = rng.dirichlet(np.ones(len(later) + 1))[:-1]
        calls.append([(float(p), v, 0) for p, v in zip(share, later, strict=True)])
    row = list(range(n_node))
    if n_node > 1 and rng.random() < 0.5:  # a clique: the second node is the first row again
        row[1] = 0
        calls[0] = [(0.5, 1, 1)]
    entry = np.cumsum(rng.dirichlet(np.ones(n_node)))
    others = np.cumsum(rng.dirichlet(np.ones(n_m)))
    machines = {"others": others, "visit_ms": rng.uniform(1, 5, n_m), "fails": rng.uniform(0, 0.1, n_m)}
    return rows, calls, row, entry, machines


def arrays_of(rows, calls, row, entry, machines):
    first = np.cumsum([0, *map(len, calls)])
    go_on = np.concatenate([np.cumsum([p for p, _, _ in each]) for each in calls] or [np.zeros(0)]).astype(np.float64)
    flat = [each for group in calls for each in group]
    walk = WalkArrays(
        entry,
        first.astype(np.int64),
        go_on,
        np.array([callee for _, callee, _ in flat], dtype=np.int64),
        np.array([peers for _, _, peers in flat], dtype=np.int64),
        np.array(row, dtype=np.int64),
    )
    return walk, cells_of(rows), MachineArrays(machines["others"], machines["visit_ms"], machines["fails"])


@pytest.mark.parametrize("seed", range(24))
def test_fast_equals_naive(seed):
    case = random_case(seed)
    rows, calls, row, entry, machines = case
    settings = settings_of(router=seed % 3, sharing=int(seed % 4 > 0), size_kind=seed % 3, skipped=seed % 5)
    word = np.array([2 * seed + 1], dtype=np.uint64)
    tally = tally_of(120, len(machines["fails"]))
    assert simulate(*arrays_of(*case), settings, 512, word.copy(), tally) == 0
    walk = {"calls": calls, "row": row, "entry": entry.tolist()}
    twin = Simulation(walk, rows, {name: each.tolist() for name, each in machines.items()}, settings._asdict(), word[0])
    slow = twin.run(120)
    assert tally.failed.tolist() == [int(failed) for _, failed in slow]
    assert tally.latency == pytest.approx([latency for latency, _ in slow], rel=1e-6, abs=1e-9)
    assert tally.calls.tolist() == twin.calls


def one_machine(load, size_kind, *, requests=400_000, seed=7):
    """Latencies of visits of a single machine that shares its processor, in order of arrival."""
    settings = settings_of(request_rate=load, other_rate=0.0, size_kind=size_kind, skipped=20_000)
    tally = tally_of(requests, 1)
    machines = MachineArrays(np.ones(1), np.ones(1), np.zeros(1))
    assert simulate(ONE_NODE, cells_of([[0]]), machines, settings, 4096, np.array([seed], dtype=np.uint64), tally) == 0
    return tally.latency


def interval(values, batches=40):
    """Mean, and four standard errors of it, from the means of consecutive batches."""
    means = values.reshape(batches, -1).mean(axis=1)
    return means.mean(), 4 * means.std(ddof=1) / np.sqrt(batches)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
@pytest.mark.parametrize("size_kind", [EXPONENTIAL, CONSTANT, TWO_PHASES], ids=["M/M/1", "M/D/1", "M/H2/1"])
def test_a_single_machine_has_the_mean_of_processor_sharing_whatever_the_sizes(load, size_kind):
    mean, error = interval(one_machine(load, size_kind))
    exact = 1.0 / (1.0 - load)
    assert error < 0.1 * exact, "the run is long enough to say something"
    assert abs(mean - exact) < error


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_a_single_machine_has_the_variance_of_processor_sharing(load):
    latency = one_machine(load, EXPONENTIAL)
    second, error = interval(latency**2)
    mean = 1.0 / (1.0 - load)
    exact = mean**2 * (1 + (2 + load) / (2 - load))
    assert error < 0.3 * exact
    assert abs(second - exact) < error


def test_a_machine_without_places_ends_the_simulation():
    settings = settings_of(request_rate=5.0, other_rate=0.0, width=4)
    machines = MachineArrays(np.ones(1), np.ones(1), np.zeros(1))
    assert simulate(ONE_NODE, cells_of([[0]]), machines, settings, 64, np.array([3], dtype=np.uint64), tally_of(1000, 1)) == 1


def test_a_machine_is_busy_as_long_as_its_load_says():
    settings = settings_of(request_rate=0.2, other_rate=0.3)
    tally = tally_of(50_000, 1)
    machines = MachineArrays(np.ones(1), np.ones(1), np.zeros(1))
    simulate(ONE_NODE, cells_of([[0]]), machines, settings, 512, np.array([5], dtype=np.uint64), tally)
    assert tally.busy[0] / (50_000 / 0.2) == pytest.approx(0.5, abs=0.01)
