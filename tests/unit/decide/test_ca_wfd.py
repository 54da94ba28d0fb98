"""CA-WFD and its variants on clusters small enough to follow the paper's steps by hand."""

from collections.abc import Sequence

import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.decide.place.greedy import in_order
from bayplan.decide.place.methods import ca_wfd_strategy
from bayplan.decide.place.metrics import cpu_of, dot_product
from bayplan.errors import ModelError
from bayplan.model import Budget, Capacity, Cluster, CoLocate, Dependency, Objective, Placement, silent
from bayplan.model.problem import Problem
from bayplan.search.state import new_search_state

CAPACITY = Capacity(resources=(0,))


def problem(cluster: Cluster, placement: Placement) -> Problem:
    return Problem(cluster=cluster, objective=Objective.default(cluster), before=placement, start=placement)


def placed(name: str, cluster: Cluster, machines: Sequence[int], *, candidates: int = 2, seed: int = 0) -> list[int]:
    options = PlaceOptions(candidates=candidates)
    result = PLACERS[name](
        problem(cluster, on(*machines)), options, budget=Budget(iterations=1, seconds=5.0), seed=seed, progress=silent
    )
    return result.solution.machine_of.tolist()


def test_the_largest_dominant_requirement_comes_first():
    """Line 3: relative to the largest machine, 30 of 100 cpu is more than 200 of 1,000 memory."""
    cluster = tiny([[100, 1000]], [[10, 10], [20, 200], [30, 0], [5, 400]], [1, 1, 1, 1])
    state = new_search_state(problem(cluster, on(-1, -1, -1, -1)))
    order = in_order(state, ca_wfd_strategy(PlaceOptions()))
    assert state.items.first[order].tolist() == [3, 2, 1, 0]


def test_equal_containers_come_in_the_order_of_the_input():
    cluster = tiny([[100]], [[10]], [3])
    state = new_search_state(problem(cluster, on(-1, -1, -1)))
    assert state.items.first[in_order(state, ca_wfd_strategy(PlaceOptions()))].tolist() == [0, 1, 2]


def test_of_two_candidates_the_one_with_more_of_the_service_wins():
    """Lines 6 and 7: m2 has most free, m1 comes second and runs one of the service; m0 runs two, but is no candidate."""
    cluster = tiny([[10], [12], [14]], [[1], [1]], [3, 1], service=[0, 0], rules=(CAPACITY,))
    start = [0, 0, 1, -1]
    assert placed("ca-wfd", cluster, start, candidates=2)[3] == 1
    assert placed("ca-wfd", cluster, start, candidates=1)[3] == 2
    assert placed("ca-wfd", cluster, start, candidates=3)[3] == 0


def test_without_others_of_the_service_the_machine_with_most_free_wins():
    cluster = tiny([[10, 10], [20, 2], [12, 12]], [[1, 1]], [1])
    assert placed("ca-wfd", cluster, [-1]) == [2]  # 12/20 + 12/12 of the largest machines


def test_equal_machines_are_taken_from_the_lowest_index():
    assert placed("ca-wfd", tiny([[10], [10], [10]], [[1]], [1]), [-1]) == [0]


def test_a_candidate_must_fit():
    """Most free in total, but not of what is requested."""
    cluster = tiny([[2, 100], [4, 10]], [[3, 1]], [1], rules=(Capacity(resources=(0, 1)),))
    assert placed("ca-wfd", cluster, [-1], candidates=1) == [1]


def test_co_located_containers_go_together_or_not_at_all():
    cluster = tiny([[5], [8]], [[3], [4]], [1, 1], rules=(CAPACITY, CoLocate(containers=(0, 1))))
    assert placed("ca-wfd", cluster, [-1, -1]) == [1, 1]
    small = tiny([[5], [6]], [[3], [4]], [1, 1], rules=(CAPACITY, CoLocate(containers=(0, 1))))
    assert placed("ca-wfd", small, [-1, -1]) == [-1, -1]


def test_what_depends_on_a_new_container_is_tried_again_after_it():
    """The larger container depends on the smaller one, which is new too."""
    cluster = tiny([[9], [9]], [[5], [1]], [1, 1], rules=(CAPACITY, Dependency(service=0, on=1, level=0)))
    assert placed("ca-wfd", cluster, [-1, -1]) == [0, 0]


def test_what_does_not_fit_is_left_out_and_says_why():
    cluster = tiny([[4], [5]], [[3]], [3], rules=(CAPACITY,))
    stated = problem(cluster, on(-1, -1, -1))
    result = PLACERS["ca-wfd"](stated, PlaceOptions(), budget=Budget(), seed=0, progress=silent)
    assert len(result.solution.unplaced) == 1
    assert [reason.text for reason in result.left_out] == ["0/2 machines fit (2 short of r0)"]


@pytest.mark.parametrize(
    ("name", "machine"),
    [
        ("ha", 2),  # none of the service
        ("enf", 0),  # one container
        ("binpack", 1),  # 2 of 20 are left
        ("ws-dp", 2),  # 12 of 20 are left
        ("c-c", 2),
    ],
)
def test_each_method_picks_its_machine(name, machine):
    """m0 has one container of the service, m1 two of it, m2 two of another service."""
    cluster = tiny([[20], [20], [20]], [[9], [4], [1]], [3, 2, 1], service=[0, 1, 0], rules=(CAPACITY,))
    assert placed(name, cluster, [0, 1, 1, 2, 2, -1], candidates=1)[5] == machine


def test_the_dot_product_weighs_free_capacity_by_what_is_requested():
    """m0 has more free in total, m1 has more of the one resource that counts for this container."""
    cluster = tiny([[10, 40], [20, 20]], [[5, 0]], [1])
    assert placed("ws-dp", cluster, [-1], candidates=1) == [1]
    state = new_search_state(problem(cluster, on(-1)))
    assert dot_product(state).weight[0].tolist() == pytest.approx([1.0025031276 * 0.25 / 20, 0.0])  # exp(0.01 * 5 / 20)


def test_cpu_is_the_resource_of_that_name_or_the_first_one():
    assert cpu_of(tiny([[1, 1]], [[1, 1]], [1])) == slice(0, 1)


def test_random_uses_all_machines_and_other_seeds_use_others():
    cluster = tiny([[50]] * 5, [[1]], [40], rules=(CAPACITY,))
    one, other = (placed("random", cluster, [-1] * 40, seed=seed) for seed in (1, 2))
    assert set(one) == set(range(5))
    assert one != other


def test_at_least_one_candidate_is_needed():
    with pytest.raises(ModelError, match="0 candidate machines"):
        PlaceOptions(candidates=0)
