"""A cluster built in code is the one that a file with the same words says."""

import doctest
from pathlib import Path

import numpy as np
import pytest

from bayplan.errors import InputError, UsageError
from bayplan.formats import ClusterBuilder, builder, read
from bayplan.formats.native import native_document
from bayplan.model import UNPLACED, AntiAffinity, Capacity, Pinned, Spread, Term

ROOT = Path(__file__).parents[3]


def two() -> ClusterBuilder:
    return ClusterBuilder("two").machine("m-1", cpu=8, memory="32Gi").machine("m-2", cpu=4, memory="16Gi")


def faults(unfinished: ClusterBuilder) -> list[str]:
    with pytest.raises(InputError) as caught:
        unfinished.build()
    return [str(fault) for fault in caught.value.faults]


def test_the_example_of_its_docstring_runs() -> None:
    assert doctest.testmod(builder).failed == 0


def test_it_builds_the_example_shop_as_the_file_has_it() -> None:
    b = ClusterBuilder("shop")
    b.machine("m-0", cpu=16, memory="64Gi", safety={"cpu": 12}, rack="r1")
    b.machine("m-1", cpu=16, memory="64Gi", rack="r1")
    b.machine("m-2", cpu=16, memory="64Gi", rack="r2")
    b.machine("m-3", cpu=8, memory="128Gi", rack="r2")
    b.machine_set("fast", ["m-0", "m-1", "m-2"])
    b.service("shop", clique=0.5)
    b.workload("web", service="shop", cpu="500m", memory="1.5Gi", replicas=3, on=["m-0", "m-1", None])
    b.workload("cart", service="shop", cpu=1, memory="2Gi", usage={"cpu": (0.3, 0.1)}, limit={"cpu": 2}, on="m-0")
    b.workload("database", cpu=4, memory="32Gi", replicas=["db-main", "db-copy"], on=["m-2", "m-3"])
    b.traffic("web", "cart", 12.5).traffic("cart", "database", 4)
    b.anti_affinity("web", limit=1).spread("database", 2).allow(["web", "cart"], "fast").pin("db-main")
    b.objective(weights={"utilisation": 1, "communication": 0.1}, hops={"machine": 1, "rack": 2})
    shop = native_document(read(ROOT / "examples" / "shop.yaml"))
    del shop["notes"]
    assert native_document(b.build()) == shop


def test_without_resources_there_are_cpu_and_memory() -> None:
    snapshot = two().workload("web", cpu="500m").build()
    assert [(r.name, r.scale, r.unit) for r in snapshot.cluster.resources] == [("cpu", 1000, "cores"), ("memory", 1, "bytes")]
    assert snapshot.cluster.machines.capacity.tolist() == [[8000, 32 * 2**30], [4000, 16 * 2**30]]


@pytest.mark.parametrize(("amount", "scale"), [(2, 1), (0.5, 1000), ("250m", 1000)])
def test_a_resource_without_a_scale_gets_one_that_holds_its_amounts(amount: object, scale: int) -> None:
    b = ClusterBuilder(resources=["gpu"]).machine("m", gpu=4).workload("w", gpu=amount)  # type: ignore[arg-type]
    assert b.build().cluster.resources[0].scale == scale


def test_many_machines_by_a_pattern_with_fields_that_depend_on_the_number() -> None:
    b = ClusterBuilder().machines("m-{}", 6, cpu=lambda i: 8 + i, memory="1Gi", zone=lambda i: f"z{i % 3}", rack="r0")
    cluster = b.workload("web", cpu=1).build().cluster
    assert cluster.machines.name == ("m-0", "m-1", "m-2", "m-3", "m-4", "m-5")
    assert cluster.machines.capacity[:, 0].tolist() == [8000, 9000, 10000, 11000, 12000, 13000]
    assert cluster.level("zone").group_of.tolist() == [0, 1, 2, 0, 1, 2]
    assert [level.name for level in cluster.levels] == ["machine", "zone", "rack"]


def test_safety_is_a_share_of_the_capacity_or_an_amount() -> None:
    b = ClusterBuilder(resources=["cpu"]).machine("a", cpu=8, safety=0.8).machine("b", cpu=8, safety="25%")
    cluster = b.machine("c", cpu=8, safety={"cpu": 3}).machine("d", cpu=8).workload("w", cpu=1).build().cluster
    assert cluster.machines.safety[:, 0].tolist() == [6400, 2000, 3000, 8000]


def test_replicas_are_counted_by_where_they_run() -> None:
    snapshot = two().workload("web", cpu=1, on=["m-2", None, "m-1"]).workload("db", cpu=1, replicas=2, on="m-1").build()
    assert snapshot.cluster.replicas.tolist() == [3, 2]
    assert snapshot.placement.machine_of.tolist() == [1, UNPLACED, 0, 0, 0]


def test_what_is_pinned_is_named_by_container_or_by_workload() -> None:
    b = two().workload("web", cpu=1, replicas=2, on="m-1").workload("db", cpu=1, replicas=2, on="m-2")
    assert Pinned(containers=(1, 2, 3)) in b.pin("db", "web-1").build().cluster.rules


def test_allow_takes_a_list_of_machines() -> None:
    cluster = two().workload("web", cpu=1).allow("web", ["m-2"]).build().cluster
    assert {name: members.tolist() for name, members in cluster.machine_sets.items()} == {"m-2": [1]}


def test_rules_may_be_values_of_the_model() -> None:
    rule = AntiAffinity(workloads=(0,), limit=1)
    assert two().workload("web", cpu=1).rule(rule).build().cluster.rules == (Capacity(resources=(0, 1)), rule)
    with pytest.raises(UsageError):
        two().rule(rule, limit=2)


def test_rules_by_value_are_checked_for_what_can_never_hold() -> None:
    assert "E1301" in faults(two().workload("web", cpu=1).rule(Spread(service=0, minimum=2)))[0]


def test_every_kind_of_rule_has_a_method() -> None:
    b = ClusterBuilder(levels=["rack"]).machines("m-{}", 3, cpu=8, memory="8Gi", rack=lambda i: f"r{i}")
    b.workload("web", cpu=1, replicas=2).workload("db", cpu=1, replicas=2)
    b.capacity("cpu").anti_affinity(["web", "db"], limit=3).spread("web", 2, level="rack").co_locate("web-0", "db-0")
    b.skew("web", level="rack", counted=["web", "db"], machines=["m-0", "m-1"], min_groups=2)
    b.allow("db", ["m-0", "m-1"]).dependency("web", "db", level="rack").transient("memory", mode="sequential")
    b.interference("web", "db", limit=1).pin("web-1").confidence("cpu", 0.99)
    kinds = [rule.kind for rule in b.build().cluster.rules]
    assert kinds == [
        "capacity",
        "anti-affinity",
        "spread",
        "co-locate",
        "skew",
        "allow",
        "dependency",
        "transient",
        "interference",
        "pinned",
        "confidence",
    ]


def test_the_objective_has_the_keys_of_a_file() -> None:
    objective = two().workload("web", cpu=1).objective(weights={"communication": 2}).build().objective
    assert objective.weight == {Term.COMMUNICATION: 2.0}


def test_numbers_of_numpy_are_numbers() -> None:
    b = ClusterBuilder(resources=["cpu"]).machine("m", cpu=np.int64(8)).workload("w", cpu=np.float64(0.5), replicas=2)
    snapshot = b.workload("v", cpu=1).traffic("w", "v", np.float32(2)).build()
    assert snapshot.cluster.workloads.request[:, 0].tolist() == [500, 1000]


def test_every_fault_is_said_at_once_with_the_name_that_was_meant() -> None:
    b = two().workload("web", cpu="many", replicas=2, on=["m-1", "m-3"]).workload("data", cpu=1)
    message = "\n".join(faults(b.traffic("web", "dtaa", 1).spread("wbe", 2)))
    assert [code in message for code in ("E1104", "E1403", "E1202")] == [True, True, True]
    assert "did you mean 'data'?" in message and "did you mean 'web'?" in message


def test_a_misspelt_resource_is_not_taken_for_a_level() -> None:
    (fault,) = faults(ClusterBuilder().machine("m", cpu=1, memroy="32Gi").workload("w", cpu=1))
    assert "'memroy' is neither a resource nor a level" in fault and "did you mean 'memory'?" in fault


def test_a_declared_level_takes_numbers_as_groups() -> None:
    cluster = ClusterBuilder(levels=["rack"]).machine("m", cpu=1, rack=7).workload("w", cpu=1).build().cluster
    assert cluster.level("rack").group == ("7",)


def test_a_machine_outside_of_a_level_is_a_fault() -> None:
    assert "'rack' is missing" in faults(two().machine("m-3", cpu=1, rack="r1").workload("w", cpu=1))[0]
