"""RASA's experiments: answers are measured once and checked, and every verdict can fail."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from experiments.evidence import rasa_causes
from experiments.rasa import (
    authors,
    bounds,
    cells,
    claims,
    clusters,
    figures,
    pages,
    parts,
    powerlaw,
    process,
    run,
    stale,
    tables,
    targets,
)
from experiments.results import rows
from experiments.sweeps import Runs
from experiments.verdicts import Verdict

from bayplan.check import check
from bayplan.cli.console import clock
from bayplan.decide.collocate import CollocateOptions
from bayplan.formats import read
from bayplan.generate import GENERATORS
from bayplan.model import UNPLACED, Budget, Placement, ints, silent
from bayplan.model.problem import Problem

ROW = dict.fromkeys(run.FIELDS, "") | {
    "cluster": "M3",
    "method": "best",
    "seed": "0",
    "threads": "2",
    "seconds": "60",
    "reading": "0.1",
    "wall": "59.0",
    "cpu": "58",
    "affinity": "0.87",
    "moved": "0.5",
    "placed": "3485",
    "containers": "3485",
    "valid": "yes",
    "memory": "0.5",
    "commit": "abc",
    "machine": "a machine",
}
SOLVED = {"by_cg": "2", "by_mip": "0", "by_greedy": "1"}
GREEDY = {"by_cg": "0", "by_mip": "0", "by_greedy": "3"}
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
    masters_only = cells.options_of(parts.Cell(cluster="M3", method="rasa", options="partition=min-cut-masters"), 547)
    assert (masters_only.partition, masters_only.masters) == ("min-cut", 151)
    everything = cells.options_of(parts.Cell(cluster="M3", method="rasa", options="partition=min-cut"), 547)
    assert (everything.partition, everything.masters) == ("min-cut", None)


def test_a_cap_is_kept_and_a_partition_is_measured_beside():
    clock.start(())
    file = clusters.file_of("rasa-m3")
    capped = cells.measured(parts.Cell(cluster="rasa-m3", method="best", options="cap=4%", seconds=0.3, threads=1), file)
    assert float(capped["moved"]) <= 0.04
    assert capped["lost"] == ""
    clock.start(())
    whole = cells.measured(parts.Cell(cluster="rasa-m3", method="rasa", options="ratio=1", seconds=0.3, threads=1), file)
    assert whole["masters"] == "151"
    assert whole["choices"] in ("cg", "mip")
    assert [whole[name] for name in cells.SOLVED].count("1") == 1
    assert [capped[name] for name in cells.SOLVED] == ["", "", ""]
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
    assert "? yes" in said(targets.about_clusters([fake(cluster="rasa-m2", wall="59.5")]), "Does `best` end")
    for fault in ({"memory": "6.1"}, {"wall": "60.1"}, {"valid": "no"}):
        lines = targets.about_clusters([fake(cluster="rasa-m2", **fault)])
        assert "? **no**" in said(lines, "Does `best` end")
    lines = targets.about_clusters([fake(affinity="", wall="", valid="no", fault="more than 12 GiB")])
    assert "? **no**: M3 more than 12 GiB" in said(lines, "Does `best` end")


def test_the_order_of_partitioners_and_their_loss_are_judged():
    mine = fake(method="rasa", options="partition=multi-stage", lost="0.01", partition_seconds="0.5", affinity="0.8")
    other = fake(method="rasa", options="partition=min-cut", lost="0.3", partition_seconds="0.1", affinity="0.67")
    none = fake(method="rasa", cluster="m9", options="partition=none", affinity="", valid="no", fault="more than 12 GiB")
    whole = "without a partition a solver has an answer in time on M3 only"
    found = verdicts(claims.partitions([mine, other, none]))
    assert found["`multi-stage` is above all other partitioners"] == REPRODUCED
    assert found["`multi-stage` is above `min-cut` (KAHIP), points"] == REPRODUCED
    assert found[whole] == REPRODUCED
    assert found["`multi-stage` loses less than 12% of the affinity, on M3"] == REPRODUCED
    assert found["affinity that `multi-stage` loses on M3"] == REPRODUCED
    assert found["`multi-stage` takes less than 10% of the time"] == REPRODUCED
    late = [{**mine, "lost": "0.2", "partition_seconds": "9"}, {**other, "affinity": "0.9"}, {**none, "fault": ""}]
    late[2] |= {"affinity": "0.5", **SOLVED}
    assert set(verdicts(claims.partitions(late)).values()) == {NOT, UNTESTED}
    for reason in (GREEDY, {"wall": "64"}):
        assert verdicts(claims.partitions([mine, {**late[2], **reason}]))[whole] == REPRODUCED


def test_selectors_and_masters_are_judged():
    some = [fake(method="rasa", options=f"select={name}", affinity=found) for name, found in (("gcn", "0.8"), ("mip", "0.79"))]
    found = verdicts(claims.selection(some))
    assert found["`gcn` is the best on all clusters, or within 0.005"] == REPRODUCED
    assert found["`mip` is not the best on all clusters"] == REPRODUCED
    some = [fake(method="rasa", options=f"select={name}", affinity=found) for name, found in (("gcn", "0.7"), ("mip", "0.79"))]
    assert set(verdicts(claims.selection(some)).values()) == {NOT, UNTESTED}
    masters = [
        fake(method="rasa", options=f"ratio={ratio}", affinity=found, masters_affinity="0.9")
        for ratio, found in (("1", "0.7"), ("1.5", "0.9"), ("2", "0.8"))
    ]
    assert set(verdicts(claims.masters(masters)).values()) == {NOT, UNTESTED}
    large = [{**row, "cluster": "rasa-m2"} for row in masters]
    assert verdicts(claims.masters(large))["on large clusters still more masters lose more than 0.005 of the peak"] == REPRODUCED


@pytest.mark.parametrize("number", [1, 7, 100])
def test_causes_need_no_row_but_those_of_their_claims(number, monkeypatch):
    def some(path):
        made = list(parts.PARTS[Path(path).stem](parts.Scope(seeds=1)))[:number] if Path(path).stem in parts.PARTS else []
        keys = [dict(zip(cells.KEY, cell.key, strict=True)) for cell in made]
        found = {"lost": "0.1", "masters": "9", "sets": "2", "partition_seconds": "7", "masters_affinity": "0.5", **SOLVED}
        return [fake(**key, **found) for key in keys]

    monkeypatch.setattr(rasa_causes, "raw", some)
    off = [claim for part, find in claims.PARTS.items() if part != "powerlaw" for claim in find(some(part))]
    off = [claim for claim in off if claim.verdict is not UNTESTED]
    explained = [(claim, cause) for claim in off for cause in rasa_causes.CAUSES if cause.explains(claim)]
    assert explained
    for claim, cause in explained:
        assert cause.sentence(cause.explains(claim))


def test_a_second_execution_is_judged_by_itself():
    some = [fake(method="rasa", moved="0.5"), fake(method="rasa", moved="0.04", options="from=rasa")]
    text = "less than 5% of the containers move in one execution, from "
    assert verdicts(claims.again(some)) == {f"{text}`original`": NOT, f"{text}RASA's own answer": REPRODUCED}


def test_answers_with_unequal_cpu_or_late_ones_are_not_compared_and_that_is_said():
    fair = [fake(method="rasa", seed=str(seed), affinity="0.7") for seed in range(3)]
    short = [fake(method="pop", affinity="0.1", wall="20", cpu="9")]  # ends by itself
    assert tables.comparable([*fair, *short]) == ([*fair, *short], [], [])
    disturbed = fake(method="rasa", seed="3", cpu="40", affinity="0.1")
    late = fake(method="rasa", seed="4", wall="64", cpu="63", affinity="0.9")
    found = tables.comparable([*fair, disturbed, late, fake(fault="no answer")])
    assert found == (fair, [late], [disturbed])
    assert found.note == "left out: 1 late, 1 with unequal CPU"
    assert verdicts(claims.clusters([*fair, *short, disturbed]))["`rasa` is above `pop`, points"] == REPRODUCED
    lines = pages.LINES["clusters"]([*fair, disturbed, late])
    assert said(lines, "Not compared, since late") == "- Not compared, since late: M3 rasa seed 4."
    assert "seed 3" in said(lines, "Not compared, since its CPU is unequal")


def test_answers_without_a_solver_are_marked():
    solved, greedy = fake(method="rasa", **SOLVED), fake(method="rasa", seed="1", **GREEDY)
    assert tables.solvers([solved]) == "2 cg, 1 greedy"
    assert tables.solvers([greedy]) == "3 greedy; **none ran**"
    assert tables.solvers([solved, greedy]) == "2 cg, 4 greedy; **none ran** in 1 of 2"
    assert tables.solvers([fake()]) == "-"
    assert claims._scale("clusters", [solved, greedy]) == "M3; 60 s, 2 thread, 2 seeds; no solver ran in 1 of 2 answers"


def test_curves_over_time_begin_with_the_least_time_whatever_the_order_of_the_rows():
    some = [
        fake(method=m, seconds=s, affinity=a) for m, s, a in (("rasa", "60", "0.9"), ("rasa", "5", "0.5"), ("pop", "5", "0.6"))
    ]
    some += [fake(method="applsci19", affinity="0.6", wall="9"), fake(cluster="rasa-m2", method="rasa", seconds="5", wall="7")]
    some = [{**row, "wall": "4.5", "cpu": "4"} if row["seconds"] == "5" and row["cluster"] == "M3" else row for row in some]
    found = {claim.text: claim for claim in claims.over_time(some)}
    assert found["M3: `rasa` is above `pop` at every time"].verdict is NOT
    assert found["M3: `rasa` is above `applsci19` at every time"].ours == "60 s +0.300"
    assert found["rasa-m2: more time adds little to `rasa`, at most 0.04"].verdict is UNTESTED
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
    assert set(verdicts(claims.fits([{**FIT, "cluster": "rasa-m1"}])).values()) == {UNTESTED}
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
    two = [fake(seconds="2"), fake(seconds="2", seed="1"), fake(seconds="60"), fake(method="applsci19", wall="1")]
    drawn = figures.time_figure(two, "M3")
    assert drawn.count("<path") == 2
    assert drawn.count("<circle") == 3 + 2  # medians, and the legend


def test_what_was_not_measured_is_said(tmp_path):
    text = pages.written(pages.DOCS.read_text(encoding="utf-8"), tmp_path)
    assert text.count("\nNot measured.\n") == len(pages.LINES) + 1 == len(run.EVERY_PART)


@pytest.mark.long
def test_a_quick_run_measures_every_part_once(tmp_path, monkeypatch):
    run.main(["--quick", "--out", str(tmp_path)])
    for part in parts.PARTS:
        found = rows(tmp_path / f"{part}.csv")
        assert {row["valid"] for row in found} == {"yes"}
        assert len(found) == len(list(parts.PARTS[part](parts.QUICK)))
    assert {row["curve"] for row in rows(tmp_path / "powerlaw.csv")} == set(powerlaw.CURVES)
    assert "Not measured" not in (tmp_path / "rasa.md").read_text(encoding="utf-8")
    assert (tmp_path / "pictures" / pages.FRONT).is_file()
    second = rows(tmp_path / "again.csv")[1]
    assert second["before"] == rows(tmp_path / "again.csv")[0]["affinity"]
    monkeypatch.setattr(run, "measured_here", lambda *_: pytest.fail("measured again"))
    run.main(["--quick", "--out", str(tmp_path)])


def test_a_question_that_two_parts_ask_is_answered_once(tmp_path):
    first = parts.Cell(cluster="rasa-m3", method="rasa", options="trivial=refit", seconds=0.3, threads=1)
    run.measure(tmp_path, [("m3", first)], cells.measured_here)
    same = parts.Cell(cluster="rasa-m3", method="rasa", options="select=gcn", seconds=0.3, threads=1)
    run.measure(tmp_path, [("selection", same)], lambda *_: pytest.fail("measured again"))
    copied, original = rows(tmp_path / "selection.csv")[0], rows(tmp_path / "m3.csv")[0]
    assert copied == {**original, "options": "select=gcn"}
    assert first.question != parts.Cell(cluster="rasa-m3", method="rasa", options="select=mip", seconds=0.3, threads=1).question


def test_what_would_end_too_late_is_not_begun(tmp_path, capsys):
    ten = [("m3", cell) for cell in parts.m3(parts.QUICK)]
    run.measure(tmp_path, ten, lambda *_: pytest.fail("begun"), Runs(until=datetime.now()))
    assert f"{len({cell.question for _, cell in ten})} cells left for another run" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_two_runs_share_the_work():
    cells_of = parts.in_order(parts.Scope(), list(parts.PARTS))
    seeds = [cell.seed for _, cell in cells_of]
    assert seeds == sorted(seeds)
    every = [cell for _, cell in cells_of]
    first, second = (parts.share_of(every, shard, 2) for shard in (1, 2))
    assert not first & second
    assert first | second == {cell.question for cell in every}
    loads = [
        sum(parts.seconds_of(cell) for cell in {c.question: c for c in every if c.question in some}.values())
        for some in (first, second)
    ]
    assert abs(loads[0] - loads[1]) <= 60


def test_cells_that_ask_a_network_can_be_left_out():
    arguments, names, _ = run.arguments_of(["--quick", "--no-networks", "--part", "selection"])
    assert {cell.chosen["select"] for _, cell in run.cells_of(arguments, names, parts.QUICK)} == {"cg"}


def test_rows_whose_network_chose_otherwise_are_stale(tmp_path, capsys):
    now = stale.choices("rasa-m3", "", 0)
    other = "mip" if now == "cg" else "cg"
    some = [fake(cluster="rasa-m3", method="rasa", options=options, choices=other) for options in ("", "select=mip", "from=rasa")]
    run.append(tmp_path / "clusters.csv", run.FIELDS, [*some, fake(cluster="rasa-m3", method="rasa", choices=now)])
    stale.main(["--out", str(tmp_path), "--delete"])
    assert capsys.readouterr().out.count(f"chose {other}") == 2
    assert [row["options"] for row in rows(tmp_path / "clusters.csv")] == ["select=mip", ""]


@pytest.mark.data
def test_baselines_as_the_authors_have_them_are_as_weak_as_theirs(data_folder):
    problem = Problem.of(read(data_folder / "rasa" / "M3.json"))
    for method, low, high in (("k8s-plus-authors", 0.20, 0.27), ("applsci19-authors", 0.56, 0.62)):
        budget = Budget(seconds=20, threads=1)
        results = [
            authors.AS_THE_AUTHORS[method](problem, CollocateOptions(), budget=budget, seed=s, progress=silent) for s in (0, 1)
        ]
        assert all(low < result.score["affinity"] < high for result in results)
        assert all(not len(result.solution.unplaced) and not check(problem.cluster, result.solution) for result in results)


def test_they_keep_the_rules_that_m3_does_not_have():
    snapshot = GENERATORS["rasa-m3"].make(seed=1)
    for method in authors.AS_THE_AUTHORS.values():
        budget = Budget(seconds=20, threads=1)
        result = method(Problem.of(snapshot), CollocateOptions(), budget=budget, seed=0, progress=silent)
        assert check(snapshot.cluster, result.solution, snapshot.placement) == ()
        assert result.score["affinity"] > 0.1


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
    row = {
        "cluster": "M3",
        "seconds": "600",
        "wall": "500",
        "cpu": "480",
        "bound": "0.8771",
        "commit": "abc",
        "machine": "a machine",
    }
    answer = {"cluster": "M3", "affinity": "0.8744", "valid": "yes"}
    said_of = bounds.bound_lines([row], [answer])
    assert "| M3 | 600 | 500 | 480 | 0.8771 | 0.8744 | 0.31% |" in said_of
    assert "in ten minutes? yes" in said(said_of, "M3, at most")
    assert "**no**" in said(bounds.bound_lines([{**row, "bound": "0.8831"}], [answer]), "M3, at most")
    assert "no, nowhere" in said(said_of, "Is a bound below")
    assert "**yes**: M3" in said(bounds.bound_lines([{**row, "bound": "0.87"}], [answer]), "Is a bound below")
    assert "no, nowhere" in said(bounds.bound_lines([{**row, "bound": "0.87"}], [{**answer, "valid": "no"}]), "Is a bound below")
