"""Each option of a scenario, on clusters that are easy to follow."""

import doctest

import numpy as np
import pytest
from tests.builders.tiny_clusters import on, tiny

import bayplan as bp
from bayplan.api.what_if import WhatIf, replicas, scenario, what_if
from bayplan.check import check
from bayplan.model import UNPLACED, CoLocate, MoveCosts, Objective, Pinned, Snapshot, Spread


def shop(rules=(), placement=(0, 0, 1, 1, 2), **parts) -> Snapshot:
    cluster = tiny([[9], [9], [9]], [[1], [2]], [3, 2], racks=[0, 0, 1], rules=rules, **parts)
    return Snapshot(cluster=cluster, placement=on(*placement), objective=Objective.default(cluster))


def names(changed, machines):
    return [changed.snapshot.cluster.machines.name[m] for m in machines.tolist()]


def where(changed) -> dict[str, int]:
    return dict(zip(changed.snapshot.cluster.containers.name, changed.snapshot.placement.machine_of.tolist(), strict=True))


@pytest.mark.parametrize("module", [scenario, replicas])
def test_examples_run(module):
    assert doctest.testmod(module).failed == 0


def test_an_empty_scenario_changes_nothing():
    snapshot = shop()
    assert not WhatIf()
    assert what_if(snapshot, WhatIf()).snapshot is snapshot
    assert what_if(snapshot, WhatIf()).notes == ()


@pytest.mark.parametrize(
    "options",
    [{"drain": ("m0",)}, {"add_machines": ("1:m0",)}, {"scale": {"w0": 1}}, {"fail_zone": ("k1",)}, {"traffic_times": 2.0}],
)
def test_any_option_makes_a_scenario_true(options):
    assert WhatIf(**options)


def test_drained_machines_keep_their_containers_and_gone_ones_lose_them():
    changed = what_if(shop(), WhatIf(drain=("m1",), remove_machines=("m0",)))
    assert (names(changed, changed.gone), names(changed, changed.drained)) == (["m0"], ["m1"])
    assert where(changed) == {"w0-0": UNPLACED, "w0-1": UNPLACED, "w0-2": 1, "w1-0": 1, "w1-1": 2}
    assert changed.notes == (
        "machine m0 is gone: 2 containers without a machine",
        "machine m1 is drained: 2 containers have to leave it",
    )


@pytest.mark.parametrize("option", ["k0", "rack=k0"])
def test_a_group_of_any_level_may_fail(option):
    changed = what_if(shop(), WhatIf(fail_zone=(option,)))
    assert names(changed, changed.gone) == ["m0", "m1"]
    assert changed.notes == ("rack k0 has failed (2 machines): 4 containers without a machine",)


def test_a_pinned_container_leaves_with_its_machine_and_takes_what_is_co_located():
    changed = what_if(
        shop((Pinned(containers=(0, 4)), CoLocate(containers=(0, 1)))), WhatIf(remove_machines=("m0",), scale={"w0": 3})
    )
    assert [str(reason) for reason in changed.left_out] == [
        "w0-0: pinned to machine 'm0', which is gone",
        "w0-1: co-located with 'w0-0', which is pinned to machine 'm0', which is gone",
    ]
    assert where(changed) == {"w0-2": 1, "w0-3": UNPLACED, "w0-4": UNPLACED, "w1-0": 1, "w1-1": 2}
    assert changed.snapshot.cluster.rules[0] == Pinned(containers=(4,))
    assert len(changed.snapshot.cluster.rules) == 2  # and the machines that stay


def test_a_pinned_container_on_a_drained_machine_stays_and_is_named():
    changed = what_if(shop((Pinned(containers=(0,)),)), WhatIf(drain=("m0",)))
    assert changed.notes == ("machine m0 is drained: 2 containers have to leave it, 1 of them is pinned and cannot",)
    assert changed.snapshot.cluster.rules[0] == Pinned(containers=(0,))


def test_new_replicas_continue_the_numbers_without_a_machine():
    changed = what_if(shop(), WhatIf(scale={"w0": 5}))
    assert changed.snapshot.cluster.containers.name == ("w0-0", "w0-1", "w0-2", "w0-3", "w0-4", "w1-0", "w1-1")
    assert changed.snapshot.placement.machine_of.tolist() == [0, 0, 1, -1, -1, 1, 2]
    assert changed.notes == ("w0: 5 replicas instead of 3; 2 new containers without a machine",)


def test_surplus_replicas_go_first_without_a_machine_then_from_the_fullest():
    # m1 has w1-0 too, so it is the fullest; then all are equal, and the last replica goes
    changed = what_if(shop(placement=(0, -1, 1, 1, 2)), WhatIf(scale={"w0": 1}))
    assert where(changed) == {"w0-0": 0, "w1-0": 1, "w1-1": 2}
    equal = what_if(shop(placement=(0, 1, 2, -1, -1)), WhatIf(scale={"w0": 2}))
    assert set(where(equal)) == {"w0-0", "w0-1", "w1-0", "w1-1"}


def test_pinned_replicas_go_last():
    changed = what_if(shop((Pinned(containers=(2,)),)), WhatIf(scale={"w0": 1}))
    assert set(where(changed)) == {"w0-2", "w1-0", "w1-1"}
    assert changed.snapshot.cluster.rules == (Pinned(containers=(0,)),)


def test_a_spread_rule_that_fewer_containers_cannot_keep_is_named():
    changed = what_if(shop((Spread(service=0, minimum=2, level=1),)), WhatIf(scale={"w0": 1}))
    assert changed.notes[-1] == "service s0 must use 2 racks and has 1 container"


def test_a_copy_is_in_the_groups_and_costs_of_its_original():
    snapshot = shop()
    costs = MoveCosts(container=[1, 1], machine=[[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    snapshot = Snapshot(
        cluster=snapshot.cluster,
        placement=snapshot.placement,
        objective=Objective(
            weight={"move-cost": 1.0}, ratio=np.ones((1, 1)), hop=[1.0, 0.0], overload_weight=[1.0], move_costs=costs
        ),
    )
    changed = what_if(snapshot, WhatIf(add_machines=("1:m2", "1:r0=5,rack=k7")))
    cluster, machine = changed.snapshot.cluster, changed.snapshot.objective.move_costs.machine
    assert cluster.machines.name[3:] == ("m2-new-1", "machine-new-1")
    assert cluster.levels[1].group == ("k0", "k1", "k7")
    assert cluster.levels[1].group_of.tolist() == [0, 0, 1, 1, 2]
    assert machine.tolist() == [[0, 1, 2, 2, 6], [3, 0, 4, 4, 6], [5, 6, 0, 0, 6], [5, 6, 0, 0, 6], [6, 6, 6, 6, 0]]
    assert changed.notes == ("1 machine like m2 added: m2-new-1", "1 machine of r0=5,rack=k7 added: machine-new-1")


def test_stated_machines_are_as_safe_as_the_others():
    snapshot = bp.generate("boutique")
    after = what_if(snapshot, WhatIf(add_machines=("1:cpu=10,memory=10Gi,gpu=0",))).snapshot.cluster
    share = np.median(snapshot.cluster.machines.safety[:, 0] / snapshot.cluster.machines.capacity[:, 0])
    assert after.machines.safety[-1, 0] == int(10_000 * share)
    assert not any(12 in members for members in after.machine_sets.values())


def test_traffic_grows_without_changing_gained_affinity():
    snapshot = bp.generate("boutique")
    changed = what_if(snapshot, WhatIf(traffic_times=2))
    before, after = bp.score(snapshot), bp.score(changed.snapshot)
    assert after["affinity"] == pytest.approx(before["affinity"])
    assert after["communication"] == pytest.approx(2 * before["communication"])


def test_an_added_machine_may_fail_with_its_rack():
    changed = what_if(shop(), WhatIf(add_machines=("1:m2",), fail_zone=("k1",)))
    assert names(changed, changed.gone) == ["m2", "m2-new-1"]


def test_a_drained_cluster_can_be_planned():
    changed = what_if(bp.generate("boutique"), WhatIf(drain=("a1",), add_machines=("1:a1",)))
    answer = bp.rebalance(changed.snapshot, budget=bp.Budget(iterations=20_000))
    left = np.flatnonzero(answer.placement.machine_of == changed.drained[0])
    assert [changed.snapshot.cluster.containers.name[c] for c in left] == ["log-agent-0"]
    assert all("a1" in str(violation) for violation in check(answer.after.cluster, answer.placement))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drain": ("m7",)}, r"drain 'm7': no such machine in cluster 'tiny'; expected a name or a pattern"),
        ({"remove_machines": ("m00",)}, r"did you mean 'm0'"),
        ({"remove_machines": ("m0",), "drain": ("m0",)}, r"drain 'm0': these machines are gone; expected machines that are not"),
        ({"add_machines": ("m0",)}, r"add_machines 'm0': expected 'N:TYPE' with the name of a machine"),
        ({"add_machines": ("0:m0",)}, r"N from 1 to 100,000"),
        ({"add_machines": ("2:m00",)}, r"no machine 'm00' in cluster 'tiny'; .*did you mean 'm0'"),
        ({"add_machines": ("2:rack=k0",)}, r"no amount of r0; expected one of every resource \(r0=0 for none\)"),
        ({"add_machines": ("2:r0=x",)}, r"r0 'x': not a quantity.*expected an amount such as 16 or 64Gi"),
        ({"add_machines": ("2:r0=-1",)}, r"r0 '-1' is negative"),
        ({"add_machines": ("2:r00=1",)}, r"no resource or level 'r00'; expected one of r0, rack; did you mean 'r0'"),
        ({"add_machines": ("2:r0=1,r0=2",)}, r"'r0=2' is not one amount or group by name"),
        ({"scale": {"w": 1}}, r"scale 'w': no such workload in cluster 'tiny'"),
        ({"scale": {"w0": -1}}, r"scale 'w0=-1': expected a whole number of replicas"),
        ({"scale": {"w0": 1.5}}, r"scale 'w0=1.5'"),
        ({"fail_zone": ("k9",)}, r"fail_zone 'k9': no level has a group of that name; expected a rack, such as 'k0'"),
        ({"fail_zone": ("rack=k9",)}, r"no rack 'k9'; expected one of k0, k1"),
        ({"traffic_times": 0}, r"traffic_times 0: expected a number above 0"),
        ({"traffic_times": float("nan")}, r"traffic_times nan"),
    ],
)
def test_what_does_not_exist_is_said_with_the_option(options, message):
    with pytest.raises(bp.UsageError, match=message):
        what_if(shop(), WhatIf(**options))


def test_a_group_of_two_levels_is_ambiguous():
    builder = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=1, memory=1, zone="west", region="west")
    with pytest.raises(bp.UsageError, match=r"2 levels have a group of that name; expected 'zone=west' or 'region=west'"):
        what_if(builder.workload("web", cpu=1, memory=1).build(), WhatIf(fail_zone=("west",)))


def test_the_state_after_a_scenario_stands_beside_the_state_before():
    from bayplan.api.what_if.state import what_if_state

    shop = bp.generate("boutique")
    state = what_if_state(shop, what_if=bp.WhatIf(remove_machines=("a1",), scale={"cart": 7}))
    shown = state.to_dict()
    assert shown["before"] == bp.score(shop).to_dict()
    assert len(shown["changes"]) == 2 and "machine a1 is gone" in shown["changes"][0]
    assert len(shown["without_machine"]) > 2 and "a1" in state.summary()
    assert shown["headline"] == state.headline
