"""Small packing problems, and the best answers by trying everything."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.builders.report_clusters import cluster_of

from bayplan.decide.pack import PackProblem, pack_problem
from bayplan.model import (
    UNPLACED,
    Capacity,
    Cluster,
    Confidence,
    Containers,
    Machines,
    Placement,
    Resource,
    Services,
    Snapshot,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
)
from bayplan.score.confidence import deviate


def packing(mean, std, counts, *, capacity, alpha=0.95, running=(), memory=None) -> tuple[Cluster, Placement]:
    """Workloads with these means, deviations and counts; `capacity` of each machine; `running`: (workload, machine) pairs.

    `memory`: (requests of the workloads, capacities of the machines) under a capacity rule.
    """
    names, machine = tuple(f"s{k}" for k in range(len(mean))), tuple(f"m{m}" for m in range(len(capacity)))
    second = memory is not None
    request = np.column_stack([np.zeros(len(mean)), memory[0]]) if second else np.zeros((len(mean), 1))
    has = np.column_stack([capacity, memory[1]]) if second else np.reshape(capacity, (-1, 1))
    certain = np.zeros((len(mean), 1)) if second else np.zeros((len(mean), 0))
    workloads = Workloads(
        name=names,
        service=ints(np.arange(len(mean))),
        request=ints(request),
        usage_mean=floats(np.column_stack([mean, certain])),
        usage_std=floats(np.column_stack([std, certain])),
        limit=ints(np.full((len(mean), has.shape[1]), 10**9)),
    )
    resources = (Resource(name="cpu"), Resource(name="memory"))[: has.shape[1]]
    cluster = Cluster(
        name="packing",
        resources=resources,
        machines=Machines(name=machine, capacity=ints(has), safety=ints(has)),
        levels=(machine_level(machine),),
        services=Services(name=names, clique=floats(np.zeros(len(mean)))),
        workloads=workloads,
        containers=Containers.replicas_of(names, ints(counts)),
        traffic=Traffic.none(),
        rules=(Confidence(resource=0, alpha=alpha), *((Capacity(resources=(1,)),) if second else ())),
    )
    return cluster, Placement(machine_of=ints(_placed(cluster, running)))


def _placed(cluster, running):
    machine_of = np.full(len(cluster.containers.name), UNPLACED)
    for k, m in running:
        free = np.flatnonzero((cluster.containers.workload == k) & (machine_of == UNPLACED))
        machine_of[free[0]] = m
    return machine_of


def uncertain(*rules: Confidence, unplaced: int = 10) -> Snapshot:
    """A random cluster of five workloads and six machines whose usage varies; the first containers are unplaced."""
    snapshot = cluster_of(machines=6, services=5, replicas=6)
    workloads = snapshot.cluster.workloads
    cluster = replace(snapshot.cluster, workloads=replace(workloads, usage_std=workloads.usage_mean * 0.3), rules=tuple(rules))
    machine_of = snapshot.placement.machine_of.copy()
    machine_of[:unplaced] = UNPLACED
    return replace(snapshot, cluster=cluster, placement=Placement(machine_of=machine_of))


@st.composite
def packings(draw: DrawFn, *, empty: bool = False, memory: bool = False) -> tuple[Cluster, Placement]:
    """1-3 workloads of 0-4 containers and 1-3 machines; what runs already keeps its chance constraint."""
    n_w, n_m = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    mean = draw(st.lists(st.integers(5, 60), min_size=n_w, max_size=n_w))
    std = draw(st.lists(st.integers(0, 20), min_size=n_w, max_size=n_w))
    counts = draw(st.lists(st.integers(0, 4), min_size=n_w, max_size=n_w))
    capacity = draw(st.lists(st.sampled_from([60, 100, 150]), min_size=n_m, max_size=n_m))
    alpha = draw(st.sampled_from([0.9, 0.99, 0.999]))
    needs = draw(st.lists(st.integers(0, 5), min_size=n_w, max_size=n_w)) if memory else None
    stated = (needs, [8] * n_m) if memory else None
    drawn = [] if empty else draw(st.lists(st.tuples(st.integers(0, n_w - 1), st.integers(0, n_m - 1)), max_size=4))
    running: list[tuple[int, int]] = []
    for k, m in drawn:
        more = [*running, (k, m)]
        if sum(w == k for w, _ in more) <= counts[k] and _fits(more, m, mean, std, capacity, alpha, stated):
            running = more
    return packing(mean, std, counts, capacity=capacity, alpha=alpha, running=running, memory=stated)


def _fits(running, m, mean, std, capacity, alpha, memory):
    here = [k for k, other in running if other == m]
    used = sum(mean[k] for k in here) + deviate(alpha) * np.sqrt(sum(std[k] ** 2 for k in here))
    return used <= capacity[m] and (memory is None or sum(memory[0][k] for k in here) <= memory[1][m])


def best_by_trying(problem: PackProblem, goal: str) -> float | None:
    """The least UCaC or the fewest machines of all complete packings; None if not all containers fit."""
    main = problem.main
    running = problem.running

    def used(m, add):
        there = running[m] + np.array(add)
        return float(there @ main.mean + main.deviate[0] * np.sqrt(there @ main.variance))

    def fits(m, add):
        return used(m, add) <= main.capacity[m] * (1 + 1e-9) and (np.array(add) @ problem.request <= problem.free[m]).all()

    def price(m, add):
        return used(m, add) if goal == "ucac" else float((running[m] + np.array(add)).any())

    @cache
    def best(m, left):
        if m == len(running):
            return 0.0 if not any(left) else np.inf
        options = (add for add in product(*(range(n + 1) for n in left)) if fits(m, add) or not any(add))
        return min(price(m, add) + best(m + 1, tuple(a - b for a, b in zip(left, add, strict=True))) for add in options)

    least = best(0, tuple(problem.unplaced.tolist()))
    return None if least == np.inf else float(least)


def problem_of(pair: tuple[Cluster, Placement]) -> PackProblem:
    """The problem that a packer gets."""
    return pack_problem(*pair)
