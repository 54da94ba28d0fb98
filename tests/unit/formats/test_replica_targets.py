"""Numbers of replicas: every workload has one, and what is wrong is named, all of it."""

from pathlib import Path

import jsonschema
import pytest

from bayplan.errors import InputError
from bayplan.formats import read
from bayplan.formats.document.schemas import schema
from bayplan.formats.document.text import read_document
from bayplan.formats.replica_targets import read_replica_targets

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def shop():
    return read(EXAMPLES / "shop.yaml").cluster  # service shop: web, cart; service database: database


def written(tmp_path, text):
    path = tmp_path / "targets.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_states_every_workload():
    path, web = EXAMPLES / "targets.yaml", read(EXAMPLES / "web.yaml").cluster
    jsonschema.validate(read_document(path), schema("targets"))
    assert read_replica_targets(path, web) == {"web": 6, "cart": 8, "checkout": 10, "search": 12}


def test_others_may_keep_their_number(tmp_path, shop):
    assert read_replica_targets(written(tmp_path, "targets: {web: 0}\nothers: keep\n"), shop) == {
        "web": 0,
        "cart": 1,
        "database": 2,
    }


@pytest.mark.parametrize(
    ("text", "codes", "words"),
    [
        ("targets: {web: -1, cart: 1.5, crat: 2}", "E1102 E1101 E1202", ["'web': is negative (-1)", "did you mean 'cart'?"]),
        ("targets: {web: 3}", "E1107 E1107", ["has no number for 'cart'", "has no number for 'database'", "'others: keep'"]),
        ("targets: {web: ~, cart: 2000000, database: 1}", "E1101 E1110", ["'web': must be a whole number (null)"]),
        ("targets: {shop: 3}\nothers: keep", "E1202", ["is a service of 2 workloads", "one of 'web', 'cart'"]),
        ("targets: {}", "E1111", ["targets is empty"]),
        ("target: {web: 3}", "E1107 E1108", ["did you mean 'targets'?"]),
        ("targets: {web: 1, cart: 1, database: 1}\nothers: drop", "E1109", ["others", "keep"]),
    ],
)
def test_what_is_wrong_has_its_number(text, codes, words, tmp_path, shop):
    with pytest.raises(InputError) as caught:
        read_replica_targets(written(tmp_path, text), shop)
    assert " ".join(fault.code for fault in caught.value.faults) == codes
    message = str(caught.value)
    assert [word for word in words if word not in message] == []
