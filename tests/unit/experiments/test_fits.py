from dataclasses import replace

import numpy as np
import pytest
from experiments.calibration.fits import area_bound, cyclic_first_fit, worst_fit

from bayplan.check import check, check_schedule
from bayplan.generate.boutique import boutique
from bayplan.generate.requests import WINDOW, requests
from bayplan.model import CoLocate, Fleet, Placement, Resource, TimedRequests


def timed(*lines, capacity=10):
    start, end, demand = zip(*lines, strict=True)
    n = len(lines)
    return TimedRequests(
        name=tuple(f"q{j}" for j in range(n)),
        resources=(Resource(name="cpu"),),
        capacity=np.array([capacity]),
        start=np.array(start, dtype=float),
        end=np.array(end, dtype=float),
        demand=np.array(demand)[:, None],
        value=np.ones(n),
    )


def test_first_fit_goes_round_and_refuses_what_fits_nowhere():
    asked = timed((0, 9, 6), (1, 9, 3), (2, 9, 3), (3, 9, 9), (4, 9, 1))
    assert cyclic_first_fit(asked, 2).machine_of.tolist() == [0, 1, 0, -1, 1]  # request 3 needs 9, and 1 and 7 are free


def test_what_ends_makes_room_at_once():
    assert cyclic_first_fit(timed((0, 5, 10), (5, 9, 10)), 1).machine_of.tolist() == [0, 0]
    assert cyclic_first_fit(timed((0, 5, 10), (4.9, 9, 10)), 1).machine_of.tolist() == [0, -1]


def test_the_order_is_that_of_the_starts_not_of_the_file():
    assert cyclic_first_fit(timed((3, 9, 8), (0, 9, 8)), 1).machine_of.tolist() == [-1, 0]


@pytest.mark.parametrize("seed", range(3))
def test_first_fit_overloads_no_machine_and_stays_below_the_area_bound(seed):
    asked = requests(machines=3, load=4.0, seed=seed)
    schedule = cyclic_first_fit(asked, 3)
    assert check_schedule(asked, schedule, Fleet.alike(3, asked.capacity)) == ()
    assert 0 < len(schedule.served) / len(asked.name) <= area_bound(asked, 3, WINDOW) < 1


def test_the_area_bound_counts_the_smallest_areas():
    asked = timed((0, 10, 10), (0, 10, 5), (0, 5, 4), (0, 10, 2))  # areas 10, 5, 2, 2 of 10
    assert area_bound(asked, 1, 10.0) == 3 / 4
    assert area_bound(asked, 2, 10.0) == 1.0


def test_worst_fit_moves_nothing_that_runs_and_says_what_is_left_over():
    shop = boutique()
    cluster = shop.cluster
    everyone = Placement.empty(len(cluster.containers.name))
    assert len(worst_fit(replace(shop, placement=everyone)).unplaced) < len(cluster.containers.name)
    after = worst_fit(shop)
    assert len(after.moved_from(shop.placement)) == 0
    assert len(after.unplaced) == 0
    tiny = replace(cluster.machines, capacity=np.zeros_like(cluster.machines.capacity))
    full = replace(shop, cluster=replace(cluster, machines=tiny), placement=everyone)
    assert len(worst_fit(full).unplaced) == len(cluster.containers.name)


def test_worst_fit_keeps_capacity_and_co_location_from_an_empty_cluster():
    shop = boutique()
    after = worst_fit(replace(shop, placement=Placement.empty(len(shop.cluster.containers.name))))
    assert any(isinstance(rule, CoLocate) for rule in shop.cluster.rules)
    assert not {"capacity", "co-locate"} & {violation.rule for violation in check(shop.cluster, after)}
