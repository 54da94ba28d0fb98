"""`bp.OnlinePacking`: best fit as containers arrive and leave; offered workload by workload it is the packer of that name."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.packings import packing, packings

import bayplan as bp
from bayplan.check import check
from bayplan.model import UNPLACED, AntiAffinity, Objective, Snapshot


def snapshot_of(pair):
    cluster, placement = pair
    return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster))


def running_only(snapshot):
    """Without the containers that have no machine."""
    names = snapshot.cluster.workloads.name
    w = snapshot.cluster.containers.workload[snapshot.placement.unplaced]
    return bp.pack(
        snapshot,
        targets=dict(zip(names, (snapshot.cluster.replicas - np.bincount(w, minlength=len(names))).tolist(), strict=True)),
        method="bi-level",
        budget=bp.Budget(iterations=1),
    ).after


@pytest.mark.long
@pytest.mark.parametrize("method", ["bf-ucac", "bf-nsigma"])
@settings(max_examples=30, deadline=None)
@given(pair=packings(memory=True))
def test_offered_workload_by_workload_it_is_the_packer_of_that_name(method, pair):
    start = snapshot_of(pair)
    online = bp.OnlinePacking(running_only(start), method=method)
    for w in start.cluster.containers.workload[start.placement.unplaced].tolist():
        online.offer(start.cluster.workloads.name[w])
    answer = bp.pack(start, method=method, budget=bp.Budget(iterations=1))
    assert online.ucac == pytest.approx(answer.score["ucac"])
    assert online.machines == answer.score["machines"]


@settings(max_examples=30, deadline=None)
@given(pair=packings(memory=True), data=st.data())
def test_rules_are_kept_whatever_arrives_and_leaves(pair, data):
    start = snapshot_of(pair)
    online, here = bp.OnlinePacking(start), set(start.cluster.containers.name)
    for _ in range(data.draw(st.integers(0, 15))):
        if here and data.draw(st.booleans()):
            gone = data.draw(st.sampled_from(sorted(here)))
            online.release(gone)
            here.remove(gone)
        else:
            placed = online.offer(data.draw(st.sampled_from(start.cluster.workloads.name)))
            here |= {placed.container} - {""}
            assert bool(placed.machine) != bool(placed.reason)
    now = online.snapshot
    assert set(now.cluster.containers.name) == here
    assert not check(now.cluster, now.placement)
    assert online.machines == len(set(now.placement.machine_of.tolist()) - {UNPLACED})


def test_a_container_goes_to_the_machine_that_is_fullest_with_it():
    online = bp.OnlinePacking(snapshot_of(packing([30], [3], [1], capacity=[100, 80], running=[(0, 1)])))
    machines = [online.offer("s0").machine for _ in range(5)]
    assert machines == ["m1", "m0", "m0", "m0", ""]  # the one that runs something, until it is full


def test_what_no_machine_takes_is_refused_with_the_reason_and_a_release_makes_room():
    online = bp.OnlinePacking(snapshot_of(packing([40], [4], [2], capacity=[100], running=[(0, 0), (0, 0)])))
    refused = online.offer("s0")
    assert (refused.container, refused.reason) == ("", "0/1 machines fit (1 short of cpu at that confidence)")
    online.release("s0-0")
    assert online.offer("s0") == ("s0-2", "m0", "")
    assert online.snapshot.cluster.containers.name == ("s0-1", "s0-2")


def test_names_are_never_given_twice():
    online = bp.OnlinePacking(snapshot_of(packing([1], [0], [0], capacity=[1000])))
    names = [online.offer("s0").container for _ in range(70)]
    online.release(names[-1])
    assert len({*names, online.offer("s0").container}) == 71


def test_what_makes_no_sense_is_refused():
    snapshot = snapshot_of(packing([10], [1], [1], capacity=[100], running=[(0, 0)]))
    online = bp.OnlinePacking(snapshot)
    with pytest.raises(bp.UsageError, match="no workload 's1'; expected the name of one"):
        online.offer("s1")
    with pytest.raises(bp.UsageError, match="no container 's0-9' is here"):
        online.release("s0-9")
    with pytest.raises(bp.UsageError, match="bf-ucac"):
        bp.OnlinePacking(snapshot, method="csp-ucac")
    rules = (*snapshot.cluster.rules, AntiAffinity(workloads=(0,), limit=1))
    with pytest.raises(bp.UsageError, match="expected no anti-affinity rule"):
        bp.OnlinePacking(replace(snapshot, cluster=replace(snapshot.cluster, rules=rules)))
