"""K8S+, ApplSci19 and the placement as it is: known answers, and what they reach on the authors' cluster."""

import numpy as np
import pytest

from bayplan.decide.collocate.applsci19 import applsci19
from bayplan.decide.collocate.baselines import k8s_plus, original
from bayplan.decide.collocate.finish import SHOWN
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.errors import UsageError
from bayplan.formats import read
from bayplan.model import (
    UNPLACED,
    Allow,
    AntiAffinity,
    Budget,
    Capacity,
    Cluster,
    Containers,
    Machines,
    Objective,
    Pinned,
    Placement,
    Resource,
    Services,
    Snapshot,
    Traffic,
    Transient,
    Workloads,
    floats,
    ints,
    machine_level,
    silent,
)
from bayplan.model.problem import Problem

both = pytest.mark.parametrize("method", [k8s_plus, applsci19])


def problem_of(request, replicas, capacity, edges, machine_of, rules=(), sets=None):
    """Services a, b, ... of one workload each, one resource."""
    names = tuple("abcdefghij"[: len(request)]) if len(request) <= 10 else tuple(f"w{i}" for i in range(len(request)))
    machines = tuple(f"m{i}" for i in range(len(capacity)))
    size = ints([[c] for c in capacity])
    a, b, w = zip(*edges, strict=True) if edges else ((), (), ())
    cluster = Cluster(
        name="small",
        resources=(Resource(name="cpu"),),
        machines=Machines(name=machines, capacity=size, safety=size),
        levels=(machine_level(machines),),
        services=Services(name=names, clique=floats(np.zeros(len(names)))),
        workloads=Workloads.by_request(names, ints(range(len(names))), ints([[r] for r in request])),
        containers=Containers.replicas_of(names, replicas),
        traffic=Traffic(a=ints(a), b=ints(b), weight=floats(w)),
        rules=(Capacity(resources=(0,)), *rules),
        machine_sets={name: ints(some) for name, some in (sets or {}).items()},
    )
    here = Placement(machine_of=ints(machine_of))
    return Problem.of(Snapshot(cluster=cluster, placement=here, objective=Objective.default(cluster)))


def asked(method, problem, *, options=CollocateOptions(), budget=Budget(), seed=0):
    return method(problem, options, budget=budget, seed=seed, progress=silent)


def test_a_part_too_large_for_one_machine_is_cut_through_its_workloads():
    apart = problem_of([1, 1], [4, 4], [4, 4], [(0, 1, 3.0)], [0, 0, 0, 0, 1, 1, 1, 1])
    result = asked(applsci19, apart)
    assert result.score["affinity"] == 1.0
    assert result.goal == "affinity"


def test_parts_choose_the_machine_type_that_they_fill():
    mixed = problem_of([3, 3, 1, 1], [1, 1, 1, 1], [2, 6, 6], [(0, 1, 5.0), (2, 3, 1.0)], [1, 2, 1, 2])
    found = asked(applsci19, mixed)
    assert found.score["affinity"] == pytest.approx(1.0)
    assert found.solution.machine_of.tolist()[2:] == [0, 0]


@both
def test_neighbours_meet_but_not_where_one_of_them_may_not_run(method):
    rules = (Allow(workloads=(1,), machines="far"), Pinned(containers=(0,)))
    bound = problem_of([1, 1], [1, 1], [2, 2], [(0, 1, 1.0)], [0, 1], rules, {"far": [1]})
    assert asked(method, bound).solution.machine_of.tolist() == [0, 1]
    free = problem_of([1, 1], [1, 1], [2, 2], [(0, 1, 1.0)], [0, 1], rules[1:])
    assert asked(method, free).solution.machine_of.tolist() == [0, 0]


@both
def test_anti_affinity_holds_replicas_apart(method):
    rule = AntiAffinity(workloads=(0,), limit=1)
    apart = problem_of([1, 1], [2, 2], [4, 4], [(0, 1, 1.0)], [0, 1, 0, 0], (rule,))
    result = asked(method, apart)
    assert sorted(result.solution.machine_of[:2]) == [0, 1]
    assert result.score["affinity"] >= 0.5


@both
def test_without_traffic_everyone_keeps_a_machine(method):
    quiet = problem_of([2, 3], [2, 1], [4, 4], [], [0, 0, 1])
    result = asked(method, quiet)
    assert not len(result.solution.unplaced)
    assert result.score["affinity"] == 0.0


@both
def test_nothing_moves_without_time(method):
    apart = problem_of([1, 1], [4, 4], [4, 4], [(0, 1, 3.0)], [0, 0, 0, 0, 1, 1, 1, 1])
    result = asked(method, apart, budget=Budget(seconds=0.0))
    assert result.solution.machine_of.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@both
def test_nothing_moves_below_the_least_gain(method):
    apart = problem_of([1, 1, 1, 1], [1] * 4, [2, 2], [(0, 1, 1.0), (2, 3, 1.0)], [0, 1, 0, 1])
    assert asked(method, apart).score["affinity"] == 1.0
    result = asked(method, apart, options=CollocateOptions(least_gain=1.1))
    assert not len(result.solution.moved_from(apart.before))
    assert any(note.startswith("nothing moves: ") for note in result.notes)


@both
def test_rules_about_the_move_itself_are_refused(method):
    moving = problem_of([1, 1], [1, 1], [2, 2], [(0, 1, 1.0)], [0, 1], (Transient(resource=0),))
    with pytest.raises(UsageError, match="does not know transient rules; expected 'best'"):
        asked(method, moving)
    assert asked(original, moving).score["affinity"] == 0.0


@both
def test_a_new_container_that_fits_nowhere_is_left_out_with_its_reason(method):
    full = problem_of([2, 9], [2, 1], [2, 4], [(0, 1, 1.0)], [0, 1, UNPLACED])
    result = asked(method, full)
    assert result.solution.unplaced.tolist() == [2]
    assert "b: 1 of 1 containers have no machine: 0/2 machines fit (2 short of cpu)" in map(str, result.left_out)


@both
def test_a_new_container_gets_a_machine(method):
    new = problem_of([1, 1], [1, 1], [2, 2], [(0, 1, 1.0)], [1, UNPLACED])
    result = asked(method, new)
    assert result.score["affinity"] == 1.0 and not len(result.solution.unplaced)


def test_the_original_is_the_start_and_says_who_is_left_out():
    new = problem_of([1, 1], [2, 3], [2, 2], [(0, 1, 1.0)], [0, 1, 0, UNPLACED, UNPLACED])
    result = asked(original, new)
    assert result.solution.machine_of.tolist() == [0, 1, 0, UNPLACED, UNPLACED]
    assert [str(reason) for reason in result.left_out] == [
        "b: 2 of 3 containers have no machine: 1/2 machines fit (1 short of cpu)"
    ]


def test_the_original_explains_only_so_many():
    n = SHOWN + 3
    result = asked(original, problem_of([1] * n, [1] * n, [5], [], [UNPLACED] * n))
    assert len(result.left_out) == SHOWN + 1
    assert str(result.left_out[-1]) == "others: 3 more containers have no machine"


@pytest.mark.data
@pytest.mark.parametrize(("method", "least"), [(k8s_plus, 0.21), (applsci19, 0.57)])
def test_on_the_authors_cluster_they_are_no_straw_men(method, least, data_folder):
    problem = Problem.of(read(data_folder / "rasa" / "M3.json"))
    for seed in range(5):
        result = asked(method, problem, seed=seed, budget=Budget(seconds=60.0))
        assert result.score["affinity"] >= least
        assert not len(result.solution.unplaced)


@pytest.mark.data
def test_the_authors_original_placement_gains_seven_percent(data_folder):
    problem = Problem.of(read(data_folder / "rasa" / "M3.json"))
    result = asked(original, problem)
    assert result.score["affinity"] == pytest.approx(0.06995, abs=1e-5)
    assert not len(result.solution.moved_from(problem.before))
