"""What the extender reads off a node and a pod."""

import pytest

from bayplan.kubernetes.extender.pods import capacity_of, request_of, running_container, service_of, workload_of

GI = 2**30


def container(cpu="0", memory="0", **parts):
    return {"resources": {"requests": {"cpu": cpu, "memory": memory}}, **parts}


def pod(*containers, kind="", owner="", labels=None, node="n-0", phase="Running", **spec):
    references = [{"kind": kind, "name": owner, "controller": True}] if owner else []
    about = {"name": "web-x", "namespace": "shop", "uid": "u", "labels": labels or {}, "ownerReferences": references}
    return {"metadata": about, "spec": {"containers": list(containers), "nodeName": node, **spec}, "status": {"phase": phase}}


def test_a_node_has_what_is_allocatable():
    assert capacity_of({"status": {"allocatable": {"cpu": "3920m", "memory": "2Gi", "pods": "110"}}}) == (3920.0, 2.0 * GI)
    assert capacity_of({"status": {}}) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("given", "cpu"),
    [
        (pod(container("100m"), container("0.2")), 300),
        (pod(container("100m"), initContainers=[container("500m"), container("50m")]), 500),
        (pod(container("100m"), initContainers=[container("50m", restartPolicy="Always")]), 150),
        (pod(container("100m"), initContainers=[container("50m", restartPolicy="Always"), container("90m")]), 150),
        (pod(container("100m"), initContainers=[container("50m", restartPolicy="Always"), container("200m")]), 250),
        (pod(container("100m"), initContainers=[container("200m"), container("50m", restartPolicy="Always")]), 200),
        (pod(container("100m"), overhead={"cpu": "10m"}), 110),
        (pod(container("100m"), resources={"requests": {"cpu": "700m"}}), 700),
        (pod({}), 0),
        (pod(container("1u")), 1),
    ],
)
def test_a_pod_requests_what_kubernetes_says(given, cpu):
    assert request_of(given)[0] == cpu


@pytest.mark.parametrize(
    ("given", "workload"),
    [
        (pod(kind="ReplicaSet", owner="web-7d9c", labels={"pod-template-hash": "7d9c"}), "shop/web"),
        (pod(kind="ReplicaSet", owner="lone"), "shop/lone"),
        (pod(kind="StatefulSet", owner="db", labels={"pod-template-hash": "db"}), "shop/db"),
        (pod(), "shop/web-x"),
    ],
)
def test_a_pod_belongs_to_its_owner(given, workload):
    assert workload_of(given) == workload and service_of(given) == workload


def test_a_label_says_which_application_a_pod_is_part_of():
    assert service_of(pod(labels={"app.kubernetes.io/part-of": "front"})) == "shop/front"


@pytest.mark.parametrize("given", [pod(node=""), pod(phase="Succeeded"), pod(phase="Failed")])
def test_what_has_no_node_or_has_ended_uses_nothing(given):
    assert running_container(given) is None


def test_a_pod_that_runs_is_a_container_on_its_machine():
    running = running_container(pod(container("1", "1Gi"), kind="StatefulSet", owner="db"))
    assert (running.machine, running.workload, running.service) == ("n-0", "shop/db", "shop/db")
    assert running.request == (1000.0, float(GI))
