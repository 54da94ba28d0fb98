"""Every term of the objective is known to all its readers: files, scores, search, bound, pages.

`docs/extending/term.md` lists the places that must know a new one.
"""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from tests.naive import scores as naive

from bayplan import formats
from bayplan.check import check
from bayplan.decide.rebalance import REBALANCERS, RebalanceOptions
from bayplan.model import Budget, Objective, Placement, Snapshot, Term, ints, silent
from bayplan.model.problem import Problem
from bayplan.score.bound import lower_bound
from bayplan.score.terms import score, weighted

SCORES = (Path(__file__).parents[2] / "docs" / "scores.md").read_text(encoding="utf-8")
CLUSTER = """
bayplan: 1
resources: {cpu: {}, memory: {}}
machines:
- {name: m-0, capacity: {cpu: 6, memory: 8}, safety: {cpu: 3}}
- {name: m-1, capacity: {cpu: 6, memory: 4}, safety: {cpu: 4}}
- {name: m-2, capacity: {cpu: 4, memory: 8}, safety: {cpu: 2}}
services: [{name: shop, clique: 0.5}]
workloads:
- {name: web, service: shop, request: {cpu: 1, memory: 2}, containers: 2, on: [m-0, m-0]}
- {name: cart, service: shop, request: {cpu: 2, memory: 1}, containers: 2, on: [m-1, m-0]}
traffic: [[web, cart, 3]]
objective:
  weights: {%s: 2}
  targets: [{r1: cpu, r2: memory, target: 1, weight: 3}]
  move_costs: {container: {web: 1, cart: 5}, machine: [[0, 1, 2], [1, 0, 2], [2, 2, 0]], service_weight: 10}
"""
STAYS_BEST = (Term.MOVES, Term.MOVE_COST)  # nothing is better than to move nothing

every_term = pytest.mark.parametrize("term", Term)


def snapshot_of(term: Term, tmp_path: Path) -> Snapshot:
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER % term.value, encoding="utf-8")
    return formats.read(path)


def valid_placements(snapshot: Snapshot) -> list[Placement]:
    placements = (Placement(machine_of=ints(machines)) for machines in product(range(3), repeat=4))
    return [placement for placement in placements if not check(snapshot.cluster, placement)]


def cost(snapshot: Snapshot, placement: Placement) -> float:
    return weighted(snapshot.cluster, placement, snapshot.objective, snapshot.placement)


@every_term
def test_files_keep_its_weight(term, tmp_path):
    snapshot = snapshot_of(term, tmp_path)
    formats.write(snapshot, tmp_path / "again.json")
    assert snapshot.objective.weight[term] == formats.read(tmp_path / "again.json").objective.weight[term] == 2.0


@every_term
def test_it_is_scored_as_its_naive_twin_is(term, tmp_path):
    snapshot = snapshot_of(term, tmp_path)
    costs = {round(cost(snapshot, placement), 9) for placement in valid_placements(snapshot)}
    assert len(costs) > 1, "the example does not tell placements apart"
    for placement in valid_placements(snapshot):
        twin = naive.weighted(snapshot.cluster, placement, snapshot.objective, snapshot.placement)
        assert cost(snapshot, placement) == pytest.approx(twin)


@every_term
def test_the_search_finds_the_optimum_and_no_method_is_worse_than_the_start(term, tmp_path):
    snapshot = snapshot_of(term, tmp_path)
    start, optimum = (
        cost(snapshot, snapshot.placement),
        min(cost(snapshot, placement) for placement in valid_placements(snapshot)),
    )
    for name, rebalance in REBALANCERS.items():
        result = rebalance(Problem.of(snapshot), RebalanceOptions(), budget=Budget(iterations=3000), seed=0, progress=silent)
        assert result.solution is not None
        reached = cost(snapshot, result.solution)
        assert reached <= start + 1e-9
        assert name != "search" or reached == pytest.approx(optimum)
    assert (optimum == pytest.approx(start)) == (term in STAYS_BEST)


@every_term
def test_the_lower_bound_is_below_every_valid_placement(term, tmp_path):
    snapshot = snapshot_of(term, tmp_path)
    bound = lower_bound(snapshot.cluster, snapshot.objective, snapshot.placement)
    assert bound is not None
    assert bound <= min(cost(snapshot, placement) for placement in valid_placements(snapshot)) + 1e-9


@every_term
def test_a_term_without_weight_does_not_count(term, tmp_path):
    snapshot = snapshot_of(term, tmp_path)
    without = replace(snapshot, objective=replace(snapshot.objective, weight=dict.fromkeys(Term, 0.0)))
    assert {cost(without, placement) for placement in valid_placements(snapshot)} == {0.0}


@every_term
def test_pages_explain_it(term):
    assert f"`{term.value}`" in SCORES


def test_scores_have_a_value_for_every_key_of_the_page(tmp_path):
    snapshot = snapshot_of(Term.OVERLOAD, tmp_path)
    objective = replace(snapshot.objective, weight=dict(Objective.default(snapshot.cluster).weight))
    keys = score(snapshot.cluster, snapshot.placement, objective, snapshot.placement)
    assert all(f"`{key}`" in SCORES for key in keys)
