"""Whatever happens to a file, its reader gives a value or numbered faults, never another exception."""

import copy
import dataclasses
import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.differences import differences

from bayplan.errors import InputError
from bayplan.formats.gmrp import read_gmrp
from bayplan.formats.native import native_document, read_native, text_of
from bayplan.formats.rasa import read_rasa, read_rasa_solution
from bayplan.formats.requests.document import read_requests
from bayplan.formats.solutions import accepted_in, plan_in, served_in
from bayplan.formats.streams.document import read_admission

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    return json.loads((EXAMPLES / f"{name}.json").read_text())


CLUSTER = read_rasa(example("rasa"), "rasa").cluster
REQUESTS = read_requests(example("requests"), "requests")
ADMISSION = read_admission(example("admission"), "admission")

READERS = {
    "rasa": lambda document: read_rasa(document, "x"),
    "rasa-solution": lambda document: read_rasa_solution(document, CLUSTER, "x"),
    "requests": lambda document: read_requests(document, "x"),
    "admission": lambda document: read_admission(document, "x"),
    "plan": lambda document: plan_in(document, CLUSTER, "x"),
    "served": lambda document: served_in(document, REQUESTS, "x"),
    "accepted": lambda document: accepted_in(document, ADMISSION, "x"),
}

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**63, -(2**63), 10**300, 1e300, 5e-324, 0.5, float("nan"), float("inf")]),
    st.sampled_from(["", "x", "1e999", "500m", "16Ei", "cart", "east", "10.0.0.1"]),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2), max_leaves=4
)


def places(node, path=()):
    """Every path into a document."""
    yield path
    members = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, member in members:
        yield from places(member, (*path, key))


def mangle(document, path, value, remove):
    """The document with something else at `path`, or nothing."""
    if not path:
        return value
    node = document
    for key in path[:-1]:
        node = node[key]
    if remove:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return document


@settings(max_examples=200, deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(READERS)))
def test_a_mangled_document_gives_a_value_or_numbered_faults(data, name):
    document = copy.deepcopy(example(name))
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(document))))
        document = mangle(document, path, data.draw(values), data.draw(st.booleans()))
        if not isinstance(document, dict | list):
            break
    try:
        READERS[name](document)
    except InputError as error:
        assert all(fault.code.startswith("E1") for fault in error.faults)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_mangled_model_gives_numbered_faults_or_what_a_native_file_can_hold(data):
    tokens = (EXAMPLES / "gmrp" / "model_tiny.txt").read_text().split()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(tokens) - 1))
        tokens[at] = data.draw(
            st.sampled_from(["-1", "0", "1", "2", "7", "999999999999999999", "9223372036854775807", "1e5", "x", ""])
        )
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model_x.txt"
        model.write_text(" ".join(tokens))
        try:
            snapshot = read_gmrp(model, EXAMPLES / "gmrp" / "assignment_tiny.txt")
        except InputError as error:
            assert error.faults
            return
    assert differences(snapshot, read_again(snapshot)) == []


@settings(max_examples=75, deadline=None)
@given(data=st.data())
def test_a_mangled_rasa_cluster_that_can_be_read_can_be_written_as_a_native_file(data):
    document = copy.deepcopy(example("rasa"))
    numbers = [path for path in places(document) if path[-1:] and path[-1] in AMOUNTS]
    for _ in range(data.draw(st.integers(1, 3))):
        mangle(document, data.draw(st.sampled_from(numbers)), data.draw(amounts), False)
    try:
        snapshot = read_rasa(document, "x")
    except InputError as error:
        assert error.faults
        return
    assert differences(snapshot, read_again(snapshot)) == []


AMOUNTS = {"RequestCPU", "RequestMem", "TotalCPU", "TotalMem", "Traffic", "Limit"}
amounts = st.one_of(st.integers(0, 3), st.sampled_from([1e-30, 1e-15, 0.3, 1e9, 2**53, 1e308, 2**63 - 1, 2**63]))


def read_again(snapshot):
    """What a native file of it says; only the format is another."""
    read = read_native(json.loads(text_of(native_document(snapshot), as_yaml=False)), "x")
    return dataclasses.replace(read, notes=snapshot.notes, format=snapshot.format)
