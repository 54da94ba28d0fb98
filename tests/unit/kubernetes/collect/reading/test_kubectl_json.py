"""What kubectl prints, read object by object."""

import gzip
import json

import pytest
from tests.builders.kubernetes_objects import node, pod

from bayplan.errors import InputError
from bayplan.kubernetes.collect.objects import objects_from_file, objects_from_text
from bayplan.kubernetes.collect.reading.kubectl_json import is_kubectl_file, is_kubectl_json

LIST = {"apiVersion": "v1", "items": [node("a"), pod("web", "a")], "kind": "List", "metadata": {"resourceVersion": ""}}


def _counts(text):
    return {kind: len(items) for kind, items in objects_from_text(text, "x.json").items.items()}


@pytest.mark.parametrize("indent", [None, 4])
def test_a_list_is_read_by_kind(indent):
    assert _counts(json.dumps(LIST, indent=indent)) == {"Node": 1, "Pod": 1}


def test_several_lists_behind_each_other_are_one():
    nodes = {
        "kind": "NodeList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "7"},
        "items": [{**node("a"), "kind": "Node"}],
    }
    pods = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}, "items": [pod("web", "a")]}
    del pods["items"][0]["kind"]  # an API server leaves it out
    read = objects_from_text(json.dumps(nodes) + "\n" + json.dumps(pods), "x.json")
    assert {kind: len(items) for kind, items in read.items.items()} == {"Node": 1, "Pod": 1}
    assert (read.versions, read.version) == ({"Node": "7", "Pod": "9"}, 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"items": [{"kind": "Node"', "E2201 file 'x.json': line 1 column 27: the JSON is malformed or cut off"),
        ('{"items": [\n{} {}]}', "E2202 file 'x.json': an entry of the list is no object"),
        ('{"items": [7]}', "E2202 file 'x.json': an entry of the list is no object"),
        ('{"items": []} x', "E2201 file 'x.json': line 1 column 15"),
        ('{"items": []}', "E2203 file 'x.json': has no nodes"),
        (json.dumps({"items": [node("a")]}), "E2203 file 'x.json': has no pods"),
    ],
)
def test_bad_text_is_refused_with_a_number_and_a_place(text, message):
    with pytest.raises(InputError) as caught:
        objects_from_text(text, "x.json")
    assert message in str(caught.value)


def test_it_is_told_from_other_files_by_its_start(tmp_path):
    assert is_kubectl_json(json.dumps(LIST, indent=4))
    assert not is_kubectl_json('{"bayplan": 1, "machines": {}}')
    assert not is_kubectl_json('{"ServiceList": [], "items": 1}')
    packed = tmp_path / "x.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(LIST).encode()))
    assert is_kubectl_file(packed)
    assert len(objects_from_file(packed).of("Pod")) == 1
    assert not is_kubectl_file(tmp_path / "none.json")
