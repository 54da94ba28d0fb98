import numpy as np
import pytest

from bayplan.errors import UsageError
from bayplan.generate.ucac import TABLE_5, ucac


def test_default_is_the_whole_of_table_5():
    snapshot = ucac()
    cluster = snapshot.cluster
    assert len(cluster.services.name) == 17
    assert cluster.replicas.tolist() == [column.containers for column in TABLE_5]
    assert len(cluster.containers.name) == 10_560
    assert (cluster.machines.capacity == 31_580).all()
    assert len(cluster.machines.name) == 4000
    assert np.allclose(cluster.workloads.usage_mean[:, 0], [1000 * column.mean for column in TABLE_5])


def test_std_varies_by_a_tenth_at_most():
    factor = ucac(seed=5).cluster.workloads.usage_std[:, 0] / [1000 * column.std for column in TABLE_5]
    assert 0.9 <= factor.min() < factor.max() <= 1.1
    assert len(set(factor)) == 17


def test_all_containers_wait_and_request_nothing():
    snapshot = ucac(services=5)
    assert len(snapshot.placement.placed) == 0
    assert not snapshot.cluster.workloads.request.any()


def test_few_services_are_distinct_and_many_repeat():
    few = ucac(services=15, seed=2).cluster.workloads.usage_mean[:, 0]
    many = ucac(services=20, seed=2).cluster.workloads.usage_mean[:, 0]
    containers = {(column.mean, column.containers) for column in TABLE_5}
    assert len(containers) == 17
    assert len(few) == 15
    assert len(many) == 20
    assert len(set(many)) < 17


def test_alpha_and_scale_reach_the_cluster():
    cluster = ucac(alpha=0.99, scale=0.5).cluster
    assert cluster.rules[0].alpha == 0.99
    assert cluster.replicas[2] == 809


def test_limits_leave_room_for_the_confidence():
    workloads = ucac().cluster.workloads
    assert (workloads.limit >= workloads.usage_mean + 3.1 * workloads.usage_std).all()


def test_bad_settings_are_all_named():
    with pytest.raises(UsageError, match=r"services is 0.*alpha is 1\.0.*machines is -3"):
        ucac(services=0, alpha=1.0, machines=-3)
