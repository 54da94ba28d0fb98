"""Skew in a placement, worked out by hand: two machines in zone east, one in zone west, one in zone north."""

import pytest

import bayplan as bp
from bayplan.errors import ModelError

ZONES = {"m-0": "east", "m-1": "east", "m-2": "west", "m-3": "north"}


def shop(on: list[str], *, other: list[str] | None = None, **fields) -> bp.Snapshot:
    builder = bp.ClusterBuilder("shop")
    for name, zone in ZONES.items():
        builder = builder.machine(name, cpu=8, zone=zone)
    builder = builder.machine_set("coasts", ["m-0", "m-2"]).workload("web", replicas=len(on), cpu=1, on=on)
    if other is not None:
        builder = builder.workload("api", replicas=len(other), cpu=1, on=other)
    return builder.skew("web", level="zone", **fields).build()


def sentences(snapshot: bp.Snapshot) -> list[str]:
    return [str(violation) for violation in bp.check(snapshot).violations]


def test_a_group_may_have_as_many_more_than_the_emptiest_as_the_limit_says():
    assert sentences(shop(["m-0", "m-2", "m-3", "m-1"])) == []
    assert sentences(shop(["m-0", "m-1"])) == ["skew: 2 containers of 'web' in zone 'east', 0 in 'west', at most 1 more allowed"]
    assert sentences(shop(["m-0", "m-1"], limit=2)) == []


def test_only_groups_of_the_named_machines_are_compared_and_only_what_runs_there_counts():
    assert sentences(shop(["m-0", "m-2"], machines="coasts")) == [], "north is not compared"
    assert sentences(shop(["m-1", "m-1", "m-1"], machines="coasts")) == [], "m-1 does not count, though it is in zone east"
    assert len(sentences(shop(["m-0", "m-0"], machines="coasts"))) == 1


def test_with_too_few_groups_the_emptiest_counts_as_having_none():
    assert sentences(shop(["m-0", "m-2", "m-3"], min_groups=3)) == []
    even = shop(["m-0", "m-1", "m-2", "m-2", "m-3", "m-3"], min_groups=4)
    assert sentences(even)[0] == "skew: 2 containers of 'web' in zone 'east', at most 1 allowed with fewer than 4 zones"


def test_others_can_be_counted_but_only_groups_with_the_workload_are_judged():
    crowded = shop(["m-2"], other=["m-0", "m-1", "m-3"], counted=["web", "api"])
    assert sentences(crowded) == [], "east has two, none of them web"
    judged = shop(["m-0"], other=["m-0", "m-1"], counted=["web", "api"])
    assert sentences(judged)[0].startswith("skew: 3 containers of 'web', 'api' in zone 'east', 0 in 'west'")


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"min_groups": -1}])
def test_limits_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ModelError, match="of a skew rule"):
        bp.Skew(workload=0, **wrong)
