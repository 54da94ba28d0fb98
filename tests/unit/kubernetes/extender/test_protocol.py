"""The protocol of kube-scheduler: both forms of a question, answers in the same form, numbered errors for everything else."""

import json

import numpy as np
import pytest

from bayplan.errors import InputError
from bayplan.kubernetes.extender.protocol import filter_result, priority_list, read_arguments

POD = {"metadata": {"name": "web-1", "namespace": "shop"}, "spec": {}}
NODES = [{"metadata": {"name": name}, "status": {"allocatable": {"cpu": "4"}}} for name in ("n-0", "n-1", "n-2")]


def question(**parts):
    return read_arguments(json.dumps({"Pod": POD, **parts}).encode())


def test_names_are_read_if_the_extender_knows_the_nodes():
    arguments = question(NodeNames=["n-0", "n-1"], Nodes=None)
    assert arguments.names == ("n-0", "n-1") and arguments.nodes is None and arguments.pod_name == "shop/web-1"


def test_whole_nodes_are_read_if_it_does_not():
    arguments = question(Nodes={"items": NODES}, NodeNames=None)
    assert arguments.names == ("n-0", "n-1", "n-2") and arguments.nodes == tuple(NODES)


def test_keys_are_read_in_any_case_as_go_does():
    assert read_arguments(json.dumps({"pod": POD, "nodenames": ["n-0"]}).encode()).names == ("n-0",)


@pytest.mark.parametrize("items", [None, []])
def test_no_nodes_at_all_are_an_answer_too(items):
    assert question(Nodes={"items": items}).names == ()


def test_an_answer_has_the_form_of_its_question():
    by_name = filter_result(question(NodeNames=["n-0", "n-1"]), ["n-1"], "no")
    assert by_name["NodeNames"] == ["n-1"] and by_name["Nodes"] is None
    assert by_name["FailedAndUnresolvableNodes"] == {"n-0": "no"} and by_name["FailedNodes"] == {} and by_name["Error"] == ""
    whole = filter_result(question(Nodes={"items": NODES}), ["n-2"], "no")
    assert whole["Nodes"]["items"] == [NODES[2]] and whole["NodeNames"] is None


def test_scores_are_whole_numbers_from_0_to_10_and_only_the_best_has_10():
    assert priority_list("abcd", np.array([1.0, 0.999, 0.05, 0.0])) == [
        {"Host": "a", "Score": 10},
        {"Host": "b", "Score": 9},
        {"Host": "c", "Score": 0},
        {"Host": "d", "Score": 0},
    ]


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (b"", "E2501", "is not JSON"),
        (b"{", "E2501", "is not JSON"),
        (b"[" * 100_000, "E2501", "is not JSON"),
        (b"[]", "E2502", "is not an object (list)"),
        (b"{}", "E2502", "has no pod with metadata (null)"),
        (b'{"Pod": {"metadata": 3}, "NodeNames": []}', "E2502", "has no pod with metadata (dict)"),
        (b'{"Pod": {"metadata": {}}}', "E2502", "has neither node names nor nodes (null)"),
        (b'{"Pod": {"metadata": {}}, "Nodes": {}}', "E2502", "has neither node names nor nodes (dict)"),
        (b'{"Pod": {"metadata": {}}, "NodeNames": "n-0"}', "E2502", "node names that are no list of texts (str)"),
        (b'{"Pod": {"metadata": {}}, "NodeNames": [1]}', "E2502", "node names that are no list of texts (list)"),
        (b'{"Pod": {"metadata": {}}, "Nodes": {"items": [{}]}}', "E2502", "a node without a name"),
        (b'{"Pod": {"metadata": {}}, "Nodes": {"items": [7]}}', "E2502", "a node without a name"),
    ],
)
def test_what_is_no_question_is_refused_with_a_number_and_what_was_expected(body, code, words):
    with pytest.raises(InputError) as error:
        read_arguments(body)
    (fault,) = error.value.faults
    assert fault.code == code and words in str(fault) and "; expected " in str(fault)
