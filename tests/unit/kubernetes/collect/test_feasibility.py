"""Would the scheduler put a container on a machine?"""

from tests.builders.kubernetes_objects import REQUIRED, collect, deployment, node, pod, term

from bayplan.kubernetes.collect.feasibility import obstacles


def _obstacles(read, container, machine):
    cluster = read.snapshot.cluster
    found = obstacles(read.snapshot, cluster.containers.name.index(container), cluster.machines.name.index(machine))
    return [one.rule for one in found]


APART = {"affinity": {"podAntiAffinity": {REQUIRED: [term("db")]}}}


def test_what_fits_meets_no_obstacle_and_what_does_not_fit_meets_its_rule():
    web = [*deployment("web", 1), pod("web-0", "a", owner="web", requests={"cpu": "2"})]
    read = collect(node("a"), node("b"), node("small", cpu="1"), web)
    assert _obstacles(read, "shop/web-0", "b") == []
    assert _obstacles(read, "shop/web-0", "small") == ["capacity"]


def test_a_violation_elsewhere_is_no_obstacle_and_one_here_is_though_it_was_there_before():
    db = [*deployment("db", 1), pod("db-0", "a", owner="db", labels={"app": "db"})]
    web = [*deployment("web", 2), *(pod(f"web-{k}", on, owner="web", **APART) for k, on in enumerate("ab"))]
    read = collect(node("a"), node("b"), node("c"), db, web)  # web-0 runs beside db-0
    assert _obstacles(read, "shop/web-1", "c") == []
    assert _obstacles(read, "shop/web-1", "a") == ["interference"]


def test_a_resource_that_a_container_does_not_request_is_no_obstacle():
    over = pod("greedy", "a", requests={"cpu": "9"})
    web = [*deployment("web", 1), pod("web-0", "b", owner="web", requests={"memory": "1Gi"})]
    assert _obstacles(collect(node("a"), node("b"), over, web), "shop/web-0", "a") == []
