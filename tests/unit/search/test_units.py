"""Containers that a rule keeps together: what their trip costs, and where they may be brought together."""

import pytest

from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.model import (
    AntiAffinity,
    Capacity,
    Cluster,
    CoLocate,
    Containers,
    Machines,
    MoveCosts,
    Objective,
    Pinned,
    Placement,
    Resource,
    Rule,
    Services,
    Term,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
)
from bayplan.model.problem import Problem
from bayplan.score.gmrp import gmrp_cost
from bayplan.search.repair import repair
from bayplan.search.state import new_search_state
from bayplan.search.window_mip.polish import reoptimise

GMRP = dict.fromkeys((Term.OVERLOAD, Term.TARGETS, Term.MOVE_COST), 1.0)


def problem_of(machine_of: list[int], rules: tuple[Rule, ...], *, trip: int = 0) -> Problem:
    """Three machines, of which a is soon hot; one container each of workloads y and z, all others of x."""
    replicas = ints([len(machine_of) - 2, 1, 1])
    names = ("x", "y", "z")
    machines = Machines(name=("a", "b", "c"), capacity=ints([[10], [10], [10]]), safety=ints([[2], [9], [9]]))
    cluster = Cluster(
        name="units",
        resources=(Resource(name="cpu"),),
        machines=machines,
        levels=(machine_level(machines.name),),
        services=Services(name=("s",), clique=floats([0.0])),
        workloads=Workloads.by_request(names, ints([0, 0, 0]), ints([[2], [2], [1]])),
        containers=Containers.replicas_of(names, replicas),
        traffic=Traffic.between(ints([]), ints([]), floats([])),
        rules=rules,
    )
    objective = Objective(
        weight=GMRP,
        ratio=floats([[1.0]]),
        hop=floats([1.0]),
        overload_weight=floats([10.0]),
        move_costs=MoveCosts(container=ints([1, 2, 4]), machine=ints([[0, trip, trip + 3], [trip, 0, 5], [trip, 5, 0]])),
    )
    here = Placement(machine_of=ints(machine_of))
    return Problem(cluster=cluster, objective=objective, before=here, start=here)


def cost_of(problem: Problem, placement: Placement) -> float:
    return gmrp_cost(problem.cluster, placement, problem.objective, problem.before).total


@pytest.mark.parametrize("target", [1, 2])
def test_every_container_of_a_unit_pays_for_the_trip(target):
    problem = problem_of([0, 0, 2], (Capacity(resources=(0,)), CoLocate(containers=(0, 1))), trip=7)
    state = new_search_state(problem)
    start, unit = state.total, int(state.items.of_container[0])
    lift(state.arrays, unit)
    drop(state.arrays, unit, target)
    expected = cost_of(problem, state.placement()) - cost_of(problem, problem.start)
    assert state.total - start == expected
    assert expected == (1 + 2) + 2 + 2 * (7 if target == 1 else 10) - 20  # containers, service, trips, overload


@pytest.mark.parametrize(("trip", "then"), [(3, [0, 1, 1]), (5, [1, 0, 0])])
def test_integer_programs_charge_the_trip_of_every_container(trip, then):
    """The unit of y and z leaves the hot machine for 8 and two trips; x does for 2 and one trip, but 10 of overload stay."""
    problem = problem_of([0, 0, 0], (Capacity(resources=(0,)), CoLocate(containers=(1, 2))), trip=trip)
    found = reoptimise(problem, problem.start, ints([0, 1]), seconds=10.0)
    assert found is not None
    assert found.machine_of.tolist() == then


def test_a_unit_with_a_pinned_container_is_not_brought_elsewhere():
    """The pinned x/0 and z/0 run on c, y/0 on a; c may not take y, so nothing may move."""
    apart = AntiAffinity(workloads=(0, 1), limit=2)
    rules = (Capacity(resources=(0,)), apart, CoLocate(containers=(0, 2, 3)), Pinned(containers=(0,)))
    problem = problem_of([2, 2, 0, 2], rules)
    state = new_search_state(problem)
    assert repair(state, problem) == 0
    assert state.placement().machine_of.tolist() == [2, 2, 0, 2]


def test_a_scattered_unit_is_brought_to_where_its_pinned_container_stands():
    problem = problem_of([2, 0, 2], (Capacity(resources=(0,)), CoLocate(containers=(0, 1, 2)), Pinned(containers=(0,))))
    state = new_search_state(problem)
    assert repair(state, problem) == 1
    assert state.placement().machine_of.tolist() == [2, 2, 2]
