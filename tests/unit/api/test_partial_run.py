"""What remains of a plan that was carried out in part: where containers run, and what of the target can be reached."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import clusters, placements
from tests.builders.tiny_clusters import on, tiny

from bayplan.api.partial_run import PartialRun, reachable_target, state_after
from bayplan.check import RUNNING, check
from bayplan.errors import UsageError
from bayplan.model import UNPLACED, Action, AntiAffinity, Capacity, Migration, Plan, Running, Step


def worse(migration: Migration) -> list[str]:
    """What the target violates more than the start."""
    start = migration.start.placement
    before = {v.place: v.excess for v in check(migration.cluster, start)}
    after = check(migration.cluster, migration.target, start)
    return [v.sentence for v in after if v.rule != RUNNING and v.excess > before.get(v.place, 0)]


@settings(max_examples=75)
@given(data=st.data(), cluster=clusters())
def test_what_can_be_reached_of_a_target_violates_nothing_that_held(data, cluster):
    start, after = data.draw(placements(cluster)), data.draw(placements(cluster))
    migration = Migration(cluster=cluster, start=Running.of(start), target=after)
    left, stays = reachable_target(migration)
    assert not worse(left)
    kept = np.flatnonzero(left.target.machine_of != after.machine_of)
    assert set(kept.tolist()) <= stays.keys()
    assert all(left.target.machine_of[c] == start.machine_of[c] for c in stays)
    assert worse(migration) or not stays


def test_only_as_many_stay_as_are_too_many():
    cluster = replace(
        tiny([[9], [9], [4]], [[2], [1]], [3, 3]), rules=(Capacity(resources=(0,)), AntiAffinity(workloads=(1,), limit=2))
    )
    migration = Migration(cluster=cluster, start=Running.of(on(0, 0, 0, 1, 1, 0)), target=on(2, 2, 2, 1, 1, 1))
    left, stays = reachable_target(migration)
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
    running, _, notes = state_after(CLUSTER, START, PartialRun(plan=PATH, failed=[Step(Action.CREATE, 0, 1)]))
    assert (running.machine_of[0], running.second[0]) == (2, UNPLACED)
    assert notes == ("1 step of the plan could not be made, after what had failed",)


def test_a_failed_delete_leaves_a_container_running_twice():
    partial = PartialRun(plan=PATH, done=2, failed=[Step(Action.DELETE, 0, 0)])
    running, _, _ = state_after(CLUSTER, START, partial)
    assert {int(running.machine_of[0]), int(running.second[0])} == {0, 1}


@pytest.mark.parametrize(("dead", "first"), [("m0", 1), ("m1", 0)])
def test_of_two_machines_the_living_one_is_left(dead, first):
    running, _, _ = state_after(CLUSTER, START, PartialRun(plan=PATH, done=1, dead=[dead]))
    assert (running.machine_of[0], running.second[0]) == (first, UNPLACED)


def test_a_plan_for_another_start_is_refused():
    with pytest.raises(UsageError, match="expected the placement it was made for"):
        state_after(CLUSTER, Running.of(on(2, 1)), PartialRun(plan=PATH))


def test_a_step_that_has_not_run_cannot_have_failed():
    with pytest.raises(UsageError, match="1 failed step not among the steps that have run"):
        state_after(CLUSTER, START, PartialRun(plan=PATH, done=1, failed=[Step(Action.DELETE, 0, 0)]))
