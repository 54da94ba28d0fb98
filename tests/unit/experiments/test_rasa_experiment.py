"""RASA's experiments: answers are measured once and checked, and every verdict can fail."""

from pathlib import Path

import numpy as np
import pytest
from experiments.rasa import bounds, cells, claims, clusters, figures, pages, parts, powerlaw, process, run, tables, targets
from experiments.results import rows
from experiments.verdicts import Verdict

from bayplan.cli.console import clock
from bayplan.formats import read
from bayplan.generate import GENERATORS
from bayplan.model import UNPLACED, Placement, ints

ROW = dict.fromkeys(run.FIELDS, "") | {
    "cluster": "M3",
    "method": "best",
    "seed": "0",
    "threads": "2",
    "seconds": "60",
    "reading": "0.1",
    "wall": "59.0",
    "cpu": "100",
    "affinity": "0.87",
    "moved": "0.5",
    "placed": "3485",
    "containers": "3485",
    "valid": "yes",
    "memory": "0.5",
    "commit": "abc",
    "machine": "a machine",
}
FIT = {"cluster": "M3", "curve": "power law", "services": "40", "rate": "1.2", "scale": "0.2", "squares": "0.001", "r2": "0.9"}


def fake(**other):
    return {**ROW, **other}


def said(lines, start):
    found = [line for line in lines if line.startswith(f"- {start}")]
    assert len(found) == 1, f"{len(found)} lines begin with {start}"
    return found[0]


# ---- cells ---------------------------------------------------------------------------------------------------------------------


def test_a_cell_is_measured_by_the_scores_alone():
    snapshot = GENERATORS["rasa-m3"].make(seed=0)
    stays = cells.judged(snapshot, snapshot.placement)
    assert (stays["moved"], stays["placed"], stays["valid"]) == ("0.000000", "3485", "yes")
    crowded = Placement(machine_of=ints(np.zeros(3485)))
    assert cells.judged(snapshot, crowded)["valid"] == "no"
    assert float(cells.judged(snapshot, crowded)["affinity"]) == pytest.approx(1.0)
    gone = snapshot.placement.machine_of.copy()
    gone[0] = UNPLACED
    assert cells.judged(snapshot, Placement(machine_of=ints(gone)))["placed"] == "3484"


def test_options_reach_the_method():
    asked = cells.options_of(parts.Cell(cluster="M3", method="rasa", options="trivial=pinned ratio=0.5 partition=random"), 547)
    assert (asked.trivial, asked.partition, asked.masters) == ("pinned", "random", 75)
    assert cells.options_of(parts.Cell(cluster="M3", method="rasa"), 547).masters is None


def test_a_cap_is_kept_and_a_partition_is_measured_beside():
    clock.start(())
    file = clusters.file_of("rasa-m3")
    capped = cells.measured(parts.Cell(cluster="rasa-m3", method="best", options="cap=4%", seconds=0.3, threads=1), file)
    assert float(capped["moved"]) <= 0.04
    assert capped["lost"] == ""
    clock.start(())
    whole = cells.measured(parts.Cell(cluster="rasa-m3", method="rasa", options="ratio=1", seconds=0.3, threads=1), file)
    assert whole["masters"] == "151"
    assert 0 < float(whole["lost"]) < 1
    assert 0.9 < float(whole["masters_affinity"]) <= 1


def test_a_process_is_watched_and_its_fault_becomes_a_row(monkeypatch):
    cell = parts.Cell(cluster="rasa-m3", method="original", seconds=20.0)
    new = process.in_a_process(cell, clusters.file_of("rasa-m3"))
    assert (new["fault"], new["valid"], new["moved"]) == ("", "yes", "0.000000")
    assert 0.05 < float(new["memory"]) < 4
    assert float(new["cpu"]) > 0
    assert float(new["reading"]) < float(new["wall"])
    assert set(new) == set(cells.MEASURES)
    failed = process.in_a_process(cell, Path("/no/such/file.json"))
    assert "no/such/file.json" in failed["fault"]
    assert failed["valid"] == "no"
    monkeypatch.setattr(process, "MOST_MEMORY", 0.001)
    assert process.in_a_process(cell, clusters.file_of("rasa-m3"))["fault"] == "more than 0.001 GiB"


# ---- verdicts ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "word"), [(("0.87", "0.861"), "**no**"), (("0.87", "0.868", "0.861"), "yes"), (("0.9", "0.9", "0.85"), "**no**")]
)
def test_best_is_judged_by_its_median_and_by_its_worst_seed(found, word):
    measured = [fake(seed=str(seed), affinity=one) for seed, one in enumerate(found)]
    assert f"? {word}:" in said(targets.about_m3(measured), "`best`, 60 s, 2 threads: median")


def test_a_late_or_broken_or_incomplete_answer_is_said():
    good = list(targets.about_m3([fake()]))
    assert "? yes: 1 of 1" in said(good, "Does every answer place")
    assert "? yes: 0 of 1 late" in said(good, "Does every run end")
    for fault in ({"valid": "no"}, {"placed": "3484"}, {"fault": "no answer"}):
        assert "? **no**: 0 of 1" in said(targets.about_m3([fake(**fault)]), "Does every answer place")
    assert "? **no**: 1 of 1 late; the latest by 0.50 s" in said(targets.about_m3([fake(wall="60.5")]), "Does every run end")


def test_rasa_and_the_baselines_have_a_least_affinity_on_m3():
    rows_of = [fake(method="rasa", options="trivial=refit", affinity="0.79"), fake(method="pop", affinity="0.14")]
    lines = list(targets.about_m3(rows_of))
    assert "? **no**: 0.7900" in said(lines, "`rasa --trivial refit`")
    assert "? yes: 0.1400" in said(lines, "`pop`, no straw man")
    assert "? **no**" in said(targets.about_m3([fake(threads="1", seconds="10", affinity="0.85")]), "`best`, 10 s")


def test_a_point_of_the_front_needs_its_affinity_and_its_cap():
    asked = {"options": "cap=4%", "moved": "0.0399", "affinity": "0.4"}
    assert "? yes" in said(targets.about_front([fake(**asked)]), "At most 4 %")
    assert "? **no**" in said(targets.about_front([fake(**{**asked, "moved": "0.0401"})]), "At most 4 %")
    assert "? **no**" in said(targets.about_front([fake(**asked), fake(**{**asked, "affinity": "0.38"})]), "At most 4 %")
    assert "with 30.0% moved" in said(targets.about_front([fake(moved="0.3"), fake(moved="0.6")]), "RASA's affinity")


def verdicts(found):
    return {claim.text: claim.verdict for claim in found}


REPRODUCED, DIRECTION, NOT, UNTESTED = Verdict


def test_what_rasa_gains_over_the_baselines_is_judged_on_both_sides():
    some = [fake(method="rasa", affinity="0.7", moved="0.04"), fake(method="pop", affinity="0.15")]
    found = verdicts(claims.clusters(some))
    assert found["`rasa` is above `pop`, points"] == REPRODUCED
    assert found["`rasa` is above `applsci19`, points"] == UNTESTED
    assert found["`rasa` is best on every cluster"] == REPRODUCED
    assert found["less than 5% of the containers move in one execution"] == REPRODUCED
    for pop in ("0.6", "0.01"):  # too little, and too much
        assert (
            verdicts(claims.clusters([some[0], fake(method="pop", affinity=pop)]))["`rasa` is above `pop`, points"] == DIRECTION
        )
    more = [*some, fake(method="applsci19", affinity="0.8"), fake(method="original", affinity="0.35")]
    found = verdicts(claims.clusters(more))
    assert found["`rasa` is above `applsci19`, points"] == NOT
    assert found["`rasa` is best on every cluster"] == NOT
    assert found["`rasa` gains more than 13.83 times what `original` has"] == DIRECTION
    assert "? **no**: not on M3 (applsci19)" in said(targets.about_clusters([*more, fake(affinity="0.7")]), "Is `best` above")


def test_memory_time_and_faults_of_the_large_clusters_are_judged():
    assert "? yes" in said(targets.about_clusters([fake(cluster="rasa-m2", seconds="75", wall="74")]), "Does `best` end")
    for fault in ({"memory": "6.1"}, {"wall": "75.1"}, {"valid": "no"}):
        lines = targets.about_clusters([fake(cluster="rasa-m2", seconds="75", **{"wall": "74", **fault})])
        assert "? **no**" in said(lines, "Does `best` end")
    lines = targets.about_clusters([fake(affinity="", wall="", valid="no", fault="more than 12 GiB")])
    assert "? **no**: M3 more than 12 GiB" in said(lines, "Does `best` end")


def test_the_order_of_partitioners_and_their_loss_are_judged():
    mine = fake(method="rasa", options="partition=multi-stage", lost="0.01", partition_seconds="0.5", affinity="0.8")
    other = fake(method="rasa", options="partition=min-cut", lost="0.3", partition_seconds="0.1", affinity="0.67")
    none = fake(method="rasa", cluster="m9", options="partition=none", affinity="", valid="no", fault="more than 12 GiB")
    found = verdicts(claims.partitions([mine, other, none]))
    assert found["`multi-stage` is above all other partitioners"] == REPRODUCED
    assert found["`multi-stage` is above `min-cut` (KAHIP), points"] == REPRODUCED
    assert found["without a partition only M3 has an answer"] == REPRODUCED
    assert found["`multi-stage` loses less than 12% of the affinity"] == REPRODUCED
    assert found["affinity that `multi-stage` loses on M3"] == REPRODUCED
    assert found["`multi-stage` takes less than 10% of the time"] == REPRODUCED
    late = [{**mine, "lost": "0.2", "partition_seconds": "9"}, {**other, "affinity": "0.9"}, {**none, "fault": ""}]
    late[2]["affinity"] = "0.5"
    assert set(verdicts(claims.partitions(late)).values()) == {NOT}


def test_selectors_and_masters_are_judged():
    some = [fake(method="rasa", options=f"select={name}", affinity=found) for name, found in (("gcn", "0.8"), ("mip", "0.79"))]
    found = verdicts(claims.selection(some))
    assert found["`gcn` is the best on all clusters, or within 0.005"] == REPRODUCED
    assert found["`mip` is not the best on all clusters"] == REPRODUCED
    some = [fake(method="rasa", options=f"select={name}", affinity=found) for name, found in (("gcn", "0.7"), ("mip", "0.79"))]
    assert set(verdicts(claims.selection(some)).values()) == {NOT}
    masters = [
        fake(method="rasa", options=f"ratio={ratio}", affinity=found, masters_affinity="0.9")
        for ratio, found in (("1", "0.7"), ("2", "0.8"))
    ]
    assert set(verdicts(claims.masters(masters)).values()) == {NOT}


def test_curves_over_time_begin_with_the_least_time_whatever_the_order_of_the_rows():
    some = [
        fake(method=m, seconds=s, affinity=a) for m, s, a in (("rasa", "60", "0.9"), ("rasa", "5", "0.5"), ("pop", "5", "0.6"))
    ]
    found = {claim.text: claim for claim in claims.over_time(some)}
    assert found["M3: `rasa` is above `pop` at every time"].verdict is NOT
    assert found["M3: more time adds little to `rasa`, at most 0.04"].ours == "0.5000 after 5 s, 0.9000 after 60 s"
    assert found["M3: more time adds little to `rasa`, at most 0.04"].verdict is NOT


# ---- the power law -------------------------------------------------------------------------------------------------------------


def test_a_power_law_is_found_where_there_is_one():
    affinity = 0.3 / np.arange(1.0, 41.0) ** 1.5
    power, other = (powerlaw.fitted(affinity, curve) for curve in powerlaw.CURVES)
    assert float(power["rate"]) == pytest.approx(1.5, abs=1e-3)
    assert float(power["r2"]) == pytest.approx(1.0, abs=1e-4)
    assert float(other["squares"]) > float(power["squares"])


def test_fits_are_judged():
    exponential = {**FIT, "curve": "exponential"}
    assert set(verdicts(claims.fits([FIT, {**exponential, "squares": "0.002"}])).values()) == {REPRODUCED}
    assert set(verdicts(claims.fits([{**FIT, "rate": "0.9"}, {**exponential, "squares": "0.0001"}])).values()) == {NOT}


# ---- pages and runs ------------------------------------------------------------------------------------------------------------


def test_a_table_has_the_median_first_and_says_why_there_is_no_answer():
    some = [
        fake(affinity="0.1"),
        fake(affinity="0.2", seed="1"),
        fake(affinity="0.4", seed="2"),
        fake(method="mip", fault="late"),
    ]
    lines = tables.table(some, ("method",), {"gained": tables.spread("affinity"), "valid": tables.valid})
    assert lines[2:] == ["| `best` | 0.2000 (0.1000 to 0.4000) | yes |", "| `mip` | - | late |"]


def test_figures_show_every_answer_and_the_papers():
    drawn = figures.front_figure([fake(options="cap=4%"), fake(options="price=3"), fake(), fake(fault="late")])
    assert drawn.count("<circle") == 4 + 4  # answers and the paper's, and the legend
    drawn = figures.time_figure([fake(seconds="2"), fake(seconds="60"), fake(seconds="2", method="pop")], "M3")
    assert drawn.count("<path") == 2


def test_what_was_not_measured_is_said(tmp_path):
    text = pages.written(pages.DOCS.read_text(encoding="utf-8"), tmp_path)
    assert text.count("\nNot measured.\n") == len(pages.LINES) + 1 == len(run.EVERY_PART)


def test_a_quick_run_measures_every_part_once(tmp_path, monkeypatch):
    run.main(["--quick", "--out", str(tmp_path)])
    for part in parts.PARTS:
        found = rows(tmp_path / f"{part}.csv")
        assert {row["valid"] for row in found} == {"yes"}
        assert len(found) == len(list(parts.PARTS[part](parts.QUICK)))
    assert {row["curve"] for row in rows(tmp_path / "powerlaw.csv")} == set(powerlaw.CURVES)
    assert "Not measured" not in (tmp_path / "rasa.md").read_text(encoding="utf-8")
    assert (tmp_path / "pictures" / pages.FRONT).is_file()
    monkeypatch.setattr(run, "measured", lambda *_: pytest.fail("measured again"))
    run.main(["--quick", "--out", str(tmp_path)])


def test_a_question_that_two_parts_ask_is_answered_once(tmp_path, monkeypatch):
    first = parts.Cell(cluster="rasa-m3", method="rasa", options="trivial=refit", seconds=0.3, threads=1)
    run.measure(tmp_path / "m3.csv", [first], quick=True, until=None)
    monkeypatch.setattr(run, "measured", lambda *_: pytest.fail("measured again"))
    same = parts.Cell(cluster="rasa-m3", method="rasa", options="select=gcn", seconds=0.3, threads=1)
    run.measure(tmp_path / "selection.csv", [same], quick=True, until=None)
    copied, original = rows(tmp_path / "selection.csv")[0], rows(tmp_path / "m3.csv")[0]
    assert copied == {**original, "options": "select=gcn"}
    assert first.question != parts.Cell(cluster="rasa-m3", method="rasa", options="select=mip", seconds=0.3, threads=1).question


def test_what_would_end_too_late_is_not_begun(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "measured", lambda *_: pytest.fail("begun"))
    run.measure(tmp_path / "m3.csv", list(parts.m3(parts.QUICK)), quick=True, until=run.datetime.now())
    assert "no time for 10 of 10 cells" in capsys.readouterr().err


def test_without_data_m3_is_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BAYPLAN_DATA", str(tmp_path))
    assert run.known(("M3", "rasa-m1")) == ("rasa-m1",)
    assert "M3 left out" in capsys.readouterr().err


@pytest.mark.data
def test_the_real_cluster_is_m3(data_folder):
    assert len(read(clusters.file_of("M3")).placement.placed) == 3485


def test_the_page_and_the_figures_are_those_of_the_csv_files():
    text = pages.DOCS.read_text(encoding="utf-8")
    assert pages.written(text, pages.HERE) == text
    for name, drawing in pages.pictures(pages.HERE).items():
        assert (pages.DOCS.parents[1] / pages.PICTURES / name).read_text(encoding="utf-8") == drawing


def test_a_bound_is_judged_by_what_was_asked_and_by_every_answer():
    row = {"cluster": "M3", "seconds": "600", "wall": "500", "bound": "0.8771", "commit": "abc", "machine": "a machine"}
    answer = {"cluster": "M3", "affinity": "0.8744", "valid": "yes"}
    said_of = bounds.bound_lines([row], [answer])
    assert "| M3 | 600 | 500 | 0.8771 | 0.8744 | 0.31% |" in said_of
    assert "in ten minutes? yes" in said(said_of, "M3, at most")
    assert "**no**" in said(bounds.bound_lines([{**row, "bound": "0.8831"}], [answer]), "M3, at most")
    assert "no, nowhere" in said(said_of, "Is a bound below")
    assert "**yes**: M3" in said(bounds.bound_lines([{**row, "bound": "0.87"}], [answer]), "Is a bound below")
    assert "no, nowhere" in said(bounds.bound_lines([{**row, "bound": "0.87"}], [{**answer, "valid": "no"}]), "Is a bound below")
