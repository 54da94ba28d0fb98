"""Rules between pods."""

from dataclasses import replace

import pytest
from tests.builders.kubernetes_objects import HOST, REQUIRED, ZONE, collect, collected, deployment, node, objects, pod, term

from bayplan.model import Allow, AntiAffinity, Dependency, Interference, Skew

NODES = [node("a", zone="x"), node("b", zone="x"), node("c", zone="y"), node("d")]


def _apart(*terms):
    return {"affinity": {"podAntiAffinity": {REQUIRED: list(terms)}}}


def _near(*terms):
    return {"affinity": {"podAffinity": {REQUIRED: list(terms)}}}


def _app(name, *on, namespace="shop", **spec):
    pods = [pod(f"{name}-{k}", m, owner=name, labels={"app": name}, namespace=namespace, **spec) for k, m in enumerate(on)]
    return [*deployment(name, len(on), namespace=namespace), *pods]


def _rules(read, *kinds):
    return [rule for rule in read.snapshot.cluster.rules if isinstance(rule, kinds)]


def _allowed(read):
    names = read.snapshot.cluster.machines.name
    sets = read.snapshot.cluster.machine_sets
    return {rule.machines: "".join(names[m] for m in sets[rule.machines]) for rule in _rules(read, Allow)}


def test_pods_that_keep_their_like_away_are_one_to_a_domain():
    read = collect(NODES, _app("web", "a", "c", **_apart(term("web", ZONE))))
    assert _rules(read, AntiAffinity, Interference) == [AntiAffinity(workloads=(0,), limit=1, level=1)]


def test_pods_that_keep_others_away_never_meet_them_whoever_comes_first():
    read = collect(NODES, _app("web", "a", **_apart(term("db"))), _app("db", "b"))
    assert _rules(read, AntiAffinity, Interference) == [Interference(a=0, b=1, limit=0, level=0)]


def test_anti_affinity_of_pods_outside_of_the_scope_closes_their_domains():
    other = pod("guard", "a", namespace="other", **_apart(term("web", ZONE, namespaces=["shop"])))
    read = collect(NODES, _app("web", "c"), other, scope=("shop",))
    assert list(_allowed(read).values()) == ["cd"]
    assert not read.unmovable


def test_pods_outside_of_the_scope_that_a_term_means_close_their_domains():
    far = pod("db-0", "a", namespace="other", labels={"app": "db"})
    read = collect(NODES, _app("web", "c", **_apart(term("db", ZONE, namespaceSelector={}))), far, scope=("shop",))
    assert list(_allowed(read).values()) == ["cd"]


def test_a_term_means_its_own_namespace_unless_it_names_others():
    db = _app("db", "b", namespace="other")
    assert not _rules(collect(NODES, _app("web", "a", **_apart(term("db"))), db), Interference)
    assert _rules(collect(NODES, _app("web", "a", **_apart(term("db", namespaces=["other"]))), db), Interference)


def test_namespaces_by_label_need_namespaces():
    by_label = _apart(term("db", namespaceSelector={"matchLabels": {"team": "x"}}))
    team = {"kind": "Namespace", "metadata": {"name": "other", "labels": {"team": "x"}}}
    db = _app("db", "b", namespace="other")
    assert _rules(collect(NODES, _app("web", "a", **by_label), db, team), Interference)
    assert not _rules(collect(NODES, _app("web", "a", **by_label), db), Interference)


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ({"hostPort": 80}, {"hostPort": 80}, True),
        ({"hostPort": 80}, {"hostPort": 81}, False),
        ({"hostPort": 80, "protocol": "UDP"}, {"hostPort": 80}, False),
        ({"hostPort": 80, "hostIP": "10.0.0.1"}, {"hostPort": 80}, True),
        ({"hostPort": 80, "hostIP": "10.0.0.1"}, {"hostPort": 80, "hostIP": "10.0.0.2"}, False),
    ],
)
def test_pods_that_use_one_port_of_a_node_never_share_it(one, other, apart):
    containers = [[{"name": "main", "ports": [port]}] for port in (one, other)]
    read = collect(NODES, _app("web", "a", containers=containers[0]), _app("db", "b", containers=containers[1]))
    assert bool(_rules(read, Interference)) is apart
    assert len(_rules(read, AntiAffinity)) == 2  # each workload has one pod to a node


def test_affinity_to_pods_that_never_move_is_a_set_of_machines():
    cache = pod("cache", "a", labels={"app": "cache"})
    assert _allowed(collect(NODES, cache, _app("web", "b", **_near(term("cache", ZONE))))) == {
        f"nodes with the label {ZONE}": "abc",
        f"near app=cache by {ZONE}": "ab",
    }


def test_affinity_to_a_workload_that_moves_is_a_dependency():
    read = collect(NODES, _app("cache", "a"), _app("web", "b", **_near(term("cache", ZONE))))
    assert _rules(read, Dependency) == [Dependency(service=1, on=0, level=1)]
    assert not read.unmovable


def test_affinity_to_pods_of_several_workloads_that_move_is_refused_for_all_of_them():
    either = {
        "topologyKey": ZONE,
        "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
    }
    read = collect(NODES, _app("a", "a"), _app("b", "b"), _app("web", "b", **_near(either)))
    assert (
        read.refused["shop/web-0"]
        == f"its pods are to be near app in (a, b) by {ZONE}, which are pods of several workloads that move"
    )
    assert read.refused["shop/a-0"] == "pods of shop/web are to be near it"
    assert set(read.unmovable) == {"shop/web-0", "shop/a-0", "shop/b-0"}


def test_pods_that_want_to_be_near_each_other_stay_in_their_one_domain():
    near = _near(term("web", ZONE))
    assert _allowed(collect(NODES, _app("web", "a", "b", **near)))[f"near app=web by {ZONE}"] == "ab"
    read = collect(NODES, _app("web", "a", "c", **near))
    assert read.refused["shop/web-0"] == f"its pods are to be near app=web by {ZONE}, and are in several such domains"


def test_affinity_to_nothing_that_runs_leaves_no_node():
    assert _allowed(collect(NODES, _app("web", "a", **_near(term("cache")))))[f"near app=cache by {HOST}"] == ""


def _spread(app, **more):
    stated = {
        "maxSkew": 2,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    return {"topologySpreadConstraints": [{**stated, **more}]}


def test_topology_spread_is_a_rule_about_skew():
    read = collect(NODES, _app("web", "a", "c", **_spread("web", minDomains=3)))
    labelled = "counted for spread by topology.kubernetes.io/zone"
    assert _rules(read, Skew) == [Skew(workload=0, counted=(0,), limit=2, level=1, machines=labelled, min_groups=3)]
    assert read.snapshot.cluster.machine_sets[labelled].tolist() == [0, 1, 2]  # d is in no zone
    assert _allowed(read) == {"nodes with the labels of its topology spread": "abc"}


def test_topology_spread_counts_all_workloads_that_it_selects_on_the_nodes_that_it_may_use():
    both = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
    tainted = node("e", zone="y", taints=[{"key": "k", "effect": "NoSchedule"}])
    web = _app("web", "a", nodeSelector={ZONE: "y"}, **_spread("web", labelSelector=both, nodeTaintsPolicy="Honor"))
    read = collect(NODES, tainted, web, _app("db", "b"))
    (rule,) = _rules(read, Skew)
    assert rule.counted == (0, 1)
    assert read.snapshot.cluster.machine_sets[rule.machines].tolist() == [2]
    read = collect(NODES, tainted, _app("web", "a", nodeSelector={ZONE: "y"}, **_spread("web", nodeAffinityPolicy="Ignore")))
    (rule,) = _rules(read, Skew)
    assert read.snapshot.cluster.machine_sets[rule.machines].tolist() == [0, 1, 2, 4]


def test_spread_that_may_be_violated_is_no_rule():
    assert not _rules(collect(NODES, _app("web", "a", **_spread("web", whenUnsatisfiable="ScheduleAnyway"))), Skew)


def test_labels_that_pods_must_share_are_those_of_the_pod():
    web = _app("web", "a", **_spread("web", matchLabelKeys=["version"]))
    web[2]["metadata"]["labels"]["version"] = "2"
    other = pod("old", "b", labels={"app": "web", "version": "1"})
    read = collect(NODES, web, other)
    (rule,) = _rules(read, Skew)
    assert [read.snapshot.cluster.workloads.name[w] for w in rule.counted] == ["shop/web"]


def test_where_namespaces_were_not_read_anti_affinity_by_their_labels_keeps_everything_where_it_is():
    by_label = _apart(term("db", namespaceSelector={"matchLabels": {"team": "x"}}))
    read = objects(NODES, _app("web", "a", **by_label), _app("db", "b"))
    unread = replace(read, items={kind: items for kind, items in read.items.items() if kind != "Namespace"})
    assert set(collected(unread).refused) == {"shop/web-0", "shop/db-0"}
