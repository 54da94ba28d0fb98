"""Streams of cluster requests: what is written is read back in every form, and what is broken is named by its line."""

import gzip
import io
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import assume, given
from tests.builders.strategies import admissions

from bayplan.errors import InputError, UsageError
from bayplan.formats import read_admission, read_any, write
from bayplan.formats.document.schemas import schema
from bayplan.formats.document.shape import shape_faults
from bayplan.formats.document.text import read_document, read_text
from bayplan.formats.streams import is_stream, json_lines, read_stream, request_of, stream_in, table_text
from bayplan.formats.streams.document import admission_text, read_zones
from bayplan.formats.streams.entry import flawless
from bayplan.model import ClusterRequests

EXAMPLE = Path(__file__).parents[3] / "examples" / "admission.json"
HEAD = {key: value for key, value in json.loads(EXAMPLE.read_text(encoding="utf-8")).items() if key != "requests"}
JOB = {"name": "job", "start": 2, "end": 3, "members": ["a", "b"], "demand": {"cpu": [1, "500m"]}, "traffic": [[0, 2], [0, 0]]}
TABLE = "request,arrival,start,end,value,member,cpu,memory,traffic\n"


def lines(*entries: object, head: bool = True) -> str:
    written = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
    return "\n".join(([json.dumps(HEAD)] if head else []) + written) + "\n"


@pytest.fixture
def zones(tmp_path: Path) -> Path:
    file = tmp_path / "zones.json"
    file.write_text(json.dumps(HEAD), encoding="utf-8")
    return file


def same(one: ClusterRequests, other: ClusterRequests) -> bool:
    return admission_text(one) == admission_text(other)


def message_of(text: str, source: str = "x.jsonl", **options: object) -> str:
    with pytest.raises(InputError) as caught:
        stream_in(text, source, **options)
    return str(caught.value)


def fits(admission: ClusterRequests) -> bool:
    most = np.minimum(admission.zones.capacity, admission.zones.request_cap)
    return all((r.demand[:, None] <= most[None]).all(axis=2).any(axis=1).all() for r in admission.requests)


@given(admissions())
def test_every_form_comes_back_as_it_was_written(admission):
    assume(fits(admission))
    zones = admission.zones
    apart = zones.bandwidth * (1 - np.eye(len(zones.name), dtype=np.int64))  # no file has links from a zone to itself
    admission = replace(admission, zones=replace(zones, bandwidth=apart))
    assert same(stream_in(json_lines(admission), "x.jsonl").admission, admission)
    assert same(stream_in(admission_text(admission), "x.json").admission, admission)


def test_a_table_comes_back_as_it_was_written(tmp_path):
    admission = read_admission(EXAMPLE)
    file = tmp_path / "x.csv"
    file.write_text(table_text(admission), encoding="utf-8")
    assert same(read_stream(file, zones=EXAMPLE).admission, admission)


def test_a_member_whose_name_has_a_separator_has_no_table():
    odd = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    odd["requests"][1]["members"] = ["a=b"]
    with pytest.raises(UsageError, match="a=b"):
        table_text(stream_in(json.dumps(odd), "x.json").admission)


def test_requests_alone_have_their_zones_from_another_file(zones):
    stream = stream_in(lines(JOB, head=False), "x.jsonl", zones=zones)
    assert stream.admission.requests[0].demand.tolist() == [[1000, 0], [500, 0]]
    assert same(stream.admission, stream_in(lines(JOB), "x.jsonl").admission)


def test_zones_may_come_from_the_first_line_of_another_stream(tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(lines(JOB), encoding="utf-8")
    assert len(stream_in(lines(JOB, head=False), "x.jsonl", zones=other).admission.zones.name) == 2


@pytest.mark.parametrize(
    ("text", "source", "is_one"),
    [
        (lines(JOB), "-", True),
        (lines(JOB, head=False), "-", True),
        (lines(), "-", False),  # a document with zones alone
        (TABLE, "-", True),
        (EXAMPLE.read_text(encoding="utf-8"), "-", False),
        (lines(JOB), "x.json", False),
        ("request: 1", "x.csv.gz", True),
        ("bayplan: 1", "-", False),
    ],
)
def test_the_suffix_or_the_first_line_tells_what_it_is(text, source, is_one):
    assert is_stream(text, source) is is_one


def test_a_stream_may_be_gzipped_and_any_command_reads_it(tmp_path):
    file = tmp_path / "x.jsonl.gz"
    file.write_bytes(gzip.compress(lines(JOB).encode()))
    assert same(read_any(file), stream_in(lines(JOB), "x.jsonl").admission)


def test_a_stream_may_come_from_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines(JOB).encode())))
    assert [r.name for r in read_stream("-").admission.requests] == ["job"]


def test_empty_lines_do_not_count_and_keep_the_numbers():
    assert "line '4, request job'" in message_of(lines("", {**JOB, "name": "first"}, {**JOB, "end": 2}))


BROKEN = {  # entry -> what is message_of of it
    "zero length": ({**JOB, "end": 2}, "E1501 line '2, request job': ends before or when it starts (start 2, end 2)"),
    "starts before it arrives": ({**JOB, "arrival": 2.5}, "E1511 line '2, request job'"),
    "no members": ({**JOB, "members": []}, "E1111 line '2, request job': members is empty"),
    "negative value": ({**JOB, "value": -1}, "E1102 line '2, request job': value is negative (-1)"),
    "value is no number": (json.dumps({**JOB, "value": 1}).replace('"value": 1', '"value": NaN'), "E1103 line '2, request job'"),
    "endless traffic": (
        json.dumps(JOB).replace("[0, 2]", "[0, 1e999]"),
        "E1103 line '2, request job': traffic entry 1 entry 2 is not finite (1e999)",
    ),
    "negative demand": ({**JOB, "demand": {"cpu": [1, -2]}}, "E1102 line '2, request job': demand cpu entry 2 is negative (-2)"),
    "negative quantity": ({**JOB, "demand": {"cpu": [1, "-2"]}}, "E1505 line '2, request job'"),
    "unknown resource": ({**JOB, "demand": {"gpu": [1, 1]}}, "E1504 line '2, request job'"),
    "double member": ({**JOB, "members": ["a", "a"]}, "E1512 line '2, request job'"),
    "traffic not square": ({**JOB, "traffic": [[0, 1]]}, "E1509 line '2, request job'"),
    "traffic to itself": ({**JOB, "traffic": [[1, 0], [0, 0]]}, "E1510 line '2, request job'"),
    "fits nowhere": ({**JOB, "demand": {"cpu": [1, 61]}}, "E1518 line '2, request job': a member fits into no zone"),
    "no name": ({key: value for key, value in JOB.items() if key != "name"}, "E1107 line '2': 'name' is missing"),
    "unknown key": ({**JOB, "ends": 3}, "E1108 line '2, request job': unknown key 'ends' (3)"),
    "a list": ([1, 2], "E1101 line '2': must be an object"),
    "cut off": ('{"name": "job", "sta', "E1006 line '2': column 17"),
    "double key": ('{"name": "job", "name": "job"}', "E1010 line '2, key name'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_request_is_named_by_its_line(name):
    entry, words = BROKEN[name]
    assert words in message_of(lines(entry))


@pytest.mark.parametrize("name", [name for name, (entry, _) in BROKEN.items() if isinstance(entry, dict)])
def test_a_single_request_is_judged_as_in_a_stream(name):
    zones, _ = read_zones(read_document(EXAMPLE), "x")
    with pytest.raises(InputError) as caught:
        request_of(BROKEN[name][0], zones)
    assert caught.value.faults[0].code == BROKEN[name][1].split()[0] and caught.value.source == "request"


def test_a_single_request_is_read_as_in_a_stream():
    zones, _ = read_zones(read_document(EXAMPLE), "x")
    assert request_of(JOB, zones).demand.tolist() == [[1000, 0], [500, 0]]
    assert request_of(JOB | {"demand": {"cpu": [1, 2]}}, zones, base_units=True).demand.tolist() == [[1, 0], [2, 0]]


ODD = [None, True, -1, 0, 2**54, 0.5, float("nan"), "", "a", "1", "\n", [], [1], ["a"], [[0]], [[-1]], [["x"]], {}, {"cpu": [1]}]
ODD += [{"cpu": [-1]}, {"cpu": [True]}, {"cpu": ["1"]}, {"cpu": 1}]


def test_what_is_quickly_called_flawless_has_the_right_shape():
    plain, quick = JOB | {"demand": {"cpu": [1, 2]}}, 0
    for key in (*plain, "arrival", "value", "other"):
        for odd in ODD:
            entry = {**plain, key: odd}
            if flawless(entry):
                quick += 1
                jsonschema.validate({**HEAD, "requests": [entry]}, schema("admission"))
                assert shape_faults({**HEAD, "requests": [entry]}, schema("admission")) == []
    assert flawless(plain) and quick > 10


def test_order_of_arrival_and_names_are_judged_along_the_stream():
    text = message_of(lines(JOB, {**JOB, "name": "early", "start": 1}, JOB))
    assert "E1517 line '3, request early': arrives before the one that came before it (arrival 1, after 2 of 'job')" in text
    assert "E1503 line '4, request job': the name occurs more than once" in text


def test_all_faults_of_a_stream_are_said_at_once():
    text = message_of(lines(*(entry for entry, _ in BROKEN.values())))
    assert {words.split()[0] for _, words in BROKEN.values()} <= {word for word in text.split() if word.startswith("E1")}


def test_faulty_requests_can_be_left_out():
    good = {**JOB, "name": "good"}
    stream = stream_in(lines(*(entry for entry, _ in BROKEN.values()), good), "x.jsonl", keep_going=True)
    assert [request.name for request in stream.admission.requests] == ["good"]
    assert stream.skipped == len(BROKEN) <= len(stream.faults)


def test_faulty_requests_of_a_document_can_be_left_out_too():
    document = {**HEAD, "requests": [{**JOB, "name": "late", "start": 5, "end": 6}, {**JOB, "end": 1}, {"name": "x"}, JOB]}
    stream = stream_in(json.dumps(document), "x.json", keep_going=True)
    assert [request.name for request in stream.admission.requests] == ["job", "late"]  # in order of arrival
    assert stream.skipped == 2 and str(stream.faults[0]).startswith("E1501 request 'job'")


def test_a_document_with_a_member_that_fits_nowhere_is_refused():
    assert "request 'job': a member fits into no zone" in message_of(
        json.dumps({**HEAD, "requests": [{**JOB, "demand": {"cpu": [1, 61]}}]}), "x.json"
    )


@pytest.mark.parametrize("keep_going", [False, True])
def test_faults_of_the_zones_are_never_skipped(keep_going):
    head = {**HEAD, "links": [["east", "north", 3]]}
    assert "E1507 link 'east -> north'" in message_of(lines(json.dumps(head), JOB, head=False), keep_going=keep_going)


def test_a_stream_needs_zones_exactly_once(zones):
    assert "E1520" in message_of(lines(JOB, head=False))
    assert "E1520" in message_of(TABLE, "x.csv")
    for text, source in ((lines(JOB), "x.jsonl"), (EXAMPLE.read_text(encoding="utf-8"), "x.json")):
        with pytest.raises(UsageError, match="zones of its own"):
            stream_in(text, source, zones=zones)
    assert "E1108" in message_of(lines(json.dumps({**HEAD, "requests": []}), head=False))


def test_a_cluster_is_no_stream():
    assert "E1011" in message_of(EXAMPLE.with_name("small.json").read_text(encoding="utf-8"), "small.json")


ROWS = {
    "two cells": ("a,1\n", "E1901 line '2': has another number of cells than the header (2); expected 9"),
    "contradiction": (
        "a,1,1,2,5,x,1,,\na,1,1,3,,y,1,,\n",
        "E1519 line '3, request a': contradicts the request's first line (end 3",
    ),
    "no member": ("a,1,1,2,5,,1,,\n", "E1111 line '2, request a': names no member"),
    "traffic to no member": ("a,1,1,2,5,x,1,,z=3\n", "E1202 line '2, request a': sends traffic to no member"),
    "traffic twice": ("a,1,1,2,5,x,1,,y=3;y=4\na,,,,,y,1,,\n", "E1203 line '2, request a': names a member twice"),
    "traffic in words": ("a,1,1,2,5,x,1,,y=much\na,,,,,y,1,,\n", "E1101 line '2, request a': traffic must be a number"),
    "time in words": ("a,1,soon,2,5,x,1,,\n", "E1101 line '2, request a': start must be a number (\"soon\")"),
    "value is no number": ("a,1,1,2,nan,x,1,,\n", "E1103 line '2, request a': value is not finite (nan)"),
    "no start": ("a,1,,2,5,x,1,,\n", "E1107 line '2, request a': 'start' is missing"),
    "not a quantity": ("a,1,1,2,5,x,1 gb,,\n", "E1505 line '2, request a'"),
    "apart": ("a,1,1,2,5,x,1,,\nb,1,1,2,5,x,1,,\na,1,1,2,5,y,1,,\n", "E1503 line '4, request a'"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_broken_row_is_named_by_its_line(name, zones):
    assert ROWS[name][1] in message_of(TABLE + ROWS[name][0], "x.csv", zones=zones)


def test_a_broken_table_is_named(zones):
    assert "E1902" in message_of(TABLE + 'a,"1,1', "x.csv", zones=zones)
    text = message_of(TABLE.replace("memory", "memroy").replace("end", "value"), "x.csv", zones=zones)
    assert "E1108 column 'memroy'" in text and "E1203 column 'value'" in text and "E1107 column 'end'" in text


def test_a_table_says_times_once_and_what_it_leaves_out_is_nothing(zones):
    text = "request,start,end,member,traffic\nshop,1,2,front,db=1.5; cache=2\nshop,,,db,\nshop,1,2.0,cache,front=1\n"
    (shop,) = stream_in(text, "x.csv", zones=zones).admission.requests
    assert (shop.arrival, shop.start, shop.end, shop.value, shop.demand.sum()) == (1, 1, 2, 1, 0)
    assert shop.traffic.tolist() == [[0, 1.5, 2], [0, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize("name", ["stream.jsonl", "stream.csv"])
def test_the_examples_say_what_the_documented_admission_says(name):
    file = EXAMPLE.with_name(name)
    assert same(read_stream(file, zones=EXAMPLE if name.endswith("csv") else None).admission, read_admission(EXAMPLE))
    page = (EXAMPLE.parents[1] / "docs" / "formats.md").read_text(encoding="utf-8")
    assert file.read_text(encoding="utf-8") in page or f"```{{literalinclude}} ../examples/{name}\n" in page


@pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson.gz", "x.json"])
def test_the_suffix_decides_how_a_stream_is_written(name, tmp_path):
    write(read_admission(EXAMPLE), tmp_path / name)
    assert is_stream(read_text(tmp_path / name), name) is (name != "x.json")
    assert same(read_stream(tmp_path / name).admission, read_admission(EXAMPLE))


def test_a_document_over_many_lines_is_no_stream():
    assert "E1006" in message_of(EXAMPLE.read_text(encoding="utf-8"), "x.jsonl")
