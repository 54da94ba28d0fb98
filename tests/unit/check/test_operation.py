"""The referee of a running system: every kind of violation, and whose it is."""

import time
from dataclasses import replace

import numpy as np
import pytest
from tests.builders.hand_made_clusters import (
    API,
    API_0,
    API_1,
    BACK,
    CPU,
    DB,
    DB_0,
    FRONT,
    WEB,
    WEB_0,
    WEB_1,
    WEB_2,
    ZONE,
    cluster,
    with_capacity,
)
from tests.builders.instants import Told

from bayplan.check.operation import Instant, InstantKind, OperationReferee, first_instants
from bayplan.errors import ModelError
from bayplan.model import (
    Allow,
    AntiAffinity,
    Capacity,
    CoLocate,
    Confidence,
    Dependency,
    Interference,
    Pinned,
    Placement,
    Spread,
    Transient,
    floats,
    ints,
    machine_level,
)

APART = [0, 1, 2, 0, 3, 1]  # web on m-0, m-1, m-2; api on m-0, m-3; db on m-1


def test_a_move_with_enough_of_everything_violates_nothing():
    told = Told(cluster(Capacity(resources=(0, 1)), AntiAffinity(workloads=(WEB,), limit=1)), APART, alive=0.75)
    assert told.create(WEB_0, 3) == []
    assert told.delete("web-0") == []
    assert told.referee.violations == []
    assert not told.referee.others
    assert told.referee.seen == 4


@pytest.mark.parametrize(
    ("rule", "container", "machine"),
    [
        (AntiAffinity(workloads=(WEB,), limit=1), WEB_0, 1),
        (AntiAffinity(workloads=(WEB, API), limit=3, level=ZONE), API_1, 0),
        (Interference(a=DB, b=WEB, limit=1), WEB_0, 1),
        (Interference(a=WEB, b=DB, limit=0), DB_0, 0),
        (Allow(workloads=(WEB, API), machines="fast"), WEB_0, 2),
        (Dependency(service=BACK, on=FRONT), DB_0, 3),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_create_that_violates_a_rule_is_ours(rule, container, machine):
    told = Told(cluster(rule), [0, 1, 2, 0, 2, 1])
    assert told.create(container, machine) == [rule.kind]
    (violation,) = told.referee.violations
    assert violation.at == 1.0
    assert violation.cause == "bayplan"
    assert f"{rule.kind}:" in str(violation)


@pytest.mark.parametrize("rule", [Capacity(resources=(CPU,)), Transient(resource=CPU)], ids=lambda rule: rule.kind)
def test_what_is_stopping_still_needs_its_machine(rule):
    told = Told(with_capacity(4000, cluster(rule)), APART)
    assert told.tell(InstantKind.STOPPING, "db-0") == []  # m-1: 2,000 of web, 4,000 of db
    assert told.tell(InstantKind.BOUND, "api-9", workload=API, machine=1) == [rule.kind]
    assert told.tell(InstantKind.GONE, "api-9") == []
    assert told.tell(InstantKind.GONE, "db-0") == []
    assert told.tell(InstantKind.BOUND, "api-10", workload=API, machine=1) == []


def test_a_resource_with_a_capacity_rule_and_a_transient_rule_is_reported_once():
    told = Told(with_capacity(4000, cluster(Capacity(resources=(CPU,)), Transient(resource=CPU))), [0, 1, 2, 3, 3, 3])
    assert told.create(WEB_0, 1) + told.create(WEB_2, 1) == ["capacity"]


def test_the_sentence_says_how_much_too_much_there_is():
    told = Told(with_capacity(4000, cluster(Capacity(resources=(CPU,)))), [0, 1, 2, 3, 3, 3])
    told.create(WEB_0, 1)
    told.create(WEB_2, 1)
    assert [str(v) for v in told.referee.violations] == ["machine 'm-1': 6 cpu charged of 4 (2 too much)"]
    assert told.referee.violations[0].excess == 2000
    assert told.referee.violations[0].subject == ("m-1", "cpu")


def test_confidence_is_held_at_every_instant():
    told = Told(cluster(Confidence(resource=CPU, alpha=0.9)), APART)
    assert told.create(WEB_0, 1) == ["confidence"]  # 8 cpu of mean, and a deviation
    assert told.delete("web-0/1") == []
    assert told.standing() == []


def test_a_service_that_we_draw_into_one_zone_is_ours():
    told = Told(cluster(Spread(service=FRONT, minimum=2, level=ZONE)), [0, 1, 2, 0, 1, 1])
    assert told.delete("web-2") == ["spread"]
    assert told.create(WEB_2, 0) == []  # no worse than that


def test_a_service_that_lacked_a_group_before_a_move_may_lack_it_after_it():
    rule = Spread(service=BACK, minimum=2)
    of = cluster(rule)
    two = Told(replace(of, workloads=replace(of.workloads, service=[FRONT, BACK, FRONT])), [0, 1, 2, 1, 1, 3])
    assert two.standing() == ["spread"]
    assert two.delete("api-0") == []
    assert two.create(API_0, 1, uid="again") == []
    assert two.create(API_0, 2) == []
    assert two.standing() == ["spread"]  # not settled: three instances of two
    assert two.delete("again") == []
    assert two.standing() == []
    assert two.create(API_0, 1) == []
    assert two.delete("api-0/2") == ["spread"]


def test_a_minimum_above_the_size_of_a_service_asks_for_a_group_of_its_own_for_each():
    told = Told(cluster(Spread(service=BACK, minimum=3)), APART)
    assert told.standing() == []
    assert told.create(DB_0, 1) + told.delete("db-0") == []  # twice on one machine for a moment
    assert told.create(DB_0, 3) + told.delete("db-0/1") == []


def test_what_others_need_is_gone_when_it_begins_to_stop():
    told = Told(cluster(Dependency(service=BACK, on=FRONT)), [0, 1, 2, 0, 3, 1])
    assert told.tell(InstantKind.STOPPING, "web-1") == ["dependency"]


def test_a_set_that_moves_together_always_has_a_machine_in_common():
    told = Told(cluster(CoLocate(containers=(WEB_0, API_0))), APART)
    assert told.create(WEB_0, 3) + told.create(API_0, 3) + told.delete("web-0") + told.delete("api-0") == []
    assert told.create(WEB_0, 2) + told.delete("web-0/3") == ["co-locate"]


def test_a_set_that_is_replaced_is_down_together():
    told = Told(cluster(CoLocate(containers=(WEB_0, API_0))), APART)
    assert told.delete("web-0") + told.delete("api-0") + told.create(WEB_0, 3) == []
    assert told.create(API_0, 2) == ["co-locate"]


def test_a_pinned_container_is_neither_deleted_nor_created_again():
    told = Told(cluster(Pinned(containers=(DB_0, WEB_0))), APART)
    assert told.create(DB_0, 2) == ["pinned"]
    assert told.delete("web-0") == ["pinned"]
    assert told.delete("db-0", cause="machine") == []


def test_a_pinned_container_that_has_lost_its_machine_may_be_created():
    told = Told(cluster(Pinned(containers=(DB_0,))), APART)
    told.delete("db-0", cause="machine")
    assert told.create(DB_0, 2) == []


def test_a_pinned_container_that_others_stop_may_be_created():
    told = Told(cluster(Pinned(containers=(DB_0,))), APART)
    told.tell(InstantKind.STOPPING, "db-0", cause="user")
    assert told.create(DB_0, 1) == []


def test_a_delete_that_leaves_too_few_is_ours():
    told = Told(cluster(), APART, alive=0.6)
    assert told.delete("web-0") == []  # 2 of 3
    assert told.delete("web-1") == ["alive"]
    assert str(told.referee.violations[0]) == "alive: 1 container of 'web' ready of 3, at least 2 must be"


def test_what_is_not_ready_does_not_serve():
    told = Told(cluster(), APART, alive=0.6)
    told.tell(InstantKind.BOUND, "web-9", workload=WEB, machine=3)
    assert told.delete("web-0") == []
    assert told.delete("web-9") == []  # never served
    assert told.delete("web-1") == ["alive"]


def test_what_is_stopping_does_not_become_ready_any_more():
    told = Told(cluster(), APART, alive=0.6)
    told.tell(InstantKind.STOPPING, "web-0")
    told.tell(InstantKind.READY, "web-0", cause="machine")
    assert told.delete("web-1") == ["alive"]


def test_the_death_of_a_machine_is_not_ours_and_our_delete_after_it_is():
    told = Told(cluster(), APART, alive=0.6)
    for uid in ("web-1", "web-2"):
        assert told.tell(InstantKind.UNREADY, uid, cause="machine") == []
    assert told.referee.others == {("machine", "alive"): 1}
    assert told.standing() == ["alive"]
    assert told.delete("web-0") == ["alive"]
    assert told.delete("web-1") == []  # it did not serve


def test_the_disruption_limit_holds_beside_the_alive_share():
    told = Told(cluster(), APART)
    assert told.tell(InstantKind.REPLICAS, cause="user", workload=WEB, replicas=3, needed=3) == []
    assert told.delete("web-0") == ["needed"]


def test_scaling_changes_what_must_be_alive():
    told = Told(cluster(), APART, alive=0.75)
    told.tell(InstantKind.REPLICAS, cause="scaling", workload=WEB, replicas=1)
    assert told.delete("web-0") + told.delete("web-1") == []
    told.tell(InstantKind.REPLICAS, cause="scaling", workload=WEB, replicas=4)
    assert told.referee.others == {("scaling", "alive"): 1}
    assert told.create(WEB_0, 0) == []


@pytest.mark.parametrize(
    ("kind", "back"),
    [(InstantKind.MACHINE_CLOSED, InstantKind.MACHINE_OPEN), (InstantKind.MACHINE_GONE, InstantKind.MACHINE_JOINED)],
)
def test_nothing_of_ours_comes_to_a_machine_that_takes_nothing(kind, back):
    told = Told(cluster(), APART)
    told.tell(kind, cause="user", machine=3)
    assert told.create(WEB_0, 3) == ["closed"]
    assert told.create(WEB_1, 3, cause="scheduler") == []
    told.tell(back, cause="user", machine=3)
    assert told.create(WEB_2, 3) == []


def test_a_machine_that_joins_again_is_open():
    told = Told(cluster(), APART)
    for kind in (InstantKind.MACHINE_CLOSED, InstantKind.MACHINE_GONE, InstantKind.MACHINE_JOINED):
        told.tell(kind, cause="machine", machine=3)
    assert told.create(WEB_0, 3) == []


def test_three_instances_of_one_slot_are_one_too_many():
    told = Told(cluster(), APART)
    assert told.create(WEB_0, 1) == []
    assert told.create(WEB_0, 2) == ["slot"]


def test_a_step_that_is_made_twice_is_seen_by_its_token():
    told = Told(cluster(), APART)
    assert told.create(WEB_0, 1, token="p-1") == []
    assert told.create(WEB_1, 3, token="p-1") == ["token"]
    assert told.delete("web-0", token="p-2") == []
    assert told.delete("web-1", token="p-2") == ["token"]


def test_only_what_gets_worse_is_new():
    told = Told(with_capacity(4000, cluster(Capacity(resources=(CPU,)))), [0, 0, 0, 1, 1, 2])
    assert told.standing() == ["capacity"]  # 6 of 4
    assert told.delete("web-0") == []
    assert told.delete("web-1") == []
    assert told.create(DB_0, 0) == ["capacity"]  # ours, although it was as bad before


def test_what_others_do_is_counted_apart():
    told = Told(cluster(AntiAffinity(workloads=(WEB,), limit=1)), APART)
    told.create(WEB_0, 1, cause="scheduler")
    told.create(WEB_2, 1, cause="rollout")
    assert told.referee.others == {("scheduler", "anti-affinity"): 1, ("rollout", "anti-affinity"): 1}
    assert told.referee.violations == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "ready", "uid": "x"}, "never bound"),
        ({"kind": "bound", "uid": "web-0", "workload": WEB, "machine": 0}, "bound twice"),
        ({"kind": "bound", "uid": "x", "workload": WEB}, "without a workload or a machine"),
        ({"kind": "moved", "uid": "x"}, "unknown"),
    ],
)
def test_a_history_that_cannot_be_is_refused(fields, message):
    told = Told(cluster(), APART)
    with pytest.raises(ModelError, match=message):
        told.referee.see(Instant(at=0.0, cause="bayplan", **fields))


def _one_machine_more(of):
    machines = of.machines
    grown = [np.vstack([array, array[-1:]]) for array in (machines.capacity, machines.safety)]
    names = (*machines.name, "m-4")
    zones = replace(of.levels[1], group_of=ints([*of.levels[1].group_of, 1]))
    return replace(
        of,
        machines=replace(machines, name=names, capacity=ints(grown[0]), safety=ints(grown[1])),
        levels=(machine_level(names), zones),
    )


def test_a_machine_that_joins_is_known_after_the_cluster_was_extended():
    of = cluster(
        Capacity(resources=(CPU,)), AntiAffinity(workloads=(WEB,), limit=1, level=ZONE), Spread(service=FRONT, minimum=2)
    )
    told = Told(of, APART, alive=0.75)
    told.tell(InstantKind.STOPPING, "web-2")
    before = sorted((v.rule, v.subject, v.excess) for v in told.referee.standing())
    with pytest.raises(ModelError, match="extend"):
        told.tell(InstantKind.MACHINE_JOINED, cause="machine", machine=4)
    told.referee.extend(_one_machine_more(of))
    assert sorted((v.rule, v.subject, v.excess) for v in told.referee.standing()) == before
    told.tell(InstantKind.MACHINE_JOINED, cause="machine", machine=4)
    assert told.create(WEB_0, 4) == ["anti-affinity"]  # web-2 is stopping in that zone
    told.tell(InstantKind.GONE, "web-2")
    assert told.standing() == ["anti-affinity"]  # in the other zone, from the start
    assert told.delete("web-0/4") == ["alive"]


def test_a_move_that_goes_on_while_a_machine_joins_is_seen_as_one():
    of = cluster(Spread(service=BACK, minimum=2))
    of = replace(of, workloads=replace(of.workloads, service=[FRONT, BACK, FRONT]))
    told = Told(of, [0, 1, 2, 1, 1, 3])
    assert told.delete("api-0") == []  # the service lacked a group before
    told.referee.extend(_one_machine_more(of))
    assert told.create(API_0, 1) == []
    assert told.standing() == ["spread"]


def test_what_must_be_ready_may_be_said_at_the_start():
    referee = OperationReferee(cluster(), alive=0.0)
    referee.start(first_instants(cluster(), Placement(machine_of=ints(APART)), needed=[3, 1, 0], uids=list("abcdef")))
    assert [v.rule for v in referee.see(Instant(at=1.0, cause="bayplan", kind="stopping", uid="a"))] == ["needed"]
    assert referee.see(Instant(at=1.0, cause="bayplan", kind="stopping", uid="d")) == []


def test_an_instance_that_never_had_a_machine_leaves_nothing_behind():
    told = Told(cluster(), APART, alive=1.0)
    assert told.delete("pending-1") == []


def test_numbers_do_not_drift_over_a_long_life():
    of = cluster(Confidence(resource=CPU, alpha=0.999), Capacity(resources=(0, 1)))
    usage = floats([[1000.1, 1], [333.3, 2], [4000, 8]])
    told = Told(replace(of, workloads=replace(of.workloads, usage_mean=usage)), [0, 0, 1, 0, 1, 2])
    for i in range(2_000):
        told.create(API_1, 0, uid=f"i-{i}")
        told.delete(f"i-{i}")
    assert told.standing() == []
    assert told.referee.violations == []


def test_a_hundred_thousand_instants_take_seconds():
    referee = OperationReferee(cluster(Capacity(resources=(0, 1)), AntiAffinity(workloads=(WEB,), limit=1, level=ZONE)))
    started = time.process_time()
    for i in range(25_000):
        for kind in ("bound", "ready", "stopping", "gone"):
            referee.see(Instant(at=i, cause="scheduler", kind=kind, uid=str(i), workload=WEB, container=WEB_0, machine=i % 4))
    assert referee.seen == 100_000
    assert time.process_time() - started < 20


def test_an_instance_of_ours_that_is_taken_back_before_it_was_ready_is_no_news_but_one_that_was_ready_is():
    told = Told(cluster(Spread(service=FRONT, minimum=2, level=ZONE)), [0, 0, 0, 0, 0, 0])
    bound = {"workload": WEB, "container": WEB_0, "machine": 2}
    told.tell(InstantKind.BOUND, "new", **bound)
    told.delete("web-0", cause="user")  # others rely on it: now the service is in two zones
    assert told.tell(InstantKind.STOPPING, "new") == []
    told.tell(InstantKind.GONE, "new")
    told.tell(InstantKind.BOUND, "newer", **bound)
    told.tell(InstantKind.READY, "newer")
    assert told.tell(InstantKind.STOPPING, "newer") == ["spread"]


def test_an_instance_of_others_that_we_delete_before_it_was_ready_is_held_against_us():
    told = Told(cluster(Spread(service=FRONT, minimum=2, level=ZONE)), [0, 0, 0, 0, 0, 0])
    told.delete("web-0", cause="user")
    told.tell(InstantKind.BOUND, "theirs", cause="scheduler", workload=WEB, container=WEB_0, machine=2)
    assert told.tell(InstantKind.STOPPING, "theirs") == ["spread"]
