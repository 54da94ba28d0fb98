"""Claims beside what was measured: one line each, the same in a terminal and as JSON."""

from dataclasses import dataclass

from bayplan.report.json import records
from bayplan.report.table import report
from bayplan.report.terminal import text_of
from bayplan.report.verdict_table import verdict_table


@dataclass(frozen=True)
class Judged:
    where: str = "Table IV"
    text: str = "U is the lowest"
    stated: str = "57.7 %"
    ours: str = "21.8 %"
    rule: str = "±20 %"
    cases: str = "10 of 10"
    verdict: str = "direction only"


def test_a_claim_is_one_line_with_its_rule_and_its_cases():
    lines = text_of(report(verdict_table([Judged()], title="a paper: 1 claim")), width=120).splitlines()
    assert lines[0] == "a paper: 1 claim"
    assert lines[1].split() == ["claim", "the", "paper", "ours", "verdict"]
    assert lines[-1].split("  ") == [
        "Table IV: U is the lowest",
        "57.7 % (±20 %)",
        "21.8 % (10 of 10)",
        "direction only",
    ]


def test_json_has_the_same_words():
    (record,) = records(verdict_table([Judged(cases="")]))
    assert record == {
        "claim": "Table IV: U is the lowest",
        "paper": "57.7 % (±20 %)",
        "ours": "21.8 %",
        "verdict": "direction only",
    }


def test_no_verdict_is_cut_where_it_is_narrow():
    text = text_of(report(verdict_table([Judged(text="a long claim " * 10, verdict="not reproduced")])), width=80)
    assert "not reproduced" in text


def test_nothing_measured_is_no_table():
    assert report(verdict_table([])).parts == ()
