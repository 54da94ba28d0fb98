"""Tables and verdicts of the FreeContainer experiments are made from the CSV files, and from nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.freecontainer import pages, real, run
from experiments.freecontainer.cells import FIELDS, Cell, cells, key_of, row, solved
from experiments.freecontainer.claims import claims_in
from experiments.freecontainer.instances import DISTANCE, new_service, running
from experiments.freecontainer.measures import balance_if_level
from experiments.freecontainer.place_claims import placing
from experiments.freecontainer.rebalance_claims import lowest_total, rebalancing
from experiments.freecontainer.settings import (
    FULL,
    JOINT,
    NO_THRESHOLD,
    QUICK,
    SEQUENTIAL,
    SMALL,
    SWEEPS,
    TABLES,
    THRESHOLD,
    A,
    B,
)
from experiments.freecontainer.statistics import Series
from experiments.freecontainer.tables import place_lines, real_lines, rebalance_lines
from experiments.results import ROOT, put, rows
from experiments.sweeps import shard_of
from experiments.verdicts import Verdict

from bayplan.formats.builder import ClusterBuilder
from bayplan.formats.traces import CallGraph
from bayplan.generate.boutique import boutique
from bayplan.model import Objective
from bayplan.score.balance import balance_cost


def fake(table, method, seed, value, centre=A, **setting):
    """A row in which every cost is `value`."""
    row = dict.fromkeys(FIELDS, str(value))
    threshold = THRESHOLD if method in SWEEPS else NO_THRESHOLD
    usual = {"delta": "0.02", "transient": SEQUENTIAL, "threshold": threshold, "rules_violated": "0", "allowed": "1"}
    fixed = {"table": table, "method": method, "seed": str(seed), "centre": centre, "commit": "abc", "machine": "a machine"}
    return {**row, **usual, **fixed, **{name: str(chosen) for name, chosen in setting.items()}}


def both(values, table="table6", seeds=range(10)):
    return [fake(table, method, seed, value, centre) for centre in (A, B) for seed in seeds for method, value in values.items()]


REBALANCED = {"start": 4.0, "sweep-search": 1.0, "nls": 2.0, "greedy": 3.0, "literal-greedy": 3.5, "search": 0.5}
PLACED = {"ca-wfd": 1.0, "random": 3.0, "ha": 5.0, "enf": 2.0, "binpack": 4.0, "best": 0.5}


def named(claims):
    return {f"{claim.where}: {claim.text}": claim for claim in claims}


@pytest.mark.parametrize(("nls", "word"), [(1 / (1 - 0.306), "reproduced"), (1.1, "direction only"), (4.0, "direction only")])
def test_a_gain_is_judged_on_both_sides_of_the_papers(nls, word):
    claim = named(rebalancing(Series(both({**REBALANCED, "nls": nls}))))["Table VI, DC_A: U of S&S is below nls"]
    assert claim.verdict == word


def test_gains_are_relative_to_the_other_method_seed_by_seed():
    rows_ = [*both({**REBALANCED, "nls": 2.0}, seeds=[0]), *both({**REBALANCED, "nls": 0.5}, seeds=[1])]
    claim = named(rebalancing(Series(rows_)))["Table VI, DC_A: U of S&S is below nls"]
    assert claim.stated == "30.6 %"
    assert claim.ours == "-25.0 %"  # (1 - 1/2) and (1 - 1/0.5)
    assert claim.cases == "1 of 2"
    assert claim.verdict is Verdict.NOT


def test_every_claim_about_placing_gets_a_verdict():
    measured = both(PLACED, "table4") + both({"ws-dp": 2.0, "c-c": 3.0}, "table5")
    by_text = named(placing(Series(measured)))
    assert by_text["Table IV, DC_B: U of CA-WFD is below the others by up to (here ha)"].ours == "80.0 %"
    assert by_text["Table IV, DC_A: ENF is second in U, so below the other baselines"].verdict is Verdict.REPRODUCED
    assert by_text["Table IV, DC_A: HA is worst in C"].verdict is Verdict.REPRODUCED
    assert by_text["Table V, DC_A: C-C is slightly better than DR-WS in C"].verdict is Verdict.NOT
    assert sum("Table IV" in text for text in by_text) == 2 * 7
    assert sum("Table V," in text for text in by_text) == 2 * 6
    assert sum("Figure 4" in text for text in by_text) == 3


def test_the_seed_in_which_our_method_is_beaten_is_named():
    measured = [*both(REBALANCED, seeds=range(3)), fake("table6", "search", 2, 1.5, B)]
    sentences = list(lowest_total(Series(measured), "search", ("sweep-search", "nls")))
    assert sentences[0].endswith("**yes**.")
    assert sentences[1].endswith("**no: seed 2 (sweep-search)**.")


def test_a_table_says_where_another_method_has_the_lower_total():
    lines = place_lines(both({**PLACED, "enf": 0.9}, "table4"))
    assert any(line.startswith("| enf | DC_A | -11.1 % (0 of 10)") and line.endswith("| enf |") for line in lines)
    assert any(line.startswith("| ha | DC_A | 80.0 % (10 of 10)") and line.endswith("| CA-WFD |") for line in lines)


def test_tables_of_delta_and_stages_take_sweep_search_from_table_6():
    wide = [fake("table8", "sweep-search", seed, 0.25, delta=0.2) for seed in range(10)]
    lines = rebalance_lines([*both(REBALANCED), *wide, *(fake("ablation", "search-only", s, 2.0) for s in range(10))])
    assert "| 2 % | 1.0000 | 1.0000 | 1.0000 | 1.00000 | 1.00 | 1.00 |" in lines
    assert "| 20 % | 0.2500 | 0.2500 | 0.2500 | 0.25000 | 0.25 | 0.25 |" in lines
    assert any("both stages is below search-only | - | 50.0 % | one-sided | 10 of 10 | reproduced |" in line for line in lines)


def test_verdicts_are_those_of_the_sequential_rule_and_other_settings_have_rows_of_their_own():
    joint = [fake("joint", method, seed, 9.0, transient=JOINT) for seed in range(10) for method in ("sweep-search", "greedy")]
    hot = [fake("table6", "sweep-search", seed, 2.0, threshold="0.6") for seed in range(10)]
    measured = [*both(REBALANCED), *joint, *hot]
    assert named(rebalancing(Series(measured)))["Table VI, DC_A: U of S&S is below greedy"].ours == "66.7 %"
    lines = rebalance_lines(measured)
    assert any(line.startswith("| sweep-search | sequential | 0.6 | 2.0000") for line in lines)
    assert any(line.startswith("| greedy | joint | - | 9.0000") for line in lines)
    assert any(line.startswith("| DC_A | sequential | 0.6 | 33.3 %") for line in lines)
    assert any(line.startswith("| DC_A | joint | 0.8 | 0.0 %") for line in lines)


def test_a_claim_without_rows_is_not_tested(tmp_path):
    claims = claims_in(tmp_path)
    assert len(claims) > 70
    assert {claim.verdict for claim in claims} == {Verdict.UNTESTED}
    run.append(tmp_path / run.COSTS, FIELDS, [fake("table6", "sweep-search", 0, 1.0), fake("table6", "nls", 3, 2.0)])
    assert {claim.verdict for claim in claims_in(tmp_path) if "below" in claim.text} == {Verdict.UNTESTED}


def test_more_time_is_a_table_of_its_own():
    lines = rebalance_lines([*both(REBALANCED), *(fake("minute", method, 0, 7.0, B, allowed=60) for method in ("search", "nls"))])
    assert "**DC_B, 60 s**" in lines
    assert any(line.startswith("| search | 7.0000") for line in lines)


def test_what_a_method_is_allowed_is_cpu_time_and_sweep_is_timed_apart():
    cell = Cell(table="table6", centre=A, method="sweep-search", seed=0, allowed=0.2, threshold="1.25x")
    answer = solved(cell, QUICK.centres[A])
    assert 0 < answer.sweep_cpu < answer.cpu
    written = row(cell, answer)
    assert {*FIELDS} == {*written, "commit", "machine"}
    assert float(written["cpu"]) == pytest.approx(answer.cpu, abs=1e-4)


def test_farther_servers_are_farther_away_and_others_see_the_data_centre_as_generated():
    assert new_service(SMALL, 0, SEQUENTIAL, DISTANCE).objective.hop.tolist() == [1, 2, 2]
    assert running(SMALL, 0).objective.hop.tolist() == [1, 0, 0]


@pytest.mark.parametrize("centre", [A, B])
def test_the_stated_mean_and_highest_utilisation_are_possible(centre):
    snapshot = new_service(FULL.centres[centre], 0, SEQUENTIAL, DISTANCE)
    cluster, capacity = snapshot.cluster, snapshot.cluster.machines.capacity
    request = cluster.request_of(np.arange(len(cluster.containers.name)))[:, 0]
    assert request.sum() / capacity[:, 0].sum() == pytest.approx(0.5116, abs=1e-3)
    assert request.max() <= 0.5201 * capacity[:, 0].min()


def test_balance_if_level_is_that_of_a_level_placement():
    both_level = ClusterBuilder("level").machine("a", cpu=10, memory=4).machine("b", cpu=5, memory=10)
    snapshot = both_level.workload("x", cpu=5, memory=2, on=["a"]).workload("y", cpu=2.5, memory=5, on=["b"]).build()
    cluster, placement = snapshot.cluster, snapshot.placement
    assert balance_if_level(cluster, placement) == pytest.approx(balance_cost(cluster, placement, Objective.default(cluster)))


def test_nothing_measured_gives_no_tables():
    assert place_lines([]) == rebalance_lines([]) == real_lines([]) == []


def test_parts_are_disjoint_and_together_all_cells():
    everything = [cell.key for cell in cells(FULL)]
    parts = [[cell.key for cell in cells(FULL, (part, 3))] for part in (1, 2, 3)]
    assert sorted(key for part in parts for key in part) == sorted(everything)
    assert len(set(everything)) == len(everything) == 20 * (6 + 2) + 20 * (5 + 3) + 10 * (2 + 2) + 20 * 6 + 10 * 3


def test_a_run_goes_on_where_it_stopped_and_every_answer_keeps_the_rules(tmp_path, monkeypatch):
    scope = replace(QUICK, only=("table4",))
    run.measure(tmp_path, scope, (1, 2))
    assert {row["centre"] for row in rows(tmp_path / run.COSTS)} == {A}
    run.measure(tmp_path, scope)
    first = rows(tmp_path / run.COSTS)
    assert [key_of(row) for row in first] == [cell.key for cell in cells(scope)]
    assert {row["rules_violated"] for row in first} == {"0"}
    monkeypatch.setattr(run, "measured", lambda *_, **__: pytest.fail("measured again"))
    run.measure(tmp_path, scope)


def test_pages_of_a_folder_have_tables_and_figures(tmp_path):
    run.append(tmp_path / run.COSTS, FIELDS, both(REBALANCED))
    curve = {"table": "table6", "centre": A, "seed": "0", "method": "nls", "cpu": "0.5", "memory": "0.4", "ssd": "1.1"}
    run.append(tmp_path / run.CURVES, run.CURVE_FIELDS, [{**curve, "percent": str(p)} for p in range(101)])
    pages.write_pages(tmp_path, in_docs=False)
    text = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "![Utilisation in DC_A after rebalancing ([FreeContainer] Figure 5)](pictures/freecontainer-figure-5.svg)" in text
    assert (tmp_path / "pictures" / "freecontainer-figure-5.svg").read_text(encoding="utf-8").count("<path") == 3
    assert not (tmp_path / "pictures" / "freecontainer-figure-4.svg").exists()


def test_the_tables_in_the_docs_are_those_of_the_csv_files():
    files = [rows(run.HERE / name) for name in (run.COSTS, run.CURVES, run.REAL)]
    lines = pages.lines_of(*files)
    for marker, page in ((pages.PLACE, "place.md"), (pages.REBALANCE, "rebalance.md")):
        text = (ROOT / "docs" / "verbs" / page).read_text(encoding="utf-8")
        assert put(text, marker, lines[marker]) == text
    for name, drawing in pages.pictures(files[1]).items():
        assert (ROOT / "docs" / "pictures" / name).read_text(encoding="utf-8") == drawing


def test_calls_are_given_to_applications_and_add_up_to_the_square_of_the_containers():
    shop = boutique()
    graph = CallGraph(application="x", nodes=("u", "v", "w"), a=[0, 1], b=[1, 2], calls=[30, 10])
    traffic = real.with_traffic(shop, (graph,), seed=0).cluster.traffic
    assert traffic.weight.sum() == pytest.approx(len(shop.cluster.containers.name) ** 2)
    assert sorted(traffic.weight / traffic.weight.sum()) == pytest.approx([0.25, 0.75])
    ends = np.concatenate([traffic.a, traffic.b])
    assert len(np.unique(ends)) == 3


def test_a_real_layout_is_reported_with_what_is_violated():
    shop = boutique(broken=1)
    before, after = (real.row(shop, method, 0.1) for method in ("start", "greedy"))
    assert set(before) == set(real.FIELDS) - {"layout", "seed", "commit", "machine"}
    assert int(before["capacity_places"]) + int(before["interference_places"]) + int(before["others"]) > 0
    assert float(after["capacity_excess"]) <= float(before["capacity_excess"])
    fixed = {"layout": "shop", "seed": "0", "commit": "abc", "machine": "a machine"}
    lines = real_lines([{**fixed, **before, "traffic": "7"}, {**fixed, **after, "traffic": "7"}])
    assert lines[-1].startswith("| shop | greedy |")


@pytest.mark.parametrize("wrong", ["2/1", "0/2", "x"])
def test_a_part_that_does_not_exist_is_refused(wrong):
    with pytest.raises(SystemExit, match="expected k/n"):
        shard_of(wrong)


def test_a_table_that_does_not_exist_is_refused():
    with pytest.raises(SystemExit, match=TABLES[0]):
        run.main(["--quick", "--only", "table99"])
