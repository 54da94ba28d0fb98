"""One battery over every generator."""

from functools import cache

import numpy as np
import pytest

from bayplan.check import violations
from bayplan.generate import GENERATORS, options
from bayplan.model import ClusterRequests, Snapshot, TimedRequests

LARGE = {"rasa-m1", "rasa-m2", "rasa-m4", "freecontainer-dcb"}  # made once, not three times
NEEDS_DATA = {"azure-clusters"}  # has tests of its own
SMALL = [name for name in GENERATORS if name not in LARGE | NEEDS_DATA]
COUNTS = {  # machines, containers or requests, waiting; None where the number is drawn
    "boutique": (12, 77, 2),
    "freecontainer-dca": (2513, None, None),
    "freecontainer-dcb": (4361, None, None),
    "ucac": (4000, 10_560, 10_560),
    "rasa-m1": (977, 25_640, 0),
    "rasa-m2": (5284, 152_833, 0),
    "rasa-m3": (96, 3485, 0),
    "rasa-m4": (4365, 113_261, 0),
}
PLUS = {
    "freecontainer-dca": (25, 10_000, 2_000),
    "freecontainer-dcb": (29, 25_000, 5_000),
}  # services, running, new; up to 5 % more


@cache
def made(name, seed=0):
    return GENERATORS[name].make(seed=seed)


def arrays(instance):
    """Everything that a generator decides, flat."""
    if isinstance(instance, Snapshot):
        cluster = instance.cluster
        workloads = cluster.workloads
        yield instance.placement.machine_of
        yield from (cluster.machines.capacity, workloads.request, workloads.usage_mean, workloads.usage_std, cluster.replicas)
        yield from (cluster.traffic.a, cluster.traffic.b, cluster.traffic.weight)
    elif isinstance(instance, TimedRequests):
        yield from (instance.start, instance.end, instance.demand, instance.value)
    else:
        assert isinstance(instance, ClusterRequests)
        yield from (instance.zones.capacity, instance.zones.bandwidth)
        for request in instance.requests:
            yield from (request.demand, request.traffic, np.array([request.start, request.end, request.value]))


def same(one, other):
    left, right = list(arrays(one)), list(arrays(other))
    return len(left) == len(right) and all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("name", SMALL)
def test_the_same_seed_gives_the_same_instance(name):
    again = GENERATORS[name].make(seed=0)
    assert same(made(name), again)
    if isinstance(again, Snapshot):
        assert again.cluster.rules == made(name).cluster.rules


@pytest.mark.parametrize("name", SMALL)
def test_another_seed_gives_another_instance(name):
    assert not same(made(name), made(name, seed=1))


@pytest.mark.parametrize("name", COUNTS)
def test_breaks_no_rule(name):
    snapshot = made(name)
    assert list(violations(snapshot.cluster, snapshot.placement)) == []


@pytest.mark.parametrize("name", [name for name in SMALL if name in COUNTS])
def test_breaks_no_rule_under_other_seeds(name):
    for seed in (1, 2):
        snapshot = made(name, seed)
        assert list(violations(snapshot.cluster, snapshot.placement)) == []


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_as_stated(name):
    snapshot, stated = made(name), COUNTS[name]
    counts = (len(snapshot.cluster.machines.name), len(snapshot.placement.machine_of), len(snapshot.placement.unplaced))
    assert all(want is None or want == have for want, have in zip(stated, counts, strict=True)), counts


@pytest.mark.parametrize("name", PLUS)
def test_counts_with_a_plus_are_at_most_five_percent_more(name):
    snapshot, (services, running, new) = made(name), PLUS[name]
    assert len(snapshot.cluster.services.name) == services + 1
    assert running <= len(snapshot.placement.placed) <= 1.05 * running
    assert new <= len(snapshot.placement.unplaced) <= 1.05 * new


@pytest.mark.parametrize("name", GENERATORS)
def test_every_setting_has_a_plain_default(name):
    assert all(kind in (int, float, str) and type(default) is kind for kind, default in options(GENERATORS[name]).values())
