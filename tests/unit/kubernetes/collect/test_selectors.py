"""Selectors of labels and of nodes."""

import pytest

from bayplan.kubernetes.collect.selectors import LabelSelector, LabelTable, term_words

NODES = LabelTable(["a", "b", "c"], [{"disk": "ssd", "size": "5"}, {"disk": "hdd", "size": "large"}, {"size": "12"}])


def _expression(key, operator, *values):
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def _selected(*expressions, **more):
    mask = NODES.selected([{"matchExpressions": list(expressions), **more}])
    return "".join(name for name, inside in zip(NODES.names, mask, strict=True) if inside)


@pytest.mark.parametrize(
    ("expression", "nodes"),
    [
        (_expression("disk", "In", "ssd", "nvme"), "a"),
        (_expression("disk", "NotIn", "ssd"), "bc"),
        (_expression("disk", "Exists"), "ab"),
        (_expression("disk", "DoesNotExist"), "c"),
        (_expression("size", "Gt", "5"), "c"),
        (_expression("size", "Lt", "12"), "a"),
        (_expression("size", "Gt", "many"), ""),
    ],
)
def test_every_operator_selects_the_nodes_that_the_api_says(expression, nodes):
    assert _selected(expression) == nodes


def test_requirements_of_a_term_must_all_hold_and_one_term_is_enough():
    both = [_expression("disk", "Exists"), _expression("size", "Gt", "1")]
    assert _selected(*both) == "a"
    terms = [{"matchExpressions": both}, {"matchFields": [_expression("metadata.name", "In", "c")]}]
    assert NODES.selected(terms).tolist() == [True, False, True]


def test_a_term_without_requirements_selects_nothing():
    assert not NODES.selected([{}]).any()
    assert not NODES.selected([]).any()


def test_no_selector_selects_nothing_and_an_empty_one_everything():
    assert not LabelSelector.of(None).matches({"app": "web"})
    assert LabelSelector.of({}).matches({"app": "web"})


def test_labels_and_expressions_of_a_selector_must_all_hold():
    selector = LabelSelector.of({"matchLabels": {"app": "web"}, "matchExpressions": [_expression("tier", "NotIn", "back")]})
    assert selector.matches({"app": "web"})
    assert not selector.matches({"app": "web", "tier": "back"})
    assert not selector.matches({})
    assert selector.words == "app=web, tier not in (back)"


def test_words_of_node_terms_can_be_read():
    assert term_words([{"matchExpressions": [_expression("size", "Gt", "5")]}, {}]) == "size > 5; or nothing"
