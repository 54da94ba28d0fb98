"""The experiments of [Cradle]: loads, verdicts that can fail, and docs that come from the file."""

import numpy as np
import pytest
from experiments.cradle import pages
from experiments.cradle.cells import KEY, Cell, cells
from experiments.cradle.claims import claims
from experiments.cradle.instances import drawn, load, machines_for, size_for, work
from experiments.cradle.settings import MADE, QUICK, Scope
from experiments.cradle.tables import by_load, load_table, ratios
from experiments.results import put, rows
from experiments.verdicts import Verdict

from bayplan.generate import GENERATORS

REPRODUCED, DIRECTION, NOT, _ = Verdict


def row(method, share, *, load=12.0, part="loads", seed=0, used=0.5, size="1000", bound=""):
    cell = Cell(part=part, trace="t", load=load, size=int(size), seed=seed, method=method)
    measured = {"n": "1000", "machines": size, "reached": f"{load:g}", "served": str(share), "value": str(1000 * share)}
    more = {"used": str(used), "bound": bound, "broken": "0", "seconds": "1", "commit": "abc", "machine": "a machine"}
    return {**dict(zip(KEY, cell.key, strict=True)), **measured, **more}


def verdicts(*measured):
    return {claim.text.removeprefix("t: "): claim.verdict for claim in claims(list(measured), "t")}


def at_twelve(mine, others, used=0.5, cradle=None):
    return [
        row("cradle", mine * 0.97 if cradle is None else cradle),
        row("cradle+", mine, used=used),
        row("bin-packing", others, used=0.9),
        row("spread", others * 0.9, used=0.9),
    ]


def test_what_the_paper_measured_is_reproduced():
    found = verdicts(*at_twelve(0.48, 0.24))
    assert found["at load 12, Cradle+ serves twice as many as the others"] == REPRODUCED
    assert found["at load 12, Cradle+ serves just below half"] == REPRODUCED
    assert found["at load 12, the others serve a quarter"] == REPRODUCED
    assert found["best effort adds 2 to 5 % to those accepted"] == REPRODUCED


def test_what_it_did_not_measure_is_not():
    found = verdicts(*at_twelve(0.38, 0.42, used=0.95, cradle=0.2))
    assert found["at load 12, Cradle+ serves twice as many as the others"] == NOT
    assert found["at load 12, Cradle+ serves just below half"] == NOT
    assert found["at load 12, Cradle+ uses half of the resources"] == NOT
    assert found["best effort adds 2 to 5 % to those accepted"] == DIRECTION
    assert verdicts(*at_twelve(0.48, 0.40))["at load 12, Cradle+ serves twice as many as the others"] == DIRECTION


def test_far_more_than_the_paper_measured_is_not_reproduced_either():
    found = verdicts(*at_twelve(0.72, 0.16, used=0.2))
    assert found["at load 12, Cradle+ serves twice as many as the others"] == DIRECTION
    assert found["at load 12, Cradle+ serves just below half"] == NOT
    assert found["at load 12, the others serve a quarter"] == NOT
    assert found["at load 12, Cradle+ uses half of the resources"] == NOT
    assert found["Cradle+ is 10 to 50 % ahead, depending on the load"] == DIRECTION
    ahead = verdicts(*at_twelve(0.65, 0.23))["where Cradle+ serves 60 to 70 %, it is 10 to 20 % ahead"]
    assert ahead == DIRECTION  # 183 % ahead
    assert verdicts(*at_twelve(0.65, 0.56))["where Cradle+ serves 60 to 70 %, it is 10 to 20 % ahead"] == REPRODUCED


def test_ratios_are_against_the_better_of_the_baselines_in_each_instance():
    assert list(ratios(at_twelve(0.48, 0.24), "cradle+", "others").values()) == [pytest.approx(2.0)]


def test_the_table_has_the_proven_limit_as_a_share():
    measured = [*at_twelve(0.48, 0.24), row("online", 0.3), row("bound", 0.0, bound="600")]
    (line,) = load_table(measured, "t")[2:]
    assert line == "| 12 | 46.6% | 48.0% | 24.0% | 21.6% | 30.0% | 2.00 | 60.0% | 50.0% | 90.0% |"
    assert by_load(measured, "t", "cradle+", "served") == {12.0: 0.48}


def test_the_number_of_machines_gives_the_load_that_is_asked_for():
    requests = drawn(GENERATORS["requests"].make(machines=30, load=4.0, seed=3), 1500, seed=1)
    assert len(requests.name) == 1500
    for wanted in (1.0, 2.0):
        machines = machines_for(requests, wanted)
        others = [abs(load(requests, m) - wanted) for m in (machines - 1, machines + 1) if m > 0]
        assert abs(load(requests, machines) - wanted) <= min(others)
    assert size_for(requests, 2.0, 5) == pytest.approx(
        2.0 * 5 * float(np.ptp(np.r_[requests.start, requests.end])) / float(work(requests).mean()), abs=1
    )


def test_seeds_that_are_reported_are_not_those_that_methods_were_made_with():
    assert set(Scope().seeds) == {10, 11, 12, 13, 14}
    assert {cell.trace for cell in cells(QUICK)} == {MADE}


def test_the_page_is_made_from_the_file():
    text = (pages.DOCS / "verbs" / "schedule.md").read_text(encoding="utf-8")
    measured = rows(pages.HERE / "cells.csv")
    assert put(text, pages.MARKER, pages.lines_of(measured)) == text
    for name, drawing in pages.pictures(measured).items() if measured else ():
        assert (pages.DOCS / "pictures" / name).read_text(encoding="utf-8") == drawing
