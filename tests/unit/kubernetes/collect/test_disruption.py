"""Disruption budgets."""

import pytest
from tests.builders.kubernetes_objects import budget, collect, deployment, node, pod

from bayplan.kubernetes.collect.disruption import disruption_budgets


@pytest.mark.parametrize(
    ("spec", "down"),
    [
        ({"maxUnavailable": 1}, 1),
        ({"maxUnavailable": "30%"}, 2),
        ({"minAvailable": 3}, 1),
        ({"minAvailable": "60%"}, 1),
        ({"minAvailable": 9}, 0),
        ({}, 4),
    ],
)
def test_what_a_budget_of_four_pods_lets_be_down(spec, down):
    (read,) = disruption_budgets([budget("web", "web", **spec)])
    assert read.may_be_down(4) == down


def test_the_numbers_of_its_controller_come_first():
    stated = budget("web", "web", maxUnavailable=1) | {"status": {"expectedPods": 10, "desiredHealthy": 7}}
    (read,) = disruption_budgets([stated])
    assert read.may_be_down(4) == 3


def _web(*budgets):
    pods = [pod(f"web-{k}", "a", owner="web", labels={"app": "web"}) for k in range(2)]
    return collect(node("a"), deployment("web", 2), pods, list(budgets))


def test_pods_that_no_budget_ever_lets_go_stay():
    assert not _web(budget("web", "web", maxUnavailable=1)).unmovable
    stays = _web(budget("web", "web", minAvailable=2)).unmovable
    assert stays["shop/web-0"] == "its disruption budget web allows no disruption"


def test_pods_of_two_budgets_stay_because_kubernetes_evicts_none_of_them():
    stays = _web(budget("one", "web", maxUnavailable=1), budget("two", "web", maxUnavailable=1)).unmovable
    assert stays["shop/web-0"] == "covered by 2 disruption budgets, which Kubernetes never evicts"
