"""What a native document means, default by default."""

import copy
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayplan import formats
from bayplan.errors import InputError
from bayplan.formats.native import native_document, read_native
from bayplan.model import NO_LIMIT, UNPLACED, Capacity, Pinned, Snapshot, Spread, Term

SMALL: dict[str, Any] = {
    "bayplan": 1,
    "resources": {"cpu": {"scale": 1000}, "gpu": {}},
    "machines": [{"name": "m-0", "capacity": {"cpu": 4}}, {"name": "m-1", "capacity": {"cpu": 4, "gpu": 1}}],
    "workloads": [{"name": "web", "request": {"cpu": "1.5"}}, {"name": "job", "request": {}, "containers": 2}],
}


def read(**changes: object) -> Snapshot:
    return read_native({**copy.deepcopy(SMALL), **changes}, "x")


def codes(**changes: object) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(**changes)
    return [fault.code for fault in caught.value.faults]


def test_what_is_left_out_has_its_default() -> None:
    snapshot = read()
    cluster = snapshot.cluster
    assert cluster.machines.capacity.tolist() == [[4000, 0], [4000, 1]]
    assert (cluster.machines.safety == cluster.machines.capacity).all()
    assert cluster.workloads.request.tolist() == [[1500, 0], [0, 0]]
    assert (cluster.workloads.usage_mean == cluster.workloads.request).all()
    assert (cluster.workloads.limit == NO_LIMIT).all()
    assert cluster.containers.name == ("web-0", "job-0", "job-1")
    assert cluster.services.name == ("web", "job")
    assert cluster.rules == (Capacity(resources=(0, 1)),)
    assert (snapshot.placement.machine_of == UNPLACED).all()
    assert not snapshot.objective.explicit
    assert snapshot.notes == ()


def test_a_machine_without_one_resource_is_normal() -> None:
    assert read().cluster.machines.capacity[0].tolist() == [4000, 0]


def test_a_workload_without_service_joins_the_service_of_its_name() -> None:
    workloads = [{"name": "web", "request": {}}, {"name": "job", "request": {}, "service": "web"}]
    assert read(workloads=workloads).cluster.workloads.service.tolist() == [0, 0]


def test_listed_services_come_first_and_empty_ones_are_noted() -> None:
    snapshot = read(services=[{"name": "mail"}, {"name": "job", "clique": 2}])
    assert snapshot.cluster.services.name == ("mail", "job", "web")
    assert snapshot.cluster.services.clique.tolist() == [0, 2, 0]
    assert snapshot.notes == ("service 'mail' has no workload",)


def test_no_capacity_rule_can_be_said() -> None:
    assert read(rules=[{"rule": "capacity", "resources": []}]).cluster.rules == ()


def test_a_stated_capacity_rule_replaces_the_default_one() -> None:
    rules = [{"rule": "spread", "service": "job", "minimum": 2}, {"rule": "capacity", "resources": ["gpu"]}]
    assert read(rules=rules).cluster.rules == (Spread(service=1, minimum=2), Capacity(resources=(1,)))


def test_rules_are_numbered_as_in_the_file() -> None:
    with pytest.raises(InputError, match=r"rule '2 \(spread\)'"):
        read(rules=[{"rule": "pinned", "containers": ["web-0"]}, {"rule": "spread", "service": "web", "minimum": 2}])


def test_parallel_traffic_is_added_up_and_noted() -> None:
    snapshot = read(traffic=[["web", "job", 1], ["job", "web", 2.5]])
    assert snapshot.cluster.traffic.weight.tolist() == [3.5]
    assert "added up" in snapshot.notes[0]


def test_parallel_traffic_that_adds_up_to_too_much_names_the_pair() -> None:
    with pytest.raises(InputError, match=r"E1110 .*the edges of web - job add up to too much \(1.8e\+15\)"):
        read(traffic=[["web", "job", 9e14], ["job", "web", 9e14]])


def test_a_mean_above_the_limit_is_noted() -> None:
    workloads = [{"name": "web", "request": {"cpu": 1}, "usage": {"cpu": 3}, "limit": {"cpu": 2}}]
    assert read(workloads=workloads).notes == ("workload 'web': its mean usage of cpu is above its limit",)


def test_decimal_numbers_are_exact() -> None:
    resources = {"cpu": {"scale": 10**12}, "gpu": {}}
    assert read(resources=resources).cluster.workloads.request[0, 0] == 1_500_000_000_000
    workloads = [{"name": "web", "request": {"cpu": 0.1}}]
    assert read(resources=resources, workloads=workloads).cluster.workloads.request[0, 0] == 10**11


def test_amounts_can_be_base_units() -> None:
    workloads = [{"name": "web", "request": {"cpu": 1}}]
    assert read(amounts="base-units", workloads=workloads).cluster.workloads.request[0, 0] == 1
    assert codes(amounts="base-units") == ["E1105"]


def test_an_objective_keeps_the_default_of_what_it_does_not_say() -> None:
    objective = read(objective={"hops": {"machine": 3}}).objective
    assert objective.hop.tolist() == [3]
    assert set(objective.weight) == {Term.UTILISATION, Term.BALANCE, Term.COMMUNICATION}
    assert objective.explicit


def test_a_ratio_may_be_given_with_its_inverse() -> None:
    ratio = read(objective={"ratios": [["cpu", "gpu", 3], ["gpu", "cpu", 1 / 3]]}).objective.ratio
    assert ratio.tolist() == [[1, 3], [1 / 3, 1]]
    assert codes(objective={"ratios": [["cpu", "gpu", 3], ["cpu", "gpu", 3]]}) == ["E1118"]


def test_one_price_holds_for_every_workload() -> None:
    costs = read(objective={"move_costs": {"container": 7}}).objective.move_costs
    assert costs is not None
    assert costs.container.tolist() == [7, 7]
    assert costs.machine.shape == (0, 0)


def test_too_many_containers_are_refused_before_they_are_made() -> None:
    workloads = [{"name": f"w{i}", "request": {}, "containers": 1_000_000} for i in range(21)]
    assert codes(workloads=workloads) == ["E1110"]


def test_thousands_of_unknown_names_are_reported_quickly_as_one_line() -> None:
    machines = [{"name": f"node-{m}", "capacity": {"cpu": 1}} for m in range(3000)]
    workloads = [{"name": "web", "request": {}, "containers": 3000, "on": [f"nod-{m}" for m in range(3000)]}]
    with pytest.raises(InputError) as caught:
        read(machines=machines, workloads=workloads)
    assert len(caught.value.faults) == 3000


def test_a_snapshot_is_a_placement_of_a_cluster_with_the_same_names(tmp_path: Path) -> None:
    snapshot = read(workloads=[{"name": "web", "request": {}, "containers": 2, "on": [None, "m-1"]}])
    formats.write(snapshot, tmp_path / "x.yaml")
    placement = formats.read_placement(tmp_path / "x.yaml", snapshot.cluster)
    assert np.array_equal(placement.machine_of, [UNPLACED, 1])


def test_a_gmrp_model_on_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"2\n1 10 0 10")))
    with pytest.raises(InputError, match="E1011"):
        formats.read("-")


def test_a_snapshot_on_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SMALL).encode())))
    assert formats.read("-").cluster.machines.name == ("m-0", "m-1")


def test_each_item_is_written_on_its_own_line(tmp_path: Path) -> None:
    formats.write(read(traffic=[["web", "job", 1]]), tmp_path / "x.json")
    lines = (tmp_path / "x.json").read_text().splitlines()
    for name in ("m-0", "m-1", "web", "job"):
        assert sum(line.startswith(f'  {{"name": "{name}"') for line in lines) == 1
    assert '  ["web", "job", 1.0]' in lines


def test_what_has_its_default_is_not_written() -> None:
    assert list(native_document(read())) == ["bayplan", "resources", "machines", "workloads"]


def test_a_note_is_not_repeated_when_a_file_is_written_and_read_again() -> None:
    once = read(services=[{"name": "mail"}])
    assert read_native(native_document(once), "x").notes == once.notes == ("service 'mail' has no workload",)


def test_replicas_say_how_many_containers_there_are() -> None:
    workloads = [
        {"name": "web", "request": {}, "replicas": 3},
        {"name": "job", "request": {}, "containers": ["a", "b"], "replicas": 2},
    ]
    assert read(workloads=workloads).cluster.containers.name == ("web-0", "web-1", "web-2", "a", "b")


def test_replicas_and_containers_must_agree() -> None:
    assert codes(workloads=[{"name": "web", "request": {}, "replicas": 3, "containers": ["a"]}]) == ["E1111"]


def test_replicas_that_cannot_be_read_do_not_make_their_containers_unknown() -> None:
    workloads = [{"name": "web", "request": {}, "replicas": "three"}]
    assert codes(workloads=workloads, rules=[{"rule": "pinned", "containers": ["web-2"]}]) == ["E1101"]


@pytest.mark.parametrize("safety", ["75%", 0.75, {"cpu": "75%"}, {"cpu": 3}])
def test_a_safety_capacity_may_be_a_share_of_the_capacity(safety: object) -> None:
    machines = [{"name": "m-0", "capacity": {"cpu": 4, "gpu": 4}, "safety": safety}]
    assert read(machines=machines).cluster.machines.safety[0, 0] == 3000


def test_a_share_is_rounded_down_to_base_units() -> None:
    machines = [{"name": "m-0", "capacity": {"cpu": 4, "gpu": 5}, "safety": "50%"}]
    assert read(machines=machines).cluster.machines.safety[0].tolist() == [2000, 2]


def test_a_default_safety_holds_for_machines_that_state_none() -> None:
    machines = [{"name": "a", "capacity": {"cpu": 4}}, {"name": "b", "capacity": {"cpu": 4}, "safety": "100%"}]
    safety = read(machines=machines, defaults={"safety": "80%"}).cluster.machines.safety
    assert safety[:, 0].tolist() == [3200, 4000]


@pytest.mark.parametrize(
    ("safety", "code"), [("120%", "E1104"), ("most", "E1104"), (1.5, "E1110"), (0, "E1110"), (-0.5, "E1102")]
)
def test_a_share_is_between_nothing_and_all(safety: object, code: str) -> None:
    assert codes(machines=[{"name": "m-0", "capacity": {"cpu": 4}, "safety": safety}]) == [code]


def test_a_share_of_an_unknown_resource_is_said() -> None:
    assert codes(machines=[{"name": "m-0", "capacity": {"cpu": 4}, "safety": {"cup": "80%"}}]) == ["E1202"]


def test_traffic_may_have_keys() -> None:
    traffic = read(traffic=[{"from": "job", "to": "web", "weight": 2}, ["web", "job", 1]]).cluster.traffic
    assert (traffic.a.tolist(), traffic.b.tolist(), traffic.weight.tolist()) == ([0], [1], [3.0])


def test_faults_of_traffic_with_keys_are_said_with_the_key() -> None:
    with pytest.raises(InputError, match=r"to names an unknown workload \(\"jbo\"\).*did you mean 'job'"):
        read(traffic=[{"from": "web", "to": "jbo", "weight": 2}])
    assert codes(traffic=[{"from": "web", "to": "job"}]) == ["E1107"]


def test_a_workload_may_be_pinned_as_a_whole() -> None:
    rules = read(rules=[{"rule": "pinned", "workloads": ["job"], "containers": ["web-0", "job-1"]}]).cluster.rules
    assert rules[1:] == (Pinned(containers=(0, 2, 1)),)


def test_a_pinned_rule_names_something() -> None:
    assert codes(rules=[{"rule": "pinned"}]) == ["E1107"]
    assert codes(rules=[{"rule": "pinned", "workloads": ["jbo"]}]) == ["E1202"]


def test_bytes_may_be_written_as_such_and_other_suffixes_get_a_hint() -> None:
    machines = [{"name": "m-0", "capacity": {"cpu": 4, "gpu": "64GB"}}]
    assert read(machines=machines).cluster.machines.capacity[0, 1] == 64 * 10**9
    with pytest.raises(InputError, match="did you mean 64Gi or 64G"):
        read(machines=[{"name": "m-0", "capacity": {"cpu": 4, "gpu": "64gb"}}])
