"""The performance model beside two papers: verdicts follow from the rows, a quick run writes every table, the page is fresh."""

from pathlib import Path

import numpy as np
import pytest
from experiments.production import performance
from experiments.production.claims import rasa_claims
from experiments.production.measures import chosen_services, service_sizes
from experiments.production.pages import DOCS, blocks
from experiments.production.settings import (
    AFTER,
    BASE,
    BEFORE,
    FREECONTAINER,
    QUICK,
    RASA,
    STRESSED_ABOVE,
    STRESSED_SERVERS,
    Cell,
    cells,
)
from experiments.production.states import stress_load, study_of, walks_in
from experiments.results import on_page, rows

HERE = Path(performance.__file__).parent


@pytest.mark.parametrize(
    ("after", "word"), [(2.0 / 2.5, "reproduced"), (0.9, "direction only"), (0.2, "direction only"), (1.1, "not reproduced")]
)
def test_the_fall_of_latency_is_judged_on_both_sides(after, word):
    measured = []
    for row in rows(HERE / "performance.csv"):
        base = row["study"] == RASA and row["state"] != BEFORE
        measured.append({**row, "call_ms": str(after * 2.4048321)} if base else row)
    claim = next(claim for claim in rasa_claims(measured, rows(HERE / "parts.csv")) if "latency, WITHOUT" in claim.text)
    assert claim.verdict == word


def test_every_cell_is_asked_once_and_the_stated_assumptions_come_first():
    for study in (RASA, FREECONTAINER):
        keys = [cell.key for cell in cells(study)]
        assert len(keys) == len(set(keys))
        assert keys[0] == BASE[study].key


def test_the_stress_load_is_the_one_that_the_paper_states():
    walks = walks_in(Cell(study=FREECONTAINER, state=BEFORE, queue="curve", load="stress"), QUICK)
    share = walks.given.load * walks.load.served + walks.load.other
    assert walks.given.load == stress_load(QUICK)
    assert np.quantile(share, 1 - STRESSED_SERVERS) == pytest.approx(STRESSED_ABOVE)


def test_the_same_iterations_find_the_same_placement():
    first = study_of(RASA, QUICK).after.machine_of.tolist()
    study_of.cache_clear()
    assert study_of(RASA, QUICK).after.machine_of.tolist() == first


def test_the_services_are_of_all_sizes():
    cluster = study_of(FREECONTAINER, QUICK).snapshot.cluster
    sizes, chosen = service_sizes(cluster), chosen_services(cluster)
    assert len(chosen) == len(set(chosen)) == 5
    assert {min(sizes), max(sizes)} <= {sizes[s] for s in chosen}


@pytest.mark.long
def test_a_quick_run_writes_every_table_and_a_second_one_computes_nothing(tmp_path, capsys):
    performance.main(["--quick", "--out", str(tmp_path)])
    page = (tmp_path / "production.md").read_text(encoding="utf-8")
    for marker in ("rasa", "rasa-grid", "freecontainer", "services", "simulated"):
        assert f"<!-- production-{marker}: generated -->\n|" in page or f"<!-- production-{marker}: generated -->\nAt" in page
    written = (tmp_path / "performance.csv").read_bytes()
    performance.main(["--quick", "--out", str(tmp_path)])
    assert (tmp_path / "performance.csv").read_bytes() == written


def test_the_page_is_made_from_the_rows_that_are_kept():
    page = DOCS.read_text(encoding="utf-8")
    for marker, lines in blocks(rows(HERE / "performance.csv"), rows(HERE / "parts.csv")).items():
        start, end = f"<!-- {marker}: generated -->\n", f"<!-- {marker}: end -->"
        assert page.partition(start)[2].partition(end)[0] == "\n".join([*on_page(lines), ""])


def test_formula_and_simulation_agree_in_the_rows_that_are_kept():
    simulated = [row for row in rows(HERE / "performance.csv") if row["simulated_mean"]]
    assert {(row["study"], row["state"]) for row in simulated} == {(s, t) for s in (RASA, FREECONTAINER) for t in (BEFORE, AFTER)}
    for row in simulated:
        assert abs(float(row["mean_ms"]) - float(row["simulated_mean"])) < 2.5 * float(row["half_width"])
        assert float(row["p95_ms"]) == pytest.approx(float(row["simulated_p95"]), rel=0.06)
