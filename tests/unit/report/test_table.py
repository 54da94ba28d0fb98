"""One table, rendered three ways: they agree, and each keeps what it promises."""

import json
import math
import re
import xml.etree.ElementTree as ET

import pytest

from bayplan.report.answers import admit_tables, pack_tables, placement_tables, plan_tables, schedule_tables, sweep_tables
from bayplan.report.answers.decision_tables import move_table
from bayplan.report.fragment import fragment
from bayplan.report.json import records, to_json
from bayplan.report.markup import html_table
from bayplan.report.table import (
    Cell,
    Facts,
    Sentence,
    Table,
    TableColumn,
    count_cell,
    duration_cell,
    facts,
    report,
    score_cell,
    sentences,
    share_cell,
    table,
)
from bayplan.report.terminal import fitting, text_of

COLUMNS = (
    TableColumn("machine"),
    TableColumn("containers", "number", drop=1),
    TableColumn("share of cpu", "share", short="cpu"),
    TableColumn("takes", "duration", drop=2, key="seconds"),
    TableColumn("what it means"),
)
ROWS = [
    (
        Cell(f"node-{k}"),
        count_cell(1000 * k),
        share_cell(k / 4, "bad" if k > 4 else ""),
        duration_cell(60.0 * k),
        Cell("many words " * 4),
    )
    for k in range(6)
]
TABLE = table(COLUMNS, ROWS, title="Machines")


def test_terminal_html_and_json_say_the_same():
    words = " ".join(text_of(report(TABLE), width=140).split())
    page = ET.fromstring(f"<div>{html_table(TABLE)}</div>")
    cells = [[cell.text or "" for cell in row.iter("td")] for row in page.iter("tr")][1:]
    assert cells == [[cell.text for cell in row] for row in TABLE.rows]
    assert all(" ".join(cell.text.split()) in words for row in TABLE.rows for cell in row)
    assert json.loads(to_json(records(TABLE)))[5] == {
        "machine": "node-5",
        "containers": 5000,
        "share_of_cpu": 1.25,
        "seconds": 300.0,
        "what_it_means": "many words " * 4,
    }


def test_html_sorts_by_the_raw_value_and_marks_what_is_bad():
    page = html_table(TABLE)
    assert 'class="n worse" data-v="1.25">125' in page
    assert len(re.findall(r'<th scope="col" class="n">', page)) == 3


@pytest.mark.parametrize("width", [30, 40, 60, 100])
def test_columns_are_dropped_in_their_order_and_numbers_are_never_cut(width):
    kept = [column.name for column in fitting(TABLE, width).columns]
    dropped = [column.drop for column in TABLE.columns if column.name not in kept]
    assert dropped == sorted(dropped) == list(range(1, len(dropped) + 1))
    text = text_of(report(TABLE), width=width)
    assert max(map(len, text.splitlines())) <= width and "…" not in text
    assert all(row[2].text in text for row in TABLE.rows)


def test_the_first_rows_are_followed_by_how_many_more_there_are():
    short = TABLE.first(2, "machines")
    assert len(short.rows) == 2 and TABLE.first(6).footer == ""
    assert text_of(report(short)).endswith("and 4 more machines")
    assert html_table(short).endswith('<p class="soft">and 4 more machines</p>')


def test_a_number_that_is_not_known_is_a_dash_and_null():
    unknown = table((TableColumn("gap", "share"), TableColumn("value", "number")), [(share_cell(None), score_cell(math.nan))])
    assert json.loads(to_json(records(unknown))) == [{"gap": None, "value": None}]
    assert text_of(report(unknown)).count("–") == 2 and "data-v" not in html_table(unknown)


def test_a_fragment_shows_headline_facts_and_the_first_rows_without_script():
    moves = move_table([(f"web-{k}<b>", "a", None) for k in range(30)])
    page = fragment(report(Sentence("valid", "good"), facts(("method", "best")), moves), headline="shop & co")
    root = ET.fromstring(page)
    cells = ["".join(cell.itertext()) for cell in root.iter("td")]
    assert cells[:2] == ["method", "best"] and cells[2:5] == ["web-0<b>", "a", "–"] and len(cells) == 2 + 3 * 20
    words = [element.text for element in root.iter("div") if element.text]
    assert words == ["shop & co", "valid", "Moves: 30", "and 10 more moves"]
    assert "<script" not in page and "<style" not in page and "class=" in page


def test_every_row_has_a_cell_for_each_column():
    with pytest.raises(ValueError, match="Machines"):
        Table(columns=COLUMNS, rows=((Cell("a"),),), title="Machines")


@pytest.mark.parametrize("module", [admit_tables, pack_tables, placement_tables, plan_tables, schedule_tables, sweep_tables])
def test_the_columns_of_every_answer_have_keys_of_their_own(module):
    groups = [
        value for value in vars(module).values() if isinstance(value, tuple) and value and isinstance(value[0], TableColumn)
    ]
    assert groups
    for columns in groups:
        keys = [column.json_key for column in columns]
        assert len(set(keys)) == len(keys) and all(key.isidentifier() and key == key.lower() for key in keys)


def test_a_report_leaves_out_what_says_nothing_and_keeps_sentences_together():
    parts = report(Sentence("one"), Sentence("two"), facts(("seed", "7"), ("bound", "")), Facts(()), table(COLUMNS, ()))
    assert text_of(parts) == "one\ntwo\n\nseed  7"


def test_sentences_are_cut_and_counted():
    assert [sentence.text for sentence in sentences("abcde", 2, "letters")] == ["a", "b", "and 3 more letters"]
