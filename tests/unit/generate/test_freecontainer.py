from dataclasses import replace

import numpy as np
import pytest

from bayplan.errors import UsageError
from bayplan.generate.freecontainer import DC_A, DC_B, data_centre, freecontainer_dca
from bayplan.model import AntiAffinity, CoLocate, Spread, Transient, TransientMode, silent


@pytest.fixture(scope="module")
def dca():
    return freecontainer_dca(seed=1)


@pytest.fixture(scope="module")
def utilisation(dca):
    load = np.zeros_like(dca.cluster.machines.capacity)
    np.add.at(load, dca.placement.machine_of[dca.placement.placed], dca.cluster.request_of(dca.placement.placed))
    return load / dca.cluster.machines.capacity


def test_cpu_utilisation_of_dca_is_the_papers(dca, utilisation):
    capacity = dca.cluster.machines.capacity
    overall = (utilisation * capacity).sum(axis=0) / capacity.sum(axis=0)
    assert overall[0] == pytest.approx(0.5116, abs=5e-4)


def test_requests_can_be_limited_and_scaled_with_the_new_service():
    shape = replace(DC_A.shape, largest=(0.2, 0.45, 0.45), new_counts=True)
    snapshot = data_centre(replace(DC_A, shape=shape), "joint", 1, silent)
    request = snapshot.cluster.request_of(np.arange(len(snapshot.cluster.containers.name)))
    share = request.sum(axis=0) / snapshot.cluster.machines.capacity.sum(axis=0)
    assert share == pytest.approx([0.5116, 0.48, 0.55], abs=1e-3)
    assert request[:, 0].max() == 2000 < request[:, 2].max()


def test_some_servers_are_hot_and_some_idle(utilisation):
    cpu = utilisation[:, 0]
    assert 0.1 < (cpu > 0.8).mean() < 0.3
    assert (cpu < 0.2).mean() > 0.1


def test_services_stand_close_together(dca):
    zone = dca.cluster.level("zone").group_of
    service = dca.cluster.workloads.service[dca.cluster.containers.workload]
    placed = dca.placement.placed
    small = [s for s in range(25) if (service == s).sum() < 300]
    zones = [len(np.unique(zone[dca.placement.machine_of[placed[service[placed] == s]]])) for s in small]
    assert len(small) > 3
    assert np.median(zones) <= 4  # of 11


def test_exactly_the_new_service_waits(dca):
    service = dca.cluster.workloads.service[dca.cluster.containers.workload]
    assert (service[dca.placement.unplaced] == 25).all()
    assert (service[dca.placement.placed] < 25).all()


def test_every_container_constraint_of_the_paper_is_there(dca):
    rules = dca.cluster.rules
    conflict = [rule for rule in rules if isinstance(rule, AntiAffinity)]
    assert len(conflict) == len(dca.cluster.workloads.name)
    assert all(rule.limit == 1 and rule.level == 0 and len(rule.workloads) == 1 for rule in conflict)
    assert sum(isinstance(rule, Spread) for rule in rules) == 26
    assert sum(isinstance(rule, CoLocate) for rule in rules) > 26
    assert [rule.mode for rule in rules if isinstance(rule, Transient)] == [TransientMode.JOINT] * 3


def test_the_new_service_fits_by_worst_fit(dca):
    free = dca.cluster.machines.capacity.copy()
    np.subtract.at(free, dca.placement.machine_of[dca.placement.placed], dca.cluster.request_of(dca.placement.placed))
    waiting = np.unique(dca.cluster.containers.workload[dca.placement.unplaced])
    for w in sorted(waiting, key=lambda w: -dca.cluster.workloads.request[w].max()):
        request, count = dca.cluster.workloads.request[w], dca.cluster.replicas[w]
        room = np.where((free >= request).all(axis=1), (free - request).min(axis=1), -1)
        chosen = np.argsort(-room)[:count]
        assert (room[chosen] >= 0).all()
        free[chosen] -= request


def test_dca_is_more_heterogeneous_than_dcb():
    def spread(centre):
        sizes = np.array([kind[:3] for kind in centre.types])
        return sizes.std(axis=0).mean()

    assert len(DC_A.types) > len(DC_B.types)
    assert spread(DC_A) > 2 * spread(DC_B)
    for centre in (DC_A, DC_B):
        assert np.array([kind[:3] for kind in centre.types]).max(axis=0).tolist() == [1, 1, 1]
        assert sum(kind.share for kind in centre.types) == pytest.approx(1)


def test_pairs_talk_by_clique_not_by_edges(dca):
    assert (dca.cluster.services.clique == 1).all()
    assert len(dca.cluster.traffic.a) == 0


def test_an_unknown_transient_mode_is_refused():
    with pytest.raises(UsageError, match="transient is 'both'; expected one of joint, sequential"):
        freecontainer_dca(transient="both")
