"""`bp.pack` to target numbers of replicas: what is deleted, created and freed; the answer is a snapshot that others read."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.packings import packing, packings

import bayplan as bp
from bayplan.check import check
from bayplan.decide.pack import PACKERS
from bayplan.model import Objective, Snapshot, Spread

QUICK = bp.Budget(iterations=30)


def snapshot_of(pair):
    cluster, placement = pair
    return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster))


def day():
    """Three machines: s0 on the first two, s1 on the last."""
    running = [(0, 0), (0, 0), (0, 0), (0, 1), (1, 2), (1, 2)]
    return snapshot_of(packing([10, 20], [2, 5], [4, 2], capacity=[100] * 4, running=running))


@pytest.mark.parametrize("method", PACKERS)
def test_services_shrink_and_grow_in_one_answer(method):
    answer = bp.pack(day(), targets={"s0": 3, "s1": 5}, method=method, budget=QUICK)
    assert answer.deleted == (("s0-3", "m1"),)
    assert [container for container, _ in answer.created] == ["s1-2", "s1-3", "s1-4"]
    assert answer.after.cluster.replicas.tolist() == [3, 5]
    assert answer.unplaced == answer.moved == 0
    assert not check(answer.after.cluster, answer.after.placement)


def test_machines_that_become_free_are_named_in_every_form():
    answer = bp.pack(day(), targets={"s0": 3}, method="bi-level", budget=QUICK)
    assert answer.machines_freed == ("m1",)
    assert answer.headline.startswith("1 container deleted, 1 machine becomes free; ")
    assert "machines that become free     1: m1" in answer.summary()
    change = answer.to_dict()["details"]["change"]
    assert change["workloads"] == [{"workload": "s0", "before": 4, "target": 3, "deleted": 1, "created": 0, "left_out": 0}]
    assert change["deleted"] == [{"container": "s0-3", "machine": "m1"}]
    assert change["machines_over_confidence"] == {"before": 0, "after": 0}
    assert answer.before["machines"] == 3 and answer.score["machines"] == 2


def test_patterns_of_the_day_before_are_carried_over(monkeypatch):
    given_patterns = []

    def spy(problem, options, **other):
        given_patterns.append(options.patterns)
        return PACKERS["bi-level"](problem, options, **other)

    monkeypatch.setattr("bayplan.api.pack.method_of", lambda *_: spy)
    bp.pack(day(), targets={"s0": 3}, budget=QUICK)
    bp.pack(day(), targets={"s0": 3}, patterns=np.array([[0, 4]]), budget=QUICK)
    bp.pack(day(), budget=QUICK)
    first, both, none = given_patterns
    assert first.tolist() == [[0, 2], [1, 0], [3, 0]]
    assert both.tolist() == [[0, 2], [0, 4], [1, 0], [3, 0]]
    assert none is None


def test_the_confidence_is_restored_where_usage_has_outgrown_it():
    crowded = snapshot_of(packing([15], [5], [7], capacity=[100, 100], running=[(0, 0), *[(0, 1)] * 6]))
    answer = bp.pack(crowded, targets={"s0": 5}, method="bi-level", budget=QUICK)
    assert answer.to_dict()["details"]["change"]["machines_over_confidence"] == {"before": 1, "after": 0}


def test_the_file_is_a_snapshot_that_check_and_migrate_read(tmp_path):
    start = day()
    answer = bp.pack(start, targets={"s0": 3, "s1": 5}, method="bf-ucac", budget=QUICK)
    answer.save(tmp_path / "tomorrow.yaml")
    answer.report(tmp_path / "tomorrow.html")
    again = bp.read(tmp_path / "tomorrow.yaml")
    assert again.cluster.containers.name == answer.after.cluster.containers.name
    assert again.placement.machine_of.tolist() == answer.placement.machine_of.tolist()
    plan = bp.migrate(start, again, delete_missing=True)
    steps = [(step.action, step.container) for batch in plan.plan.batches for step in batch]
    assert len(steps) == 4


def test_a_rule_that_is_out_of_reach_with_fewer_containers_is_named():
    snapshot = day()
    cluster = replace(snapshot.cluster, rules=(*snapshot.cluster.rules, Spread(service=0, minimum=2)))
    answer = bp.pack(replace(snapshot, cluster=cluster), targets={"s0": 1}, method="bi-level", budget=QUICK)
    assert any(note.startswith("violated since containers were deleted: ") for note in answer.notes)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({"s9": 1}, "target 's9': is not one workload of cluster 'packing'"),
        ({"s0": -1}, "target 's0': -1 is no number of containers; expected a whole number from 0 to 1,000,000"),
        ({"s0": 1.5}, "1.5 is no number"),
        ({"s0": True}, "True is no number"),
    ],
)
def test_what_makes_no_sense_is_refused(targets, message):
    with pytest.raises(bp.UsageError, match=message):
        bp.pack(day(), targets=targets, budget=QUICK)


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(pair=packings(), data=st.data())
def test_the_numbers_are_met_and_nothing_that_stays_moves(pair, data):
    start = snapshot_of(pair)
    names, replicas = start.cluster.workloads.name, start.cluster.replicas.tolist()
    targets = {name: data.draw(st.integers(0, n + 2)) for name, n in zip(names, replicas, strict=True)}
    answer = bp.pack(start, targets=targets, method=data.draw(st.sampled_from(sorted(PACKERS))), budget=QUICK)
    assert answer.after.cluster.replicas.tolist() == list(targets.values())
    was = dict(zip(start.cluster.containers.name, start.placement.machine_of.tolist(), strict=True))
    now = dict(zip(answer.after.cluster.containers.name, answer.placement.machine_of.tolist(), strict=True))
    gone = {container for container, _ in answer.deleted}
    assert gone == was.keys() - now.keys()
    assert all(now[name] == machine for name, machine in was.items() if name in now and machine >= 0)
    assert not check(answer.after.cluster, answer.placement)
    assert {reason.subject for reason in answer.left_out} == {
        names[w] for w in answer.after.cluster.containers.workload[answer.placement.unplaced].tolist()
    }
