"""Timed requests, admissions, plans and answers: what is written is read back, what is broken is named."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan import formats
from bayplan.errors import InputError
from bayplan.formats.document.schemas import schema
from bayplan.formats.document.text import read_document
from bayplan.formats.rasa import read_rasa
from bayplan.formats.requests.document import read_requests, requests_text, write_requests
from bayplan.formats.solutions import accepted_in, plan_in, plan_text, served_in, write_plan
from bayplan.formats.streams.document import admission_text, from_slots, read_admission, write_admission
from bayplan.model import UNPLACED, Acceptance, Action, Resource, Schedule, TimedRequests

ROOT = Path(__file__).parents[3]
EXAMPLES, BROKEN = ROOT / "examples", ROOT / "tests" / "broken" / "requests"
SHOWN = ["rasa", "rasa-solution", "requests", "fleet", "admission", "plan", "served", "accepted"]  # examples
SCHEMAS = ROOT / "src" / "bayplan" / "formats" / "document" / "schema"


def example(name):
    return read_document(EXAMPLES / name)


def requests():
    return read_requests(example("requests.json"), "requests.json")


def admission():
    return read_admission(example("admission.json"), "admission.json")


def cluster():
    return read_rasa(example("rasa.json"), "rasa.json").cluster


READERS = {
    "requests": lambda document, source: read_requests(document, source),
    "admission": lambda document, source: read_admission(document, source),
    "plan": lambda document, source: plan_in(document, cluster(), source),
    "served": lambda document, source: served_in(document, requests(), source),
    "accepted": lambda document, source: accepted_in(document, admission(), source),
}

# file -> what its message must say
BROKEN_FILES = {
    "requests-end-before-start.json": [
        "E1501 request 'train': ends before or when it starts (start 2.5, end 2.5)",
        "request 'web'",
    ],
    "requests-short-column.json": ["E1502 column 'value'", "(2); expected 3 entries"],
    "requests-double-name.json": ["E1503 request 'a'", "2 times"],
    "requests-negative-demand.json": ["E1102", "-1"],
    "requests-infinite-start.json": ["E1103", "inf"],
    "requests-unknown-resource.json": ["E1504", "'gpu'", "expected cpu, memory"],
    "requests-too-fine.json": ["E1505", "memory", "0.5"],
    "requests-overflow.json": ["E1505 capacity", "16Ei", "beyond 2^63"],
    "requests-no-demand.json": ["E1107", "'demand' is missing"],
    "requests-huge-time.json": ["E1110", "end", "at most 9007199254740992"],
    "requests-misspelt.json": ["E1108", "'ends'", "did you mean 'end'"],
    "requests-demand-text.json": ["E1101", "true"],
    "admission-unknown-zone.json": ["E1507 link 'east -> north'", "(north)", "one of 'east', 'west'"],
    "admission-link-to-itself.json": ["E1508 link 'east -> east'", "E1508 link 'east -> west': occurs twice"],
    "admission-double-zone.json": ["E1506 zone 'east'", "2 times"],
    "admission-traffic-not-square.json": ["E1509 request 'shop'", "2 rows of 2 or 3 entries", "expected 2 rows of 2"],
    "admission-traffic-to-itself.json": ["E1510 request 'shop'", "front, 1"],
    "admission-starts-before-arrival.json": ["E1511 request 'shop'", "arrival 2, start 1"],
    "admission-double-member.json": ["E1512 request 'shop'", "db, 2 times"],
    "admission-demand-length.json": ["E1502 request 'shop'", "(3); expected 2 entries"],
    "admission-double-request.json": ["E1503 request 'shop'"],
    "admission-no-zones.json": ["E1111", "zones is empty"],
    "admission-negative-bandwidth.json": ["E1102 link '1'", "(-1)"],
    "admission-three-faults.json": ["E1507", "E1501 request 'batch'", "E1509 request 'shop'"],
    "plan-unknown-container.json": ["E1515 step '1 of batch 1'", "(ghost)", "one of 'cart-0', 'cart-1'"],
    "plan-unknown-machine.json": ["E1515 step '1 of batch 2'", "(10.9.9.9)"],
    "plan-unknown-action.json": ["E1109", '"move"', "one of create, delete"],
    "plan-same-step-twice.json": ["E1516 batch '2'", "create cart-1 on 10.0.0.2, 2 times"],
    "served-unknown-request.json": ["E1513 request 'absent'", "one of the 3 requests"],
    "served-no-machine.json": ["E1101", "null"],
    "accepted-unknown-zone.json": ["E1514 request 'shop'", "(mars)"],
    "accepted-missing-member.json": ["E1514 request 'shop'", "leaves a member without a zone (db)"],
    "accepted-unknown-member.json": ["E1514 request 'batch'", "(extra)"],
    "accepted-list.json": ["E1101", "must be an object"],
}


# file with faults of several kinds -> (codes in the order of the faults, words that the message must say)
SEVERAL_KINDS = {
    "requests-several-kinds.json": (
        "E1101 E1102 E1502 E1501 E1504 E1505",
        ['("soon")', "cpu entry 4", "column 'value'", "expected 5 entries", "request 'late'", "'gpu'", '("8 gb")'],
    ),
    "requests-a-resource-is-left-out.json": (  # memory, so nothing is said of its amounts; unnamed requests keep their number
        "E1110 E1101 E1108 E1501",
        ["resource 'memory'", "entry 1 must be a number (null)", "'extra'", "request 'r2'"],
    ),
    "requests-unknown-amounts.json": ("E1109", ['("bytes")']),  # then no amount can be judged
    "admission-several-kinds.json": (
        "E1101 E1102 E1506 E1508 E1503 E1501 E1512 E1504 E1505",
        ["link '4'", "request 'x'", "zone 'east'", "'east -> east'", "(start 3, end 2)", "(a, 2 times)", "'gpu'", '("many")'],
    ),
    "admission-a-zone-is-left-out.json": ("E1101 E1511", ["zone 'west'", "(60)", "request 'shop'"]),
    "plan-several-kinds.json": (
        "E1109 E1101 E1107 E1107 E1515 E1515 E1516",
        ['("move")', "batch '2': must be a list", "step '2 of batch 1'", "(ghost)", "step '4 of batch 3'", "(moon)", "batch '3'"],
    ),
    "served-several-kinds.json": ("E1101 E1513 E1514", ["(3)", "request 'absent'", "request 'web'", "(left)"]),
    "accepted-several-kinds.json": ("E1101 E1108 E1513 E1514", ["shop db", "'kind'", "request 'absent'", "(mars)"]),
}


@pytest.mark.parametrize("name", SEVERAL_KINDS)
def test_faults_of_every_kind_are_reported_in_one_run(name):
    with pytest.raises(InputError) as caught:
        READERS[name.split("-")[0]](read_document(BROKEN / name), name)
    codes, words = SEVERAL_KINDS[name]
    assert " ".join(fault.code for fault in caught.value.faults) == codes
    assert [word for word in words if word not in str(caught.value)] == []


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_a_broken_file_gives_its_number_and_names_the_thing(name):
    with pytest.raises(InputError) as caught:
        READERS[name.split("-")[0]](read_document(BROKEN / name), name)
    for words in BROKEN_FILES[name]:
        assert words in str(caught.value)


def test_every_broken_file_is_in_the_table():
    assert {path.name for path in BROKEN.iterdir()} == set(BROKEN_FILES) | set(SEVERAL_KINDS)


def test_requests_are_in_exact_base_units():
    read = requests()
    assert read.capacity.tolist() == [4000, 16 * 2**30]
    assert read.demand.tolist() == [[2000, 4 * 2**30], [1500, 8 * 2**30], [500, 2**29]]
    assert read.name == ("nightly", "train", "web")
    assert read.value.tolist() == [1.0, 5.0, 2.0]


def test_names_and_values_may_be_left_out():
    document = example("requests.json")
    del document["requests"]["name"], document["requests"]["value"]
    read = read_requests(document, "x")
    assert read.name == ("r0", "r1", "r2")
    assert read.value.tolist() == [1.0, 1.0, 1.0]


amount = st.integers(0, 2**62)
moment = st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(moment, st.floats(1e-3, 1e6), amount, amount, st.floats(0, 1e9)), max_size=6))
def test_requests_come_back_as_they_were_written(rows):
    start = np.array([row[0] for row in rows])
    before = TimedRequests(
        name=tuple(f"é{i}" for i in range(len(rows))),
        resources=(Resource(name="cpu", scale=1000, unit="cores"), Resource(name="memory")),
        capacity=np.array([2**62, 7]),
        start=start,
        end=start + np.array([row[1] for row in rows]),
        demand=np.array([row[2:4] for row in rows], dtype=np.int64).reshape(len(rows), 2),
        value=np.array([row[4] for row in rows]),
    )
    document = json.loads(requests_text(before))
    after = read_requests(document, "x")
    jsonschema.validate(document, schema("requests"))
    assert (after.name, after.resources) == (before.name, before.resources)
    for field in ("capacity", "start", "end", "demand", "value"):
        assert np.array_equal(getattr(after, field), getattr(before, field))


def test_admission_is_read_with_its_defaults():
    read = admission()
    assert read.zones.request_cap.tolist() == [[10_000, 64 * 2**30], [60_000, 64 * 2**30]]
    assert read.zones.bandwidth.tolist() == [[0, 70], [50, 0]]
    shop, batch = read.requests
    assert shop.demand.tolist() == [[2000, 2**30], [500, 4 * 2**30]]
    assert (batch.arrival, batch.value, batch.traffic.tolist()) == (2.0, 1.0, [[0.0]])


def test_requests_stand_in_order_of_arrival_and_keep_the_files_order_at_one_time():
    document = example("admission.json")
    document["requests"] = [
        {**document["requests"][1], "name": name, "start": at} for name, at in [("b", 2.5), ("z", 2), ("a", 2)]
    ]
    assert [request.name for request in read_admission(document, "x").requests] == ["z", "a", "b"]


def test_admission_comes_back_as_it_was_written():
    before = admission()
    text = admission_text(before)
    after = read_admission(json.loads(text), "x")
    jsonschema.validate(json.loads(text), schema("admission"))
    assert admission_text(after) == text
    assert np.array_equal(after.requests[0].traffic, before.requests[0].traffic)


def test_closed_slots_become_half_open_times():
    assert from_slots(3, 3) == (2.0, 3.0)  # one slot
    assert from_slots(1, 5)[1] <= from_slots(6, 9)[0]  # slots 5 and 6 do not meet


def test_a_plan_comes_back_as_it_was_written():
    plan = plan_in(example("plan.json"), cluster(), "plan.json")
    assert [len(batch) for batch in plan.batches] == [2, 1]
    assert plan.batches[0][1].action is Action.DELETE
    text = plan_text(plan, cluster(), {"moved": 2})
    assert plan_in(json.loads(text), cluster(), "x") == plan
    assert json.loads(text)["moved"] == 2
    jsonschema.validate(json.loads(text), schema("plan"))


def test_an_empty_plan_is_a_plan():
    plan = plan_in({"batches": []}, cluster(), "x")
    assert json.loads(plan_text(plan, cluster())) == {"batches": []}


def test_files_on_disk_come_back(tmp_path):
    write_requests(tmp_path / "r.json.gz", requests())
    assert read_requests(read_document(tmp_path / "r.json.gz"), "r").name == requests().name
    write_admission(tmp_path / "a.json", admission())
    assert len(read_admission(read_document(tmp_path / "a.json"), "a").requests) == 2
    plan = plan_in(example("plan.json"), cluster(), "plan.json")
    write_plan(tmp_path / "p.json", plan, cluster())
    assert plan_in(read_document(tmp_path / "p.json"), cluster(), "p") == plan


def test_answers_come_back_as_they_were_written(tmp_path):
    schedule = formats.read_served(EXAMPLES / "served.json", requests())
    assert schedule.machine_of.tolist() == [UNPLACED, 0, 0]
    formats.write_served(tmp_path / "s.json", schedule, requests())
    assert formats.read_served(tmp_path / "s.json", requests()).machine_of.tolist() == schedule.machine_of.tolist()
    acceptance = formats.read_accepted(EXAMPLES / "accepted.json", admission())
    assert acceptance.accepted.tolist() == [0]
    assert acceptance.zone_of[0].tolist() == [0, 1]
    formats.write_accepted(tmp_path / "a.json", acceptance, admission())
    again = formats.read_accepted(tmp_path / "a.json", admission())
    assert [None if zones is None else zones.tolist() for zones in again.zone_of] == [[0, 1], None]
    formats.write_accepted(tmp_path / "none.json", Acceptance(zone_of=(None, None)), admission())
    assert formats.read_accepted(tmp_path / "none.json", admission()).zone_of == (None, None)


@given(st.lists(st.integers(-1, 10**9 - 1), min_size=3, max_size=3))
def test_every_schedule_comes_back(machine_of):
    with tempfile.TemporaryDirectory() as folder:
        formats.write_served(Path(folder) / "s.json", Schedule(machine_of=machine_of), requests())
        assert formats.read_served(Path(folder) / "s.json", requests()).machine_of.tolist() == machine_of


def test_every_kind_of_file_is_read_by_its_path(tmp_path):
    assert formats.read_requests(EXAMPLES / "requests.json").name == requests().name
    assert len(formats.read_admission(EXAMPLES / "admission.json").requests) == 2
    plan = formats.read_plan(EXAMPLES / "plan.json", cluster())
    formats.write_plan(tmp_path / "p.json.gz", plan, cluster())
    assert formats.read_plan(tmp_path / "p.json.gz", cluster()) == plan


WRONG_KIND = {  # what the file is: (who reads it, the file, what the message says of it)
    "a placement": (formats.read, "placement.json", "a placement, which goes with a cluster"),
    "a plan": (formats.read, "plan.json", "a migration plan, which goes with a cluster"),
    "an answer of schedule": (formats.read, "served.json", "an answer of schedule, which goes with timed requests"),
    "an answer of admit": (formats.read_any, "accepted.json", "an answer of admit"),
    "a cluster": (formats.read_requests, "shop.yaml", "(a cluster); expected timed requests"),
    "requests": (formats.read_admission, "requests.json", "(timed requests); expected zones"),
}


@pytest.mark.parametrize("kind", WRONG_KIND)
def test_a_file_of_another_kind_is_called_by_its_name(kind):
    read, name, says = WRONG_KIND[kind]
    with pytest.raises(InputError, match="E1011") as caught:
        read(EXAMPLES / name)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("shop.yaml", '{\n"placement": {'),
        ("rasa.json", '{\n "10.0.0.1": ['),
        ("gmrp/model_tiny.txt", "0 1 0\n"),
    ],
)
def test_a_solution_is_written_in_the_form_of_its_input(tmp_path, name, form):
    snapshot = formats.read(EXAMPLES / name)
    formats.write_solution(tmp_path / "s.txt", replace(snapshot, notes=()), snapshot.placement)
    assert (tmp_path / "s.txt").read_text().startswith(form)
    again = formats.read_placement(tmp_path / "s.txt", snapshot.cluster)
    assert again.machine_of.tolist() == snapshot.placement.machine_of.tolist()


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.stem)
def test_the_published_schema_is_the_one_in_use(path):
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))
    assert (ROOT / "docs" / "schema" / path.name).read_text() == path.read_text()


@pytest.mark.parametrize("name", SHOWN)
def test_the_examples_keep_their_schema_in_the_eyes_of_a_second_judge(name):
    jsonschema.validate(example(f"{name}.json"), schema(name))


@pytest.mark.parametrize(
    "path", [f"{name}.json" for name in SHOWN] + [f"gmrp/{kind}_tiny.txt" for kind in ("model", "assignment", "solution")]
)
def test_the_docs_show_the_example_that_the_tests_read(path):
    assert (EXAMPLES / path).read_text().strip() in (ROOT / "docs" / "formats.md").read_text()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"name": ["a\x1b", "b", "c"]}, "E1205"),
        ({"name": ["", "b", "c"]}, "E1111"),
        ({"demand": {"cpu": ["010", 1, 1]}}, "E1505"),
    ],
)
def test_odd_names_and_leading_zeros_are_refused(change, code):
    document = json.loads((Path(__file__).parents[3] / "examples" / "requests.json").read_text())
    document["requests"] |= change
    with pytest.raises(InputError) as caught:
        read_requests(document, "x")
    assert [fault.code for fault in caught.value.faults] == [code]


def test_names_that_nothing_has_get_the_nearest_one_that_something_has() -> None:
    shop = formats.ClusterBuilder().machine("m-1", cpu=1).workload("web", cpu=1).build().cluster
    step = {"action": "create", "container": "wbe-0", "machine": "m-1"}
    with pytest.raises(InputError, match="did you mean 'web-0'"):
        plan_in({"batches": [[step]]}, shop, "x")
    with pytest.raises(InputError, match="did you mean 'train'"):
        served_in({"served": {"trian": "m0"}}, read_requests(read_document(EXAMPLES / "requests.json"), "x"), "x")
    with pytest.raises(InputError, match="did you mean 'east'"):
        accepted_in({"accepted": {"batch": {"job": "eastt"}}}, formats.read_admission(EXAMPLES / "admission.json"), "x")


def test_a_link_to_a_misspelt_zone_gets_a_hint() -> None:
    document = read_document(EXAMPLES / "admission.json")
    assert isinstance(document, dict)
    with pytest.raises(InputError, match="did you mean 'west'"):
        read_admission({**document, "links": [["east", "wset", 1]]}, "x")
