"""What a user says about a migration, and what it becomes."""

import pytest
from tests.builders.tiny_clusters import tiny

from bayplan.api.migration_wishes import MigrateWishes, options_of, terms_of
from bayplan.errors import UsageError
from bayplan.model import StepLimits, Way

CLUSTER = tiny([[9], [9]], [[1], [2]], [3, 2])


def test_without_wishes_every_workload_moves_as_it_can_and_three_quarters_stay_alive():
    terms, options = terms_of(CLUSTER, MigrateWishes()), options_of(CLUSTER, MigrateWishes())
    assert (terms.alive, terms.limits, terms.way_of(0), terms.way_of(1)) == (0.75, StepLimits(), Way.AUTO, Way.AUTO)
    assert (options.weight, options.never, options.stopovers) == (None, None, True)


def test_a_workload_that_is_named_moves_its_own_way():
    assert terms_of(CLUSTER, MigrateWishes(way="either", surge=["w1"], replace=["w0*"])).way == (Way.REPLACE, Way.SURGE)
    assert terms_of(CLUSTER, MigrateWishes(way="replace")).way == (Way.REPLACE, Way.REPLACE)


def test_the_heaviest_of_the_stated_weights_counts_and_others_weigh_one():
    options = options_of(CLUSTER, MigrateWishes(late=["w0=3", "w0-1=0.5", "w0-2=7"]))
    assert options.weight.tolist() == [3, 3, 7, 1, 1]


def test_containers_are_left_alone_by_name_or_by_workload():
    assert options_of(CLUSTER, MigrateWishes(never=["w0-1", "w1"])).never.tolist() == [False, True, False, True, True]


def test_steps_are_limited_per_batch_machine_service_and_group_of_a_level():
    wishes = MigrateWishes(max_steps=9, max_per_machine=2, max_per_service=3, max_per="machine=4")
    assert terms_of(CLUSTER, wishes).limits == StepLimits(batch=9, machine=2, service=3, group=4, level=0)


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (MigrateWishes(alive=1.5), "--alive 1.5: expected a share"),
        (MigrateWishes(way="jump"), "no way 'jump'; expected one of replace, surge, auto, either"),
        (MigrateWishes(surge=["db"]), "--surge 'db': no workload is called so"),
        (MigrateWishes(surge=["w*"], replace=["w1"]), "workload 'w1' is under --replace and --surge"),
        (MigrateWishes(max_per="zone=1"), "--max-per 'zone=1': expected LEVEL=N, LEVEL one of machine"),
        (MigrateWishes(max_per="machine=0"), "--max-per 'machine=0'"),
        (MigrateWishes(late=["w0"]), "--late 'w0': expected NAME=WEIGHT"),
        (MigrateWishes(late=["w0=-1"]), "'-1' is not a number of 0 or more"),
        (MigrateWishes(late=["db=1"]), "nothing to move late is called 'db'"),
        (MigrateWishes(never=["db"]), "nothing to leave alone is called 'db'"),
    ],
)
def test_a_wish_that_cannot_be_names_itself(wishes, said):
    with pytest.raises(UsageError, match=said):
        terms_of(CLUSTER, wishes)
        options_of(CLUSTER, wishes)
