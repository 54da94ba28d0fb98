"""Packing at a confidence: cells are measured once, beside the paper's, and the verdicts are right."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from experiments.evidence import causes, ucac_causes
from experiments.evidence.papers import measured_claims
from experiments.results import rows
from experiments.ucac import calibrate, cells, claims, level_claims, pages, run, tables, times, traces, week_tables, weeks
from experiments.ucac.figure_claims import figure_claims, trace_claims
from experiments.ucac.figures import ALPHAS, METHODS, SERVICES, TABLE, Cell
from experiments.ucac.time_claims import time_claims
from experiments.verdicts import Verdict

from bayplan.generate.ucac import CASES, FACTOR, ucac
from bayplan.generate.ucac_services import DRIFT, SWING
from bayplan.model import Budget

CELL = {
    "case": "scale-down",
    "services": "20",
    "alpha": "0.999",
    "seed": "0",
    "method": "bf-nsigma",
    "ucac": "100",
    "machines": "1000",
}
CELL |= {
    "violation": "0.05",
    "untruncated": "0.05",
    "predicted": "0.05",
    "left_out": "0",
    "rules_violated": "0",
    "seconds": "1",
    "gap": "0.0001",
}
CELL |= {"pattern_ucac": "", "even_ucac": ""}
CELL |= {"bound": "1000", "goal": "ucac", "commit": "abc", "machine": "a machine"}
DAY = {
    "method": "csp-ucac",
    "n": "",
    "seed": "0",
    "day": "Wed",
    "ucac": "41402.3",
    "machines": "1332",
    "violations": "2.0",
    "over": "0",
}
DAY |= {"left_out": "0", "commit": "abc", "machine": "a machine"}
TINY = cells.Size(machines=40, scale=0.01, draws=100, budget=Budget(seconds=1.0))


def fake(**other):
    return {**CELL, **other}


def day(**other):
    return {**DAY, **other}


def line_of(lines, start):
    return next(line for line in lines if line.startswith(f"- {start}"))


# ---- what the paper says -------------------------------------------------------------------------------------------------------


def test_the_papers_tables_are_complete():
    assert all(set(TABLE[case]) == {(k, m) for k in SERVICES for m in METHODS} for case in ("scale-down", "scale-up"))
    assert TABLE["scale-up"][20, "csp-machines"][1] == Cell(0.96, 0.70, 0.51)
    assert TABLE["scale-down"][10, "csp-ucac"][0] == Cell(0.94, 0.70, 0.07)
    assert TABLE["empty"][15, "csp-ucac"] == (Cell(33708, 1070, 0.1), Cell(30670, 1008, 0.5))


# ---- instances and measures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_an_instance_is_the_generators(case):
    mine = cells.instance(cells.Setting(case=case, services=3, alpha=0.99, seed=5), TINY)
    theirs = ucac(services=3, alpha=0.99, scale=0.01, machines=40, case=case, seed=5)
    assert mine.placement.machine_of.tolist() == theirs.placement.machine_of.tolist()
    assert mine.cluster.replicas.tolist() == theirs.cluster.replicas.tolist()


def test_a_cell_is_measured_and_checked():
    setting = cells.Setting(case="scale-up", services=3, alpha=0.99, seed=5)
    new = cells.measured(setting, cells.instance(setting, TINY), "csp-ucac", TINY)
    assert set(new) == set(cells.MEASURES)
    assert (new["rules_violated"], new["left_out"]) == ("0", "0")
    assert float(new["ucac"]) == pytest.approx(float(new["bound"]), rel=0.05)
    assert 0 <= float(new["predicted"]) <= 1


def test_a_week_goes_on_where_the_day_before_ended():
    days = weeks.Days(size=0.01, swing=0.15, drift=0.02, machines=60, draws=10, budget=Budget())
    week = weeks.week_of("bf-ucac", None, 0, days)
    assert [row["day"] for row in week] == ["Wed", "Thu", "Fri", "Mon", "Tue", "Wed 2", "Thu 2"]
    assert week[0]["deleted"] == "0"
    assert week[0]["to_pack"] == week[0]["containers"]
    for before, after in pairwise(week):
        runs = int(before["containers"]) - int(after["deleted"])
        assert int(after["containers"]) - int(after["to_pack"]) == runs
        assert 0 < int(after["to_pack"]) < int(after["containers"])


# ---- verdicts ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "word"),
    [
        (Cell(0.95, 0.72, 0), "reproduced"),
        (Cell(0.93, 0.77, 0), "direction only: machines +0.030"),
        (Cell(0.98, 0.70, 0), "direction only: UCaC +0.040; machines -0.040"),
        (Cell(0.90, 0.74, 0), "direction only: UCaC -0.040"),
        (Cell(1.01, 0.74, 0), "not reproduced: UCaC +0.070"),
    ],
)
def test_a_cell_is_judged_by_its_normalised_numbers(ours, word):
    assert tables.verdict_words(ours, Cell(0.94, 0.74, 0)) == word


def test_ratios_are_means_of_ratios_over_seeds_that_have_both():
    some = [fake(), fake(seed="1", ucac="200"), fake(method="csp-ucac", ucac="90", machines="700")]
    some += [fake(method="csp-ucac", seed="1", ucac="190", machines="800"), fake(method="csp-ucac", seed="2", ucac="1")]
    cell = tables.ratio(some, "scale-down", 20, 0.999, "csp-ucac")
    assert cell.ucac == pytest.approx((0.9 + 0.95) / 2)
    assert cell.machines == pytest.approx(0.75)
    assert tables.ratio(some, "scale-up", 20, 0.999, "csp-ucac") is None


def test_a_worse_cell_says_what_could_be_reached_at_best():
    some = [fake(), fake(method="csp-ucac", ucac="94", machines="800", bound="93"), fake(method="csp-machines", bound="790")]
    least = tables.bound_ratio(some, "scale-down", 20, 0.999)
    assert (least.ucac, least.machines) == pytest.approx((0.93, 0.79))
    cell = tables.ratio(some, "scale-down", 20, 0.999, "csp-ucac")
    assert tables.verdict_words(cell, Cell(0.94, 0.74, 0), least) == "direction only: machines +0.060, at best +0.050"
    fewest = {**some[2], "ucac": "94", "machines": "740"}
    assert any(
        "Of the 1 with a number that is above the paper's by more than 0.02, 1 would be so" in line
        for line in tables.claims([*some[:2], fewest])
    )
    assert tables.bound_ratio(some[:2], "scale-down", 20, 0.999) is None


def test_faults_are_counted():
    assert "? yes: 1 packings, 0 at fault" in line_of(tables.claims([fake()]), "Is everything placed")
    assert "? **no**: 1 packings, 1 at fault" in line_of(tables.claims([fake(rules_violated="2")]), "Is everything placed")
    assert "? **no**" in line_of(tables.claims([fake(left_out="1")]), "Is everything placed")


def test_gaps_times_and_machines_above_the_bound_are_judged():
    good = [fake(method="csp-ucac"), fake(method="csp-machines", case="empty", bound="998", machines="1000")]
    assert "? yes: at most 0.0100% and 1.0 s" in line_of(tables.claims(good), "K = 20, `csp-ucac`")
    assert "? yes: at most 2 above" in line_of(tables.claims(good), "K = 20, empty")
    assert "? **no**" in line_of(tables.claims([fake(method="csp-ucac", gap="0.0003")]), "K = 20, `csp-ucac`")
    assert "? **no**" in line_of(tables.claims([fake(method="csp-ucac", gap="")]), "K = 20, `csp-ucac`")
    assert "? **no**" in line_of(tables.claims([{**good[1], "bound": ""}]), "K = 20, empty")


def test_what_no_placement_can_have_is_told_from_what_patterns_hold():
    mac = fake(method="csp-mac", ucac="95", pattern_ucac="106", even_ucac="97")
    lines = list(tables.claims([fake(), mac]))
    assert line_of(lines, "Scale-down, 99.9%, can any").endswith("? **no**: none has more than 0.970.")
    assert line_of(lines, "Scale-down, 99.9%: with").endswith("it is 1.060 to 1.060.")
    assert "? yes" in line_of(tables.claims([fake(), {**mac, "even_ucac": "102"}]), "Scale-down, 99.9%, can any")
    assert not any("csp-mac`" in line for line in tables.claims([fake(), fake(method="csp-machines", even_ucac="97")]))


def test_the_most_ucac_of_any_placement_is_where_variances_are_equal():
    setting = cells.Setting(case="scale-down", services=3, alpha=0.99, seed=5)
    snapshot = cells.instance(setting, TINY)
    for method in METHODS:
        after = cells.answer(cells.packed(snapshot, method, 5, TINY.budget)[0])
        assert cells.used(snapshot.cluster, after, 0.99).sum() <= cells.even_ucac(snapshot.cluster, after, 0.99) * (1 + 1e-9)


def test_a_method_that_was_not_measured_has_no_line():
    assert not any("csp-mac`" in line for line in tables.normalised([fake()], "scale-down", 0.999))
    assert any("csp-mac`" in line for line in tables.normalised([fake(), fake(method="csp-mac")], "scale-down", 0.999))


def test_overflows_beyond_sampling_error_are_reported():
    assert "? yes" in line_of(tables.claims([fake(untruncated="0.1004")]), "99.9%")
    assert "? **no**" in line_of(tables.claims([fake(untruncated="0.12")]), "99.9%")
    assert "1 of 1 are above" in line_of(tables.claims([fake(violation="0.12")]), "99.9%")


def test_the_best_n_has_the_fewest_machines_of_those_that_are_safe():
    some = [day(method="bf-nsigma", n=n, machines=m, violations=v) for n, m, v in (("1", "1000", "5"), ("1.2", "1100", "1"))]
    some += [day(method="bf-nsigma", n="3.09", machines="2144", violations="0")]
    assert week_tables.best_n(some) == 1.2
    assert week_tables.best_n(some[:1]) is None


def test_table_4_stands_beside_the_papers():
    some = [day(), day(method="bf-nsigma", n="3.09", ucac="46038.3", machines="2144", violations="0")]
    line = next(line for line in week_tables.table_4(some) if "csp-ucac" in line)
    assert line.endswith("| 0.899 | 0.899 | 0.621 | 0.621 | reproduced |")
    worse = week_tables.table_4([{**some[0], "machines": "1500"}, some[1]])
    assert "direction only: machines +0.078" in worse[-1]


def test_the_nearest_factor_is_chosen():
    some = [
        {"case": "scale-down", "factor": f, "alpha": a, "seed": "100", "method": m, "machines": n}
        for f, ratio in (("0.8", 800), ("0.9", 745))
        for a in ("0.999", "0.99")
        for m, n in (("bf-nsigma", "1000"), ("csp-machines", str(ratio)))
    ]
    assert calibrate.nearest_factor(some, "scale-down") == 0.9


def by_text(found, part):
    return next(claim for claim in found if part in f"{claim.where}: {claim.text}")


def test_csp_mac_is_not_tested_until_it_has_rows():
    some = [fake(), fake(method="csp-ucac", ucac="94"), fake(method="csp-machines", ucac="95")]
    found = list(claims.table_claims(some))
    assert by_text(found, "Table 1: UCaC of CSP-Mac over").verdict is Verdict.UNTESTED
    assert by_text(found, "Table 1: UCaC of CSP-Mac with heuristics over").verdict is Verdict.NOT
    mac = fake(method="csp-mac", ucac="101")
    assert by_text(claims.table_claims([*some, mac]), "Table 1: UCaC of CSP-Mac over").verdict is Verdict.REPRODUCED
    assert by_text(claims.week_claims([day()]), "fewer machines than CSP-Mac").verdict is Verdict.UNTESTED


def test_without_rows_every_claim_is_there_and_only_the_example_is_tested(tmp_path):
    found = claims.claims_in(tmp_path, quick=True)
    assert {claim.where for claim in found if claim.verdict is not Verdict.UNTESTED} == {"§4.1"}
    assert {(claim.where, claim.text) for claim in found} == {(claim.where, claim.text) for claim in claims.claims_in(run.HERE)}
    assert pages.claim_lines(tmp_path) == []


def test_the_example_of_the_paper_has_the_quantile_of_a_two_sided_interval():
    example = claims.example_claim()
    assert (example.ours, example.stated, example.verdict) == ("11.03", "11.46 with D = 2.576", Verdict.NOT)


def test_all_three_methods_are_compared_with_csp_mac():
    some = [fake(), fake(method="csp-mac", ucac="101"), fake(method="bf-ucac", ucac="94"), fake(method="bi-level", ucac="102")]
    found = list(claims.table_claims(some))
    assert by_text(found, "Table 1: BF-UCaC has less UCaC than CSP-Mac, of").verdict is Verdict.REPRODUCED  # 0.07, paper 0.075
    assert by_text(found, "Table 1: BiHeu has less UCaC than CSP-Mac, of").verdict is Verdict.NOT
    assert by_text(found, "Table 1: CSP-UCaC has less UCaC than CSP-Mac, of").verdict is Verdict.UNTESTED
    assert by_text(found, "Table 2: BiHeu and CSP-Mac have similar machines").stated == "-0.01 to +0.03"


def test_an_order_of_methods_is_judged_beside_the_papers_own_cells():
    some = [fake(), fake(method="csp-ucac", ucac="94", machines="740"), fake(method="bi-level", ucac="93", machines="741")]
    found = list(claims.table_claims(some))
    ucac, machines = (by_text(found, f"§5.3.2: CSP-UCaC has no more {word} than BiHeu") for word in ("UCaC", "machines"))
    assert (ucac.verdict, ucac.stated) == (Verdict.NOT, "better; in 11 of its 16 cells")
    assert (machines.verdict, machines.stated) == (Verdict.REPRODUCED, "better; in 13 of its 16 cells")  # not Table 2, K = 20


def test_violations_are_judged_cell_by_cell():
    near, far = fake(method="csp-ucac", violation="0.06"), fake(method="csp-ucac", violation="0.08")  # the paper has 0.02
    assert (
        by_text(level_claims.violation_claims([fake(), near]), "Table 1: violations of CSP-UCaC, %").verdict is Verdict.REPRODUCED
    )
    off = by_text(level_claims.violation_claims([fake(), far]), "Table 1: violations of CSP-UCaC, %")
    assert (off.verdict, off.cases) == (Verdict.NOT, "0 of 1; not at K=20 99.9%")
    more = by_text(level_claims.violation_claims([fake(violation="0.07"), near]), "Table 1: violations of the three methods")
    assert more.verdict is Verdict.NOT


def test_footnote_1_needs_a_cell_above_at_k_10_or_15():
    def judged(services):
        row = fake(method="bf-ucac", services=services, violation="0.11", untruncated="0.1")
        return list(level_claims.violation_claims([row]))

    rare = "Footnote 1: violations exceed 1 - alpha"
    assert by_text(judged("10"), rare).verdict is Verdict.REPRODUCED
    assert by_text(judged("20"), rare).verdict is Verdict.UNTESTED
    assert by_text(judged("20"), rare).stated == "3 of 24"
    assert by_text(judged("10"), "Footnote 1: truncation").verdict is Verdict.REPRODUCED


def test_cores_and_machines_are_judged_within_a_twentieth():
    row = fake(case="empty", services="5", method="csp-ucac", ucac="34000", machines="1035")
    found = list(level_claims.absolute_claims([row]))
    assert by_text(found, "UCaC of CSP-UCaC, cores").verdict is Verdict.NOT  # 32,360
    assert by_text(found, "machines of CSP-UCaC, number").verdict is Verdict.REPRODUCED
    week = [day(), day(method="bf-nsigma", n="1.15", machines="1400", violations="4.4")]
    week += [day(method="bf-nsigma", n="3.09", violations="0.04")]
    found = list(claims.week_claims(week))
    assert by_text(found, "Table 4: machines of BF-1.15σ, number").verdict is Verdict.NOT  # 1,305
    assert by_text(found, "Table 4: violations of BF-1.15σ").verdict is Verdict.REPRODUCED
    assert by_text(found, "Table 4: violations of BF-3.09σ").verdict is Verdict.REPRODUCED
    assert by_text(found, "Table 4: violations of BiHeu").verdict is Verdict.UNTESTED


def test_where_the_papers_own_table_says_otherwise_its_column_says_so():
    machines = by_text(claims.week_claims([]), "§6.2: the three methods have fewer machines than BF-nσ")
    assert machines.stated == "better, but BF-UCaC 1,350 against 1,337"


def test_the_paper_says_tens_of_seconds_and_no_number():
    few = by_text(time_claims([], [], []), "pattern generation, K up to 15")
    assert (few.text, few.stated) == ("pattern generation, K up to 15, at most 100 s", "tens of seconds")


def test_causes_tell_of_the_very_claim():
    def cause_of(part):
        claim = by_text(measured_claims("UCaC"), part)
        return causes.reason("UCaC", replace(claim, verdict=Verdict.NOT))

    assert "K = 10, 99.9%: 0.665, the paper 0.64" in cause_of("Table 2: machines of BF-UCaC over")
    assert "r = 0.403" in cause_of("Table 4: machines of BF-1.15σ over")
    assert "machines, in the paper's 1,350 and 1,395" in cause_of("§6.2: BF-UCaC has fewer machines than CSP-Mac with heuristics")
    assert "cores, in the paper's 41,402 and 42,582" in cause_of("§6.2: CSP-UCaC has less UCaC than CSP-Mac")
    assert "median over services: google2019 0.42" in cause_of("Observation 1")
    assert "of 100 a week" in cause_of("Figure 1: usage has a week")


def test_the_cause_of_csp_mac_has_what_no_placement_exceeds(monkeypatch):
    mac = fake(method="csp-mac", ucac="95", pattern_ucac="106", even_ucac="97")
    both = [fake(), mac, fake(alpha="0.99"), {**mac, "alpha": "0.99"}]
    monkeypatch.setattr(ucac_causes, "raw", lambda path: both)
    claim = by_text(claims.table_claims(both), "Table 1: UCaC of CSP-Mac over")
    cause, match = next((cause, match) for cause in ucac_causes.CAUSES if (match := cause.explains(claim)))
    assert "at 99.9%: at most 0.970, the paper 1.00 to 1.02, our patterns 1.060 to 1.060" in cause.sentence(match)


def test_the_cutting_stock_step_is_judged_by_itself():
    row = {"case": "empty", "services": "20", "alpha": "0.999", "seed": "0", "gap": "0.0001", "pattern_cpu_seconds": "1"}
    large, small = {**row, "stock_cpu_seconds": "4"}, {**row, "services": "15", "stock_cpu_seconds": "2"}
    found = list(time_claims([], [large, small], []))
    assert by_text(found, "stock step, K = 20").verdict is Verdict.REPRODUCED
    assert by_text(found, "stock step, K = 20").ours == "4 s at most, within 0.010% of the bound"
    assert by_text(found, "stock step, K up to 15").verdict is Verdict.NOT
    assert by_text(time_claims([], [], []), "stock step, K = 20").verdict is Verdict.UNTESTED


def test_figure_3_is_judged_rank_by_rank():
    curves = {"bf-nsigma": "20 20 20 20", "csp-ucac": "30 30 10", "csp-mac": "31 31 10"}
    measured = [{"case": case, "method": name, "ucac": text} for case in CASES for name, text in curves.items()]
    found = list(figure_claims(measured))
    assert by_text(found, "BF-nσ uses more machines").verdict is Verdict.REPRODUCED
    assert by_text(found, "almost all machines").ours == "66.7 %"
    assert by_text(found, "almost all machines").verdict is Verdict.NOT
    assert by_text(found, "Figure 3(b)").verdict is Verdict.NOT  # 2 / 3 of a core of 31.58 is above 0.02
    assert [claim.verdict for claim in figure_claims(measured[:2])][2:] == [Verdict.UNTESTED] * 3


def test_a_service_that_rests_at_weekends_changes_over_the_day_and_the_week():
    hour = np.arange(28 * 24)
    weekend = np.isin(hour // 24 % 7, (5, 6))
    total = (2 + np.sin(2 * np.pi * hour / 24)) * np.where(weekend, 0.3, 1.0)
    service = traces.Service(data="a trace", name="web", total=total, weekday=0, ratio=np.where(weekend, 0.8, 0.4))
    row = traces._row(service)
    assert float(row["week"]) == pytest.approx(1.0)
    assert (float(row["weekend_peak"]), float(row["weekend_ratio"])) == pytest.approx((0.3, 2.0))
    assert {claim.verdict for claim in trace_claims([row])} == {Verdict.REPRODUCED}
    flat = {**row, "day": "0", "half_day": "0.2", "week": "0", "half_week": "0.1", "weekend_peak": "1.1", "weekend_ratio": "0.9"}
    assert {claim.verdict for claim in trace_claims([flat])} == {Verdict.NOT}


# ---- runs ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_quick_run_measures_everything_once(tmp_path, monkeypatch):
    run.main(["--quick", "--out", str(tmp_path)])
    measured = rows(tmp_path / run.CELLS)
    assert len(measured) == len(CASES) * 2 * len(ALPHAS) * len(METHODS)
    assert {(row["rules_violated"], row["left_out"]) for row in measured} == {("0", "0")}
    assert len(rows(tmp_path / run.WEEK)) == 7 * (len(run.OTHERS) + 3)
    assert {row["converged"] for row in rows(tmp_path / run.TIMES)} == {"yes"}
    assert len(rows(tmp_path / run.STOCK)) == len(CASES) * 2 * len(ALPHAS)
    assert all(float(row["cpu_seconds"]) >= 0 for row in measured)
    text = (tmp_path / "ucac.md").read_text(encoding="utf-8")
    assert "**Table 1, scale-down, 99.9%**" in text
    assert "`bf-3.09sigma`" in text
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {f"ucac-figure-3-{case}.svg" for case in CASES}
    for module, name in ((cells, "measured"), (weeks, "week_of"), (cells, "packed"), (times, "cutting_stock")):
        monkeypatch.setattr(module, name, lambda *_: pytest.fail("measured again"))
    run.main(["--quick", "--out", str(tmp_path)])


def test_the_tables_in_the_docs_are_those_of_the_csv_files():
    text = pages.DOCS.read_text(encoding="utf-8")
    assert pages.written(text, run.HERE) == text


def test_the_frozen_factors_are_those_that_calibration_chose():
    measured = rows(run.HERE / calibrate.CSV)
    assert {case: calibrate.nearest_factor(measured, case) for case in FACTOR} == FACTOR


def test_the_drift_of_the_week_is_the_largest_that_is_safe():
    found = calibrate.outcomes(rows(run.HERE / calibrate.WEEK_CSV))
    safe = [float(drift) for (swing, drift), outcome in found.items() if swing == f"{SWING:g}" and outcome.violations <= 0.001]
    assert max(safe) == DRIFT


def test_reported_seeds_are_not_those_of_calibration():
    assert not set(run.Scope().seeds) & set(calibrate.SEEDS)
    fresh = np.concatenate([seeds for _, seeds in run.Scope().generated])
    assert not set(fresh) & ({*run.Scope().seeds} | {*calibrate.SEEDS})


def test_times_are_judged_line_by_line():
    row = {"services": "20", "alpha": "0.99", "goal": "ucac", "converged": "yes", "rounds": "1", "patterns": "1"}
    row |= {"commit": "abc", "machine": "a machine"}
    quick, slow = [{**row, "seconds": "0.1"}] * 5, [{**row, "seconds": "0.6", "goal": "machines"}] * 2
    assert "? yes: 5 of 5 converge" in line_of(pages.time_lines(quick), "K = 20")
    assert "? **no**: 7 of 7 converge; median 0.60 s in the slowest line" in line_of(pages.time_lines(quick + slow), "K = 20")
    assert "? **no**: 4 of 5 converge" in line_of(pages.time_lines([*quick[1:], {**quick[0], "converged": "no"}]), "K = 20")
    assert "? **no**" in line_of(pages.time_lines([{**quick[0], "services": "100", "seconds": "61"}]), "K = 100")
