"""What pods request, against amounts worked out by hand from the rule of Kubernetes."""

import pytest

from bayplan.errors import InputError
from bayplan.kubernetes.collect.requests import pod_request


def _container(name="main", restart=None, **requests):
    restarts = {"restartPolicy": restart} if restart else {}
    return {"name": name, "resources": {"requests": requests}, **restarts}


def _request(spec, status=None):
    return pod_request({"spec": spec, "status": status or {}}, "pod shop/web")


def test_containers_are_added_up_and_rounded_up_at_the_end():
    spec = {"containers": [_container(cpu="0.5m", memory="1Ki"), _container(cpu="0.5m", memory="0.5")]}
    assert _request(spec) == {"cpu": 1, "memory": 1025}


def test_the_greediest_init_container_counts_if_it_needs_more_than_all_containers():
    spec = {
        "containers": [_container(cpu="1", memory="1Gi")],
        "initContainers": [_container(cpu="2"), _container(memory="512Mi")],
    }
    assert _request(spec) == {"cpu": 2000, "memory": 2**30}


def test_a_sidecar_is_added_to_the_containers_and_to_the_init_containers_that_follow_it():
    init = [_container("a", cpu="2"), _container("b", "Always", cpu="1"), _container("c", cpu="3")]
    assert _request({"containers": [_container(cpu="1")], "initContainers": init}) == {"cpu": 4000}  # c beside b, not a beside b


def test_overhead_is_added_to_everything():
    assert _request({"containers": [_container(cpu="1")], "overhead": {"cpu": "250m", "memory": "64Mi"}}) == {
        "cpu": 1250,
        "memory": 64 * 2**20,
    }


def test_what_the_pod_states_for_itself_takes_the_place_of_its_containers_but_not_of_devices():
    spec = {
        "containers": [_container(cpu="1", memory="1Gi", **{"example.com/gpu": "1"})],
        "resources": {"requests": {"cpu": "3", "example.com/gpu": "9"}},
    }
    assert _request(spec) == {"cpu": 3000, "memory": 2**30, "example.com/gpu": 1}


@pytest.mark.parametrize(("pending", "cpu"), [([], 3000), ([{"type": "PodResizePending", "reason": "Infeasible"}], 2000)])
def test_while_a_container_is_resized_the_most_of_wanted_allocated_and_used_counts_unless_it_cannot_be_had(pending, cpu):
    states = [{"name": "main", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "2"}}]
    assert _request({"containers": [_container(cpu="3")]}, {"containerStatuses": states, "conditions": pending}) == {"cpu": cpu}


def test_a_resize_of_the_pod_as_a_whole_counts_too():
    spec = {"containers": [_container(cpu="1")], "resources": {"requests": {"cpu": "2"}}}
    status = {"resources": {"requests": {"cpu": "5"}}, "allocatedResources": {"cpu": "4"}}
    assert _request(spec, status) == {"cpu": 5000}


def test_an_amount_that_is_no_quantity_is_refused_with_the_name_of_its_pod():
    with pytest.raises(InputError, match=r"E2204 object 'pod shop/web': amount of cpu is not a quantity \(lots\)"):
        _request({"containers": [_container(cpu="lots")]})
