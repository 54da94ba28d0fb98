"""The readers of columns and of rows read the same, or only those of rows read."""

import copy
import json
from pathlib import Path

import pytest
from tests.builders.differences import differences

from bayplan.errors import InputError
from bayplan.formats import native
from bayplan.formats.document.text import read_document
from bayplan.formats.native import machines, read_native, workloads

EXAMPLES = Path(__file__).parents[4] / "examples"
SMALL = json.loads((EXAMPLES / "small.json").read_text())
QUICK = {machines: ("machines_by_column",), workloads: ("workloads_by_column", "placement_by_column")}


def changed(**keys):
    """The small example with keys of its first machine, `m_...`, and of its first workload, `w_...`, replaced."""
    document = copy.deepcopy(SMALL)
    for key, value in keys.items():
        if key.startswith("m_"):
            document["machines"][0][key[2:]] = value
        elif key.startswith("w_"):
            document["workloads"][0][key[2:]] = value
        else:
            document[key] = value
    return document


DOCUMENTS = {
    **{name: read_document(EXAMPLES / name) for name in ("shop.yaml", "rules.yaml", "web.yaml", "small.json")},
    "shares": changed(defaults={"safety": {"cpu": "80%"}}),
    "one share": changed(defaults={"safety": 0.75}),
    "amounts of safety": changed(defaults={"safety": {"cpu": 1}}, m_safety={"cpu": "500m"}),
    "usage": changed(w_usage={"cpu": {"mean": "0.3", "std": 0.1}, "memory": "1Gi"}),
    "usage above the limit": changed(w_usage={"cpu": 9}, w_limit={"cpu": 8}),
    "no request": changed(w_request={}),
    "large limit": changed(w_limit={"memory": 2**53 + 1}, w_usage={"memory": 2**53 + 2}),
    "nothing placed": changed(w_on=[None] * len(SMALL["workloads"][0]["on"])),
}
WRONG = {
    "finer": (changed(w_request={"cpu": "0.1m"}), "E1105"),
    "too large": (changed(w_request={"memory": "9e18"}), "E1113"),
    "beyond": (changed(m_capacity={"memory": "10e18"}), "E1106"),
    "unknown resource": (changed(m_capacity={"gpu": 1}), "E1202"),
    "safety above": (changed(m_safety={"cpu": 1000}), "E1114"),
    "limit below": (changed(w_limit={"cpu": 0}), "E1116"),
    "unknown machine": (changed(w_on=["elsewhere"] * len(SMALL["workloads"][0]["on"])), "E1403"),
    "too few": (changed(w_on=[]), "E1401"),
    "replicas": (changed(w_replicas=99), "E1111"),
    "double container": (changed(w_containers=["same", "same"], w_on=[None, None]), "E1201"),
}


def row_by_row(document, monkeypatch):
    with monkeypatch.context() as patch:
        for module, functions in QUICK.items():
            for function in functions:
                patch.setattr(module, function, lambda *_: None)
        return read_native(document, "x")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_columns_say_what_rows_say(name, monkeypatch):
    quick, slow = read_native(DOCUMENTS[name], "x"), row_by_row(DOCUMENTS[name], monkeypatch)
    assert differences(quick, slow) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_by_the_rows(name, monkeypatch):
    document, code = WRONG[name]
    messages = []
    for read in (lambda: read_native(document, "x"), lambda: row_by_row(document, monkeypatch)):
        with pytest.raises(InputError) as raised:
            read()
        messages.append(str(raised.value))
    assert code in messages[0] and messages[0] == messages[1]


def test_plain_documents_are_read_by_columns_alone(monkeypatch):
    monkeypatch.setattr(workloads._Row, "read", None)  # not called
    monkeypatch.setattr(machines, "_safety", None)
    assert native.read_native(DOCUMENTS["shop.yaml"], "x").cluster.name == "shop"


def test_a_note_about_usage_above_its_limit_is_not_lost():
    assert any("above its limit" in note for note in read_native(DOCUMENTS["large limit"], "x").notes)
