"""Selection: labels follow from what was gained, no cluster both teaches and judges, and docs, weights and files agree."""

from datetime import datetime

import numpy as np
import pytest
from experiments.results import rows
from experiments.selection import examples, graphs, label, sources, tables

from bayplan.decide.collocate import assignment_mip
from bayplan.decide.collocate.select.features import feature_graph
from bayplan.decide.collocate.select.networks import GCN, GCN_SIZES, MLP, gcn_scores, mlp_scores, shipped_networks
from bayplan.decide.collocate.select.selector import CG, LABELS, MIP
from bayplan.generate import GENERATORS

SMALL = label.SMALL


@pytest.fixture(scope="module")
def runs():
    return rows(examples.HERE / examples.RUNS)


@pytest.fixture(scope="module")
def everything():
    return examples.examples()


def fake_run(algorithm, gained, seconds=1.0, seed=1000):
    about = dict.fromkeys(examples.SUBPROBLEM, "1") | {"seed": str(seed), "part": "0", "affinity": "0.5"}
    return {**about, "algorithm": algorithm, "budget": "3", "gained": str(gained), "seconds": str(seconds)}


def fake(seed, cg, mip):
    fixed = {"part": "0", "services": "10", "containers": "40", "machines": "20", "types": "10", "affinity": "0.5"}
    fixed |= {"budget": "2", "cg_seconds": "2", "mip_seconds": "2"}
    return {**fixed, "seed": str(seed), "cg": str(cg), "mip": str(mip), "label": CG if cg > mip else MIP}


# ---- labels --------------------------------------------------------------------------------------------------------------------


def test_sources_are_the_same_again_and_none_has_a_seed_that_is_reported_on():
    assert sources.source(SMALL) == sources.source(SMALL)
    assert sources.FIRST_SEED > 9
    (one,), (other,) = (list(sources.parts(sources.source(SMALL))) for _ in range(2))
    assert np.array_equal(one[1].free, other[1].free)
    assert sources.fits(one[1])


def test_a_label_is_the_better_algorithm_and_of_equals_the_faster():
    for cg, mip, said in (((0.2, 3.0), (0.1, 1.0), CG), ((0.2, 3.0), (0.2, 1.0), MIP), ((0.2, 1.0), (0.2, 3.0), CG)):
        (row,) = examples.labelled([fake_run(MIP, *mip), fake_run(CG, *cg)])
        assert row["label"] == said
        assert examples.lost_by(row)[MIP] == pytest.approx((cg[0] - mip[0]) / 0.5)


def test_what_only_one_algorithm_tried_has_no_label():
    assert examples.labelled([fake_run(CG, 0.2), fake_run(MIP, 0.2, seed=1001)]) == []


def test_measuring_goes_on_where_it_stopped(tmp_path, monkeypatch):
    label.measure(tmp_path, [SMALL], LABELS, 0.05, datetime.now())
    assert rows(tmp_path / examples.RUNS) == []
    label.measure(tmp_path, [SMALL], [MIP], 0.05, None)
    assert [(row["algorithm"], row["seed"]) for row in rows(tmp_path / examples.RUNS)] == [(MIP, str(SMALL))]
    monkeypatch.setattr(label, "_warm_up", lambda name: None)
    now = dict.fromkeys(label.FIELDS[len(examples.SUBPROBLEM) + 2 : -2], "0.1")
    monkeypatch.setattr(label, "measured", lambda subproblem, name, _: now if name == CG else pytest.fail("measured again"))
    label.measure(tmp_path, [SMALL], LABELS, 0.05, None)
    (found,) = examples.examples(tmp_path)
    assert (found.name, found.lost[found.label]) == (f"{SMALL}-0", 0)


def test_shards_part_the_clusters(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(label, "measure", lambda folder, clusters, *_: seen.append(set(clusters)))
    for shard in ("1/2", "2/2"):
        label.main(["--clusters", "7", "--shard", shard, "--out", str(tmp_path / "new")])
    assert seen[0] | seen[1] == set(range(1000, 1007))
    assert not seen[0] & seen[1]


def test_the_integer_program_is_tried_whatever_its_size(monkeypatch):
    monkeypatch.setattr(assignment_mip, "MOST_ENTRIES", 0)
    ((_, subproblem),) = sources.parts(sources.source(SMALL))
    row = label.measured(subproblem, MIP, 0.3)
    assert row["ran"] == "yes"
    assert (float(row["gained"]) > float(row["start"])) is (row["improved"] == "yes")


def test_a_run_without_its_seconds_of_the_processor_is_tried_again_and_never_written(monkeypatch):
    ((_, subproblem),) = sources.parts(sources.source(SMALL))
    given, shares = [], iter([0.5, 0.5])

    def clocked(subproblem, name, wall):
        given.append(wall)
        share = next(shares, 0.1)
        return label.Clocked(answer=subproblem.now * 0, wall=wall, seconds=wall, cpu=share * wall)

    monkeypatch.setattr(label, "clocked", clocked)
    assert label.measured(subproblem, CG, 20.0)["cpu"] == "20.000"
    assert given == [20.0, 40.0]
    assert label.measured(subproblem, CG, 20.0) is None


def test_an_answer_that_violates_a_rule_ends_the_experiment(monkeypatch):
    ((_, subproblem),) = sources.parts(sources.source(SMALL))
    monkeypatch.setattr(label, "ALGORITHMS", {CG: lambda subproblem, seconds: np.full(subproblem.shape, 99)})
    with pytest.raises(SystemExit, match=r"cg: .*too full"):
        label.measured(subproblem, CG, 1.0)


def test_a_kept_graph_is_what_it_was(tmp_path):
    ((_, subproblem),) = sources.parts(sources.source(SMALL))
    graph = feature_graph(subproblem)
    graphs.keep(tmp_path / "g.zip", "x", graph)
    graphs.keep(tmp_path / "g.zip", "x", graph)
    (back,) = graphs.kept(tmp_path / "g.zip").values()
    assert back.feature == pytest.approx(graph.feature, rel=1e-4)
    assert (back.a.tolist(), back.b.tolist(), back.types) == (graph.a.tolist(), graph.b.tolist(), graph.types)
    networks, _ = shipped_networks()
    assert gcn_scores(back, networks[GCN]) == pytest.approx(gcn_scores(graph, networks[GCN]), abs=1e-3)


def test_there_are_a_few_hundred_labels_of_clusters_that_are_not_reported_on(runs):
    found = examples.labelled(runs)
    assert len(found) >= 300
    assert len({examples.name_of(row) for row in found}) == len(found) == len(runs) / 2
    assert len({row["budget"] for row in runs}) == 1
    assert min(int(row["seed"]) for row in found) >= sources.FIRST_SEED
    assert not {row["generator"] for row in found} & set(GENERATORS)


# ---- training ------------------------------------------------------------------------------------------------------------------


def test_no_cluster_both_teaches_and_judges(everything):
    for cluster in {one.seed for one in everything}:
        assert len({(one.is_held_out, one.fold) for one in everything if one.seed == cluster}) == 1
    assert {one.fold for one in everything if not one.is_held_out} == set(range(examples.FOLDS))


def test_the_note_of_the_weights_speaks_of_the_labels(runs, everything):
    _, note = shipped_networks()
    assert note["subproblems"] == len(examples.labelled(runs))
    assert note["held out"] == sum(one.is_held_out for one in everything)
    assert {str(note["labelling budget, seconds per algorithm"])} == {f"{float(row['budget'])}" for row in runs}


@pytest.mark.parametrize("kind", [GCN, GCN_SIZES, MLP])
def test_the_shipped_weights_choose_what_the_files_say_on_held_out_clusters(kind, everything):
    network, note = shipped_networks()[0][kind], shipped_networks()[1]
    told = {row["name"]: row[kind] for row in rows(tables.CHOICES)}
    judged = [one for one in everything if one.is_held_out]
    score = mlp_scores if kind == MLP else gcn_scores
    said = [LABELS[int(np.argmax(score(one.graph, network)))] for one in judged]
    assert said == [told[one.name] for one in judged]
    assert note["on the held out"][kind]["right"] == pytest.approx(examples.accuracy(judged, said), abs=1e-4)
    assert note["on the held out"][kind]["lost"] == pytest.approx(examples.regret(judged, said), abs=1e-5)


def test_torch_computes_what_numpy_computes(everything):
    pytest.importorskip("torch")
    from experiments.selection import networks

    some = [one.graph for one in everything[:6]]
    scale = networks.scale_of(some)
    for kind in (GCN, GCN_SIZES, MLP):
        layers = networks.new_layers(kind, np.random.default_rng(1))
        theirs = networks.forward(kind, layers, networks.batch(some, scale)).detach().numpy()
        ours = networks.frozen(kind, layers, scale)
        score = mlp_scores if kind == MLP else gcn_scores
        assert np.array([score(graph, ours) for graph in some]) == pytest.approx(theirs, abs=1e-9)


def test_training_learns_a_rule_and_twice_the_same_one(everything, monkeypatch):
    pytest.importorskip("torch")
    from experiments.selection import train

    monkeypatch.setattr(train, "EPOCHS", 150)
    many = np.median([one.graph.machines for one in everything[:40]])
    taught = [_taught(one, one.graph.machines > many) for one in everything[:40]]
    one, other = (train.train(GCN_SIZES, taught) for _ in range(2))
    assert all(np.array_equal(a.matrix, b.matrix) for a, b in zip(one.layer, other.layer, strict=True))
    assert examples.accuracy(taught, train.choices(GCN_SIZES, one, taught)) > 0.9


def _taught(one, is_large):
    lost = {CG: 0.0, MIP: 0.1} if is_large else {CG: 0.1, MIP: 0.0}
    return examples.Example(name=one.name, seed=one.seed, graph=one.graph, label=CG if is_large else MIP, lost=lost)


# ---- tables --------------------------------------------------------------------------------------------------------------------


def test_regret_is_the_share_of_the_affinity_that_the_better_one_would_have_gained():
    some = [fake(1000, 0.3, 0.2), fake(1001, 0.1, 0.2)]
    assert tables.regret(some, [CG, CG]) == pytest.approx(0.1)  # 0 and 0.1 of 0.5
    assert tables.regret(some, [CG, MIP]) == 0


def test_choices_are_judged_apart_and_counted_beside_cg():
    some = [fake(1000, 0.3, 0.2), fake(1001, 0.1, 0.2), fake(1002, 0.1, 0.2), fake(1005, 0.2, 0.1)]
    told = [{"name": f"{seed}-0", MLP: MIP, GCN: CG, GCN_SIZES: MIP} for seed in (1000, 1001, 1002, 1005)]
    by_method = {line.split("`")[1]: line for line in tables.choice_lines(some, told)[2:8]}
    assert by_method["cg"] == "| `cg` | 50.0% | 10.00% | 50.0% | 10.00% | 0 : 0 |"
    assert by_method["mip"] == "| `mip` | 50.0% | 10.00% | 50.0% | 10.00% | 1 : 1 |"
    assert by_method["heuristic"] == by_method["cg"].replace("`cg`", "`heuristic`")  # 4 containers, 2 machines of a type


def test_who_takes_longer_than_told_did_not_keep_its_time():
    assert tables.kept_time(fake(1000, 0.3, 0.2) | {"cg_seconds": "2.5"})
    assert not tables.kept_time(fake(1000, 0.3, 0.2) | {"cg_seconds": "2.6"})


def test_the_tables_in_the_docs_are_those_of_the_files(runs):
    text = tables.DOCS.read_text(encoding="utf-8")
    assert tables.written(text, runs, rows(tables.CHOICES)) == text
