"""The referee of a running system against the referee of placements: what one finds in a state, the other finds too."""

from dataclasses import replace

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.builders.instants import Told
from tests.builders.strategies import clusters, placements

from bayplan.check import check
from bayplan.model import RULES, UNPLACED, CoLocate, Placement, Skew, Spread, ints

QUICK = settings(max_examples=75, deadline=None)


@st.composite
def states(draw):
    """A cluster and a placement of it; no spread rule asks for more groups than its service has containers."""
    cluster = draw(clusters())
    service = cluster.workloads.service[cluster.containers.workload]
    rules = [
        replace(rule, minimum=min(rule.minimum, int((service == rule.service).sum()))) if isinstance(rule, Spread) else rule
        for rule in cluster.rules
    ]
    cluster = replace(cluster, rules=tuple(rules))
    return cluster, draw(placements(cluster)).machine_of.tolist()


def _violated(cluster, machine_of):
    """{(rule, subject): excess} of a state; sets of which a member does not run are for another test."""
    placement = Placement(machine_of=ints(machine_of))
    partial = {
        number
        for number, rule in enumerate(cluster.rules)
        if isinstance(rule, CoLocate) and any(machine_of[c] == UNPLACED for c in rule.containers)
    }
    return {(v.rule, v.number, v.subject): v.excess for v in check(cluster, placement) if v.number not in partial}


def _by_subject(violated, without=()):
    """The largest excess of each rule's kind and subject: the referee of a running system does not name the rule's number."""
    most = {}
    for (rule, _, subject), excess in violated.items():
        most[rule, subject] = max(excess, most.get((rule, subject), 0))
    return {key: excess for key, excess in most.items() if key[0] not in without}


def _found(found, without=()):
    most = {}
    for v in found:
        if v.rule in RULES and v.rule not in without:
            most[v.rule, v.subject] = max(v.excess, most.get((v.rule, v.subject), 0))
    return most


def _has_partial_set(cluster, *states):
    return any(
        isinstance(rule, CoLocate) and any(at[c] == UNPLACED for c in rule.containers for at in states) for rule in cluster.rules
    )


def _new(before, after):
    """(rule, subject) of what is violated after and was not, or less, before: by rule, so that no rule hides another."""
    return {(key[0], key[2]) for key, excess in after.items() if excess > before.get(key, 0) * (1 + 1e-9)}


@QUICK
@given(states())
def test_what_is_violated_now_is_what_the_placement_violates(state):
    cluster, machine_of = state
    told = Told(cluster, machine_of)
    left_out = {"transient", *({"co-locate"} if _has_partial_set(cluster, machine_of) else ())}
    expected = _by_subject(_violated(cluster, machine_of), left_out)
    for rule, _ in expected:
        event(rule)
    assert _found(told.referee.standing(), left_out) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@QUICK
@given(states(), st.data())
def test_a_single_create_or_delete_violates_newly_what_the_placement_violates_newly(state, data):
    cluster, before = state
    if not before:
        return
    c = data.draw(st.integers(0, len(before) - 1))
    after = list(before)
    told = Told(cluster, before)
    if before[c] == UNPLACED:
        after[c] = data.draw(st.integers(0, len(cluster.machines.name) - 1))
        told.create(c, after[c])
    else:
        after[c] = UNPLACED
        told.delete(cluster.containers.name[c])
    left_out = {"transient", "pinned", "skew", *({"co-locate"} if _has_partial_set(cluster, before, after) else ())}
    expected = {pair for pair in _new(_violated(cluster, before), _violated(cluster, after)) if pair[0] not in left_out}
    for rule, _ in expected:
        event(rule)
    assert {(v.rule, v.subject) for v in told.referee.violations if v.rule in RULES and v.rule not in left_out} == expected


@QUICK
@given(states(), st.data())
def test_every_walk_of_creates_and_deletes_ends_with_what_its_placement_violates(state, data):
    cluster, machine_of = state
    if not machine_of:
        return
    told, uid, now = Told(cluster, machine_of), dict(enumerate(cluster.containers.name)), list(machine_of)
    steps = st.tuples(st.integers(0, len(now) - 1), st.integers(UNPLACED, len(cluster.machines.name) - 1))
    for i, (c, m) in enumerate(data.draw(st.lists(steps, max_size=8))):
        if now[c] != UNPLACED:
            told.delete(uid[c])
        if m != UNPLACED:
            uid[c] = f"new-{i}"
            told.create(c, m, uid=uid[c])
        now[c] = m
    left_out = {"transient", "spread", *({"co-locate"} if _has_partial_set(cluster, now) else ())}  # spread remembers
    expected = _by_subject(_violated(cluster, now), left_out)
    assert _found(told.referee.standing(), left_out) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@QUICK
@given(states(), st.data())
def test_what_a_move_makes_worse_is_found_in_one_of_its_instants(state, data):
    cluster, before = state
    if not before or UNPLACED in before:
        return
    c, m = data.draw(st.integers(0, len(before) - 1)), data.draw(st.integers(0, len(cluster.machines.name) - 1))
    after = [*before[:c], m, *before[c + 1 :]]
    told = Told(cluster, before)
    told.delete(cluster.containers.name[c])
    told.create(c, m)
    worse = {pair for pair in _new(_violated(cluster, before), _violated(cluster, after)) if pair[0] not in ("transient", "skew")}
    assert worse <= {(v.rule, v.subject) for v in told.referee.violations}


@QUICK
@given(states(), st.data())
def test_skew_is_asked_at_creates_of_what_it_judges_and_nowhere_else(state, data):
    cluster, before = state
    if not before or any(isinstance(rule, Skew) and rule.workload not in rule.counts for rule in cluster.rules):
        return  # what a rule does not count makes nothing worse than it is
    c, m = data.draw(st.integers(0, len(before) - 1)), data.draw(st.integers(0, len(cluster.machines.name) - 1))
    told = Told(cluster, before)
    if before[c] != UNPLACED:
        told.delete(cluster.containers.name[c])
    assert not [v for v in told.referee.violations if v.rule == "skew"], "deleting violates nothing"
    told.create(c, m)
    found = {v.subject[-1] for v in told.referee.violations if v.rule == "skew"}
    running = [*before[:c], UNPLACED, *before[c + 1 :]]
    refused = {
        cluster.levels[rule.level].group[cluster.levels[rule.level].group_of[m]]
        for rule in cluster.rules
        if isinstance(rule, Skew) and rule.workload == cluster.containers.workload[c]
        if not _scheduler_accepts(cluster, rule, running, m)
    }
    for group in refused:
        event(f"refused in {group.split('-')[0]}")
    assert found == refused


def _scheduler_accepts(cluster, rule, running, m):
    """Kubernetes' own test: containers in the group, and this one, less the emptiest group, within the limit."""
    counting = rule.counting_machines(cluster).tolist()
    if m not in counting:
        return True  # never asked: the machine is not one that the rule compares
    group_of = cluster.levels[rule.level].group_of
    count = {int(group_of[k]): 0 for k in counting}
    for c, k in enumerate(running):
        if k in counting and cluster.containers.workload[c] in rule.counts:
            count[int(group_of[k])] += 1
    emptiest = 0 if len(count) < rule.min_groups else min(count.values())
    return count[int(group_of[m])] + 1 - emptiest <= rule.limit
