"""What is left of a target keeps the rules."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import clusters, placements
from tests.builders.tiny_clusters import on, tiny

from bayplan.api.stopped import Mishaps, left_at
from bayplan.api.within_reach import within_reach
from bayplan.check import RUNNING, check
from bayplan.errors import UsageError
from bayplan.model import UNPLACED, Action, AntiAffinity, Capacity, Migration, Plan, Running, Step


def worse(migration: Migration) -> list[str]:
    """What the target breaks more than the start."""
    start = migration.start.placement
    before = {(v.rule, v.number, v.subject): v.excess for v in check(migration.cluster, start)}
    found = check(migration.cluster, migration.target, start)
    return [v.sentence for v in found if v.rule != RUNNING and v.excess > before.get((v.rule, v.number, v.subject), 0)]


@settings(max_examples=150)
@given(data=st.data(), cluster=clusters())
def test_what_is_left_of_a_target_breaks_nothing_that_held(data, cluster):
    start, after = data.draw(placements(cluster)), data.draw(placements(cluster))
    asked = Migration(cluster=cluster, start=Running.of(start), target=after)
    left, stays = within_reach(asked)
    assert not worse(left)
    kept = np.flatnonzero(left.target.machine_of != after.machine_of)
    assert set(kept.tolist()) <= stays.keys()
    assert all(left.target.machine_of[c] == start.machine_of[c] for c in stays)
    assert worse(asked) or not stays


def test_only_as_many_stay_as_are_too_many():
    cluster = replace(
        tiny([[9], [9], [4]], [[2], [1]], [3, 3]), rules=(Capacity(resources=(0,)), AntiAffinity(workloads=(1,), limit=2))
    )
    asked = Migration(cluster=cluster, start=Running.of(on(0, 0, 0, 1, 1, 0)), target=on(2, 2, 2, 1, 1, 1))
    left, stays = within_reach(asked)
    assert left.target.machine_of.tolist() == [0, 2, 2, 1, 1, 0] and stays.keys() == {0, 5}


CLUSTER = tiny([[9], [9], [9]], [[1]], [2])
PATH = Plan(
    batches=(
        (Step(Action.CREATE, 0, 1),),
        (Step(Action.DELETE, 0, 0),),
        (Step(Action.CREATE, 0, 2),),
        (Step(Action.DELETE, 0, 1),),
    )
)
START = Running.of(on(0, 1))


def test_steps_that_depend_on_a_failed_one_are_not_made_and_that_is_noted():
    running, _, notes = left_at(CLUSTER, START, PATH, Mishaps(failed=["create w0-0 on m1"]))
    assert (running.machine_of[0], running.second[0]) == (2, UNPLACED)
    assert notes == ["1 steps of the plan could not be made, after what had failed"]


def test_a_failed_delete_leaves_a_container_running_twice():
    running, _, _ = left_at(CLUSTER, START, Plan(batches=PATH.batches[:2]), Mishaps(failed=["delete w0-0"]))
    assert {int(running.machine_of[0]), int(running.second[0])} == {0, 1}


@pytest.mark.parametrize(("dead", "first"), [("m0", 1), ("m1", 0)])
def test_of_two_machines_the_living_one_is_left(dead, first):
    running, _, _ = left_at(CLUSTER, START, Plan(batches=PATH.batches[:1]), Mishaps(dead=[dead]))
    assert (running.machine_of[0], running.second[0]) == (first, UNPLACED)


def test_a_plan_for_another_start_is_refused():
    with pytest.raises(UsageError, match="expected the placement that it was made for"):
        left_at(CLUSTER, Running.of(on(2, 1)), PATH, Mishaps())
