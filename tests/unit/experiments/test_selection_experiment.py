"""Selection: labels follow from what was gained, no cluster both teaches and judges, and docs, weights and files agree."""

from datetime import datetime

import numpy as np
import pytest
from experiments.results import rows
from experiments.selection import claims, examples, graphs, judged, label, sources, tables
from experiments.verdicts import Verdict

from bayplan.decide.collocate import assignment_mip
from bayplan.decide.collocate.select.features import feature_graph
from bayplan.decide.collocate.select.networks import GCN, GCN_SIZES, MLP, gcn_scores, mlp_scores, shipped_networks
from bayplan.decide.collocate.select.selector import CG, LABELS, MIP
from bayplan.generate import GENERATORS
from bayplan.generate.rasa import settings

SMALL = label.SMALL


@pytest.fixture(scope="module")
def runs():
    return rows(examples.HERE / examples.RUNS)


@pytest.fixture(scope="module")
def everything():
    return examples.examples()


def fake_run(algorithm, gained, seconds=1.0, seed=1000, ran="yes"):
    about = dict.fromkeys(examples.SUBPROBLEM, "10") | {"seed": str(seed), "part": "0", "affinity": "0.5"}
    times = {"budget": "20", "wall": "20", "seconds": str(seconds), "cpu": str(seconds)}
    search = {"start": "0.05", "ran": ran, "improved": "yes", "proven": "no", "entries": "500"}
    return {**about, "algorithm": algorithm, "gained": str(gained), **times, **search, "commit": "abc", "machine": "a machine"}


def fake(seed, cg, mip):
    (row,) = examples.labelled([fake_run(CG, cg, seed=seed), fake_run(MIP, mip, seed=seed)])
    return row | {"containers": "40", "machines": "20", "types": "10"}


def fake_choices(seeds, **by_kind):
    return [{"name": f"{seed}-0", **by_kind} for seed in seeds]


# ---- labels --------------------------------------------------------------------------------------------------------------------


def test_sources_are_the_same_again_and_none_has_a_seed_that_is_reported_on():
    assert sources.source(SMALL) == sources.source(SMALL)
    assert sources.FIRST_SEED > 9
    (one,), (other,) = (list(sources.parts(sources.source(SMALL))) for _ in range(2))
    assert np.array_equal(one[1].free, other[1].free)
    assert sources.fits(one[1])


@pytest.mark.parametrize("clusters", [40, 340])
def test_the_first_clusters_have_the_whole_spread_of_sizes(clusters):
    drawn = [sources.source(seed) for seed in range(sources.FIRST_SEED, sources.FIRST_SEED + clusters)]
    for sizes, low, high in (([one.settings.services for one in drawn], 35, 4_000), ([one.masters for one in drawn], 10, 240)):
        quarters = np.histogram(np.log(sizes), bins=np.linspace(np.log(low), np.log(high), 5))[0]
        assert quarters.min() >= clusters / 10


def test_shifts_of_the_affinity_go_below_and_above_those_of_the_reported_clusters():
    drawn = [sources.source(seed).settings for seed in range(sources.FIRST_SEED, sources.FIRST_SEED + 340)]
    for cluster in (settings.M1, settings.M3, settings.M4):
        shifts = [one.rank_shift for one in drawn if one.services > cluster.services / 8]
        assert min(shifts) < cluster.rank_shift < max(shifts)


def test_a_label_is_the_better_algorithm_and_a_tie_has_none():
    for cg, mip, better in ((0.2, 0.1, CG), (0.1, 0.2, MIP), (0.2, 0.2 + 4e-5, examples.EQUAL), (0.2, 0.2 + 6e-5, MIP)):
        (row,) = examples.labelled([fake_run(MIP, mip), fake_run(CG, cg)])
        assert row["label"] == better
        assert examples.lost_by(row)[MIP] == pytest.approx(max(0, cg - mip) / 0.5)


def test_what_only_one_algorithm_tried_has_no_label():
    assert examples.labelled([fake_run(CG, 0.2), fake_run(MIP, 0.2, seed=1001)]) == []
    assert examples.labelled([fake_run(CG, 0.2), fake_run(MIP, 0.2, ran="no")]) == []


def test_measuring_goes_on_where_it_stopped(tmp_path, monkeypatch):
    label.measure(tmp_path, [SMALL], LABELS, 0.05, datetime.now())
    assert rows(tmp_path / examples.RUNS) == []
    label.measure(tmp_path, [SMALL], [MIP], 0.05, None)
    assert [(row["algorithm"], row["seed"]) for row in rows(tmp_path / examples.RUNS)] == [(MIP, str(SMALL))]
    monkeypatch.setattr(label, "_warm_up", lambda name: None)
    now = dict.fromkeys(label.FIELDS[len(examples.SUBPROBLEM) + 2 : -2], "0.1") | {"ran": "yes"}
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


def test_rows_are_of_clusters_that_are_not_reported_on_with_their_seconds_of_a_core(runs):
    measured = examples.labelled(runs)
    assert len({examples.name_of(row) for row in measured}) == len(measured)
    assert len({row["budget"] for row in runs}) <= 1
    assert all(int(row["seed"]) >= sources.FIRST_SEED and row["generator"] not in GENERATORS for row in runs)
    assert all(float(row["budget"]) >= 20 and row["ran"] == "yes" for row in runs)
    for row in runs:
        had = float(row["wall"]) * min(1.0, float(row["cpu"]) / float(row["seconds"]))
        assert float(row["seconds"]) < label.EARLY * float(row["wall"]) or had >= 0.89 * float(row["budget"])


# ---- the files of the repository -----------------------------------------------------------------------------------------------


def test_no_cluster_both_teaches_and_judges(everything):
    for cluster in {one.seed for one in everything}:
        assert len({(one.is_held_out, one.fold) for one in everything if one.seed == cluster}) == 1


def test_the_note_of_the_weights_speaks_of_the_choices(runs):
    _, note = shipped_networks()
    choices = rows(tables.CHOICES)
    if not choices:
        pytest.skip("not trained on these labels yet")
    assert note["subproblems"] == len(choices)
    assert note["held out"] == sum(examples.is_held_out(int(row["name"].split("-")[0])) for row in choices)
    assert {str(note["labelling budget, seconds per algorithm"])} == {f"{float(row['budget'])}" for row in runs}


@pytest.mark.parametrize("kind", [GCN, GCN_SIZES, MLP])
def test_the_shipped_weights_choose_what_the_files_say_on_held_out_clusters(kind, everything):
    network, note = shipped_networks()[0][kind], shipped_networks()[1]
    choice_of = {row["name"]: row[kind] for row in rows(tables.CHOICES)}
    judged = [one for one in everything if one.is_held_out and one.name in choice_of]
    if not judged:
        pytest.skip("not trained on these labels yet")
    score = mlp_scores if kind == MLP else gcn_scores
    chosen = [LABELS[int(np.argmax(score(one.graph, network)))] for one in judged]
    assert chosen == [choice_of[one.name] for one in judged]
    right, lost = examples.accuracy([one.label for one in judged], chosen), examples.regret([one.lost for one in judged], chosen)
    assert note["on the held out"][kind] == {"right": pytest.approx(right, abs=1e-4), "lost": pytest.approx(lost, abs=1e-5)}


# ---- tables --------------------------------------------------------------------------------------------------------------------


def test_regret_is_the_share_of_the_affinity_that_the_better_one_would_have_gained():
    lost = [examples.lost_by(fake(1000, 0.3, 0.2)), examples.lost_by(fake(1001, 0.1, 0.2))]
    assert examples.regret(lost, [CG, CG]) == pytest.approx(0.1)  # 0 and 0.1 of 0.5
    assert examples.regret(lost, [CG, MIP]) == 0


def test_a_tie_makes_no_choice_right_or_wrong():
    assert examples.accuracy([CG, MIP, examples.EQUAL, examples.EQUAL], [CG, CG, MIP, CG]) == 0.5
    assert examples.accuracy([examples.EQUAL], [CG]) == 1


def test_choices_are_judged_apart_and_counted_beside_cg():
    measured = [fake(1000, 0.3, 0.2), fake(1001, 0.1, 0.2), fake(1002, 0.1, 0.2), fake(1005, 0.2, 0.1)]
    choices = fake_choices((1000, 1001, 1002, 1005), **{MLP: MIP, GCN: CG, GCN_SIZES: MIP})
    by_method = {line.split("`")[1]: line for line in tables.choice_lines(measured, choices)[2:8]}
    assert by_method["cg"] == "| `cg` | 50.0% | 10.00% | 50.0% | 10.00% | 0 : 0 | +0.00% to +0.00% |"
    assert by_method["mip"].startswith("| `mip` | 50.0% | 10.00% | 50.0% | 10.00% | 1 : 1 | -20.00% to +20.00% |")
    assert by_method["heuristic"] == by_method["cg"].replace("`cg`", "`heuristic`")  # 4 containers, 2 machines of a type


def test_newer_rows_than_the_training_are_counted_and_not_judged():
    measured = [fake(seed, 0.3, 0.2) for seed in (1000, 1001, 1002)]
    choices = fake_choices((1000, 1002), **{MLP: MIP, GCN: CG, GCN_SIZES: MIP})
    assert "1 newer ones are not judged yet" in tables.choice_lines(measured, choices)[-1]
    assert tables.choice_lines(measured, []) == tables.verdict_lines(measured, []) == tables.UNTRAINED


def test_the_interval_is_over_clusters_and_holds_the_mean():
    measured = [fake(999 + 3 * k, 0.3, 0.2) for k in range(20)] + [fake(1500 + 3 * k, 0.1, 0.2) for k in range(5)]
    choices = fake_choices([row["seed"] for row in measured], **{MLP: MIP, GCN: CG, GCN_SIZES: MIP})
    held = judged.judged(measured, choices, held_out=True)
    low, high = held.interval(CG, MIP)
    assert low < held.regret(MIP) - held.regret(CG) < high
    assert 0 < high - low < 0.2


def test_the_page_says_how_long_the_labels_took_and_what_was_not_tested():
    (few,) = tables.budget_lines([fake(1000, 0.3, 0.2)])
    assert "20 s for each algorithm" in few and "fewer than the 300" in few and "60 s has not been tested" in few
    (many,) = tables.budget_lines([fake(1000, 0.3, 0.2) | {"budget": "60"}] * 300)
    assert "fewer" not in many and "not been tested" not in many


def test_each_size_has_its_line_and_a_run_without_a_search_is_told():
    runs = [fake_run(CG, 0.3), fake_run(MIP, 0.2), fake_run(CG, 0.3, seed=1001), fake_run(MIP, 0.2, seed=1001, ran="no")]
    lines = tables.label_lines(examples.labelled(runs), runs)
    assert lines[2] == "| 0 to 299 | 1 | 100% | 0% | 0% | 0.00% | 20.00% | 100% | 0% |"
    assert "In 1 more it had no time to search" in " ".join(lines)


def test_claims_compare_the_gcn_with_each_other_method():
    measured = [fake(999 + 3 * k, 0.3, 0.2) for k in range(5)]
    choices = fake_choices([row["seed"] for row in measured], **{MLP: MIP, GCN: CG, GCN_SIZES: MIP})
    verdicts = {claim.text.split("`")[3]: claim.verdict for claim in claims.selection_claims(measured, choices)}
    assert verdicts == {CG: Verdict.NOT, MIP: Verdict.REPRODUCED, "heuristic": Verdict.NOT, MLP: Verdict.REPRODUCED}
    assert {claim.verdict for claim in claims.selection_claims(measured, [])} == {Verdict.UNTESTED}


def test_one_better_choice_among_many_is_a_direction_only():
    measured = [fake(999 + 3 * k, 0.3, 0.2) for k in range(40)]
    choices = fake_choices([row["seed"] for row in measured], **{MLP: CG, GCN: CG, GCN_SIZES: CG})
    choices[0] = choices[0] | {MLP: MIP}
    verdicts = {claim.text.split("`")[3]: claim.verdict for claim in claims.selection_claims(measured, choices)}
    assert verdicts[MIP] is Verdict.REPRODUCED and verdicts[MLP] is Verdict.DIRECTION


def test_the_tables_in_the_docs_are_those_of_the_files(runs):
    text = tables.DOCS.read_text(encoding="utf-8")
    assert tables.written(text, runs, rows(tables.CHOICES)) == text


def test_a_page_without_rows_says_so():
    text = tables.written(tables.DOCS.read_text(encoding="utf-8"), [], [])
    assert text.count(tables.NOTHING[0]) == text.count(tables.UNTRAINED[0]) == 2
