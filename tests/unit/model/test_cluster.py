"""A cluster is validated once, at construction, and never changes."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given, settings
from tests.builders.hand_made_clusters import API, BACK, FRONT, WEB, cluster
from tests.builders.strategies import clusters

from bayplan.errors import BayplanError, ModelError
from bayplan.model import (
    Allow,
    AntiAffinity,
    Capacity,
    CoLocate,
    Confidence,
    Dependency,
    Interference,
    Level,
    Pinned,
    Spread,
    Traffic,
    Transient,
    floats,
    ints,
    machine_level,
)


def _machines(**parts):
    return lambda c: replace(c, machines=replace(c.machines, **parts))


def _workloads(**parts):
    return lambda c: replace(c, workloads=replace(c.workloads, **parts))


def _containers(**parts):
    return lambda c: replace(c, containers=replace(c.containers, **parts))


def _clique(*weight):
    return lambda c: replace(c, services=replace(c.services, clique=weight))


def _traffic(a, b, weight):
    return lambda c: replace(c, traffic=Traffic(a=ints(a), b=ints(b), weight=floats(weight)))


WRONG = {
    "capacity has shape": _machines(capacity=[[1, 2]]),
    "safety has shape": _machines(safety=[[1, 2]]),
    "clique has shape": _clique(0),
    "service has shape": _workloads(service=[0]),
    "request has shape": _workloads(request=[[0]] * 3),
    "usage_mean has shape": _workloads(usage_mean=[[0.0]] * 3),
    "usage_std has shape": _workloads(usage_std=[[0.0]] * 3),
    "limit has shape": _workloads(limit=[[0]] * 3),
    "containers.workload has shape": _containers(workload=[0]),
    "traffic.b has shape": _traffic([0], [1, 2], [1.0]),
    "traffic.weight has shape": _traffic([0], [1], [1.0, 2.0]),
    "level zone has shape": lambda c: replace(c, levels=(c.levels[0], Level(name="zone", group=("a",), group_of=ints([0])))),
    "level 0 is not 'machine'": lambda c: replace(c, levels=c.levels[1:]),
    "an amount is negative": _workloads(request=[[-1, 0], [0, 0], [0, 0]]),
    "a usage is negative or not finite": _workloads(usage_mean=[[np.nan, 0], [0, 0], [0, 0]]),
    "a workload's service does not exist": _workloads(service=[0, 0, 2]),
    "a container's workload does not exist": _containers(workload=[0, 0, 0, 1, 1, 3]),
    "a container's workload does not exist; containers are not sorted": _containers(workload=[0, 0, 0, 1, 1, -1]),
    "containers are not sorted by workload": _containers(workload=[1, 0, 0, 1, 1, 2]),
    "a traffic edge names no workload": _traffic([0], [3], [1.0]),
    "traffic edges are not a < b": _traffic([1], [0], [1.0]),
    "a traffic weight is not positive and finite": _traffic([0], [1], [0.0]),
    "a clique weight is negative or not finite": _clique(0, np.inf),
    "the requests of all containers overflow int64": _workloads(request=[[2**62, 0], [0, 0], [0, 0]]),
    "a machine set names a machine that does not exist": lambda c: replace(c, machine_sets={"far": ints([4])}),
}
RULES_ABOUT_NOTHING = [
    Capacity(resources=(2,)),
    AntiAffinity(workloads=(WEB, 3), limit=1),
    AntiAffinity(workloads=(WEB,), limit=1, level=2),
    Spread(service=2, minimum=1),
    CoLocate(containers=(0, 6)),
    Allow(workloads=(WEB,), machines="slow"),
    Dependency(service=FRONT, on=-1),
    Transient(resource=2),
    Interference(a=WEB, b=9, limit=0),
    Pinned(containers=(-1,)),
    Confidence(resource=2, alpha=0.9),
]


@pytest.mark.parametrize(("sentence", "spoil"), WRONG.items(), ids=WRONG)
def test_parts_that_do_not_fit_are_refused(sentence, spoil):
    with pytest.raises(ModelError, match="cluster 'hand-made'") as caught:
        spoil(cluster())
    assert sentence in str(caught.value)


@pytest.mark.parametrize("rule", RULES_ABOUT_NOTHING, ids=lambda rule: rule.kind)
def test_a_rule_about_something_that_does_not_exist_is_refused(rule):
    with pytest.raises(ModelError, match=rf"rule 1 \({rule.kind}\): .* does not exist"):
        cluster(Capacity(resources=(0,)), rule)


def test_all_faults_come_at_once():
    with pytest.raises(ModelError, match="an amount is negative; a clique weight is negative"):
        c = cluster()
        workloads = replace(c.workloads, request=ints([[-1, 0], [0, 0], [0, 0]]))
        replace(c, workloads=workloads, services=replace(c.services, clique=floats([-1, 0])))


def test_a_model_error_is_a_value_error_too():
    assert issubclass(ModelError, ValueError)
    assert issubclass(ModelError, BayplanError)


def test_nothing_can_be_changed():
    c = cluster()
    with pytest.raises(ValueError, match="read-only"):
        c.machines.capacity[0, 0] = 1
    with pytest.raises(FrozenInstanceError):
        c.name = "other"


def test_arrays_are_copied_in_and_shared_once_read_only():
    mine = np.array([1, 2, 3])
    frozen = ints(mine)
    mine[0] = 9
    assert frozen.tolist() == [1, 2, 3]
    assert ints(frozen) is frozen
    assert floats(floats([1.0])).flags.writeable is False


def test_levels_are_found_by_name():
    c = cluster()
    assert c.level("zone").group == ("east", "west")
    assert c.level_index("machine") == 0
    with pytest.raises(KeyError):
        c.level("rack")
    with pytest.raises(ModelError, match=r"level 'rack': a group index is outside of 0\.\.0"):
        Level(name="rack", group=("a",), group_of=ints([0, 1]))
    assert machine_level(["x", "y"]).group_of.tolist() == [0, 1]


def test_replicas_and_requests_are_known_per_workload_and_container():
    c = cluster()
    assert c.replicas.tolist() == [3, 2, 1]
    assert c.request_of(ints([0, 5])).tolist() == [[2000, 4], [4000, 8]]
    assert c.containers_of_service(BACK).tolist() == [5]
    assert c.workloads.has_usage
    assert not replace(c.workloads, usage_std=floats(np.zeros((3, 2)))).has_usage


def test_traffic_in_any_order_and_direction_is_added_up():
    edges = Traffic.between(ints([WEB, API, 2, 2]), ints([API, WEB, 1, 0]), floats([1.0, 2.0, 5.0, 0.0]))
    assert list(zip(edges.a.tolist(), edges.b.tolist(), edges.weight.tolist(), strict=True)) == [(0, 1, 3.0), (1, 2, 5.0)]
    assert Traffic.none().weight.size == 0
    assert Traffic.between(ints([]), ints([]), floats([])).a.size == 0


@settings(max_examples=30, deadline=None)
@given(clusters())
def test_replace_keeps_a_cluster_valid(drawn):
    assert replace(drawn, name="again").replicas.tolist() == drawn.replicas.tolist()
