import numpy as np
import pytest

from bayplan.check import violations
from bayplan.errors import UsageError
from bayplan.generate.boutique import boutique
from bayplan.generate.boutique_data import LAYOUT, WORKLOADS
from bayplan.model import RULES


@pytest.fixture(scope="module")
def shop():
    return boutique()


def load(shop):
    total = np.zeros_like(shop.cluster.machines.capacity)
    np.add.at(total, shop.placement.machine_of[shop.placement.placed], shop.cluster.request_of(shop.placement.placed))
    return total


def test_some_machines_run_above_safety_and_some_are_nearly_idle(shop):
    above = (load(shop) > shop.cluster.machines.safety).any(axis=1)
    assert [shop.cluster.machines.name[m] for m in np.flatnonzero(above)] == ["a1", "a2", "a3", "b1"]
    cpu = load(shop)[:, 0] / shop.cluster.machines.capacity[:, 0]
    assert cpu.min() < 0.15 < 0.9 < cpu.max()


def test_the_busiest_pairs_run_apart(shop):
    cart, redis = {m for m, who in LAYOUT.items() if "cart" in who}, {m for m, who in LAYOUT.items() if "cart-redis" in who}
    assert len(cart & redis) == 1
    assert not any("frontend" in who and "catalogue" in who for who in LAYOUT.values())


def test_one_frontend_and_one_ranker_wait(shop):
    assert [shop.cluster.containers.name[c] for c in shop.placement.unplaced] == ["frontend-9", "ranker-2"]


def test_the_layout_never_deals_more_than_there_are():
    dealt = {name: sum(who.get(name, 0) for who in LAYOUT.values()) for name in WORKLOADS}
    assert all(count <= WORKLOADS[name].replicas for name, count in dealt.items())
    assert sum(WORKLOADS[name].replicas - count for name, count in dealt.items() if name != "log-agent") == 2


def test_every_kind_of_rule_is_there(shop):
    assert {rule.kind for rule in shop.cluster.rules} == set(RULES)


def test_most_machines_have_no_gpu(shop):
    assert (shop.cluster.machines.capacity[:, 2] == 0).sum() == 10


def test_traffic_spans_orders_of_magnitude(shop):
    assert shop.cluster.traffic.weight.max() > 500 * shop.cluster.traffic.weight.min()


def test_broken_breaks_six_kinds_of_rules():
    broken = boutique(broken=1)
    kinds = {violation.rule for violation in violations(broken.cluster, broken.placement)}
    assert kinds == {"capacity", "anti-affinity", "co-locate", "allow", "dependency", "interference"}


def test_broken_is_zero_or_one():
    with pytest.raises(UsageError, match="broken is 2; expected 0 or 1"):
        boutique(broken=2)
