"""One cluster under three ways to run it: seeds give the same cluster, figures are what they say, and the page is fresh."""

import pytest
from experiments.kubernetes.apps import apps_of, traffic_of
from experiments.kubernetes.measures import (
    Listed,
    PendingWatcher,
    cpu_utilisation,
    figures,
    gained_affinity,
    is_pending,
    uneven_deployments,
)
from experiments.kubernetes.pages import CELLS, DOCS, HERE, blocks
from experiments.kubernetes.settings import ALONE, ARMS, BOTH, KEY, LOW, PLANS, POLICIES, QUICK, SCOPES, SPREAD, ZONES, Scope
from experiments.results import on_page, rows

ZONE = "topology.kubernetes.io/zone"


def node(name, zone, cpu="4"):
    return {"metadata": {"name": name, "labels": {ZONE: zone}}, "status": {"allocatable": {"cpu": cpu}}}


def pod(app, number, on, *, phase="Running", cpu="500m"):
    where = {"nodeName": on} if on else {}
    return {
        "metadata": {"name": f"{app}-{number}", "uid": f"{app}-{number}", "namespace": "shop", "labels": {"app": app}},
        "spec": {"containers": [{"resources": {"requests": {"cpu": cpu}}}], **where},
        "status": {"phase": phase},
    }


def owner(name, replicas, **spec):
    return {"metadata": {"name": name}, "spec": {"replicas": replicas, "template": {"spec": spec}}}


def cluster(*placed, spread=()):
    """Two Deployments on three nodes, one in each zone: `placed` are pairs of Deployment and node."""
    pods = [pod(app, number, on, phase="Running" if on else "Pending") for number, (app, on) in enumerate(placed)]
    even = {"topologySpreadConstraints": [{"topologyKey": ZONE, "maxSkew": 1}]}
    sizes = {app: sum(name == app for name, _ in placed) for app in ("web", "cart")}
    owners = [owner(app, size, **(even if app in spread else {})) for app, size in sizes.items()]
    return Listed(nodes=[node(f"n{k}", zone) for k, zone in enumerate(ZONES)], deployments=owners, pods=pods)


def test_a_seed_gives_the_same_deployments_and_traffic_and_another_seed_others():
    for scope in (*SCOPES.values(), QUICK):
        apps = apps_of(scope, 0)
        assert (len(apps), sum(app.replicas for app in apps)) == (scope.deployments, scope.pods)
        assert apps == apps_of(scope, 0) != apps_of(scope, 1)
        assert traffic_of(apps, 0) == traffic_of(apps, 0) != traffic_of(apps, 1)


def test_every_deployment_may_lose_a_pod_and_those_apart_fit_on_the_open_nodes():
    for seed in range(5):
        for app in apps_of(Scope(), seed):
            _, budget = app.objects()
            assert budget["spec"]["maxUnavailable"] >= 1
            assert app.kind != 1 or max(app.first, app.replicas) <= 50


def test_the_churn_of_a_seed_scales_up_and_down():
    apps = apps_of(Scope(), 0)
    assert any(app.first < app.replicas for app in apps)
    assert any(app.first > app.replicas for app in apps)


def test_half_of_the_traffic_is_local_if_half_of_the_replicas_are_together():
    together = cluster(("web", "n0"), ("web", "n1"), ("cart", "n0"), ("cart", "n2"))
    assert gained_affinity(together, {("web", "cart"): 7.0}) == pytest.approx(0.5)
    apart = cluster(("web", "n0"), ("web", "n1"), ("cart", "n2"), ("cart", None))
    assert gained_affinity(apart, {("web", "cart"): 7.0}) == 0.0


def test_utilisation_counts_requests_of_pods_that_have_a_node():
    load = cpu_utilisation(cluster(("web", "n0"), ("web", "n0"), ("cart", "n1"), ("cart", None)))
    assert load == {"n0": 0.25, "n1": 0.125, "n2": 0.0}


def test_a_deployment_is_uneven_only_by_its_own_limit():
    placed = [("web", "n0"), ("web", "n0"), ("web", "n1"), ("cart", "n2"), ("cart", "n2")]
    assert uneven_deployments(cluster(*placed)) == []
    assert uneven_deployments(cluster(*placed, spread=("web", "cart"))) == ["web", "cart"]
    assert uneven_deployments(cluster(*placed[1:], spread=("web",))) == []


def test_figures_name_the_hottest_node_and_pods_that_wait():
    found = figures(cluster(("web", "n0"), ("web", "n0"), ("cart", None)), {("web", "cart"): 1.0})
    assert (found["hottest"], found["pending"]) == (0.25, 1.0)
    assert found["deviation"] == pytest.approx(0.25 * 2**0.5 / 3)


def test_a_pod_that_ends_is_not_pending():
    waits = pod("web", 1, None, phase="Pending")
    assert is_pending(waits)
    waits["metadata"]["deletionTimestamp"] = "now"
    assert not is_pending(waits)


def test_the_watcher_keeps_the_most_pods_that_were_pending_at_once(monkeypatch):
    monkeypatch.setattr("tests.kubernetes.watcher._connection", lambda path: ("", None))
    monkeypatch.setattr("tests.kubernetes.watcher.Watcher.__enter__", lambda self: self)
    watcher = PendingWatcher(HERE).__enter__()
    for kind, number, on in (
        ("ADDED", 1, None),
        ("ADDED", 2, None),
        ("MODIFIED", 1, "n0"),
        ("ADDED", 3, None),
        ("DELETED", 2, None),
    ):
        watcher._see(watcher._pods, kind, pod("web", number, on, phase="Running" if on else "Pending"))
    assert watcher.counted() == {"most_pending": 2.0, "budget_violations": 0.0, "capacity_violations": 0.0}


def test_every_arm_is_asked_once_for_each_seed_and_is_known():
    assert set(ARMS) == {ALONE, *POLICIES, *PLANS}
    assert {LOW, SPREAD, BOTH} == set(POLICIES)
    keys = [cell.key for cell in Scope().cells()]
    assert len(keys) == len(set(keys)) == len(ARMS) * len(Scope().seeds)
    assert {cell.arm for cell in QUICK.cells()} <= set(ARMS)


def test_the_page_is_made_from_the_rows_that_are_kept():
    measured = rows(HERE / CELLS)
    assert measured
    assert {row["arm"] for row in measured} <= set(ARMS)
    assert len({tuple(row[name] for name in KEY) for row in measured}) == len(measured)
    page = DOCS.read_text(encoding="utf-8")
    for marker, lines in blocks(measured).items():
        start, end = f"<!-- {marker}: generated -->\n", f"<!-- {marker}: end -->"
        assert page.partition(start)[2].partition(end)[0] == "\n".join([*on_page(lines), ""])


def test_all_arms_of_a_cluster_began_from_the_same_state():
    began = {}
    for row in rows(HERE / CELLS):
        state = {name: value for name, value in row.items() if name.endswith("_before")}
        assert began.setdefault((row["nodes"], row["seed"]), state) == state


def test_a_table_names_the_arms_that_were_not_measured():
    measured = rows(HERE / CELLS)
    alone = [row for row in measured if row["arm"] == ALONE][:1]
    (words,) = [line for line in blocks(alone)["compared-arms"] if line.startswith("Seed")]
    assert f"{len(ARMS) - 1} of {len(ARMS)} arms were not measured" in words
    assert all(arm in words for arm in ARMS if arm != ALONE)
