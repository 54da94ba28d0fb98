"""Co-located containers: they move as one, or the referee reports it."""

from tests.builders.plan_builders import create, delete, migration, sentences
from tests.builders.tiny_clusters import tiny

from bayplan.model import CoLocate, Rule

TOGETHER: tuple[Rule, ...] = (CoLocate(containers=(0, 1)),)
CLUSTER = tiny([[9]] * 3, [[1]], [3], rules=TOGETHER)
MOVE = migration(CLUSTER, [0, 0, 0], [1, 1, 0])


def test_a_set_may_surge_as_one():
    assert sentences(MOVE, [create(0, 1), create(1, 1)], [delete(0, 0), delete(1, 0)]) == []


def test_a_set_may_be_replaced_as_one():
    assert sentences(MOVE, [delete(0, 0), delete(1, 0)], [create(0, 1), create(1, 1)]) == []


def test_a_member_may_not_be_created_alone():
    assert sentences(MOVE, [create(0, 1)], [create(1, 1)], [delete(0, 0), delete(1, 0)]) == [
        "batch 1: 'w0-0', 'w0-1' would run on 2 machines; they belong on one"
    ]


def test_a_member_may_not_leave_alone():
    surge = [create(0, 1), create(1, 1)]
    assert sentences(MOVE, surge, [delete(0, 0)], [delete(1, 0)]) == [
        "batch 2: 'w0-0', 'w0-1' would leave a machine one by one; they belong on one"
    ]


def test_a_member_may_not_be_down_alone():
    assert sentences(MOVE, [delete(0, 0)]) == ["batch 1: 'w0-0', 'w0-1' would run without 1 member; they belong on one"]
    down = [delete(0, 0), delete(1, 0)]
    assert sentences(MOVE, down, [create(0, 1)]) == ["batch 2: 'w0-0', 'w0-1' would run without 1 member; they belong on one"]


def test_members_may_not_be_created_on_two_machines():
    assert sentences(MOVE, [create(0, 1), create(1, 2)]) == [
        "batch 1: 'w0-0', 'w0-1' would run on 3 machines; they belong on one"
    ]


def test_other_containers_move_freely():
    of = migration(CLUSTER, [0, 0, 0], [0, 0, 1])
    assert sentences(of, [create(2, 1)], [delete(2, 0)]) == []


def test_a_set_that_was_apart_comes_together_member_by_member():
    of = migration(CLUSTER, [0, 1, 0], [1, 1, 0])
    assert sentences(of, [create(0, 1)], [delete(0, 0)]) == []
    assert sentences(of, [delete(0, 0)], [create(0, 1)]) == []


def test_a_set_that_was_apart_goes_no_further_apart():
    of = migration(CLUSTER, [0, 1, 0], [1, 1, 0])
    assert sentences(of, [create(0, 2)]) == ["batch 1: 'w0-0', 'w0-1' would run on 3 machines; they belong on one"]
    together = migration(CLUSTER, [0, 1, 0], [2, 2, 0])
    assert sentences(together, [create(0, 2), create(1, 2)], [delete(0, 0), delete(1, 1)]) == []


def test_a_new_member_joins_its_set_where_it_runs():
    of = migration(CLUSTER, [0, -1, 0], [0, 0, 0])
    assert sentences(of, [create(1, 0)]) == []
    assert sentences(of, [create(1, 1)]) == ["batch 1: 'w0-0', 'w0-1' would run on 2 machines; they belong on one"]


def test_a_new_member_comes_with_the_move():
    of = migration(CLUSTER, [0, -1, 0], [1, 1, 0])
    assert sentences(of, [create(0, 1), create(1, 1)], [delete(0, 0)]) == []


def test_a_member_that_is_to_be_deleted_leaves_alone_or_with_the_move():
    of = migration(CLUSTER, [0, 0, 0], [1, -1, 0])
    assert sentences(of, [create(0, 1)], [delete(0, 0), delete(1, 0)]) == []
    assert sentences(of, [delete(1, 0)], [create(0, 1)], [delete(0, 0)]) == []
    assert sentences(of, [create(0, 1)], [delete(0, 0)]) == [
        "batch 2: 'w0-0', 'w0-1' would leave a machine one by one; they belong on one"
    ]
