import copy
import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders.three_services import problem_of

from bayplan.errors import ModelError
from bayplan.model import Containers
from bayplan.model.arrays import CHUNK, NameArray

NAMES = ("web-0", "", "größe-1", "web-0", "日本", "\ud800", "db")
lists = st.lists(st.text(max_size=4), max_size=30)


@given(lists, st.integers(-40, 40), st.slices(30))
def test_it_behaves_like_the_tuple_of_its_names(given_names, place, part):
    names, expected = NameArray.of(given_names), tuple(given_names)
    assert (names == expected, expected == names, names != expected) == (True, True, False)
    assert (len(names), list(names), names[:], list(reversed(names))) == (
        len(expected),
        given_names,
        expected,
        given_names[::-1],
    )
    assert hash(names) == hash(expected) and repr(names) == repr(expected)
    assert names[part] == expected[part]
    assert (*names, "last") == (*expected, "last")
    if -len(expected) <= place < len(expected):
        assert names[place] == expected[place]
    else:
        with pytest.raises(IndexError):
            names[place]


@given(lists, st.text(max_size=2))
def test_a_name_is_where_the_tuple_has_it(given_names, name):
    names, expected = NameArray.of(given_names), tuple(given_names)
    assert (name in names, names.count(name)) == (name in expected, expected.count(name))
    if name in expected:
        assert names.index(name) == expected.index(name)
    else:
        with pytest.raises(ValueError, match="not among the names"):
            names.index(name)


@given(lists)
def test_it_knows_whether_a_name_comes_twice(given_names):
    assert NameArray.of(given_names).are_distinct == (len(set(given_names)) == len(given_names))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda names: pickle.loads(pickle.dumps(names))])
def test_copies_are_equal(copied):
    names = NameArray.of(NAMES)
    again = copied(names)
    assert again == names == NAMES and again.are_distinct is False


def test_two_splits_of_the_same_bytes_differ():
    assert NameArray.of(["ab", "c"]) != NameArray.of(["a", "bc"])
    assert NameArray.of(["ab"]) != ["ab"]  # as with a tuple


def test_more_names_than_one_chunk_are_read_whole():
    given_names = [f"web-{i}" for i in range(2 * CHUNK + 3)]
    names = NameArray.of(given_names)
    assert list(names) == given_names
    assert names.index(f"web-{2 * CHUNK}") == 2 * CHUNK
    assert names.index("web-7", 5, 9) == 7
    with pytest.raises(ValueError, match="not among"):
        names.index("web-7", 8)


def test_a_pickle_is_no_larger_than_that_of_the_strings():
    names = NameArray.of(f"web-{i}" for i in range(10_000))
    assert len(pickle.dumps(names)) < len(pickle.dumps(tuple(names)))


def test_containers_hold_their_names_so():
    containers = Containers.replicas_of(["web", "db"], [2, 1])
    assert isinstance(containers.name, NameArray) and containers.name == ("web-0", "web-1", "db-0")
    assert isinstance(Containers(name=("a",), workload=[0]).name, NameArray)
    assert replace(containers).name is containers.name


def test_replicas_of_two_workloads_of_one_name_are_not_distinct():
    assert Containers.replicas_of(["web", "web-0"], [2, 2]).name.are_distinct
    assert not Containers.replicas_of(["web", "web"], [1, 1]).name.are_distinct


def test_a_cluster_refuses_two_containers_of_one_name():
    cluster = problem_of().cluster
    names = ("same", *cluster.containers.name[1:-1], "same")
    with pytest.raises(ModelError, match="two containers have the same name"):
        replace(cluster, containers=replace(cluster.containers, name=names))
