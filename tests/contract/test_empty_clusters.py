"""Clusters without machines, containers, workloads or resources: every method answers honestly, without a warning."""

from itertools import product

import numpy as np
import pytest

import bayplan as bp
from bayplan.decide.collocate import COLLOCATORS
from bayplan.decide.place import PLACERS
from bayplan.decide.rebalance import REBALANCERS
from bayplan.errors import UsageError
from bayplan.migrate import MIGRATORS
from bayplan.model import (
    UNPLACED,
    Budget,
    Capacity,
    Cluster,
    Containers,
    Machines,
    Objective,
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

METHODS = [
    (verb, name)
    for verb, methods in (("place", PLACERS), ("rebalance", REBALANCERS), ("collocate", COLLOCATORS))
    for name in methods
]
SHAPES = [shape for shape in product((0, 2), (0, 2), (0, 2), (0, 1)) if 0 in shape]  # machines, containers, workloads, resources


def snapshot_of(machines: int, replicas: int, workloads: int, resources: int, *, placed: bool = False) -> Snapshot:
    machine, workload = (tuple(f"{kind}{i}" for i in range(n)) for kind, n in (("m", machines), ("w", workloads)))
    cluster = Cluster(
        name="few",
        resources=tuple(Resource(name=name) for name in ("cpu",)[:resources]),
        machines=Machines(name=machine, capacity=np.full((machines, resources), 4), safety=np.full((machines, resources), 4)),
        levels=(machine_level(machine),),
        services=Services(name=workload, clique=floats([1.0] * workloads)),
        workloads=Workloads.by_request(workload, ints(range(workloads)), ints(np.ones((workloads, resources)))),
        containers=Containers.replicas_of(workload, [replicas] * workloads),
        traffic=Traffic(a=ints([0]), b=ints([1]), weight=floats([1.0])) if workloads > 1 else Traffic.none(),
        rules=(Capacity(resources=tuple(range(resources))),) if resources else (),
    )
    at = 0 if placed and machines else UNPLACED
    placement = Placement(machine_of=ints(np.full(replicas * workloads, at)))
    return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster))


@pytest.mark.parametrize(("verb", "method"), METHODS)
def test_every_method_answers_where_there_is_little_to_decide(verb, method):
    for shape, placed in product(SHAPES, (False, True)):
        snapshot = snapshot_of(*shape, placed=placed)
        answer = getattr(bp, verb)(snapshot, method=method, budget=Budget(iterations=20))
        assert answer.placement is not None
        machines, containers = shape[0], len(snapshot.placement.machine_of)
        stays = not placed and (verb == "rebalance" or method == "original")
        assert len(answer.placement.unplaced) == (0 if machines else containers) or stays
        assert answer.summary()


def test_packing_says_what_is_missing():
    for shape in SHAPES:
        if not shape[0] or not shape[3]:
            with pytest.raises(UsageError, match=r"has no (machines|resources); expected"):
                bp.pack(snapshot_of(*shape), confidence=0.99)
        else:
            assert bp.pack(snapshot_of(*shape), confidence=0.99, budget=Budget(iterations=20)).placement is not None


def test_failures_are_counted_where_there_is_little_to_lose():
    for shape, placed in product([*SHAPES, (2, 2, 2, 1)], (False, True)):
        answer = bp.capacity(snapshot_of(*shape, placed=placed), may_move=placed)
        assert (len(answer.outcomes), answer.holds) == (shape[0], True)
        assert answer.summary() and answer.to_dict()["holds"]


@pytest.mark.parametrize("method", MIGRATORS)
def test_a_plan_without_batches_has_the_peak_of_the_start(method):
    for shape, placed in product([*SHAPES, (2, 2, 2, 1)], (False, True)):
        snapshot = snapshot_of(*shape, placed=placed)
        answer = bp.migrate(snapshot, snapshot.placement, method=method, budget=Budget(iterations=2))
        load = shape[1] * shape[2] if placed and shape[0] and shape[3] else 0
        assert (answer.score["batches"], answer.score["peak"], answer.status) == (0, load / 4, "optimal")
