"""RASA clusters and solutions."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayplan.errors import InputError, UsageError
from bayplan.formats.document.text import read_document
from bayplan.formats.rasa import rasa_solution_text, rasa_text, read_rasa, read_rasa_solution
from bayplan.model import UNPLACED, Allow, AntiAffinity, Capacity, Pinned

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def document():
    return copy.deepcopy(read_document(EXAMPLES / "rasa.json"))


BROKEN = Path(__file__).parents[2] / "broken" / "rasa"

# file -> (codes in the order of the faults, words that the message must say)
BROKEN_FILES = {
    "cluster-shapes-and-names.json": (
        "E1101 E1110 E1108 E1602 E1605 E1602 E1607 E1603 E1604",
        [
            "TrafficList '1'",
            '("much")',
            "AntiAffinityList '1'",
            "(0)",
            "'Version'",
            "TrafficList '4': names a service that does not exist (absent)",
            "service 'mail'",
            "AntiAffinityList '2': names a service that does not exist (radish)",
            "machine '10.0.0.3'",
            "(0, 1e-30)",
            "'cart-0': is placed twice (10.0.0.1 and 10.0.0.2)",
            "container 'ghost'",
        ],
    ),
    "cluster-a-service-is-left-out.json": (
        "E1101 E1601 E1606 E1603",
        ["service 'cart'", '("0.1")', "machine '10.0.0.2'", "resource 'memory'", "(1e+17)", "'redis-0': is placed twice"],
    ),
    "solution-shapes-and-names.json": (
        "E1101 E1101 E1602 E1604 E1603",
        ["10.0.0.1 '2'", "(5)", "10.0.0.2 must be a list", "(moon)", "container 'ghost'", "container 'cart-0'"],
    ),
}


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_a_broken_file_gives_faults_of_every_kind_in_one_run(name):
    cluster = read_rasa(read_document(EXAMPLES / "rasa.json"), "x").cluster
    with pytest.raises(InputError) as caught:
        document = read_document(BROKEN / name)
        read_rasa_solution(document, cluster, name) if name.startswith("solution") else read_rasa(document, name)
    codes, words = BROKEN_FILES[name]
    assert " ".join(fault.code for fault in caught.value.faults) == codes
    assert [word for word in words if word not in str(caught.value)] == []


def test_every_broken_file_is_in_the_table():
    assert {path.name for path in BROKEN.iterdir()} == set(BROKEN_FILES)


def load_of(snapshot):
    cluster, on = snapshot.cluster, snapshot.placement.placed
    load = np.zeros_like(cluster.machines.capacity)
    np.add.at(load, snapshot.placement.machine_of[on], cluster.request_of(on))
    return load


def broken(document, source="x.json"):
    with pytest.raises(InputError) as caught:
        read_rasa(document, source)
    return str(caught.value)


def test_services_become_workloads_in_services_of_the_same_name(document):
    snapshot = read_rasa(document, "shop.json.gz")
    cluster = snapshot.cluster
    assert cluster.name == "shop"
    assert cluster.workloads.name == cluster.services.name == ("cart", "redis", "mail")
    assert cluster.replicas.tolist() == [2, 2, 1]
    assert snapshot.placement.machine_of.tolist() == [0, 2, 0, 1, UNPLACED]
    assert cluster.workloads.request[0].tolist() == [10**14, 5 * 10**13]
    assert "cpu: amounts times 1e+15, rounded to nearest" in snapshot.notes


def test_rules_come_from_the_lists(document):
    cluster = read_rasa(document, "x").cluster
    assert cluster.rules == (
        Capacity(resources=(0, 1)),
        Allow(workloads=(1,), machines="machines-0"),
        AntiAffinity(workloads=(1,), limit=1),
    )
    assert cluster.machine_sets["machines-0"].tolist() == [0, 1]


def test_one_rule_for_each_distinct_list_and_none_for_all_machines(document):
    cart, redis, mail = document["ServiceList"]
    mail["CompatibleMachines"] = ["10.0.0.2", "10.0.0.1", "10.0.0.2"]
    cart["CompatibleMachines"] = ["10.0.0.3", "10.0.0.2", "10.0.0.1"]
    rules = [rule for rule in read_rasa(document, "x").cluster.rules if isinstance(rule, Allow)]
    assert rules == [Allow(workloads=(1, 2), machines="machines-0")]
    assert redis["CompatibleMachines"] == ["10.0.0.1", "10.0.0.2"]


def test_traffic_of_one_pair_is_added_up_and_said(document):
    document["TrafficList"] += [{"Service1": "redis", "Service2": "cart", "Traffic": 1}]
    document["TrafficList"] += [{"Service1": "redis", "Service2": "mail", "Traffic": 0}]
    snapshot = read_rasa(document, "x")
    assert snapshot.cluster.traffic.weight.tolist() == [1.9, 0.1]
    assert "1 traffic entries added to another one of the same pair" in snapshot.notes
    assert "1 pairs without traffic left out" in snapshot.notes


def test_rounding_does_not_overfill_a_full_machine(document):
    third = 1 / 3 * 1e-14
    document["ServiceList"] = [
        {"Service": f"s{i}", "RequestCPU": 0.15e-14, "RequestMem": third, "ContainerList": [f"c{i}"], "CompatibleMachines": "*"}
        for i in range(3)
    ]
    full = {"MachineIP": "m", "TotalCPU": 0.45e-14, "TotalMem": 1.0, "InitialDeployingContainers": ["c0", "c1", "c2"]}
    document |= {"MachineList": [full], "TrafficList": [], "AntiAffinityList": []}
    snapshot = read_rasa(document, "x")  # 3 * round(1.5) = 6 > round(4.5) = 4
    assert (load_of(snapshot) <= snapshot.cluster.machines.capacity).all()
    assert any("raised" in note for note in snapshot.notes)


def test_a_machine_that_is_really_too_full_stays_so(document):
    document["MachineList"][0]["TotalCPU"] = 0.1
    snapshot = read_rasa(document, "x")
    assert load_of(snapshot)[0, 0] > snapshot.cluster.machines.capacity[0, 0]


def test_large_amounts_get_a_coarser_scale_and_stay_exact(document):
    for machine in document["MachineList"]:
        machine["TotalMem"] = 64 * 2**30
    cluster = read_rasa(document, "x").cluster
    assert cluster.resources[1].scale == 10**4
    assert cluster.machines.capacity[0, 1] == 64 * 2**30 * 10**4


def test_faults_of_shape_are_all_reported(document):
    document["ServiceList"][0]["RequestCPU"] = -1
    document["ServiceList"][1]["RequestMem"] = float("nan")
    document["MachineList"][0]["TotalMem"] = "much"
    del document["MachineList"][1]["MachineIP"]
    document["TrafficLst"] = []
    document["ServiceList"][2]["CompatibleMachines"] = "all"
    text = broken(document)
    for code in ("E1102", "E1103", "E1101", "E1107", "E1108", "E1109"):
        assert code in text


def test_faults_of_names_are_all_reported(document):
    document["ServiceList"][2]["Service"] = "cart"
    document["ServiceList"][1]["CompatibleMachines"] = ["10.0.0.1", "moon"]
    document["MachineList"][1]["InitialDeployingContainers"] = ["cart-0", "ghost"]
    document["TrafficList"] += [{"Service1": "absent", "Service2": "redis", "Traffic": 1}]
    document["TrafficList"] += [{"Service1": "redis", "Service2": "redis", "Traffic": 1}]
    document["AntiAffinityList"][0]["Services"] = ["redis", "radish"]
    document["MachineList"][2] |= {"TotalCPU": 0, "TotalMem": 0.0}
    text = broken(document)
    assert "E1601 service 'cart'" in text
    assert "E1602 service 'redis': names a machine that does not exist (moon)" in text
    assert "E1602 TrafficList '3': names a service that does not exist (absent)" in text
    assert "E1602 AntiAffinityList '1': names a service that does not exist (radish)" in text
    assert "E1603 container 'cart-0': is placed twice (10.0.0.1 and 10.0.0.2)" in text
    assert "E1604 container 'ghost'" in text
    assert "E1605 service 'redis'" in text
    assert "E1607 machine '10.0.0.3'" in text


def test_a_total_beyond_exact_floats_is_refused(document):
    document["MachineList"][0]["TotalMem"] = 1e17
    assert "E1606 resource 'memory'" in broken(document)


def test_a_solution_comes_back_as_it_was_written(document):
    cluster = read_rasa(document, "x").cluster
    placement = read_rasa_solution(read_document(EXAMPLES / "rasa-solution.json"), cluster, "s")
    assert placement.machine_of.tolist() == [0, 1, 0, 1, 0]
    again = read_rasa_solution(json.loads(rasa_solution_text(cluster, placement)), cluster, "s")
    assert again.machine_of.tolist() == placement.machine_of.tolist()


def test_faults_of_a_solution_are_all_reported(document):
    cluster = read_rasa(document, "x").cluster
    with pytest.raises(InputError) as caught:
        read_rasa_solution({"moon": [], "10.0.0.1": ["cart-0", "cart-0", "ghost"]}, cluster, "s.json")
    text = str(caught.value)
    assert all(word in text for word in ("s.json", "E1602", "moon", "E1603", "cart-0", "E1604", "ghost"))


def test_a_cluster_comes_back_as_it_was_written(document):
    before = read_rasa(document, "x")
    after = read_rasa(json.loads(rasa_text(before)), "x")
    assert after.cluster.rules == before.cluster.rules
    assert after.cluster.containers.name == before.cluster.containers.name
    for part, field in [("workloads", "request"), ("machines", "capacity"), ("traffic", "weight")]:
        assert np.array_equal(getattr(getattr(after.cluster, part), field), getattr(getattr(before.cluster, part), field))
    assert np.array_equal(after.placement.machine_of, before.placement.machine_of)


def test_what_the_format_cannot_hold_is_refused(document):
    snapshot = read_rasa(document, "x")
    pinned = replace(snapshot.cluster, rules=(*snapshot.cluster.rules, Pinned(containers=(0,))))
    safety = replace(pinned.machines, safety=pinned.machines.capacity // 2)
    odd = replace(snapshot, cluster=replace(pinned, machines=safety))
    with pytest.raises(UsageError, match=r"a rule of kind pinned; .*safety capacity"):
        rasa_text(odd)


@pytest.mark.data
def test_m3_is_read_as_published(data_folder):
    snapshot = read_rasa(read_document(data_folder / "rasa" / "M3.json"), "M3.json")
    cluster = snapshot.cluster
    assert (len(cluster.workloads.name), len(cluster.containers.name), len(cluster.machines.name)) == (547, 3485, 96)
    assert len(cluster.traffic.a) == 344
    assert cluster.rules == (Capacity(resources=(0, 1)),)
    assert (load_of(snapshot) <= cluster.machines.capacity).all()
    assert snapshot.placement.unplaced.size == 0
    assert not any("raised" in note for note in snapshot.notes)
    assert json.loads(rasa_text(snapshot))["TrafficList"][0].keys() == {"Service1", "Service2", "Traffic"}


def test_a_wrong_amount_hides_no_double_or_unknown_name(document):
    document["ServiceList"][0]["RequestCPU"] = -1
    document["ServiceList"][2]["Service"] = "cart"
    document["ServiceList"][1]["CompatibleMachines"] = ["moon"]
    text = broken(document)
    assert "E1102 service 'cart': RequestCPU is negative (-1)" in text
    assert "E1601 service 'cart'" in text
    assert "E1602 service 'redis': names a machine that does not exist (moon)" in text


def test_traffic_of_a_pair_beyond_the_limit_names_the_pair(document):
    document["TrafficList"] = [{"Service1": a, "Service2": b, "Traffic": 9e14} for a, b in (("cart", "mail"), ("mail", "cart"))]
    assert "E1606 pair 'cart - mail': the entries of the pair add up to too much (1.8e+15)" in broken(document)


def test_names_with_control_characters_are_refused(document):
    document["MachineList"][0]["MachineIP"] = "\x1b[2J"
    document["ServiceList"][0]["ContainerList"][0] = "a\nb"
    text = broken(document)
    assert text.count("E1205") == 2
    assert "\x1b" not in text


def test_unknown_names_get_the_nearest_known_one_but_not_thousands_of_times():
    document = json.loads((EXAMPLES / "rasa.json").read_text())
    document["TrafficList"] = [{"Service1": "cart", "Service2": "rediss", "Traffic": 1} for _ in range(3)]
    document["ServiceList"][1]["CompatibleMachines"] = ["10.0.0.11"]
    with pytest.raises(InputError) as caught:
        read_rasa(document, "x")
    assert "did you mean 'redis'?" in str(caught.value) and "did you mean '10.0.0.1'?" in str(caught.value)
    document["TrafficList"] = [{"Service1": "cart", "Service2": "rediss", "Traffic": 1} for _ in range(100)]
    with pytest.raises(InputError) as caught:
        read_rasa(document, "x")
    assert sum("did you mean" in fault.expected for fault in caught.value.faults) == 20
