"""What a caller says about a migration, and what it becomes."""

import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.api.migration_request import MigrationSettings, completed_target, method_options, policy_of, target_value
from bayplan.cli.options.migrate import settings
from bayplan.errors import UsageError
from bayplan.formats.targets import MigrationTarget
from bayplan.model import Objective, Snapshot, StepLimits, Way

CLUSTER = tiny([[9], [9]], [[1], [2]], [3, 2])
SHARE = 0.75
COSTS = (20.0, 10.0, 5.0)


def test_without_settings_every_workload_moves_as_it_can_and_nothing_is_limited():
    policy, options = policy_of(CLUSTER, SHARE, MigrationSettings()), method_options(CLUSTER, MigrationSettings())
    assert (policy.alive, policy.limits, policy.way_of(0), policy.way_of(1)) == (0.75, StepLimits(), Way.AUTO, Way.AUTO)
    assert (options.weight, options.never, options.stopovers) == (None, None, True)


def test_a_workload_that_is_named_moves_its_own_way():
    named = MigrationSettings(way="either", surge=["w1"], replace=["w0*"])
    assert policy_of(CLUSTER, SHARE, named).way == (Way.REPLACE, Way.SURGE)
    assert policy_of(CLUSTER, SHARE, MigrationSettings(way="replace")).way == (Way.REPLACE, Way.REPLACE)


def test_the_heaviest_of_the_stated_weights_counts_and_others_weigh_one():
    options = method_options(CLUSTER, MigrationSettings(late={"w0": 3, "w0-1": 0.5, "w0-2": 7}))
    assert options.weight.tolist() == [3, 3, 7, 1, 1]


def test_containers_are_left_alone_by_name_or_by_workload():
    never = method_options(CLUSTER, MigrationSettings(never=["w0-1", "w1"])).never
    assert never.tolist() == [False, True, False, True, True]


def test_texts_of_options_limit_steps_per_batch_machine_service_and_group_of_a_level():
    stated = settings(CLUSTER, (None, None, None), ["w0=3"], "machine=4", (9, 2, 3), COSTS)
    assert stated["limits"] == StepLimits(batch=9, machine=2, service=3, group=4, level=0)
    assert stated["late"] == {"w0": 3.0} and stated["costs"] == {"pull": 20.0, "start": 10.0, "stop": 5.0}


@pytest.mark.parametrize(
    ("alive", "stated", "message"),
    [
        (1.5, {}, "an alive share of 1.5: expected 0 to 1"),
        (SHARE, {"way": "jump"}, "no way 'jump'; expected one of replace, surge, auto, either"),
        (SHARE, {"surge": ["db"]}, "no workload to surge is called 'db'"),
        (SHARE, {"surge": ["w*"], "replace": ["w1"]}, "workload 'w1' is both to replace and to surge"),
        (SHARE, {"late": {"w0": -1}}, "'-1' is not a number of 0 or more"),
        (SHARE, {"late": {"db": 1}}, "nothing to move late is called 'db'"),
        (SHARE, {"never": ["db"]}, "nothing to leave alone is called 'db'"),
    ],
)
def test_a_setting_that_cannot_be_names_itself(alive, stated, message):
    with pytest.raises(UsageError, match=message):
        policy_of(CLUSTER, alive, MigrationSettings(**stated))
        method_options(CLUSTER, MigrationSettings(**stated))


@pytest.mark.parametrize(
    ("late", "max_per", "message"),
    [
        ([], "zone=1", "--max-per 'zone=1': expected LEVEL=N, LEVEL one of machine"),
        ([], "machine=0", "--max-per 'machine=0'"),
        (["w0"], None, "--late 'w0': expected NAME=WEIGHT"),
        (["w0=-1"], None, "'-1' is not a number of 0 or more"),
    ],
)
def test_a_text_that_cannot_be_names_its_option(late, max_per, message):
    with pytest.raises(UsageError, match=message):
        settings(CLUSTER, (None, None, None), late, max_per, (None, None, None), COSTS)


def snapshot(*machine_of: int) -> Snapshot:
    return Snapshot(cluster=CLUSTER, placement=on(*machine_of), objective=Objective.default(CLUSTER))


def test_what_runs_and_is_missing_in_the_target_stays_unless_it_is_to_be_deleted():
    target = MigrationTarget(snapshot=snapshot(0, 0, 1, 1, -1), placement=on(1, -1, 1, -1, 0))
    kept, notes = completed_target(target, relabel=False, delete_missing=False)
    assert kept.machine_of.tolist() == [1, 0, 1, 1, 0]
    assert notes[0].startswith("2 running containers not in the target: left where they are")
    deleted, notes = completed_target(target, relabel=False, delete_missing=True)
    assert deleted.machine_of.tolist() == target.placement.machine_of.tolist()
    assert notes[0] == "2 running containers without a machine in the target: to be deleted"


def test_what_the_target_states_without_a_machine_is_deleted():
    named = frozenset({"w0-0", "w0-1"})
    target = MigrationTarget(snapshot=snapshot(0, 0, 1, 1, -1), placement=on(1, -1, -1, 1, -1), named=named)
    reached, notes = completed_target(target, relabel=False, delete_missing=False)
    assert reached.machine_of.tolist() == [1, -1, 1, 1, -1]
    assert notes[0] == "1 running container without a machine in the target: to be deleted"
    assert notes[1].startswith("1 running container not in the target: left where it is")


def test_a_placement_of_another_cluster_is_no_target():
    with pytest.raises(UsageError, match="the target places 2 containers, the snapshot has 5"):
        target_value(snapshot(0, 0, 1, 1, -1), on(0, 1))
