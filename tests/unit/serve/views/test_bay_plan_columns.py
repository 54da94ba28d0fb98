"""The columns of a bay plan say of every machine and container what the snapshot says."""

import json

import numpy as np
import pytest

import bayplan as bp
from bayplan.serve.views.bay_plan_columns import bay_plan_columns


@pytest.fixture(scope="module")
def shop():
    return bp.generate("boutique")


@pytest.fixture(scope="module")
def columns(shop):
    return json.loads(json.dumps(bay_plan_columns(shop)))


def test_every_container_has_its_workload_and_machine(shop, columns):
    assert columns["containers"]["machine"] == shop.placement.machine_of.tolist()
    assert columns["containers"]["workload"] == shop.cluster.containers.workload.tolist()
    assert sum(columns["workloads"]["replicas"]) == len(shop.cluster.containers.name)


def test_amounts_are_those_of_the_cluster(shop, columns):
    resources = len(columns["resources"])
    capacity = np.array(columns["machines"]["capacity"]).reshape(-1, resources)
    assert np.array_equal(capacity, shop.cluster.machines.capacity)
    request = np.array(columns["workloads"]["request"]).reshape(-1, resources)
    assert np.array_equal(request, shop.cluster.workloads.request)


def test_levels_name_the_group_of_every_machine(shop, columns):
    zone = next(level for level in columns["machines"]["levels"] if level["name"] == "zone")
    first = columns["machines"]["name"].index("a1")
    assert zone["group"][zone["of"][first]] in ("east", "west")
    assert sorted(columns["machines"]["order"]) == list(range(len(shop.cluster.machines.name)))


def test_only_names_that_follow_no_pattern_are_listed():
    builder = bp.ClusterBuilder("odd").machine("m", cpu=8)
    builder = builder.workload("web", replicas=2, cpu=1).workload("db", replicas=["left", "right"], cpu=1)
    assert bay_plan_columns(builder.build())["containers"]["names"] == {"1": ["left", "right"]}
