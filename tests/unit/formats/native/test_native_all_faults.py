"""Faults of different kinds in one file are said together, and nothing that only follows from them."""

import json
from pathlib import Path

import pytest

from bayplan import formats
from bayplan.errors import InputError
from bayplan.report.errors_page import EXAMPLE, EXAMPLE_FILE, errors_page

SMALL = {
    "bayplan": 1,
    "resources": {"cpu": {}},
    "levels": ["rack"],
    "machines": [{"name": name, "capacity": {"cpu": 4}, "at": {"rack": "r1"}} for name in ("m", "n")],
    "machine_sets": {"fast": ["m"]},
    "workloads": [
        {"name": "web", "request": {"cpu": 1}, "containers": 2, "on": ["m", "m"]},
        {"name": "db", "request": {"cpu": 1}, "usage": {"cpu": {"mean": 1, "std": 0.1}}, "limit": {"cpu": 2}},
    ],
    "traffic": [["web", "db", 2]],
    "rules": [{"rule": "spread", "service": "web", "minimum": 1}, {"rule": "confidence", "resource": "cpu", "alpha": 0.9}],
}


def faults(tmp_path: Path, document: object) -> InputError:
    text = document if isinstance(document, str) else json.dumps(document)
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        formats.read(tmp_path / "x.json")
    return caught.value


def changed(*changes: tuple[str, object]) -> dict:
    """The small document with other values at some places: "machines 0 capacity cpu"."""
    document = json.loads(json.dumps(SMALL))
    for place, value in changes:
        *steps, last = (int(step) if step.isdigit() else step for step in place.split())
        node = document
        for step in steps:
            node = node[step]
        node[last] = value
    return document


UNKNOWN = [("workloads 0 on 1", "zz"), ("traffic 0 1", "nope"), ("rules 0 service", "store")]


def test_the_small_document_is_fine(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(SMALL))
    assert formats.read(tmp_path / "x.json").cluster.machines.name == ("m", "n")


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ([("bogus", 1), *UNKNOWN], "E1403 E1202 E1202 E1108"),
        ([("rules 1 alpha", 7), *UNKNOWN], "E1403 E1202 E1202 E1110"),
        ([("rules 1 alpha", 7), ("rules 1 resource", "gpu")], "E1110 E1202"),
        ([("machines 0 capacity cpu", -4), ("machines 1 name", "m"), *UNKNOWN], "E1102 E1201 E1403 E1202 E1202"),
        ([("workloads 0 request cpu", -1), *UNKNOWN], "E1102 E1403 E1202 E1202"),
        ([("workloads 0 request", {"gpu": 1, "cpu": True}), *UNKNOWN], "E1101 E1202 E1403 E1202 E1202"),
        ([("traffic 0 2", -1), *UNKNOWN], "E1403 E1102 E1202 E1202"),
        ([("workloads 0 on 0", 7), *UNKNOWN], "E1101 E1403 E1202 E1202"),
        ([("machine_sets fast", 7), ("traffic 0 1", "nope")], "E1101 E1202"),
        ([("resources cpu", 7), ("traffic 0 1", "nope")], "E1101 E1202"),
        ([("amounts", "kilos"), ("traffic 0 1", "nope")], "E1202 E1109"),
        ([("objective", {"weights": {"utilisation": -1}, "hops": {"zone": 1}}), ("traffic 0 1", "nope")], "E1202 E1102 E1202"),
    ],
)
def test_faults_of_every_kind_are_said_together(tmp_path: Path, changes: list[tuple[str, object]], codes: str) -> None:
    assert " ".join(fault.code for fault in faults(tmp_path, changed(*changes)).faults) == codes


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e400", "1" + "0" * 400 + ".0"])
def test_a_number_that_is_not_finite_is_said_with_all_else_and_as_it_is_written(tmp_path: Path, number: str) -> None:
    text = json.dumps(changed(("workloads 0 request cpu", -1), ("machines 0 capacity cpu", "HERE"))).replace('"HERE"', number)
    error = faults(tmp_path, text)
    assert [fault.code for fault in error.faults] == ["E1103", "E1102"]
    assert f"({number[:37]}" in str(error)


@pytest.mark.parametrize(
    ("place", "value", "code"),
    [
        ("machines 0 capacity", {"cpu": -1}, "E1102"),  # not: has none at all
        ("workloads 0 containers", -2, "E1102"),  # not: `on` is too long
        ("workloads 0 containers", ["a", 7], "E1101"),
        ("workloads 1 limit cpu", -2, "E1102"),  # not: below the request
        ("resources cpu", {"scale": 0}, "E1110"),
        ("levels", ["rack", "rack"], "E1201"),  # not: a machine has no group at it
        ("levels", ["rack", "machine"], "E1204"),
        ("levels 0", {"name": "rack", "groups": 7}, "E1101"),  # not: the groups are unknown
        ("machines 0 name", "", "E1111"),  # not: m is unknown
        ("machines 0 name", 7, "E1101"),
        ("machines", [], "E1111"),
        ("workloads", "none", "E1101"),
        ("resources", {}, "E1111"),
    ],
)
def test_what_only_follows_from_a_fault_is_not_said(tmp_path: Path, place: str, value: object, code: str) -> None:
    assert [fault.code for fault in faults(tmp_path, changed((place, value))).faults] == [code]


def test_a_safety_capacity_is_not_compared_with_a_wrong_capacity(tmp_path: Path) -> None:
    document = changed(("machines 0", {"name": "m", "capacity": {"cpu": "4 gb"}, "safety": {"cpu": 3}, "at": {"rack": "r1"}}))
    assert [fault.code for fault in faults(tmp_path, document).faults] == ["E1104"]


def test_a_placement_says_all_its_faults(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps(SMALL))
    (tmp_path / "p.json").write_text(json.dumps({"placement": {"web-0": "zz", "nope": "m", "web-1": 7}, "extra": 1}))
    with pytest.raises(InputError) as caught:
        formats.read_placement(tmp_path / "p.json", formats.read(tmp_path / "c.json").cluster)
    assert sorted(fault.code for fault in caught.value.faults) == ["E1101", "E1108", "E1402", "E1403"]


def test_the_example_of_the_docs_is_what_the_program_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.json").write_text(EXAMPLE_FILE, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        formats.read("shop.json")
    assert str(caught.value) == EXAMPLE
    assert EXAMPLE in errors_page()
    assert EXAMPLE_FILE in errors_page()


def test_faults_of_rules_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    rules = [
        {"rule": "co-locate", "containers": ["web-0", "db-0"]},
        {"rule": "co-locate", "containers": ["web-0", "web-1"]},
        {"rule": "anti-affinity", "workloads": ["web"]},
        {"rule": "spread", "service": "web", "minimum": 3},
    ]
    names = [fault.name.split()[0] for fault in faults(tmp_path, changed(("rules", rules))).faults]
    assert names == sorted(names)
    assert set(names) == {"2", "4"}


def test_a_spread_of_nothing_and_a_dependency_on_oneself_are_refused(tmp_path: Path) -> None:
    document = changed(("workloads 0", {"name": "web", "request": {}, "containers": 0}))
    assert [fault.code for fault in faults(tmp_path, document).faults] == ["E1301"]
    document = changed(("rules 0", {"rule": "dependency", "service": "web", "on": "web"}))
    assert [fault.code for fault in faults(tmp_path, document).faults] == ["E1311"]


def test_few_known_names_are_all_said(tmp_path: Path) -> None:
    text = str(faults(tmp_path, changed(("traffic 0 1", "nope"), ("workloads 0 on 1", "zz"), ("rules 1 resource", "gpu"))))
    assert "expected one of 'web', 'db'" in text
    assert "expected one of 'm', 'n'" in text
    assert "expected 'cpu', the only resource" in text


def test_alike_faults_name_the_first_few(tmp_path: Path) -> None:
    many = [{"name": f"w{i}", "request": {"cpu": -1}} for i in range(5)]
    text = str(faults(tmp_path, changed(("workloads", many), ("traffic", []), ("rules", []))))
    assert "workload 'w0': request cpu is negative (-1); expected at least 0 (5 such workloads: w0, w1, w2, ...)" in text
    assert "\nE1102 column " in text


@pytest.mark.parametrize("sign", ["\n", "\x1b", "\x7f", "\x85", "\x9b", "\u2028", "\u2029"])
@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("machines 1 name", "a?"),
        ("workloads 1 name", "a?"),
        ("workloads 1 containers", ["a?"]),
        ("workloads 1 service", "a?"),
        ("services", [{"name": "a?"}]),
        ("resources", {"cpu": {}, "a?": {}}),
        ("machine_sets", {"a?": []}),
        ("machines 1 at rack", "a?"),
        ("levels 0", {"name": "rack", "groups": ["r1", "a?"]}),
    ],
)
def test_a_name_with_a_control_character_is_refused_and_shown_escaped(
    tmp_path: Path, place: str, value: object, sign: str
) -> None:
    value = json.loads(json.dumps(value).replace("?", json.dumps(sign)[1:-1]))
    error = faults(tmp_path, changed(("traffic", []), (place, value)))
    assert error.faults[0].code == "E1205"
    assert len(error.faults) == 1
    lines = str(error).splitlines()
    assert len(lines) == 2
    assert f"\\u{ord(sign):04x}" in lines[1] or "\\n" in lines[1]
    assert sign not in lines[1]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("resources", {"cpu": {}, "": {}}),
        ("machine_sets", {"": []}),
        ("workloads 1 containers", [""]),
        ("levels", ["rack", ""]),
        ("levels 0", {"name": "rack", "groups": ["r1", ""]}),
        ("services", [{"name": ""}]),
    ],
)
def test_an_empty_name_is_refused(tmp_path: Path, place: str, value: object) -> None:
    assert [fault.code for fault in faults(tmp_path, changed((place, value))).faults][:1] == ["E1111"]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("traffic 0 2", 1.1e15),
        ("services", [{"name": "web", "clique": 1e308}]),
        ("objective", {"weights": {"overload": 1e300}}),
        ("objective", {"hops": {"rack": 1e16}}),
        ("objective", {"overload_weights": {"cpu": 1e16}}),
        ("objective", {"ratios": [["cpu", "cpu", 1e19]]}),
    ],
)
def test_a_number_beyond_its_limit_is_refused(tmp_path: Path, place: str, value: object) -> None:
    assert faults(tmp_path, changed((place, value))).faults[0].code == "E1110"


@pytest.mark.parametrize("value", [{"cpu": 1e308}, {"cpu": {"mean": 1, "std": 1e19}}])
def test_a_usage_beyond_int64_is_refused(tmp_path: Path, value: object) -> None:
    assert [fault.code for fault in faults(tmp_path, changed(("workloads 1 usage", value))).faults] == ["E1106"]


@pytest.mark.parametrize("text", ["010", "+007", "00.5"])
def test_an_amount_with_a_leading_zero_is_refused(tmp_path: Path, text: str) -> None:
    error = faults(tmp_path, changed(("machines 0 capacity cpu", text)))
    assert [fault.code for fault in error.faults] == ["E1104"]
    assert "without a leading zero" in str(error)
