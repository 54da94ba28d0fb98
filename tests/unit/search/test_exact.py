from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.builders.strategies import every_term_objectives, skew_rules, skews, valid_snapshots
from tests.stress.search_walks import problems

from bayplan.check import check
from bayplan.model import (
    Allow,
    AntiAffinity,
    BalanceTarget,
    Budget,
    Capacity,
    Cluster,
    CoLocate,
    Confidence,
    Containers,
    Dependency,
    Interference,
    Level,
    Machines,
    MoveCosts,
    Objective,
    Pinned,
    Placement,
    Resource,
    Rule,
    Services,
    Skew,
    Snapshot,
    Spread,
    Term,
    Traffic,
    Transient,
    Workloads,
    floats,
    ints,
    machine_level,
)
from bayplan.model.problem import Problem
from bayplan.score.gmrp import moves
from bayplan.score.terms import weighted
from bayplan.search.answer import excess_by_kind
from bayplan.search.items import items_of
from bayplan.search.window_mip.polish import polish, reoptimise

MOST_WAYS = 729


@st.composite
def kept_problems(draw: DrawFn) -> Problem:
    """The start keeps every rule, and there is no confidence rule."""
    drawn = draw(valid_snapshots())
    cluster = drawn.cluster
    cluster = replace(cluster, rules=tuple(rule for rule in cluster.rules if not isinstance(rule, Confidence)))
    objective = draw(every_term_objectives(cluster))
    if any(isinstance(rule, CoLocate) for rule in cluster.rules):  # the state counts units by name
        objective = objective.with_weights({**objective.weight, Term.MOVES: 0.0})
    return Problem.of(Snapshot(cluster=cluster, placement=drawn.placement, objective=objective))


@st.composite
def windows(draw: DrawFn, problem: Problem) -> np.ndarray:
    machines = st.integers(0, len(problem.cluster.machines.name) - 1)
    return ints(sorted(draw(st.sets(machines, min_size=1, max_size=3))))


def cost_of(problem: Problem, placement: Placement) -> float:
    return weighted(problem.cluster, placement, problem.objective, problem.before)


def ways(problem: Problem, machines: np.ndarray) -> list[Placement]:
    """Every assignment of what may move on these machines; none if there are too many."""
    items = items_of(problem.cluster, problem.before, None)
    standing = problem.start.machine_of[items.first]
    free = np.flatnonzero(items.movable & np.isin(standing, machines))
    if len(machines) ** len(free) > MOST_WAYS:
        return []
    placements = []
    for choice in product(machines.tolist(), repeat=len(free)):
        there = standing.copy()
        there[free] = choice
        placements.append(Placement(machine_of=items.machines_of(there)))
    return placements


def least_cost(problem: Problem, machines: np.ndarray) -> float:
    cost, best = cost_of(problem, problem.start), problem.start
    for placement in ways(problem, machines):
        if cost_of(problem, placement) < cost and not check(problem.cluster, placement, problem.before):
            cost, best = cost_of(problem, placement), placement
    return cost_of(problem, best)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_is_as_good_as_the_best_of_all_ways(data):
    problem = data.draw(kept_problems())
    machines = data.draw(windows(problem))
    assume(ways(problem, machines))
    least = least_cost(problem, machines)
    found = reoptimise(problem, problem.start, machines, seconds=10.0)
    cost = cost_of(problem, problem.start if found is None else found)
    assert cost == pytest.approx(least, rel=1e-6, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_skew_rules_are_kept_and_leave_nothing_better(data):
    drawn = data.draw(valid_snapshots())
    cluster, placement = drawn.cluster, drawn.placement
    rules = data.draw(st.lists(skew_rules(cluster), min_size=1, max_size=3))
    rules = [replace(rule, limit=max([rule.limit, *skews(cluster, placement, rule)])) for rule in rules]
    cluster = replace(cluster, rules=tuple(rules))
    problem = Problem.of(Snapshot(cluster=cluster, placement=placement, objective=data.draw(every_term_objectives(cluster))))
    machines = data.draw(windows(problem))
    assume(ways(problem, machines))
    found = reoptimise(problem, problem.start, machines, seconds=10.0)
    cost = cost_of(problem, problem.start if found is None else found)
    assert cost == pytest.approx(least_cost(problem, machines), rel=1e-6, abs=1e-6)


def crowded(seed: int) -> Problem:
    """Four roomy machines in two racks, six containers, any objective, and those of many rules that the start keeps."""
    rng = np.random.default_rng(seed)
    replicas = rng.multinomial(2, [0.25] * 4) + 1
    placement = Placement(machine_of=rng.integers(0, 4, 6))
    cluster = _bare(rng, replicas)
    kept: list[Rule] = []
    for rule in _rules(rng, placement):
        if rng.random() < 0.4 and not check(replace(cluster, rules=(*kept, rule)), placement, placement):
            kept.append(rule)
    cluster = replace(cluster, rules=tuple(kept))
    return Problem.of(Snapshot(cluster=cluster, placement=placement, objective=_objective(rng, kept)))


def _bare(rng: np.random.Generator, replicas: np.ndarray) -> Cluster:
    capacity = rng.integers(15, 25, (4, 2))
    machines = Machines(name=tuple("abcd"), capacity=capacity, safety=rng.integers(0, 12, (4, 2)))
    edges = [(a, b) for a in range(4) for b in range(a) if rng.random() < 0.5]
    return Cluster(
        name=f"crowded-{len(edges)}",
        resources=(Resource(name="cpu"), Resource(name="memory")),
        machines=machines,
        levels=(machine_level(machines.name), Level(name="rack", group=("r", "s"), group_of=ints([0, 0, 1, 1]))),
        services=Services(name=("s", "t"), clique=floats(rng.integers(0, 2, 2))),
        workloads=Workloads.by_request(tuple("wxyz"), ints([0, 0, 1, 1]), ints(rng.integers(1, 8, (4, 2)))),
        containers=Containers.replicas_of(tuple("wxyz"), replicas),
        traffic=Traffic.between(ints([a for a, _ in edges]), ints([b for _, b in edges]), floats(rng.random(len(edges)) + 0.1)),
        machine_sets={"some": ints(np.flatnonzero(rng.random(4) < 0.7))},
    )


def _rules(rng: np.random.Generator, placement: Placement) -> list[Rule]:
    level = [int(some) for some in rng.integers(0, 2, 4)]
    together = tuple(np.flatnonzero(placement.machine_of == placement.machine_of[0])[:2].tolist())
    return [
        Capacity(resources=(0, 1)),
        Transient(resource=0),
        AntiAffinity(workloads=(0, 2), limit=2, level=level[0]),
        Spread(service=0, minimum=2, level=level[1]),
        Dependency(service=1, on=0, level=level[2]),
        Dependency(service=0, on=1, level=level[2]),
        Interference(a=1, b=2, limit=1, level=level[3]),
        Interference(a=2, b=2, limit=1, level=level[3]),
        Allow(workloads=(3,), machines="some"),
        Pinned(containers=(5,)),
        CoLocate(containers=together),
        Skew(workload=0, counted=(0, 1), level=level[0]),
        Skew(workload=2, level=level[1], machines="some", min_groups=2),
    ]


def _objective(rng: np.random.Generator, rules: list[Rule]) -> Objective:
    weight = {term: float(rng.choice([0.0, 0.1, 1.0, 10.0])) for term in Term}
    if any(isinstance(rule, CoLocate) for rule in rules):
        weight[Term.MOVES] = 0.0
    distance = rng.integers(0, 4, (4, 4)) * (1 - np.eye(4, dtype=np.int64))
    return Objective(
        weight=weight,
        ratio=floats([[1.0, 2.0], [0.5, 1.0]]),
        hop=floats([1.0, 2.0]),
        overload_weight=floats([0.5, 2.0]),
        targets=(BalanceTarget(r1=0, r2=1, target=2, weight=1),),
        move_costs=MoveCosts(container=rng.integers(0, 3, 4), machine=distance),
    )


SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_crowded_machines_are_as_good_as_the_best_of_all_ways(seed):
    problem = crowded(seed)
    machines = ints([[0, 1], [1, 2], [0, 2, 3]][seed % 3])
    least = least_cost(problem, machines)
    found = reoptimise(problem, problem.start, machines, seconds=10.0)
    assert cost_of(problem, problem.start if found is None else found) == pytest.approx(least, rel=1e-6, abs=1e-6)


def test_crowded_machines_leave_something_to_gain():
    worth = [cost_of(problem, problem.start) > least_cost(problem, ints([0, 1])) for problem in map(crowded, SEEDS)]
    assert sum(worth) > len(worth) // 3


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_is_better_and_breaks_nothing_more(data):
    problem = data.draw(problems())
    machines = data.draw(windows(problem))
    found = reoptimise(problem, problem.start, machines, seconds=10.0)
    if found is not None:
        expect_better(problem, found)
        changed = found.machine_of != problem.start.machine_of
        assert set(found.machine_of[changed]) | set(problem.start.machine_of[changed]) <= set(machines.tolist())


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_polish_is_never_worse_and_breaks_nothing_more(data):
    problem = data.draw(problems())
    found = polish(problem, problem.start, clock=Budget(iterations=4).clock(), seed=1)
    if found is not problem.start:
        expect_better(problem, found)


def expect_better(problem: Problem, found: Placement) -> None:
    assert cost_of(problem, found) < cost_of(problem, problem.start)
    then, now = (excess_by_kind(check(problem.cluster, some, problem.before)) for some in (problem.start, found))
    assert all(excess <= then.get(kind, 0.0) for kind, excess in now.items())
    if problem.max_moves is not None:
        assert moves(problem.cluster, found, problem.before) <= problem.max_moves
