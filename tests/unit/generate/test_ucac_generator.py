import numpy as np
import pytest

from bayplan.check import check
from bayplan.errors import UsageError
from bayplan.generate.ucac import FACTOR, base, layout_of, towards, ucac
from bayplan.generate.ucac_services import BASE_USAGE, TABLE_5, day_cluster, ucac_week


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


# ---- nonempty layouts ----------------------------------------------------------------------------------------------------------


def small(**settings):
    return ucac(**{"services": 4, "scale": 0.03, "machines": 60, "seed": 3, **settings})


@pytest.mark.parametrize("case", FACTOR)
def test_a_nonempty_case_runs_what_table_5_leaves_and_asks_for_the_rest(case):
    snapshot = small(case=case)
    initial, rate = base(services=4, alpha=0.999, scale=0.03, machines=60, seed=3)
    target = np.maximum(1, np.round(FACTOR[case] * initial.replicas))
    left = initial.replicas - np.round(rate * initial.replicas)
    running = np.bincount(snapshot.cluster.containers.workload[snapshot.placement.placed], minlength=4)
    assert snapshot.cluster.replicas.tolist() == target.tolist()
    assert running.tolist() == np.minimum(left, target).tolist()
    assert not check(snapshot.cluster, snapshot.placement)
    assert any(case in note for note in snapshot.notes)


def test_both_nonempty_cases_begin_alike():
    down, up = (small(case=case) for case in FACTOR)
    assert layout_of(down.cluster, down.placement).tolist() == layout_of(up.cluster, up.placement).tolist()


def test_a_nonempty_case_can_be_made_again():
    one, other = (small(case="scale-up") for _ in range(2))
    assert one.placement.machine_of.tolist() == other.placement.machine_of.tolist()
    assert small(case="scale-up", seed=4).placement.machine_of.tolist() != one.placement.machine_of.tolist()


def test_a_scale_of_zero_uses_as_much_as_table_5_whatever_the_services():
    for services, seed in ((5, 0), (10, 1), (20, 2)):
        cluster = ucac(services=services, scale=0, seed=seed).cluster
        assert cluster.replicas @ cluster.workloads.usage_mean[:, 0] / 1000 == pytest.approx(BASE_USAGE, rel=0.002)


def test_a_target_below_what_runs_deletes_at_random():
    cluster = small(case="empty").cluster
    layout = np.full((60, 4), 2)
    snapshot = towards(cluster, layout, np.array([10, 120, 130, 1]), np.random.default_rng(0))
    running = layout_of(snapshot.cluster, snapshot.placement)
    assert running.sum(axis=0).tolist() == [10, 120, 120, 1]
    assert len(snapshot.placement.unplaced) == 10
    assert (running <= layout).all()


def test_too_few_machines_for_the_initial_layout_is_said():
    with pytest.raises(UsageError, match=r"machines is 2; expected more: \d+ of \d+ containers"):
        small(case="scale-up", machines=2)


def test_an_unknown_case_is_named():
    with pytest.raises(UsageError, match=r"case is 'full'; expected one of empty, scale-down, scale-up"):
        small(case="full")


# ---- a week --------------------------------------------------------------------------------------------------------------------


def test_a_week_has_seven_weekdays_and_a_quiet_weekend():
    week = ucac_week(seed=1)
    low, high = week.mean[week.weekend], week.mean[~week.weekend]
    ratio = week.std / week.mean
    assert week.weekdays == [0, 1, 2, 5, 6, 7, 8]
    assert low.max(axis=0).max() < high.max()
    assert (low.max(axis=0) < high.min(axis=0)).all()
    assert (ratio[week.weekend].min(axis=0) > ratio[~week.weekend].max(axis=0)).all()


def test_services_grow_and_shrink_from_weekday_to_weekday():
    week = ucac_week(seed=1)
    change = np.diff(week.replicas[week.weekdays], axis=0)
    assert (change > 0).any(axis=0).all()
    assert (change < 0).any(axis=0).all()
    assert (week.replicas[3] == week.replicas[2]).all()


def test_the_cluster_of_a_day_has_its_usage_and_its_containers():
    week = ucac_week(seed=1, size=0.01)
    cluster = day_cluster(week, 5, machines=7, alpha=0.99)
    assert cluster.replicas.tolist() == week.replicas[5].tolist()
    assert cluster.workloads.usage_std[:, 0].tolist() == week.std[5].tolist()
    assert len(cluster.machines.name) == 7
