"""The walker over a JSON Schema: codes, paths and words."""

import time

import pytest

from bayplan.formats.document.location import location, shown
from bayplan.formats.document.quick_shape import fits
from bayplan.formats.document.shape import shape_faults, walked
from bayplan.formats.native import SNAPSHOT

SCHEMA = {
    "type": "object",
    "properties": {
        "things": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/thing"}},
        "size": {"type": "number", "minimum": 1, "exclusiveMaximum": 5},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "maxItems": 2},
        "free": {"type": "object", "additionalProperties": {"type": "integer"}},
        "mixed": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "array", "items": {"type": "string"}}]},
        "colour": {"type": "string", "enum": ["red", "green"]},
        "any": {},
    },
    "required": ["things"],
    "additionalProperties": False,
    "$defs": {"thing": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
}
GOOD = {"things": [{"name": "a"}]}


def lines(**keys: object) -> list[str]:
    return [str(fault) for fault in shape_faults({**GOOD, **keys}, SCHEMA)]


def test_a_good_document_has_no_faults() -> None:
    assert lines(size=1, pair=["x", 2], free={"a": 1}, mixed=["a"], colour="red", any=[{}]) == []


VALUES = [None, True, 0, 1, 4.5, 5, -1, float("nan"), "x", "", "red", [], ["x", 2], ["x", "y"], ["x", 2, 3], {}, {"a": 1}]
VALUES += [{"a": "1"}, {"name": "a"}, [{"name": "a"}], [{"name": 1}], [{"nam": "a"}, {"name": "a"}], [3, "x"], 10**301]


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("key", [*SCHEMA["properties"], "unknown"])
def test_the_quick_look_agrees_with_the_walk(key: str, value: object) -> None:
    document = {**GOOD, key: value}
    assert fits(document, SCHEMA) == (not walked(document, SCHEMA))


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"things": 3}, "E1101 file: things must be a list (3)"),
        ({"things": []}, "E1111 file: things is empty ([]); expected at least 1"),
        ({"things": [{"name": 7}]}, "E1101 thing '1': name must be a string (7)"),
        ({"things": [{}]}, "E1107 thing '1': 'name' is missing"),
        ({"size": 0}, "E1110 file: size is out of range (0); expected at least 1 and less than 5"),
        ({"size": 5}, "E1110 file: size is out of range (5); expected at least 1 and less than 5"),
        ({"size": -2}, "E1102 file: size is negative (-2); expected at least 1 and less than 5"),
        ({"size": True}, "E1101 file: size must be a number (true)"),
        ({"size": float("nan")}, "E1103 file: size is not finite (NaN); expected a finite number"),
        ({"pair": ["x"]}, 'E1111 file: pair has 1 entry (["x"]); expected exactly 2'),
        ({"pair": ["x", 1.5]}, "E1101 pair '2': must be a whole number (1.5)"),
        ({"free": {"a": None}}, "E1101 free: a must be a whole number (null)"),
        ({"mixed": "x"}, 'E1101 file: mixed must be a list or a whole number ("x")'),
        ({"mixed": ["x", 3]}, "E1101 mixed '2': must be a string (3)"),
        ({"colour": "gren"}, "E1109 file: colour is not known (\"gren\"); expected one of red, green; did you mean 'green'?"),
    ],
)
def test_each_fault_has_a_code_a_place_and_a_value(keys: dict[str, object], line: str) -> None:
    assert lines(**keys) == [line]


def test_an_unknown_key_gets_a_suggestion() -> None:
    [line] = lines(sise=3)
    assert line.startswith("E1108 file: unknown key 'sise' (3); expected one of things, size")
    assert line.endswith("did you mean 'size'?")


def test_all_faults_are_found_in_one_walk() -> None:
    assert len(lines(things=[{}, {"name": 1}], size=9, colour=3, extra=1)) == 5


def test_a_thing_is_called_by_its_name_and_its_path() -> None:
    document = {"machines": [{"name": "m-3", "capacity": {"cpu": 1}}], "rules": [{"rule": "spread"}], "resources": {"cpu": {}}}
    assert location(document, ("machines", 0, "capacity", "cpu")) == ("machine", "m-3", "capacity cpu")
    assert location(document, ("rules", 0, "service")) == ("rule", "1 (spread)", "service")
    assert location(document, ("resources", "cpu", "scale")) == ("resource", "cpu", "scale")
    assert location(document, ("machines",)) == ("file", "", "machines")


def test_a_shown_value_is_short() -> None:
    assert shown("x" * 999) == '"' + "x" * 37 + '..."'
    assert shown(list(range(99))) == "[0, 1, 2, ...]"
    assert shown(10**99) == "1" + "0" * 36 + "..."
    assert shown([[[1]]]) == "[[[...]]]"
    loop: list[object] = []
    loop.append(loop)
    assert shown(loop) == "[[[...]]]"


def test_a_snapshot_of_150000_containers_is_walked_in_two_seconds() -> None:
    workloads = [
        {"name": f"w{i}", "request": {"cpu": "500m"}, "containers": 15, "on": [f"m{i}"] * 15, "usage": {"cpu": {"mean": 1}}}
        for i in range(10_000)
    ]
    machines = [{"name": f"m{i}", "capacity": {"cpu": 16}} for i in range(10_000)]
    document = {"bayplan": 1, "resources": {"cpu": {"scale": 1000}}, "machines": machines, "workloads": workloads}
    started = time.process_time()
    assert shape_faults(document, SNAPSHOT) == []
    assert time.process_time() - started < 2
