"""Files of clusters: what they hold, how they are told, and every fault with its code, its cluster and its line."""

import gzip
from pathlib import Path

import pytest

from bayplan.errors import InputError
from bayplan.formats import ClusterFleet, FleetCluster, read_clusters, write_clusters
from bayplan.formats.clusters import is_clusters_file
from bayplan.formats.document.schemas import schema
from bayplan.model.goal import GOALS

EXAMPLES = Path(__file__).parents[3] / "examples"
HEAD = "bayplan: 1\nkind: clusters\n"


def faults_of(text, tmp_path):
    file = tmp_path / "fleet.yaml"
    file.write_text(HEAD + text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_clusters(file)
    return [(fault.code, fault.name, fault.where) for fault in caught.value.faults]


def test_the_example_says_all_there_is():
    fleet = read_clusters(EXAMPLES / "clusters.yaml")
    assert fleet.name == "europe" and fleet.max_moves == "6%"
    berlin, paris, oslo = fleet.clusters
    assert Path(berlin.file) == EXAMPLES / "clusters" / "berlin.json" and Path(berlin.file).is_file()
    assert paris.max_moves == 10 and paris.freeze == ("cart-redis*",)
    assert oslo.goal == "balance" and oslo.weight == 0.5
    assert fleet.links == (("berlin", "paris", 100), ("paris", "berlin", 100))


@pytest.mark.parametrize("suffix", ["yaml", "json", "json.gz"])
def test_what_is_written_is_read_back(suffix, tmp_path):
    clusters = (
        FleetCluster(name="a", file=str(tmp_path / "files" / "a.json"), goal="balance", max_moves="5%"),
        FleetCluster(name="b", file=str(tmp_path / "b.yaml"), freeze=("db-*",), weight=2.5),
    )
    fleet = ClusterFleet(clusters=clusters, name="two", goal="steady", max_moves=12, links=(("a", "b", 7),))
    path = tmp_path / f"fleet.{suffix}"
    write_clusters(fleet, path)
    assert read_clusters(path) == fleet
    assert is_clusters_file(path)


def test_other_files_are_not_taken_for_a_fleet(tmp_path):
    others = [path for path in EXAMPLES.rglob("*") if path.is_file() and path.name != "clusters.yaml"]
    assert others and not any(map(is_clusters_file, others))
    assert not is_clusters_file(tmp_path / "none.yaml") and not is_clusters_file("-") and not is_clusters_file(tmp_path)
    damaged = tmp_path / "damaged.json.gz"
    damaged.write_bytes(gzip.compress(b'{"kind": "clusters"}')[:12])
    assert not is_clusters_file(damaged)


def test_every_fault_is_reported_at_once_with_its_cluster_and_line(tmp_path):
    text = """max_moves: many
clusters:
  - {name: a/b, file: a.json}
  - {name: c, file: c.json, max_moves: 5 percent}
  - {name: c, file: d.json}
  - {name: e, file: e.json, gaol: balance}
  - {name: f, file: f.json, goal: balanced}
  - {name: g}
"""
    faults = faults_of(text, tmp_path)
    assert {code for code, _, _ in faults} == {"E1523", "E1524", "E1201", "E1108", "E1109", "E1525"}
    assert ("E1523", "a/b", "line 5") in faults
    assert ("E1524", "c", "line 6") in faults
    assert {name for code, name, _ in faults if code == "E1524"} == {"", "c"}


def test_links_lead_from_one_known_cluster_to_another_and_once(tmp_path):
    text = "clusters: [{name: c, file: c.json}]\nlinks: [[c, nowhere, 5], [c, c, 5], [c, nowhere, 6]]\n"
    assert [(code, name) for code, name, _ in faults_of(text, tmp_path)] == [
        ("E1507", "c -> nowhere"),
        ("E1508", "c -> c"),
        ("E1507", "c -> nowhere"),
        ("E1508", "c -> nowhere"),
    ]


def test_a_fleet_without_clusters_is_refused(tmp_path):
    assert [code for code, _, _ in faults_of("clusters: []\n", tmp_path)] == ["E1111"]


def test_its_schema_knows_every_goal():
    assert schema("clusters")["$defs"]["goal"]["enum"] == list(GOALS)


def test_a_cluster_is_a_file_or_a_context(tmp_path):
    text = """clusters:
- {name: a, file: a.json}
- {name: b, context: prod, namespaces: [shop]}
"""
    file = tmp_path / "fleet.yaml"
    file.write_text(HEAD + text, encoding="utf-8")
    fleet = read_clusters(file)
    assert fleet.clusters[1] == FleetCluster(name="b", context="prod", namespaces=("shop",))
    assert [cluster.source for cluster in fleet.clusters] == [str(tmp_path / "a.json"), "context prod"]
    write_clusters(fleet, tmp_path / "again.json")
    assert read_clusters(tmp_path / "again.json").clusters == fleet.clusters


def test_a_cluster_with_both_or_neither_is_a_fault(tmp_path):
    text = """clusters:
- {name: both, file: a.json, context: prod}
- {name: neither}
- {name: scoped, file: a.json, namespaces: [shop]}
"""
    assert [(code, name) for code, name, _ in faults_of(text, tmp_path)] == [
        ("E1525", "both"),
        ("E1525", "neither"),
        ("E1525", "scoped"),
    ]
