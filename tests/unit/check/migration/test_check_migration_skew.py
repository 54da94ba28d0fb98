"""Skew on the way, as Kubernetes asks: at creates, with what runs at that instant, and at nothing else."""

import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.check import check_migration
from bayplan.migrate import MIGRATORS, MigrateOptions
from bayplan.model import Action, Budget, Capacity, Migration, MigrationPolicy, Plan, Running, Skew, Step, silent

CREATE, DELETE = Action.CREATE, Action.DELETE


def migration(start, target, *, limit=1, **fields) -> Migration:
    """Four machines of 20 in racks 0, 0, 1, 2."""
    rules = (Capacity(resources=(0,)), Skew(workload=0, limit=limit, level=1, **fields))
    cluster = tiny([[20]] * 4, [[1]], [len(start)], rules=rules, racks=[0, 0, 1, 2])
    policy = MigrationPolicy(alive=0.0)
    return Migration(cluster=cluster, start=Running.of(on(*start)), target=on(*target), policy=policy)


def sentences(question: Migration, *batches) -> list[str]:
    return [str(violation) for violation in check_migration(question, Plan(batches=batches)).violations]


def test_deletes_are_never_asked():
    question = migration((0, 2, 3, 1, 2, 3), (0, 2, 3, 1, 2, -1))
    assert sentences(question, (Step(DELETE, 5, 3),)) == []


def test_a_create_is_asked_with_what_runs_at_that_instant():
    question = migration((0, 2, 3), (1, 2, 3))
    assert sentences(question, (Step(DELETE, 0, 0),), (Step(CREATE, 0, 1),)) == []
    down = (Step(DELETE, 0, 0), Step(DELETE, 1, 2)), (Step(CREATE, 0, 1),), (Step(CREATE, 1, 2),)
    assert sentences(question, *down) == [], "one in the rack and none elsewhere is one more"


def test_the_steps_of_a_batch_may_come_in_any_order():
    question = migration((0, 2, 3, -1), (0, 2, 3, 1))
    assert sentences(question, (Step(CREATE, 3, 1),)) == []
    back = migration((0, 2, 3, -1), (0, 2, 2, 1))
    together = (Step(CREATE, 3, 1), Step(DELETE, 2, 3))
    assert sentences(back, together) == [
        "batch 1: 2 containers of 'w0' would run in rack 'k0', 0 in 'k2', at most 1 more allowed"
    ]


def test_a_group_that_was_beyond_the_limit_takes_nothing_new():
    """The scheduler makes no exception for what is beyond the limit already."""
    question = migration((0, 0, 0, 2), (1, 0, 0, 2))
    assert sentences(question, (Step(DELETE, 0, 0),), (Step(CREATE, 0, 1),)) != []
    for method in MIGRATORS.values():
        result = method(question, MigrateOptions(), budget=Budget(iterations=5), seed=0, progress=silent)
        assert not result.solution.batches and len(result.left_out) == 1


def test_too_few_groups_compare_with_none():
    question = migration((0, 2, 3, -1), (0, 2, 3, 1), min_groups=4)
    assert sentences(question, (Step(CREATE, 3, 1),)) == [
        "batch 1: 2 containers of 'w0' would run in rack 'k0', at most 1 allowed with fewer than 4 racks"
    ]


@pytest.mark.parametrize("method", MIGRATORS)
def test_plans_repair_what_is_beyond_the_limit(method):
    question = migration((0, 0, 1, 1, 2, 3), (0, 1, 2, 3, 2, 3))
    result = MIGRATORS[method](question, MigrateOptions(), budget=Budget(iterations=5), seed=0, progress=silent)
    checked = check_migration(question, result.solution)
    assert checked.safe and checked.arrived
