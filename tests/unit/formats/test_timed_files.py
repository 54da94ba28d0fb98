"""Timed requests with classes, fleets, open ends and as tables: what is written is read back, what is broken is named."""

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.errors import InputError
from bayplan.formats.document.schemas import schema
from bayplan.formats.files import read_timed
from bayplan.formats.requests.document import read_requests_file, requests_text
from bayplan.formats.requests.fleet import fleet_document, read_fleet
from bayplan.formats.requests.table import is_requests_table, read_requests_table
from bayplan.formats.traces import read_google2011
from bayplan.model import Fleet, Resource

EXAMPLES = Path(__file__).parents[3] / "examples"
CPU = (Resource(name="cpu", scale=1000), Resource(name="memory"))


def document(**requests):
    file = json.loads((EXAMPLES / "requests.json").read_text())
    file["requests"] |= requests
    return file


def faults(read):
    with pytest.raises(InputError) as caught:
        read()
    return str(caught.value)


# ---- classes -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "read"),
    [(["gold", "tin", "tin"], ("gold", "tin", "tin")), ([9, 0, 0], ("9", "0", "0")), (["gold", 0, 0], ("gold", "0", "0"))],
)
def test_the_class_of_a_request_is_a_word_or_a_number(given, read):
    assert read_requests_file(document(priority=given), "x").requests.priority == read


def test_without_a_column_there_are_no_classes():
    assert read_requests_file(document(), "x").requests.priority == ()


@pytest.mark.parametrize(
    ("priority", "says"),
    [
        (["gold", "", "tin"], "E1111"),
        (["gold", "", 3], "E1111"),
        (["gold", 1.5, "tin"], "E1101"),
        (["gold", None, "tin"], "E1101"),
        (["gold", "tin\n", "tin"], "E1205"),
        (["gold", "tin"], "E1502 column 'priority'"),
    ],
)
def test_a_class_that_is_none_is_named(priority, says):
    assert says in faults(lambda: read_requests_file(document(priority=priority), "x"))


def test_classes_and_fleets_come_back_as_they_were_written():
    before = read_requests_file(
        {**document(priority=["a", "b", "a"]), "fleet": json.loads((EXAMPLES / "fleet.json").read_text())["fleet"]}, "x"
    )
    text = requests_text(before.requests, before.fleet)
    jsonschema.validate(json.loads(text), schema("requests"))
    after = read_requests_file(json.loads(text), "x")
    assert after.requests.priority == ("a", "b", "a")
    assert after.fleet.kind == before.fleet.kind == ("small", "large")
    assert after.fleet.machines.tolist() == [2, 1]
    assert after.fleet.capacity.tolist() == before.fleet.capacity.tolist() == [[2000, 8 * 2**30], [8000, 64 * 2**30]]


# ---- fleets --------------------------------------------------------------------------------------------------------------------


def test_a_fleet_file_is_read_in_the_units_of_the_requests():
    fleet = read_fleet(EXAMPLES / "fleet.json", CPU)
    assert (fleet.size, fleet.kind_of.tolist()) == (3, [0, 0, 1])
    assert fleet.capacity.tolist() == [[2000, 8 * 2**30], [8000, 64 * 2**30]]


def test_a_fleet_comes_back_as_it_was_written(tmp_path):
    before = Fleet(kind=("a", "b"), machines=np.array([3, 0]), capacity=np.array([[1, 2], [0, 5]]))
    (tmp_path / "f.json").write_text(json.dumps({"amounts": "base-units", "fleet": fleet_document(before, CPU)}))
    after = read_fleet(tmp_path / "f.json", CPU)
    assert (after.kind, after.machines.tolist(), after.capacity.tolist()) == (before.kind, [3, 0], [[1, 2], [0, 5]])


def test_a_fleet_in_yaml_is_read(tmp_path):
    (tmp_path / "f.yaml").write_text("fleet:\n- {kind: small, machines: 4, capacity: {cpu: 500m}}\n")
    assert read_fleet(tmp_path / "f.yaml", CPU).capacity.tolist() == [[500, 0]]


SMALL = {"kind": "small", "machines": 4, "capacity": {"cpu": 1}}


@pytest.mark.parametrize(
    ("fleet", "says"),
    [
        ([], "E1111 file: fleet is empty"),
        ([{**SMALL, "machines": -1}], "E1102 fleet '1': machines is negative (-1)"),
        ([{**SMALL, "machines": 2_000_000}], "E1110 fleet '1': machines is out of range"),
        ([{**SMALL, "machines": 1.5}], "E1101 fleet '1': machines must be a whole number (1.5)"),
        ([{**SMALL, "capacity": {"cpu": -1}}], "E1102 fleet '1': capacity cpu is negative (-1)"),
        ([{**SMALL, "capacity": {"cpu": "many"}}], "E1505 machine kind 'small'"),
        ([{**SMALL, "capacity": {"gpu": 1}}], "E1504 machine kind 'small': amount of 'gpu', which is not declared"),
        ([{**SMALL, "capacity": {"memory": 0}}], "E1115 machine kind 'small': has no capacity of any resource"),
        ([SMALL, SMALL], "E1201 machine kind 'small': the name occurs more than once (2 times)"),
        ([{"kind": "small", "capacity": {}}], "E1107 fleet '1': 'machines' is missing"),
        ([{**SMALL, "sort": 1}], "E1108 fleet '1': unknown key 'sort'"),
        ([{**SMALL, "kind": ""}], "E1111 fleet '1': kind is empty"),
    ],
)
def test_a_broken_fleet_gives_its_number_and_names_the_thing(fleet, says, tmp_path):
    (tmp_path / "f.json").write_text(json.dumps({"fleet": fleet}))
    assert says in re.sub(r" column \d+,", "", faults(lambda: read_fleet(tmp_path / "f.json", CPU)))
    assert says in faults(lambda: read_requests_file({**document(), "fleet": fleet}, "x"))


# ---- open ends -----------------------------------------------------------------------------------------------------------------


def test_an_unknown_end_is_the_latest_known_time_and_a_note_says_so():
    read = read_requests_file(document(end=[4, None, 10]), "x")
    assert read.requests.end.tolist() == [4, 10, 10]
    assert read.notes == ("1 request has not ended: taken to run until the horizon, 10",)


def test_an_unknown_end_is_the_horizon_that_is_given_and_others_are_cut_off_there():
    read = read_requests_file(document(end=[4, None, 10]), "x", horizon=3.5)
    assert read.requests.end.tolist() == [3.5, 3.5, 3.5]
    assert read.notes == (
        "1 request has not ended: taken to run until the horizon, 3.5",
        "2 requests have an end after the horizon, 3.5: cut off there",
    )


def test_what_starts_at_the_horizon_or_later_is_left_out():
    read = read_requests_file(document(priority=["a", "b", "c"]), "x", horizon=2.5)
    assert (read.requests.name, read.requests.priority) == (("nightly",), ("a",))
    assert "2 requests have a start at or after the horizon, 2.5: left out" in read.notes
    still = read_requests_file(document(end=[None, None, None]), "x")  # the latest known time is the start of web
    assert still.requests.name == ("nightly", "train")
    assert still.requests.end.tolist() == [3, 3]


@given(st.lists(st.tuples(st.floats(0, 100), st.none() | st.floats(0.1, 50)), max_size=8), st.none() | st.floats(1, 120))
def test_no_request_is_empty_or_outlives_the_horizon(rows, horizon):
    start = [row[0] for row in rows]
    end = [None if row[1] is None else row[0] + row[1] for row in rows]
    file = document(start=start, end=end, demand={"cpu": [1] * len(rows)}, value=[1] * len(rows))
    del file["requests"]["name"]
    read = read_requests_file(file, "x", horizon).requests
    assert (read.start < read.end).all()
    last = horizon if horizon is not None else max([*start, *(e for e in end if e is not None)], default=0)
    assert (read.end <= last).all()
    assert len(read.name) >= sum(s < last for s in start)


# ---- values and demands --------------------------------------------------------------------------------------------------------


def test_a_value_of_zero_is_fine_and_a_negative_one_is_a_fault():
    assert read_requests_file(document(value=[0, 0, 1]), "x").requests.value.tolist() == [0, 0, 1]
    assert "E1102" in faults(lambda: read_requests_file(document(value=[0, -1, 1]), "x"))


def test_not_a_number_is_a_fault(tmp_path):
    (tmp_path / "r.json").write_text(
        (EXAMPLES / "requests.json").read_text().replace('"value": [1, 5, 2]', '"value": [1, NaN, 2]')
    )
    assert "E1103" in faults(lambda: read_timed(tmp_path / "r.json"))


def test_a_demand_above_every_machine_and_any_order_are_no_faults():
    read = read_requests_file(document(start=[3, 0, 2], demand={"cpu": [100, 1, 1]}), "x").requests
    assert read.demand[:, 0].tolist() == [100_000, 1000, 1000]
    assert read.start.tolist() == [3, 0, 2]


# ---- tables --------------------------------------------------------------------------------------------------------------------


def table(text, horizon=None):
    return read_requests_table(text, "x.csv", horizon)


def test_a_table_says_the_same_as_the_document():
    read = read_timed(EXAMPLES / "requests.csv")
    whole = read_timed(EXAMPLES / "requests.json").requests
    assert read.requests.name == whole.name
    assert read.requests.priority == ("batch", "batch", "prod")
    assert read.requests.end.tolist() == [4, 9, 9]
    assert (read.requests.demand[:, 0] / read.requests.resources[0].scale).tolist() == [2, 1.5, 0.5]
    assert (read.requests.demand[:, 1] / read.requests.resources[1].scale).tolist() == whole.demand[:, 1].tolist()
    assert "unless --capacity or --fleet says otherwise" in read.notes[0]
    assert "1 request has not ended" in read.notes[1]


def test_a_table_of_shares_is_exact_and_a_machine_has_one_of_each():
    read = table("start,end,cpu,memory\n0,1,0.03064,0.5\n0,2,0,1e-6\n").requests
    assert read.name == ("r0", "r1")
    assert (read.demand / [r.scale for r in read.resources]).tolist() == [[0.03064, 0.5], [0, 1e-6]]
    assert (read.capacity / [r.scale for r in read.resources]).tolist() == [1, 1]


def test_amounts_that_are_finer_are_rounded_and_a_note_says_so():
    read = table("start,end,cpu\n0,1,0.12345678949\n")
    assert read.requests.demand.tolist() == [[123456789]]
    assert "cpu is rounded to 9 digits after the decimal point" in read.notes


def test_large_amounts_keep_their_sum_within_bounds():
    read = table("start,end,memory\n" + "0,1,1Ei\n" * 3).requests
    assert (read.demand / read.resources[0].scale).tolist() == [[2.0**60]] * 3
    assert read.resources[0].scale == 1


def test_quotes_blank_lines_and_line_ends_of_other_systems_are_fine():
    read = table('name,start,end,cpu\r\n"a, the first",0,1,1\r\n\r\nb , 0 , 2 , 1\r\n').requests
    assert (read.name, read.end.tolist()) == (("a, the first", "b"), [1, 2])
    assert table("start,end,cpu\r\n0,1,1\r\n\r\n").requests.end.tolist() == [1]


def test_an_empty_table_has_no_requests():
    assert table("start,end,cpu\n").requests.name == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("start,cpu,end\n0,1,-1\n", "E1501 request 'r0': ends before or when it starts (start 0, end -1)"),
        ("start,end,cpu\n0,1,-1\n", "E1102 line '2': cpu is negative"),
        ("start,end,cpu,value\n0,1,1,-2\n", "E1102 line '2': value is negative"),
        ("start,end,cpu\n0,1,many\n", "E1104 line '2': cpu is not a quantity"),
        ("start,end,cpu\n0,1,\n", "E1104 line '2': cpu is not a quantity"),
        ("start,end,cpu\n0,1,nan\n", "E1103 line '2': cpu is not finite"),
        ("start,end,cpu\n\n0,1,1\nsoon,1,1\n", "E1101 line '4': start must be a number"),
        ("start,end,cpu\n,1,1\n", "E1101 line '2': start must be a number"),
        ("start,end,cpu\n0,inf,1\n", "E1103 line '2': end is not finite"),
        ("start,end,cpu\n0,1e300,1\n", "E1110 line '2': end is out of range"),
        ("start,end,cpu\n0,1_0,1\n", "E1101 line '2': end must be a number"),
        ("start,end,cpu\n0,1\n", "E1901 line '2': has another number of cells than the header (2); expected 3"),
        ('start,end,cpu\n0,1,"1\n', "E1902"),
        ("start,end,name\n0,1,a\n", "E1107 column 'of a resource'"),
        ("start,end,cpu,cpu\n0,1,1,1\n", "E1203 column 'cpu': occurs twice"),
        ("start,end,cpu,\n0,1,1,1\n", "E1111 column '4': has no name"),
        ("start,end,cpu,values\n0,1,1,1\n", "E1108 column 'values': is not known"),
        ("name,start,end,cpu\na,0,1,1\na,0,1,1\n", "E1503 request 'a'"),
        ("name,start,end,cpu\n,0,1,1\n", "E1111 line '2': name is empty"),
        ("start,end,cpu,priority\n0,1,1,\n", "E1111 line '2': priority is empty"),
    ],
)
def test_a_broken_table_gives_its_number_and_names_the_line(text, says):
    assert says in faults(lambda: table(text))


def test_every_fault_of_a_table_is_said_at_once():
    message = faults(lambda: table("start,end,cpu,value\nx,1,1,1\n0,1,-1,1\n0,1,1,-1\n"))
    assert all(f"line '{line}'" in message for line in (2, 3, 4))


def test_a_table_is_told_from_other_files():
    assert is_requests_table("cpu, end ,start\n")
    assert not is_requests_table("request,start,end,member,cpu\n")  # of cluster requests
    assert not is_requests_table('{"start": [0], "end": [1]}')


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("shop.yaml", "(a cluster)"),
        ("rasa.json", "(a cluster)"),
        ("admission.json", "admission"),
        ("served.json", "an answer of schedule"),
    ],
)
def test_a_file_of_another_kind_is_called_by_its_name(name, kind):
    message = faults(lambda: read_timed(EXAMPLES / name))
    assert "E1011" in message and kind in message and "expected timed requests" in message


def test_a_document_and_its_table_agree_on_the_horizon():
    text = (EXAMPLES / "requests.csv").read_text()
    one = table(text, 3.5).requests
    two = read_requests_file(document(end=[4, 9, None]), "x", 3.5).requests
    assert one.end.tolist() == two.end.tolist() == [3.5, 3.5, 3.5]
    assert replace(one, priority=()).name == two.name


@pytest.mark.data
def test_the_tasks_of_google_are_in_their_priority_classes(data_folder):
    pytest.importorskip("pyarrow.parquet")
    read = read_google2011(data_folder / "traces/google2011")
    assert set(read.priority) <= {str(priority) for priority in range(12)}
    assert len(set(read.priority)) > 5
    assert read_google2011(data_folder / "traces/google2011", value="priority").value[0] == int(read.priority[0]) + 1
