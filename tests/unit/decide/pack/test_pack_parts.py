"""Online best fit, patterns on file, machines needed, bounds for every method."""

from types import SimpleNamespace

import highspy
import numpy as np
import pytest
from tests.naive.online_best_fit import OnlineBestFit

from bayplan.decide.pack import PACKERS, PackOptions, pack_problem
from bayplan.decide.pack.cutting_stock import generate_patterns, with_bound
from bayplan.decide.pack.exact_pricing import INTERVALS
from bayplan.decide.pack.integer_master import _take_off as take_off
from bayplan.decide.pack.kernel_arrays import equal_rows
from bayplan.decide.pack.machines_needed import machines_needed
from bayplan.errors import UsageError
from bayplan.formats.patterns import patterns_of, read_patterns, write_patterns
from bayplan.generate.ucac import ucac
from bayplan.model import Budget, Placement, budget, silent
from bayplan.solvers.master import Master


def small(seed: int = 0, machines: int = 60):
    """Six workloads, some 70 containers."""
    snapshot = ucac(services=6, scale=0.02, machines=machines, seed=seed)
    return pack_problem(snapshot.cluster, snapshot.placement)


def packed(problem, method="bf-ucac", **options):
    return PACKERS[method](problem, PackOptions(**options), budget=Budget(iterations=50), seed=0, progress=silent)


@pytest.mark.parametrize("seed", range(4))
def test_a_batch_goes_where_its_containers_go_one_at_a_time(seed):
    problem = small(seed)
    online = OnlineBestFit(problem)
    for w in problem.cluster.containers.workload[problem.before.unplaced].tolist():
        online.arrive(w)
    assert (online.running == pack_problem(problem.cluster, packed(problem).solution).running).all()


@pytest.mark.parametrize("seed", range(6))
def test_groups_of_equal_rows_are_those_of_sorted_rows(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 3, size=(60, 1 + seed)) * rng.choice([1.0, -1.0, 1e18], size=1 + seed)
    _, first, of_row = np.unique(table, axis=0, return_index=True, return_inverse=True)
    ours = equal_rows(table)
    assert ours[0].tolist() == first.tolist() and ours[1].tolist() == np.ravel(of_row).tolist()


def test_rows_of_one_sum_that_differ_are_told_apart(monkeypatch):
    table = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    monkeypatch.setattr("numpy.random.default_rng", lambda seed: SameWeights())
    first, of_row = equal_rows(table)
    assert first.tolist() == [1, 0] and of_row.tolist() == [1, 0, 1]


class SameWeights:
    """Draws that give every column the same weight."""

    def integers(self, low, high, size, dtype):
        return np.zeros(size, dtype=dtype)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_too_much_leaves_one_at_a_time_where_the_variance_is_least(seed):
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 4, size=(7, 3))
    wanted = np.maximum(0, count.sum(axis=0) - rng.integers(-2, 6, size=3))
    sizes = SimpleNamespace(variance=rng.integers(0, 3, size=(1, 3)).astype(float))
    bins = SimpleNamespace(variance=rng.integers(1, 4, size=(7, 1)).astype(float))
    slow = count.copy()
    variance = bins.variance[:, 0] + slow @ sizes.variance[0]
    for w in range(3):
        while slow[:, w].sum() > wanted[w]:
            m = min(np.flatnonzero(slow[:, w]), key=lambda m: (variance[m], m))
            slow[m, w] -= 1
            variance[m] -= sizes.variance[0, w]
    take_off(SimpleNamespace(sizes=sizes, unplaced=wanted), bins, count)
    assert count.tolist() == slow.tolist()


def test_a_container_that_departs_frees_capacity_for_the_next():
    problem = small(machines=2)
    online = OnlineBestFit(problem)
    largest = int(np.argmax(problem.main.mean))
    while (last := online.arrive(largest)) is not None:
        machine = last
    online.depart(largest, machine)
    assert online.arrive(largest) == machine
    assert online.arrive(largest) is None


def test_what_does_not_run_cannot_depart():
    with pytest.raises(UsageError, match="no container of 's01' runs on machine 'm0000'"):
        OnlineBestFit(small()).depart(0, 0)


def test_patterns_are_read_as_they_were_written(tmp_path):
    problem = small()
    patterns = patterns_of(problem.cluster, packed(problem).solution)
    path = tmp_path / "patterns.json"
    write_patterns(path, problem.cluster, patterns)
    assert (read_patterns(path, problem.cluster) == patterns).all()
    again = packed(problem, "csp-ucac", patterns=patterns)
    assert again.score["ucac"] <= packed(problem).score["ucac"] + 1e-9


@pytest.mark.parametrize("text", ["", "{}", '{"patterns": 3}', '{"patterns": [{"s01": "many"}]}'])
def test_a_file_without_patterns_is_refused(text, tmp_path):
    path = tmp_path / "no.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="expected what --save-patterns writes"):
        read_patterns(path, small().cluster)


def test_every_method_can_be_given_the_bound_of_csp_ucac():
    problem = small()
    best = packed(problem, "csp-ucac")
    for method in ("bf-ucac", "bi-level"):
        bounded = with_bound(problem, packed(problem, method), clock=Budget().clock(), progress=silent)
        assert bounded.bound == pytest.approx(best.bound)
        assert bounded.score["ucac"] >= best.bound


def test_the_machines_that_are_needed_are_at_least_the_bound_and_take_all_containers():
    problem = small(machines=1)  # far too few: new ones are needed
    needed = machines_needed(problem, budget=Budget(), seed=0, progress=silent)
    assert not needed.result.left_out
    assert needed.by_type.sum() == needed.result.score["machines"] >= needed.result.bound
    assert len(needed.result.solution.unplaced) == 0


def test_containers_that_run_stay_where_they_are():
    problem = small()
    half = packed(problem).solution.machine_of.copy()
    half[::2] = -1
    nonempty = pack_problem(problem.cluster, Placement(machine_of=half))
    for method in PACKERS:
        after = packed(nonempty, method).solution.machine_of
        assert (after[half >= 0] == half[half >= 0]).all()


class _StepClock:
    """A clock on which each look takes a millisecond: what is looked at can be counted."""

    def __init__(self) -> None:
        self.looks = 0

    def perf_counter(self) -> float:
        self.looks += 1
        return self.looks / 1000


@pytest.mark.parametrize("method", PACKERS)
@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.3])
def test_a_packer_ends_soon_after_its_seconds(method, seconds, monkeypatch):
    snapshot = ucac(services=30, scale=0.02, machines=120, seed=3)
    problem, clock = pack_problem(snapshot.cluster, snapshot.placement), _StepClock()
    monkeypatch.setattr(budget, "time", clock)
    result = PACKERS[method](problem, PackOptions(), budget=Budget(seconds=seconds), seed=0, progress=silent)
    assert not result.solution.unplaced.size
    assert clock.looks / 1000 <= seconds + 2 * INTERVALS / 1000  # a look for each interval that pricing has not searched yet


def test_a_bound_is_not_sought_once_the_time_for_patterns_is_over(monkeypatch):
    problem = small()
    result = packed(problem)
    clock = Budget(seconds=1.0).clock(already=0.7)
    monkeypatch.setattr("bayplan.decide.pack.cutting_stock.generate_patterns", None)  # it would be an error to call it
    assert with_bound(problem, result, clock=clock, progress=silent) is result


def test_generation_does_not_end_where_highs_gives_up_on_a_master(monkeypatch):
    problem, run, runs = small(), Master._run, []

    def gives_up_on_the_third(master):
        runs.append(master)
        return highspy.HighsModelStatus.kUnknown if len(runs) == 3 else run(master)

    monkeypatch.setattr(Master, "_run", gives_up_on_the_third)
    result = PACKERS["csp-ucac"](problem, PackOptions(), budget=Budget(seconds=60.0), seed=0, progress=silent)
    assert len(runs) > 4
    assert result.bound is not None


@pytest.mark.parametrize("minimise_ucac", [True, False], ids=["ucac", "machines"])
def test_a_bound_is_evaluated_at_the_duals_whatever_value_highs_gives_the_master(minimise_ucac):
    clock = Budget().clock()
    master, _ = generate_patterns(small(), PackOptions(), minimise_ucac=minimise_ucac, clock=clock, progress=silent)
    bound = master.proven_bound()
    assert bound == pytest.approx(master.least_cost, abs=1e-6)
    master.least_cost += 1.0
    assert master.proven_bound() == bound
    master.proven = False
    assert master.proven_bound() is None
