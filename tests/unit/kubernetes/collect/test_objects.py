"""What is asked of an API server."""

import pytest
from tests.builders.kubernetes_objects import node, pod

from bayplan.kubernetes.client import Listing, RefusedError
from bayplan.kubernetes.collect.objects import KINDS, read_objects


class _Server:
    """Answers lists from a table, and refuses some of them."""

    context = "prod"

    def __init__(self, refused=()):
        self.refused, self.asked = refused, []

    def list(self, path, each=None, **parameters):
        self.asked.append((path, parameters))
        plural = path.rsplit("/", 1)[-1]
        if plural in self.refused:
            raise RefusedError(f"{path}: 403", status=403, reason="Forbidden")
        items = {"pods": [pod("web", "a")], "nodes": [node("a")]}.get(plural, [])
        return Listing(items=[each(item) for item in items], resource_version=str(100 + len(self.asked)))


def test_pods_and_nodes_are_read_everywhere_and_owners_in_the_scope():
    server = _Server()
    read = read_objects(server, ["shop", "blog"])
    paths = [path for path, _ in server.asked]
    assert "/api/v1/pods" in paths
    assert {"/apis/apps/v1/namespaces/shop/deployments", "/apis/apps/v1/namespaces/blog/deployments"} <= set(paths)
    assert "/apis/apps/v1/deployments" not in paths
    assert "/api/v1/persistentvolumes" in paths
    assert set(read.items) == set(KINDS)
    assert (read.version, read.source) == (101, "prod")


def test_without_a_scope_everything_is_read_from_all_namespaces():
    server = _Server()
    read_objects(server)
    assert all("/namespaces/" not in path for path, _ in server.asked)


def test_finished_pods_are_not_asked_for():
    server = _Server()
    read_objects(server)
    assert dict(server.asked)["/api/v1/pods"] == {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}


def test_a_kind_that_may_not_be_listed_is_missing_with_why_and_pods_may_not_be_missing():
    read = read_objects(_Server(refused=["poddisruptionbudgets"]))
    assert read.missing == {"PodDisruptionBudget": "403 Forbidden"}
    assert not read.has("PodDisruptionBudget")
    with pytest.raises(RefusedError):
        read_objects(_Server(refused=["pods"]))
