"""What is kept change by change equals what is counted from scratch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.api.machine_scores import LivePlacement, RunningContainer
from bayplan.errors import UsageError

MACHINES = [f"m-{i}" for i in range(5)]


def container(machine="m-0", workload="web", service="shop", request=(1.0, 2.0)):
    return RunningContainer(machine=machine, workload=workload, service=service, request=request)


def live(machines=MACHINES, **options):
    placement = LivePlacement(2, **options)
    placement.replace_machines(dict.fromkeys(machines, (10.0, 20.0)))
    return placement


running = st.builds(
    container,
    st.sampled_from([*MACHINES, "m-unknown"]),
    st.sampled_from(["web", "api"]),
    st.just("shop"),
    st.sampled_from([(1.0, 2.0), (3.0, 1.0)]),
)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("container"), st.sampled_from("abcdef"), st.one_of(st.none(), running)),
        st.tuples(
            st.just("machine"), st.sampled_from(MACHINES), st.one_of(st.none(), st.sampled_from([(10.0, 20.0), (8.0, 8.0)]))
        ),
    ),
    max_size=40,
)


@settings(max_examples=30)
@given(changes)
def test_changes_one_by_one_are_the_same_as_all_at_once(sequence):
    stepwise = live()
    machines, containers = dict.fromkeys(MACHINES, (10.0, 20.0)), {}
    for kind, name, value in sequence:
        if kind == "container":
            stepwise.set_container(name, value)
            containers[name] = value
        else:
            stepwise.set_machine(name, value)
            machines[name] = value
    at_once = LivePlacement(2)
    at_once.replace_machines({name: value for name, value in machines.items() if value})
    at_once.replace_containers({uid: value for uid, value in containers.items() if value})
    assert (stepwise.machines, stepwise.containers) == (at_once.machines, at_once.containers)
    for workload in ("web", "api"):
        expected = at_once.preference(MACHINES, workload, "shop")
        assert stepwise.preference(MACHINES, workload, "shop").tolist() == expected.tolist()


def test_a_new_container_goes_where_its_service_runs_among_the_candidates():
    placement = live(candidates="100%")
    assert placement.preference(MACHINES, "api", "shop").argmax() == 0
    placement.set_container("a", container("m-3"))
    assert placement.preference(MACHINES, "api", "shop").argmax() == 3
    assert placement.preference(MACHINES, "other", "elsewhere").argmax() == 0


def test_a_machine_that_is_no_candidate_is_not_taken_even_for_its_service():
    placement = live(candidates=2)
    placement.set_container("a", container("m-0"))
    assert placement.preference(MACHINES, "api", "shop").argmax() == 1


def test_measured_traffic_counts_instead_of_the_service():
    placement = live(candidates="100%")
    placement.replace_containers({"a": container("m-1", "web"), "b": container("m-2", "database", "other")})
    placement.set_traffic({("api", "database"): 5.0, ("web", "api"): 1.0})
    assert placement.preference(MACHINES, "api", "shop").argmax() == 2
    placement.set_traffic({})
    assert placement.preference(MACHINES, "api", "shop").argmax() == 1


def test_only_the_machines_asked_for_are_compared_in_their_order():
    placement = live(candidates="100%")
    placement.set_container("a", container("m-3"))
    preference = placement.preference(["m-4", "m-3", "m-nowhere"], "api", "shop")
    assert preference.argmax() == 1 and preference[2] == preference.min()


def test_before_any_machine_is_known_none_is_better_than_another():
    assert LivePlacement(2).preference(["m-0", "m-1"], "api", "shop").tolist() == [1.0, 0.75]
    assert LivePlacement(2).preference([], "api", "shop").tolist() == []


def test_machines_that_come_and_go_under_new_names_leave_nothing_behind():
    placement = live()
    placement.set_container("a", container("m-3"))
    for number in range(500):
        placement.set_machine(f"spot-{number}", (10.0, 20.0))
        placement.set_machine(f"spot-{number}", None)
    assert placement.machines == 5 and len(placement._row) < 100
    assert placement.preference(MACHINES, "api", "shop").argmin() == 3  # what runs there is still charged


def test_a_load_that_has_gone_leaves_exactly_nothing():
    placement = live()
    for number in range(50):
        placement.set_container(str(number), container(MACHINES[number % 5], request=(0.1 * number, 3.0)))
    placement.replace_containers({})
    assert np.allclose(placement._load, 0.0) and not placement._count and placement.containers == 0


def test_what_is_expected_counts_until_the_truth_is_known():
    placement = live(candidates="100%")
    placement.expect_container("a", container("m-3"), now=0.0, until=10.0)
    assert placement.preference(MACHINES, "api", "shop").argmax() == 3
    placement.set_container("a", container("m-4"))
    assert placement.preference(MACHINES, "api", "shop").argmax() == 4
    placement.expect_container("a", container("m-1"), now=1.0, until=11.0)  # an answer that comes late
    assert placement.preference(MACHINES, "api", "shop").argmax() == 4 and placement.containers == 1


def test_what_was_expected_and_never_came_is_forgotten():
    placement = live(candidates="100%")
    placement.expect_container("a", container("m-3"), now=0.0, until=10.0)
    placement.expect_container("b", container("m-2", service="other"), now=10.0, until=20.0)
    assert placement.containers == 1 and placement.preference(MACHINES, "web", "shop").argmax() == 0


def test_a_wrong_number_of_candidates_is_refused_when_it_is_made():
    with pytest.raises(UsageError, match="'none' candidate machines"):
        LivePlacement(2, candidates="none")
