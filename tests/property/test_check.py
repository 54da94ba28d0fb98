"""The referee against its slow twin, and on placements that are valid by construction."""

from collections import Counter

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.builders.strategies import admissions, clusters, placements, timed_requests, valid_snapshots
from tests.naive.rules import violated_rules

from bayplan.check import RUNNING, check, check_admission, check_schedule, violations
from bayplan.model import RULES, UNPLACED, Acceptance, ClusterRequests, Fleet, Schedule, TimedRequests, ints

QUICK = settings(max_examples=40, deadline=None)


@QUICK
@given(st.data())
def test_says_what_the_naive_twin_says(data):
    cluster = data.draw(clusters())
    placement = data.draw(placements(cluster))
    before = data.draw(st.one_of(st.none(), placements(cluster)))
    reported = {(v.number, v.subject): v.excess for v in violations(cluster, placement, before)}
    expected = {(number, names): excess for number, names, excess in violated_rules(cluster, placement, before)}
    for violation in violations(cluster, placement, before):
        event(violation.rule)
    assert reported == pytest.approx(expected, rel=1e-9, abs=1e-9)


@QUICK
@given(st.data())
def test_says_it_once_with_the_kind_of_the_rule_and_in_a_fixed_order(data):
    cluster = data.draw(clusters())
    placement, before = data.draw(placements(cluster)), data.draw(placements(cluster))
    listed = check(cluster, placement, before)
    assert all(v.rule == (RUNNING if v.number < 0 else cluster.rules[v.number].kind) for v in listed)
    assert max(Counter((v.number, v.subject) for v in listed).values(), default=1) == 1
    order = [*RULES, RUNNING]
    assert [order.index(v.rule) for v in listed] == sorted(order.index(v.rule) for v in listed)
    assert listed == check(cluster, placement, before)


@QUICK
@given(st.data())
def test_without_before_no_rule_about_moves_is_checked(data):
    cluster = data.draw(clusters())
    listed = check(cluster, data.draw(placements(cluster)))
    assert not {v.rule for v in listed} & {"transient", "pinned", RUNNING}


@QUICK
@given(valid_snapshots())
def test_finds_nothing_where_nothing_is_wrong(snapshot):
    assert check(snapshot.cluster, snapshot.placement) == ()
    assert check(snapshot.cluster, snapshot.placement, snapshot.placement) == ()


@QUICK
@given(st.data())
def test_a_schedule_is_checked_at_every_time(data):
    requests: TimedRequests = data.draw(timed_requests())
    machines = data.draw(st.integers(1, 3))
    n = len(requests.name)
    chosen = data.draw(st.lists(st.integers(UNPLACED, machines - 1), min_size=n, max_size=n))
    served = {j: m for j, m in enumerate(chosen) if m != UNPLACED}
    worst: dict[tuple[str, str], float] = {}
    for t in requests.end.tolist():  # the set of running requests is the same on (t1, t2] between two neighbours ([Cradle])
        for m in range(machines):
            for r, resource in enumerate(requests.resources):
                now = [j for j, at in served.items() if at == m and requests.start[j] < t <= requests.end[j]]
                over = sum(int(requests.demand[j, r]) for j in now) - int(requests.capacity[r])
                key = (str(m), resource.name)
                worst[key] = max(worst.get(key, 0), over)
    listed = check_schedule(requests, Schedule(machine_of=ints(chosen)), Fleet.alike(machines, requests.capacity))
    assert {v.subject: v.excess for v in listed} == {key: over for key, over in worst.items() if over > 0}


@QUICK
@given(st.data())
def test_an_admission_is_checked_by_every_constraint_of_the_paper(data):
    admission: ClusterRequests = data.draw(admissions())
    zones = admission.zones
    z = st.integers(0, len(zones.name) - 1)
    accepted = {}
    for i, request in enumerate(admission.requests):
        if data.draw(st.booleans()):
            accepted[i] = data.draw(st.lists(z, min_size=len(request.members), max_size=len(request.members)))
    acceptance = Acceptance(zone_of=tuple(accepted.get(i) for i in range(len(admission.requests))))
    listed = {(v.rule, v.subject) for v in check_admission(admission, acceptance)}
    assert listed == {*_over_cap(admission, accepted), *_over_zone(admission, accepted), *_over_link(admission, accepted)}


def _over_cap(admission, accepted):
    zones = admission.zones
    for i, chosen in accepted.items():
        request = admission.requests[i]
        for z, zone in enumerate(zones.name):
            for r, resource in enumerate(zones.resources):
                if sum(request.demand[v, r] for v, at in enumerate(chosen) if at == z) > zones.request_cap[z, r]:
                    yield "request-cap", (request.name, zone, resource.name)


def _times(admission, accepted):
    """For every time at which something ends: the requests that run then."""
    for t in {admission.requests[i].end for i in accepted}:
        yield [i for i in accepted if admission.requests[i].start < t <= admission.requests[i].end]


def _over_zone(admission, accepted):
    zones = admission.zones
    for now in _times(admission, accepted):
        for z, zone in enumerate(zones.name):
            for r, resource in enumerate(zones.resources):
                used = sum(admission.requests[i].demand[v, r] for i in now for v, at in enumerate(accepted[i]) if at == z)
                if used > zones.capacity[z, r]:
                    yield "capacity", (zone, resource.name)


def _over_link(admission, accepted):
    zones = admission.zones
    for now in _times(admission, accepted):
        for a, here in enumerate(zones.name):
            for b, there in enumerate(zones.name):
                crossing = [
                    admission.requests[i].traffic[v, u]
                    for i in now
                    for v, at in enumerate(accepted[i])
                    for u, to in enumerate(accepted[i])
                    if at == a and to == b
                ]
                if a != b and sum(crossing) > zones.bandwidth[a, b]:
                    yield "bandwidth", (here, there)
