"""Faults of content say at which line of the file they stand."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bayplan import formats
from bayplan.errors import Fault, InputError
from bayplan.formats.document import lines
from bayplan.formats.document.lines import faults_with_lines, located, place_by_name
from bayplan.formats.document.text import parse_document
from bayplan.formats.files import read_timed
from bayplan.formats.streams import read_stream

SHOP = """\
bayplan: 1
resources: {cpu: {scale: 1000}}
machines:
- {name: m-0, capacity: {cpu: 4}}
- name: m-1
  capacity:
    cpu: four
  colour: red
workloads:
- {name: web, request: {cpu: 1}, containers: 2,
   on: [m-0, m-7]}
- {name: db}
traffic:
- [web, bd, 1]
rules:
- {rule: capacity, resources: []}
- {rule: spread, service: web,
   minimum: 2, level: rack}
"""
EXPECTED = {"E1104": 7, "E1108": 8, "E1403": 11, "E1107": 12, "E1202": 18}  # of each code the last


def faults(path: Path, text: str) -> Sequence[Fault]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        formats.read(path)
    return caught.value.faults


def test_every_fault_of_a_yaml_file_has_its_line(tmp_path: Path) -> None:
    assert {fault.code: fault.where for fault in faults(tmp_path / "x.yaml", SHOP)} == {
        code: f"line {line}" for code, line in EXPECTED.items()
    }


def test_every_fault_of_a_json_file_has_its_line(tmp_path: Path) -> None:
    text = json.dumps(parse_document(SHOP, "x.yaml"), indent=1)
    at = {code: text.splitlines().index(line) + 1 for code, line in {"E1104": '    "cpu": "four"', "E1403": '    "m-7"'}.items()}
    where = {fault.code: fault.where for fault in faults(tmp_path / "x.json", text)}
    assert {code: where[code] for code in at} == {code: f"line {line}" for code, line in at.items()}


def test_a_file_of_one_line_has_columns(tmp_path: Path) -> None:
    text = json.dumps(
        {"bayplan": 1, "resources": {"cpu": {}}, "machines": [{"name": "m", "capacity": {"cpu": -1}}], "workloads": []}
    )
    where = {fault.code: fault.where for fault in faults(tmp_path / "x.json", text)}
    assert where["E1102"] == f"column {text.index(chr(34) + 'cpu' + chr(34) + ': -1') + 1}"
    assert "E1102 column" in str(next(fault for fault in faults(tmp_path / "x.json", text) if fault.code == "E1102"))


def test_contradictory_rules_have_the_line_of_the_rule(tmp_path: Path) -> None:
    text = SHOP[: SHOP.index("  colour")].replace("four", "4") + "workloads:\n- {name: web, request: {cpu: 1}}\nrules:\n"
    (fault,) = faults(
        tmp_path / "x.yaml", f"{text}- {{rule: pinned, containers: [web-0]}}\n- {{rule: spread, service: web, minimum: 2}}\n"
    )
    assert (fault.code, fault.where) == ("E1301", "line 12")


def test_the_message_says_the_line(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(SHOP, encoding="utf-8")
    with pytest.raises(InputError, match=r"E1104 line 7, machine 'm-1': capacity cpu is not a quantity"):
        formats.read(tmp_path / "x.yaml")


def test_a_placement_says_the_line_of_a_container(tmp_path: Path) -> None:
    snapshot = formats.ClusterBuilder().machine("m", cpu=1).workload("web", cpu=1).build()
    (tmp_path / "p.json").write_text('{"placement": {\n "web-0": "m",\n "web-9": "m"\n}}', encoding="utf-8")
    with pytest.raises(InputError, match="E1402 line 3, container 'web-9'"):
        formats.read_placement(tmp_path / "p.json", snapshot.cluster)


def test_a_plan_says_the_line_of_a_step(tmp_path: Path) -> None:
    snapshot = formats.ClusterBuilder().machine("m", cpu=1).workload("web", cpu=1).build()
    good, bad = (f'{{"action": "create", "container": "{name}", "machine": "m"}}' for name in ("web-0", "x"))
    plan = f'{{"batches": [[\n{good}],[\n{bad}]]}}'
    (tmp_path / "p.json").write_text(plan, encoding="utf-8")
    with pytest.raises(InputError, match="E1515 line 3, step '1 of batch 2'"):
        formats.read_plan(tmp_path / "p.json", snapshot.cluster)


def test_requests_and_streams_say_their_lines(tmp_path: Path) -> None:
    head = '{"bayplan": 1, "kind": "requests",\n "resources": {"cpu": {}}, "capacity": {"cpu": 1},\n'
    head += '"requests": {"name": ["a", "b"],'
    (tmp_path / "r.json").write_text(
        head + '\n"start": [0,\n 5], "end": [1,\n"x"], "demand": {"cpu": [1, 1]}}}', encoding="utf-8"
    )
    with pytest.raises(InputError, match="E1101 line 6,"):
        read_timed(tmp_path / "r.json")
    zones = '{"bayplan": 1, "kind": "admission", "resources": {"cpu": {}},\n'
    zones += '"zones": [{"name": "z", "capacity": {"cpu": 1}}],\n"requests": ['
    entry = '{"name": "a", "start": 2, "end": 1, "members": ["x"], "demand": {"cpu": [1]}}'
    (tmp_path / "s.json").write_text(f"{zones}\n\n{entry}]}}", encoding="utf-8")
    with pytest.raises(InputError, match="E1501 line 5, request 'a'"):
        read_stream(tmp_path / "s.json")


def test_a_rasa_file_says_the_line_of_a_container_that_no_service_has(tmp_path: Path) -> None:
    text = (Path(__file__).parents[4] / "examples" / "rasa.json").read_text(encoding="utf-8")
    broken = text.replace('["redis-1"]', '["redis-1", "nothing-3"]')
    line = next(n for n, row in enumerate(broken.splitlines(), 1) if "nothing-3" in row)
    (tmp_path / "r.json").write_text(broken, encoding="utf-8")
    with pytest.raises(InputError, match=f"E1604 line {line}, container 'nothing-3'"):
        formats.read(tmp_path / "r.json")


def test_keys_with_escapes_and_brackets_in_texts_do_not_confuse_the_second_look() -> None:
    text = '{"a\\n\\"]": [1,\n{"b": "x]}"}, "]",\n {"c": -1}]}'
    fault = Fault(code="E1102", kind="x", name="", problem="is negative", place=('a\n"]', 3, "c"))
    assert [placed.where for placed in located([fault], text, "x.json")] == ["line 3"]


def test_a_large_file_is_not_looked_at_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_CHARACTERS", 10)
    fault = Fault(code="E1102", kind="a", name="", problem="is negative", place=("a",))
    with pytest.raises(InputError) as caught, faults_with_lines('{"a":\n 1, "b": 2}', "x.json"):
        raise InputError("x.json", [fault])
    assert caught.value.faults[0].where == ""


def test_faults_about_another_file_are_left_alone() -> None:
    fault = Fault(code="E1102", kind="a", name="", problem="is negative", place=("a",))
    with pytest.raises(InputError) as caught, faults_with_lines('{\n"a": 1}', "x.json"):
        raise InputError("y.json", [fault])
    assert caught.value.faults[0].where == ""


@pytest.mark.parametrize(
    ("kind", "name", "place"),
    [
        ("machine", "m", ("machines", 1)),
        ("rule", "2 (spread)", ("rules", 1)),
        ("container", "web-1", ("workloads", 0, "containers", 1)),
        ("container", "nowhere", ()),
        ("level", "rack", ()),
    ],
)
def test_things_are_found_by_kind_and_name(kind: str, name: str, place: tuple[object, ...]) -> None:
    machines, rules = [{"name": "l"}, {"name": "m"}], [{"rule": "capacity"}, {"rule": "spread"}]
    document = {"machines": machines, "rules": rules, "workloads": [{"name": "web", "containers": ["web-0", "web-1"]}]}
    assert place_by_name(document, kind, name) == place
