"""Whatever stands in a file: it is read, or it is an InputError. No other exception, ever."""

import copy
import json
import tempfile
from pathlib import Path

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan import formats
from bayplan.errors import InputError
from bayplan.formats.document.quick_shape import fits
from bayplan.formats.document.shape import shape_faults, walked
from bayplan.formats.native import SNAPSHOT, read_native

EXAMPLES = Path(__file__).parents[2] / "examples"
RICH = {
    **json.loads((EXAMPLES / "small.json").read_text()),
    "amounts": "units",
    "notes": ["x"],
    "levels": ["rack", {"name": "zone", "groups": ["z1", "z2"]}],
    "rules": [
        {"rule": "capacity", "resources": ["cpu"]},
        {"rule": "anti-affinity", "workloads": ["web"], "limit": 2, "level": "rack"},
        {"rule": "spread", "service": "database", "minimum": 2, "level": "machine"},
        {"rule": "co-locate", "containers": ["web-0", "cart-0"]},
        {"rule": "allow", "workloads": ["web"], "machines": "fast"},
        {"rule": "dependency", "service": "shop", "on": "database"},
        {"rule": "transient", "resource": "cpu", "mode": "sequential"},
        {"rule": "interference", "a": "web", "b": "cart", "limit": 3},
        {"rule": "pinned", "containers": ["db-main"]},
        {"rule": "confidence", "resource": "cpu", "alpha": 0.99},
    ],
    "objective": {
        "weights": {"utilisation": 1},
        "ratios": [["cpu", "memory", 2]],
        "hops": {"rack": 1},
        "overload_weights": {"cpu": 10},
        "targets": [{"r1": "cpu", "r2": "memory", "target": 2, "weight": 1}],
        "move_costs": {"container": {"web": 1}, "machine": [[0, 1, 1], [1, 0, 1], [1, 1, 0]], "service_weight": 2},
    },
}
for machine in RICH["machines"]:
    machine["at"]["zone"] = "z1"

words = [
    "",
    "web",
    "cart",
    "m-0",
    "cpu",
    "fast",
    "machine",
    "rack",
    "500m",
    "1e999",
    "-1",
    "1E",
    "9Ei",
    "9" * 70,
    "é",
    "\0",
    "x\n",
]
numbers = [0, -1, 1, 3, 2**31, 2**63 - 1, 2**63, 10**400, -(10**400), 0.1, 1e-320, 1e308, -0.0]
scalars = st.one_of(st.none(), st.booleans(), st.sampled_from(numbers), st.floats(), st.sampled_from(words), st.text(max_size=4))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*words, "name", "rule"]), inner, max_size=3),
    max_leaves=6,
)


def places(node: object) -> list[tuple[dict | list, str | int]]:
    """Every (parent, key) of a document."""
    members = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [place for key, child in list(members) for place in [(node, key), *places(child)]]


@st.composite
def mutants(draw: st.DrawFn) -> dict:
    """The rich document with up to three nodes deleted, replaced, or copied to another place."""
    document = copy.deepcopy(RICH)
    for _ in range(draw(st.integers(1, 3))):
        parent, key = draw(st.sampled_from(places(document)))
        change = draw(st.sampled_from(["delete", "replace", "copy"]))
        if change == "delete":
            del parent[key]
        elif change == "replace":
            parent[key] = draw(values)
        else:
            other, name = draw(st.sampled_from(places(document)))
            parent[key] = copy.deepcopy(other[name])
        if not places(document):
            break
    return document


def test_the_unchanged_document_is_read() -> None:
    assert len(read_native(RICH, "x").cluster.rules) == 10


@settings(max_examples=200, deadline=None)
@given(document=mutants())
def test_a_mutated_document_is_read_or_refused(document: dict) -> None:
    try:
        read_native(document, "x")
    except InputError as error:
        str(error).encode()


@settings(max_examples=75, deadline=None)
@given(document=mutants())
def test_a_mutated_file_is_read_or_refused(document: dict) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        path.write_text(json.dumps(document))
        try:
            formats.read(path)
        except InputError as error:
            str(error).encode()


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=60) | st.text(alphabet="{}[]:,-? \n\"'&*!|>%@`abc019.eE", max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("x.json", "x.yaml", "x.json.gz"):
            (Path(folder) / name).write_bytes(data)
            try:
                formats.read(Path(folder) / name)
            except InputError as error:
                str(error).encode()


VALIDATOR = jsonschema.Draft202012Validator(SNAPSHOT)


def integral_floats(document: object) -> bool:
    """3.0 is an integer to JSON Schema, not to us; NaN and endless integers are numbers to it."""
    odd = [parent[key] for parent, key in places(document) if type(parent[key]) in (int, float)]
    return any((type(number) is float and (number != number or number.is_integer())) or abs(number) > 1e300 for number in odd)


@settings(max_examples=100, deadline=None)
@given(document=mutants())
def test_the_walker_agrees_with_a_second_judge_of_the_schema(document: dict) -> None:
    if not integral_floats(document):
        assert bool(shape_faults(document, SNAPSHOT)) == (not VALIDATOR.is_valid(document))


def huge(document: object) -> bool:
    """Is there a number beyond which the quick look leaves the answer to the walk?"""
    return any(abs(parent[key]) > 1e300 for parent, key in places(document) if type(parent[key]) in (int, float))


@settings(max_examples=200, deadline=None)
@given(document=mutants())
def test_the_quick_look_says_what_the_walk_says(document: dict) -> None:
    wrong = walked(document, SNAPSHOT)
    assert not (fits(document, SNAPSHOT) and wrong)
    assert fits(document, SNAPSHOT) or wrong or huge(document)
