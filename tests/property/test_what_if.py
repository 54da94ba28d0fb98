"""A scenario changes what it names and nothing else, and the cluster that it makes is well-formed."""

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.builders.strategies import snapshots, valid_snapshots
from tests.builders.tiny_clusters import on, tiny

from bayplan.api.what_if import WhatIf, what_if
from bayplan.check import check
from bayplan.model import UNPLACED, Capacity, CoLocate, Objective, Pinned, Snapshot, allowed


@st.composite
def scenarios(draw: DrawFn, snapshot: Snapshot) -> WhatIf:
    """Any mix of options that make sense for a cluster."""
    cluster = snapshot.cluster
    machine = st.sampled_from(cluster.machines.name)
    amounts = ",".join(f"{resource.name}={i + 1}" for i, resource in enumerate(cluster.resources))
    kinds = st.one_of(machine, st.just(amounts), st.just(f"{amounts},rack=rack-0") if _has_racks(snapshot) else machine)
    gone = draw(st.lists(machine, max_size=2, unique=True))
    drained = [name for name in draw(st.lists(machine, max_size=2, unique=True)) if name not in gone]
    return WhatIf(
        add_machines=tuple(f"{draw(st.integers(1, 2))}:{kind}" for kind in draw(st.lists(kinds, max_size=2))),
        remove_machines=tuple(gone),
        scale=draw(st.dictionaries(st.sampled_from(cluster.workloads.name), st.integers(0, 5), max_size=3)),
        drain=tuple(drained),
        traffic_times=draw(st.sampled_from([0.5, 1.0, 3.0])),
    )


def _has_racks(snapshot: Snapshot) -> bool:
    return any(level.name == "rack" for level in snapshot.cluster.levels)


@st.composite
def changes(draw: DrawFn) -> tuple[Snapshot, WhatIf]:
    """A snapshot and a scenario for it."""
    snapshot = draw(snapshots())
    return snapshot, draw(scenarios(snapshot))


def _where(snapshot: Snapshot) -> dict[str, str]:
    """container -> machine, of those that run."""
    containers, machines = snapshot.cluster.containers.name, snapshot.cluster.machines.name
    on = snapshot.placement.machine_of.tolist()
    return {containers[c]: machines[m] for c, m in enumerate(on) if m != UNPLACED}


@given(change=changes())
def test_untouched_containers_keep_machine_and_name(change):
    snapshot, scenario = change
    changed = what_if(snapshot, scenario)  # its parts are validated where they are built
    before, after = _where(snapshot), _where(changed.snapshot)
    assert after.items() <= before.items()
    gone = {changed.snapshot.cluster.machines.name[m] for m in changed.gone.tolist()}
    owner = dict(zip(snapshot.cluster.containers.name, snapshot.cluster.containers.workload.tolist(), strict=True))
    stopped = {c: m for c, m in before.items() if c not in after}
    shrunk = {snapshot.cluster.workloads.name.index(name) for name in scenario.scale}
    assert all(m in gone or owner[c] in shrunk for c, m in stopped.items())


@given(change=changes())
def test_every_workload_has_the_replicas_that_were_asked_for(change):
    snapshot, scenario = change
    changed = what_if(snapshot, scenario)
    cluster = changed.snapshot.cluster
    left_out = {reason.subject for reason in changed.left_out}
    of = dict(zip(snapshot.cluster.containers.name, snapshot.cluster.containers.workload.tolist(), strict=True))
    without = Counter(of[name] for name in left_out)
    for w, name in enumerate(cluster.workloads.name):
        expected = scenario.scale.get(name, int(snapshot.cluster.replicas[w]) - without[w])
        assert cluster.replicas[w] == expected
    assert left_out.isdisjoint(cluster.containers.name)


@given(change=changes())
def test_closed_machines_have_no_capacity_and_are_open_to_no_workload(change):
    snapshot, scenario = change
    changed = what_if(snapshot, scenario)
    cluster, machine_of = changed.snapshot.cluster, changed.snapshot.placement.machine_of
    shut = np.union1d(changed.gone, changed.drained)
    assert not cluster.machines.capacity[shut].any() and not cluster.machines.safety[shut].any()
    assert not np.isin(machine_of, changed.gone).any()
    open_before = allowed(snapshot.cluster)
    open_after = allowed(cluster)
    known = len(snapshot.cluster.machines.name)
    stays = ~np.isin(np.arange(known), shut)
    for w in range(len(cluster.workloads.name)):
        assert not open_after.machines(w)[shut].any()
        assert np.array_equal(open_after.machines(w)[:known], open_before.machines(w) & stays)


@given(snapshot=snapshots(), data=st.data())
def test_scaling_to_the_same_number_is_the_identity(snapshot, data):
    workloads = data.draw(st.sets(st.sampled_from(snapshot.cluster.workloads.name)))
    cluster = snapshot.cluster
    scale = {name: int(cluster.replicas[cluster.workloads.name.index(name)]) for name in workloads}
    changed = what_if(snapshot, WhatIf(scale=scale))
    assert changed.snapshot is snapshot


@given(snapshot=valid_snapshots(complete=True), data=st.data())
def test_the_referee_finds_exactly_what_runs_on_drained_machines(snapshot, data):
    names = snapshot.cluster.machines.name
    drained = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    changed = what_if(snapshot, WhatIf(drain=tuple(drained)))
    new_rule = len(changed.snapshot.cluster.rules) - 1
    found = [v for v in check(changed.snapshot.cluster, changed.snapshot.placement) if v.number == new_rule and v.rule == "allow"]
    expected = Counter(
        (snapshot.cluster.workloads.name[w], names[m])
        for w, m in zip(snapshot.cluster.containers.workload.tolist(), snapshot.placement.machine_of.tolist(), strict=True)
        if m != UNPLACED and names[m] in drained
    )
    assert {tuple(v.subject): v.excess for v in found} == expected
    others = [v for v in check(changed.snapshot.cluster, changed.snapshot.placement) if v not in found]
    assert {v.rule for v in others} <= {"capacity", "confidence"}  # drained machines have no capacity
    assert all(v.subject[0] in drained for v in others)


@given(change=changes())
def test_rules_name_the_same_containers_as_before(change):
    snapshot, scenario = change
    after = what_if(snapshot, scenario).snapshot.cluster
    names = set(after.containers.name)
    old, new = snapshot.cluster.containers.name, after.containers.name
    for kind, least in ((Pinned, 1), (CoLocate, 2)):
        before_left = [
            left
            for rule in snapshot.cluster.rules
            if isinstance(rule, kind)
            if len(left := tuple(old[c] for c in rule.containers if old[c] in names)) >= least
        ]
        now = [tuple(new[c] for c in rule.containers) for rule in after.rules if isinstance(rule, kind)]
        assert now == before_left


@given(snapshot=snapshots(), data=st.data())
def test_adding_machines_changes_nothing_about_those_that_are_there(snapshot, data):
    cluster = snapshot.cluster
    like = data.draw(st.integers(0, len(cluster.machines.name) - 1))
    after = what_if(snapshot, WhatIf(add_machines=(f"2:{cluster.machines.name[like]}",))).snapshot
    known = len(cluster.machines.name)
    assert after.cluster.machines.name[:known] == cluster.machines.name
    assert np.array_equal(after.cluster.machines.capacity[:known], cluster.machines.capacity)
    assert np.array_equal(after.cluster.machines.capacity[known:], cluster.machines.capacity[[like, like]])
    for level, before in zip(after.cluster.levels[1:], cluster.levels[1:], strict=True):
        assert level.group_of.tolist() == [*before.group_of.tolist(), *[before.group_of[like]] * 2]
    for members in after.cluster.machine_sets.values():
        assert (like in members) == (known in members) == (known + 1 in members)
    assert _without_skew(after.cluster, after.placement) == _without_skew(cluster, snapshot.placement)


def _without_skew(cluster, placement):
    """What the referee says, but for skew: a new machine is an empty group, with which all others are compared."""
    return [violation for violation in check(cluster, placement) if violation.rule != "skew"]


def test_a_capacity_rule_is_not_needed_to_keep_containers_off():
    cluster = tiny([[4], [4]], [[0]], [2])
    assert not any(isinstance(rule, Capacity) for rule in cluster.rules)
    snapshot = Snapshot(cluster=cluster, placement=on(0, 1), objective=Objective.default(cluster))
    changed = what_if(snapshot, WhatIf(drain=("m0",)))
    assert len(check(changed.snapshot.cluster, changed.snapshot.placement)) == 1
    moved = replace(changed.snapshot, placement=on(1, 1))
    assert check(moved.cluster, moved.placement) == ()
