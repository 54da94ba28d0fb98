"""Pods without what placement does not depend on."""

from copy import deepcopy

from tests.builders.kubernetes_objects import collected, deployment, node, objects, pod

from bayplan.kubernetes.collect.reading.slim import SharedSpecs


def _full(name, **spec):
    one = pod(name, "a", owner="web", labels={"app": "web"}, tolerations=[{"operator": "Exists"}], **spec)
    one["metadata"]["managedFields"] = [{"manager": "x"}]
    one["spec"]["containers"][0] |= {
        "env": [{"name": "TOKEN", "value": "secret"}],
        "image": "x",
        "ports": [{"containerPort": 8080}],
    }
    one["spec"]["volumes"] = [{"name": "config", "configMap": {}}, {"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]
    return one


def test_environment_images_and_managed_fields_are_left_out():
    slim = SharedSpecs().slim_pod(_full("web-0"))
    assert "secret" not in str(slim)
    assert "managedFields" not in slim["metadata"]
    assert slim["spec"]["containers"] == [{"name": "main", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]
    assert [volume["name"] for volume in slim["spec"]["volumes"]] == ["data"]


def test_replicas_share_what_they_have_in_common():
    specs = SharedSpecs()
    one, other = specs.slim_pod(_full("web-0")), specs.slim_pod(_full("web-1"))
    assert one["spec"]["containers"] is other["spec"]["containers"]
    assert one["spec"]["tolerations"] is other["spec"]["tolerations"]
    assert one["metadata"]["labels"] is other["metadata"]["labels"]


def test_nothing_that_counts_is_lost():
    whole = [_full(f"web-{k}", nodeSelector={"disk": "ssd"}, overhead={"cpu": "1"}) for k in range(2)]
    for one in whole:
        one["spec"]["volumes"] = []
    slim = [SharedSpecs().slim_pod(deepcopy(one)) for one in whole]
    others = [node("a"), node("b"), *deployment("web", 2)]
    reads = [collected(objects(*others, *pods)) for pods in (whole, slim)]
    assert reads[0].pods == reads[1].pods
    assert reads[0].snapshot.cluster.rules == reads[1].snapshot.cluster.rules
    assert (reads[0].snapshot.cluster.workloads.request == reads[1].snapshot.cluster.workloads.request).all()
