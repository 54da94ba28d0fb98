"""Compile every kernel once; Numba keeps the machine code on disk."""

import importlib
from dataclasses import replace

import numpy as np

from bayplan.kernels import KERNELS
from bayplan.model import (
    UNPLACED,
    Budget,
    Capacity,
    Cluster,
    ClusterRequest,
    ClusterRequests,
    Confidence,
    Containers,
    Machines,
    Objective,
    Placement,
    Progress,
    Resource,
    Services,
    Snapshot,
    Tick,
    TimedRequests,
    Traffic,
    Workloads,
    Zones,
    ints,
    machine_level,
    silent,
)


def warm_up(progress: Progress) -> tuple[str, ...]:
    """Names of the kernel modules, each after its own `warm_up()` has run, and of the methods, each after a first decision."""
    names = KERNELS
    for done, name in enumerate(names):
        progress(Tick(stage=f"compiling {name}", done=done / (len(names) + 2)))
        importlib.import_module(f"bayplan.kernels.{name}").warm_up()
    return (*names, *_methods(progress, len(names)))


def _methods(progress: Progress, before: int) -> tuple[str, ...]:
    """Every method decides about the smallest cluster that has something to decide."""
    from bayplan.decide.collocate import COLLOCATORS, CollocateOptions
    from bayplan.decide.pack import PACKERS, PackOptions, pack_problem
    from bayplan.decide.place import PLACERS, PlaceOptions
    from bayplan.decide.rebalance import REBALANCERS, RebalanceOptions
    from bayplan.model.problem import Problem

    budget = Budget(iterations=2)
    for number, (name, placer) in enumerate(PLACERS.items()):
        progress(Tick(stage=f"compiling {name}", done=(before + number / len(PLACERS)) / (before + 2)))
        placer(Problem.of(_smallest([0, UNPLACED])), PlaceOptions(), budget=budget, seed=0, progress=silent)
    for number, (name, rebalancer) in enumerate(REBALANCERS.items()):
        progress(Tick(stage=f"compiling {name}", done=(before + 1 + number / len(REBALANCERS)) / (before + 2)))
        rebalancer(Problem.of(_smallest([0, 0])), RebalanceOptions(), budget=budget, seed=0, progress=silent)
    waiting = _smallest([0, UNPLACED])
    sure = replace(waiting.cluster, rules=(*waiting.cluster.rules, Confidence(resource=0, alpha=0.99)))
    for packer in PACKERS.values():
        packer(pack_problem(sure, waiting.placement), PackOptions(), budget=budget, seed=0, progress=silent)
    for collocator in COLLOCATORS.values():
        collocator(Problem.of(_smallest([0, 1])), CollocateOptions(engine="here"), budget=budget, seed=0, progress=silent)
    return (*PLACERS, *REBALANCERS, *PACKERS, *COLLOCATORS, *_admitters(budget), *_schedulers(budget))


def _admitters(budget: Budget) -> tuple[str, ...]:
    """Every admitter, and every one-shot method, decides about the smallest stream."""
    from bayplan.decide.admit import ADMITTERS, AdmitOptions
    from bayplan.decide.admit.one_shot import ONE_SHOTS

    stream = _smallest_stream()
    for oneshot in ONE_SHOTS:
        ADMITTERS["primal-dual"](stream, AdmitOptions(one_shot=oneshot), budget=budget, seed=0, progress=silent)
    for admitter in ADMITTERS.values():
        admitter(stream, AdmitOptions(), budget=budget, seed=0, progress=silent)
    return (*ONE_SHOTS, *ADMITTERS)


def _schedulers(budget: Budget) -> tuple[str, ...]:
    """Every scheduler chooses from a few requests, and its answer is bounded."""
    from bayplan.decide.schedule import SCHEDULERS, ScheduleOptions, ScheduleProblem
    from bayplan.decide.schedule.bound import bounded

    problem, clock = ScheduleProblem.alike(_smallest_requests(), 1), Budget(seconds=1.0, threads=budget.threads).clock()
    for scheduler in SCHEDULERS.values():
        result = scheduler(problem, ScheduleOptions(), budget=budget, seed=0, progress=silent)
        bounded(problem, result, clock=clock, progress=silent)
    return tuple(SCHEDULERS)


def _smallest_requests() -> TimedRequests:
    """Two narrow requests and a wide one that meet."""
    return TimedRequests(
        name=("a", "b", "c"),
        resources=(Resource(name="cpu"), Resource(name="memory")),
        capacity=ints([10, 10]),
        start=np.zeros(3),
        end=np.array([1.0, 2.0, 3.0]),
        demand=ints([[4, 1], [5, 2], [6, 6]]),
        value=np.ones(3),
    )


def _smallest_stream() -> ClusterRequests:
    """Two requests of two members, two zones."""
    amount, both = ints([[10], [10]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    zones = Zones(
        name=("z0", "z1"),
        resources=(Resource(name="cpu"),),
        capacity=amount,
        request_cap=amount,
        bandwidth=ints(9 * both),
    )
    request = ClusterRequest(
        name="a", members=("x", "y"), demand=ints([[4], [7]]), traffic=both, arrival=0.0, start=0.0, end=2.0, value=50.0
    )
    return ClusterRequests(zones=zones, requests=(request, replace(request, name="b")))


def _smallest(machine_of: list[int]) -> Snapshot:
    """Two containers, two machines."""
    request, capacity = ints([[6]]), ints([[10], [20]])
    cluster = Cluster(
        name="smallest",
        resources=(Resource(name="cpu"),),
        machines=Machines(name=("m0", "m1"), capacity=capacity, safety=capacity),
        levels=(machine_level(("m0", "m1")),),
        services=Services(name=("s",), clique=np.ones(1)),
        workloads=Workloads.by_request(("w",), ints([0]), request),
        containers=Containers.replicas_of(("w",), [2]),
        traffic=Traffic.none(),
        rules=(Capacity(resources=(0,)),),
    )
    return Snapshot(cluster=cluster, placement=Placement(machine_of=ints(machine_of)), objective=Objective.default(cluster))
