"""Every rule, kept and violated, at the machine and above it, with its sentence."""

import pytest
from tests.builders.hand_made_clusters import (
    API,
    API_0,
    BACK,
    CPU,
    DB,
    DB_0,
    FRONT,
    MACHINE,
    MEMORY,
    WEB,
    WEB_0,
    WEB_1,
    ZONE,
    at,
    cluster,
    with_capacity,
)

from bayplan.check import check, violations
from bayplan.errors import ModelError
from bayplan.model import (
    RULES,
    Allow,
    AntiAffinity,
    Capacity,
    CoLocate,
    Confidence,
    Dependency,
    Interference,
    Pinned,
    Skew,
    Spread,
    Transient,
    TransientMode,
)

# rule, a placement that keeps it, one that breaks it, what the referee says
STATES = {
    "capacity": (
        Capacity(resources=(CPU,)),
        at(0, 0, 0, 0, 0, 1),  # exactly full is not too much
        at(0, 0, 0, 1, 1, 0),
        "machine 'm-0': 10 cpu requested of 8 (2 too much)",
    ),
    "anti-affinity on a machine": (
        AntiAffinity(workloads=(WEB,), limit=1, level=MACHINE),
        at(0, 1, 2, 0, 0, 0),
        at(0, 2, 2, 2, 0, 0),
        "anti-affinity: 2 containers of 'web' on machine 'm-2', at most 1 allowed",
    ),
    "anti-affinity of two workloads": (
        AntiAffinity(workloads=(WEB, API), limit=2),
        at(0, 0, 1, 1, 2, 0),
        at(0, 0, 1, 1, 1, 0),
        "anti-affinity: 3 containers of 'web', 'api' on machine 'm-1', at most 2 allowed",
    ),
    "anti-affinity in a zone": (
        AntiAffinity(workloads=(WEB,), limit=2, level=ZONE),
        at(0, 1, 2, 0, 0, 0),
        at(2, 3, 3, 0, 0, 0),
        "anti-affinity: 3 containers of 'web' in zone 'west', at most 2 allowed",
    ),
    "skew of zones": (
        Skew(workload=WEB, limit=1, level=ZONE),
        at(0, 2, 3, 0, 0, 0),
        at(2, 3, 3, 0, 0, 0),
        "skew: 3 containers of 'web' in zone 'west', 0 in 'east', at most 1 more allowed",
    ),
    "spread over machines": (
        Spread(service=FRONT, minimum=3, level=MACHINE),
        at(0, 1, 2, 0, 0, 0),
        at(0, 1, 0, 1, 0, 3),
        "spread: service 'front' runs 5 containers in 2 machines, at least 3 machines needed",
    ),
    "spread over zones": (
        Spread(service=FRONT, minimum=2, level=ZONE),
        at(0, 0, 0, 0, 2, 0),
        at(0, 1, 0, 1, 0, 2),
        "spread: service 'front' runs 5 containers in 1 zone, at least 2 zones needed",
    ),
    "spread of what is placed": (
        Spread(service=FRONT, minimum=3),
        at(0, -1, -1, 1, -1, -1),
        at(0, -1, -1, 0, -1, -1),
        "spread: service 'front' runs 2 containers in 1 machine, at least 2 machines needed",
    ),
    "co-locate": (
        CoLocate(containers=(WEB_0, API_0, DB_0)),
        at(2, 0, 0, 2, 0, 2),
        at(2, 0, 0, 2, 0, 1),
        "co-locate: 'web-0', 'api-0', 'db-0' run on 2 machines ('m-1', 'm-2'); they belong on one",
    ),
    "co-locate, some without a machine": (
        CoLocate(containers=(WEB_0, API_0)),
        at(-1, 0, 0, -1, 0, 2),  # not at all is together
        at(2, 0, 0, -1, 0, 1),
        "co-locate: 'web-0', 'api-0' run on 1 machine ('m-2'), 1 of them on none; they belong on one",
    ),
    "allow": (
        Allow(workloads=(WEB, DB), machines="fast"),
        at(0, 0, 1, 3, 3, -1),
        at(0, 2, 2, 3, 3, 1),
        "allow: 2 containers of 'web' on machine 'm-2', which is not in set 'fast'",
    ),
    "dependency on a machine": (
        Dependency(service=BACK, on=FRONT, level=MACHINE),
        at(0, 1, 1, 1, 1, 0),
        at(0, 1, 1, 1, 1, 2),
        "dependency: 1 container of service 'back' on machine 'm-2', none of service 'front' there",
    ),
    "dependency in a zone": (
        Dependency(service=FRONT, on=BACK, level=ZONE),
        at(0, 1, 1, 1, 1, 0),
        at(0, 1, 2, 3, 1, 0),
        "dependency: 2 containers of service 'front' in zone 'west', none of service 'back' there",
    ),
    "interference on a machine": (
        Interference(a=DB, b=WEB, limit=1),
        at(0, 1, 1, 0, 0, 0),
        at(0, 0, 1, 1, 1, 0),
        "interference: 2 containers of 'web' on machine 'm-0' where 'db' runs, at most 1 allowed",
    ),
    "interference with itself": (
        Interference(a=WEB, b=WEB, limit=2),
        at(0, 0, 1, 0, 0, 0),
        at(0, 0, 0, 1, 1, 1),
        "interference: 3 containers of 'web' on machine 'm-0' where 'web' runs, at most 2 allowed",
    ),
    "interference in a zone": (
        Interference(a=DB, b=API, limit=0, level=ZONE),
        at(0, 0, 0, 0, 1, 2),
        at(0, 0, 0, 0, 3, 2),
        "interference: 1 container of 'api' in zone 'west' where 'db' runs, at most 0 allowed",
    ),
    "confidence": (
        Confidence(resource=CPU, alpha=0.99),
        at(0, 0, 2, 1, 1, 1),
        at(0, 0, 0, 1, 1, 1),
        "confidence: machine 'm-0' needs 10.0294 cpu at 0.99 (mean 6, deviation 1.73205), it has 8",
    ),
}
EAST = at(0, 0, 1, 1, 1, 0)
MOVES = {  # rule, before, a placement that keeps it, one that breaks it, what the referee says
    "transient, joint": (
        Transient(resource=CPU),
        at(0, 0, 0, 0, 0, 1),
        at(0, 0, 0, 0, 0, 1),
        at(1, 0, 0, 0, 0, 0),
        "transient: machine 'm-0' is charged 12 cpu of 8 while containers move (4 too much)",
    ),
    "transient, sequential": (
        Transient(resource=CPU, mode=TransientMode.SEQUENTIAL),
        at(0, 0, 0, 0, 0, 1),
        at(1, 1, 0, 0, 0, 2),  # joint would charge m-1 with 8: also fine
        at(0, 0, 0, 0, 0, 0),
        "transient: machine 'm-0' is charged 12 cpu of 8 while containers move (4 too much)",
    ),
    "pinned": (
        Pinned(containers=(WEB_0, DB_0)),
        at(0, 0, 1, 1, 1, -1),  # what did not run may be placed
        at(0, 2, 2, 2, 2, 2),
        at(3, 0, 1, 1, 1, 2),
        "pinned: 'web-0' moved from machine 'm-0' to 'm-3'",
    ),
}


@pytest.mark.parametrize(("rule", "kept", "violating", "sentence"), STATES.values(), ids=STATES)
def test_a_planted_violation_is_found_and_a_kept_rule_is_not_reported(rule, kept, violating, sentence):
    assert check(cluster(rule), kept) == ()
    listed = check(cluster(rule), violating)
    assert [str(violation) for violation in listed] == [sentence]
    assert [violation.rule for violation in listed] == [rule.kind]


def test_capacity_has_one_sentence_per_machine_and_resource():
    assert [v.sentence for v in check(cluster(Capacity(resources=(CPU, MEMORY))), at(0, 0, 0, 0, 1, 0))] == [
        "machine 'm-0': 11 cpu requested of 8 (3 too much)",
        "machine 'm-0': 22 memory requested of 16 (6 too much)",
    ]


def test_amounts_are_written_as_people_write_them():
    small = with_capacity(7500, cluster(Capacity(resources=(CPU,))))
    assert str(check(small, at(0, 0, 1, 1, 1, 0))[0]) == "machine 'm-0': 8 cpu requested of 7.5 (500m too much)"


@pytest.mark.parametrize(("rule", "before", "kept", "violating", "sentence"), MOVES.values(), ids=MOVES)
def test_a_planted_violation_between_two_placements_is_found(rule, before, kept, violating, sentence):
    assert check(cluster(rule), kept, before) == ()
    assert check(cluster(rule), violating) == (), "without `before` there is no move to check"
    assert [str(violation) for violation in check(cluster(rule), violating, before)] == [sentence]


def test_joint_charges_what_left_and_sequential_does_not():
    before, after = at(0, 0, 0, 0, 0, 1), at(1, 0, 0, 0, 0, 2)  # web-0 to m-1, which db leaves
    tight = with_capacity(5000, cluster(Transient(resource=CPU)))
    assert [v.excess for v in check(tight, after, before)] == [1000]
    eased = with_capacity(5000, cluster(Transient(resource=CPU, mode=TransientMode.SEQUENTIAL)))
    assert check(eased, after, before) == ()


def test_leaving_a_machine_that_is_too_full_violates_no_transient_rule():
    before, after = at(0, 0, 0, 0, 0, 0), at(0, 0, 0, 1, 0, 1)
    assert check(cluster(Transient(resource=CPU)), after, before) == ()


def test_a_container_that_ran_and_has_no_machine_is_lost():
    lost = check(cluster(), at(0, 0, -1, 1, -1, 0), at(0, 0, 3, 1, -1, 0))
    assert [str(violation) for violation in lost] == ["running: 'web-2' ran on machine 'm-3' and has no machine now"]


def test_a_pinned_container_that_is_removed_is_reported_twice():
    gone = check(cluster(Pinned(containers=(WEB_1,))), at(0, -1, 1, 1, 1, 0), EAST)
    assert [violation.rule for violation in gone] == ["pinned", "running"]
    assert str(gone[0]) == "pinned: 'web-1' was removed from machine 'm-0'"


def test_a_workload_named_twice_is_counted_once():
    rule = AntiAffinity(workloads=(API, API), limit=2)
    assert check(cluster(rule), at(0, 0, 0, 1, 1, 0)) == ()


def test_long_lists_of_names_are_cut():
    rule = CoLocate(containers=tuple(range(6)))
    assert "'web-0', 'web-1', 'web-2' and 3 others run on 2 machines" in str(check(cluster(rule), EAST)[0])


def test_confidence_forgives_the_noise_of_a_float_sum_and_no_more():
    rule = Confidence(resource=CPU, alpha=0.5)  # mean alone
    assert check(with_capacity(4000, cluster(rule)), at(0, 0, 1, 1, 1, 2)) == ()
    assert len(check(with_capacity(3999, cluster(rule)), at(0, 0, 1, 1, 1, 2))) == 3


def test_violations_can_be_taken_one_by_one():
    rules = tuple(AntiAffinity(workloads=(w,), limit=1) for w in (WEB, API))
    first = next(violations(cluster(*rules), at(0, 0, 0, 0, 0, 0)))
    assert first.number == 0
    assert first.excess == 2


def test_a_placement_of_another_cluster_is_refused_at_once():
    with pytest.raises(ModelError, match="does not fit 6 containers and 4 machines"):
        violations(cluster(), at(0, 0))
    with pytest.raises(ModelError, match="does not fit"):
        violations(cluster(), EAST, at(0, 0, 0, 0, 0, 4))


def test_the_tables_plant_a_violation_of_every_rule():
    assert {case[0].kind for case in (*STATES.values(), *MOVES.values())} == set(RULES)
