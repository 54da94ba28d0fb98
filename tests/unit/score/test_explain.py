"""`explain` on a cluster made by hand: its reasons, its sentences, its partners."""

from dataclasses import replace

import pytest
from tests.builders.hand_made_clusters import API, CPU, DB, FRONT, WEB, WEB_0, WEB_1, ZONE, at, cluster, with_capacity
from tests.builders.tiny_clusters import on, tiny

from bayplan.model import (
    Allow,
    AntiAffinity,
    Capacity,
    CoLocate,
    Confidence,
    Dependency,
    Interference,
    Objective,
    Pinned,
    Spread,
    Term,
    Transient,
    floats,
)
from bayplan.score.explain import explain, fit_summary
from bayplan.score.terms import weighted

SPREAD_OUT = at(0, 1, 2, 0, 1, 3)
BLOCKED = {  # rule, placement, blocked machine, what explain says about web-0 there
    "allow": (Allow(workloads=(WEB,), machines="west"), SPREAD_OUT, "m-1", "not in set 'west'"),
    "anti-affinity": (
        AntiAffinity(workloads=(WEB,), limit=1),
        SPREAD_OUT,
        "m-1",
        "anti-affinity: 2 containers of 'web' on machine 'm-1', at most 1 allowed",
    ),
    "interference": (
        Interference(a=DB, b=WEB, limit=0),
        SPREAD_OUT,
        "m-3",
        "interference: 1 container of 'web' on machine 'm-3' where 'db' runs, at most 0 allowed",
    ),
    "spread": (
        Spread(service=FRONT, minimum=3),
        at(0, 1, 2, 2, 1, 3),
        "m-1",
        "spread: service 'front' would be in 2 machines, at least 3 needed",
    ),
    "dependency": (
        Dependency(service=FRONT, on=1, level=ZONE),
        at(2, 3, 2, 2, 2, 3),
        "m-0",
        "dependency: service 'front' would miss service 'back'",
    ),
    "confidence": (
        Confidence(resource=CPU, alpha=0.99),
        at(0, 1, 1, 0, 0, 3),
        "m-1",
        "confidence: needs 10.0294 cpu at 0.99, has 8",
    ),
    "pinned": (Pinned(containers=(WEB_0,)), SPREAD_OUT, "m-3", "pinned: 'web-0' stays on machine 'm-0'"),
}


@pytest.mark.parametrize(("rule", "placement", "machine", "sentence"), BLOCKED.values(), ids=BLOCKED)
def test_says_what_blocks_a_machine(rule, placement, machine, sentence):
    explanation = explain(cluster(rule), placement, WEB_0)
    assert explanation.why[machine] == sentence
    assert machine not in explanation.fits


def test_reasons_are_counted_like_a_scheduler_does():
    rules = (Capacity(resources=(CPU,)), Allow(workloads=(WEB,), machines="fast"))
    small = with_capacity(5000, cluster(*rules))
    explanation = explain(small, at(0, 2, 2, 2, 2, 1), WEB_0)
    assert str(explanation.reason()) == "web-0: 1/4 machines fit (2 not allowed, 1 short of cpu)"
    assert explanation.why == {
        "m-1": "short of cpu: needs 2, 1 free",
        "m-2": "not in set 'fast'",
        "m-3": "not in set 'fast'",
    }


def test_the_emptiest_machine_comes_first():
    explanation = explain(cluster(Capacity(resources=(CPU,))), at(0, 1, 1, 2, 0, 3), WEB_0)
    assert explanation.fits == ("m-0", "m-2", "m-1", "m-3")


def test_its_own_machine_is_checked_as_if_it_came_there():
    explanation = explain(cluster(AntiAffinity(workloads=(WEB,), limit=1)), at(0, 0, 1, 2, 2, 2), WEB_0)
    assert explanation.why["m-0"].startswith("anti-affinity: 2 containers of 'web'")
    assert "where it is: anti-affinity" in str(explanation)


def test_what_belongs_together_moves_together():
    together = cluster(CoLocate(containers=(WEB_0, WEB_1)), AntiAffinity(workloads=(WEB,), limit=2))
    explanation = explain(together, at(0, 0, 1, 2, 2, 3), WEB_0)
    assert explanation.moves_with == ("web-1",)
    assert explanation.fits == ("m-0", "m-2", "m-3")  # web-2 on m-1 would be the third


def test_a_container_without_a_machine_has_no_home():
    explanation = explain(cluster(), at(-1, 0, 0, 0, 0, 0), WEB_0)
    assert explanation.machine is None
    assert explanation.local is None
    assert str(explanation).startswith("web-0 (workload 'web', service 'front') has no machine")


def test_traffic_partners_are_named_with_where_they_run():
    explanation = explain(cluster(), at(0, 1, 2, 0, 1, 3), WEB_0)
    (api,) = explanation.partners
    assert (api.workload, api.share, api.local) == ("api", 1.0, 0.5)
    assert api.machines == {"m-0": 1, "m-1": 1}
    assert explanation.local == 0.5
    assert "traffic: 50.0% stays on its machine, with 1 partner" in str(explanation)


def test_clique_traffic_is_traffic_with_every_container_of_the_service():
    talks = cluster()
    talks = replace(talks, services=replace(talks.services, clique=floats([1.0, 0.0])))
    explanation = explain(talks, at(0, 0, 1, 1, 1, 3), WEB_0)
    # api: 6 / 3 replicas by the edge, 2 by the clique; web: 2 others
    assert {p.workload: p.share for p in explanation.partners} == pytest.approx({"api": 4 / 6, "web": 2 / 6})
    assert explanation.local == pytest.approx(1 / 6)


def test_before_is_where_containers_ran():
    pinned = cluster(Pinned(containers=(WEB_0,)))
    explanation = explain(pinned, at(0, 0, 0, 0, 0, 0), WEB_0, before=at(2, 0, 0, 0, 0, 0))
    assert explanation.fits == ("m-2",)
    moving = with_capacity(5000, cluster(Transient(resource=CPU)))  # db left m-1, and is still charged there
    explanation = explain(moving, at(0, 0, 3, 3, 3, 2), WEB_0, before=at(0, 0, 3, 3, 3, 1))
    assert explanation.why["m-1"] == "transient: 6 cpu charged of 5 while containers move"


def test_a_workload_that_fits_nowhere_says_why():
    full = with_capacity(4000, cluster(Capacity(resources=(CPU,)), Allow(workloads=(DB,), machines="fast")))
    assert str(fit_summary(full, at(0, 0, 1, 1, 1, -1), DB)) == "db: 0/4 machines fit (2 not allowed, 2 short of cpu)"
    assert str(fit_summary(full, at(0, 0, -1, 1, 1, 2), WEB)) == "web: 2/4 machines fit (2 short of cpu)"


def test_a_workload_without_containers_has_nothing_to_place():
    none = cluster()
    containers = replace(none.containers, name=none.containers.name[:3], workload=none.containers.workload[:3])
    assert str(fit_summary(replace(none, containers=containers), at(0, 0, 0), API)) == "api: has no containers"


def test_alternatives_are_compared_by_the_objective():
    shop, placement = cluster(Capacity(resources=(0, 1))), at(0, 0, 0, 0, 1, 3)
    objective = Objective.default(shop)
    explanation = explain(shop, placement, WEB_0, objective=objective)
    now = weighted(shop, placement, objective)
    for alternative in explanation.alternatives:
        m = shop.machines.name.index(alternative.machine)
        assert alternative.change == pytest.approx(weighted(shop, at(m, 0, 0, 0, 1, 3), objective) - now)
    changes = [alternative.change for alternative in explanation.alternatives]
    assert changes == sorted(changes)
    assert changes[0] < 0 and f"'{explanation.alternatives[0].machine}' is better" in str(explanation)


def test_a_container_that_is_well_placed_is_told_so():
    shop, placement = cluster(Capacity(resources=(0, 1))), at(0, 1, 2, 0, 1, 3)
    stays = Objective.default(shop).with_weights({Term.MOVES: 1.0})
    assert "well placed" in str(explain(shop, placement, WEB_0, objective=stays))


def test_without_an_objective_nothing_is_compared():
    assert explain(cluster(), SPREAD_OUT, WEB_0).alternatives == ()


def test_containers_that_should_run_together_and_do_not_are_reported():
    shop = cluster(Capacity(resources=(0, 1)), CoLocate(containers=(WEB_0, WEB_1)))
    explanation = explain(shop, at(0, 1, 2, 0, 1, 3), WEB_0, objective=Objective.default(shop))
    assert explanation.apart == ("web-1",)
    assert "should run on its machine and does not" in str(explanation)
    assert "well placed" not in str(explanation)
    assert "m-0" in {alternative.machine for alternative in explanation.alternatives}  # bring web-1 here


def test_rounding_is_no_reason_to_move():
    even = tiny([[7000]] * 4, [[311]] * 3, [1, 1, 1])  # the same sum in another order differs in its last digit
    placement, objective = on(0, 1, 2), Objective.default(even)
    assert weighted(even, on(3, 1, 2), objective) != weighted(even, placement, objective)
    explanation = explain(even, placement, 0, objective=objective)
    assert {a.machine: a.change for a in explanation.alternatives}["m3"] == 0.0
    assert "well placed" in str(explanation)
