"""Selection: the networks are what the textbook says, and every selector has an answer for every subproblem."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.naive import selection as naive

from bayplan.decide.collocate.select import CG, MIP, SELECTORS
from bayplan.decide.collocate.select import networks as select_networks
from bayplan.decide.collocate.select.features import FeatureGraph, adjacency, feature_graph, machine_types
from bayplan.decide.collocate.select.networks import (
    GCN,
    GCN_SIZES,
    MLP,
    WEIGHTS_FILE,
    Layer,
    Network,
    gcn_probability,
    gcn_scores,
    mlp_scores,
    networks_text,
    read_networks,
    shipped_networks,
)
from bayplan.decide.collocate.select.selector import choice, heuristic
from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.model import floats, ints

every_selector = pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS)


def subproblem_of(seed=0, workloads=7, machines=6, edges=9, sets=2):
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for a in range(workloads) for b in range(a)]
    some = rng.permutation(len(pairs))[:edges]
    demand = rng.integers(1, 20, workloads)
    return Subproblem(
        workload=ints(np.arange(workloads)),
        machine=ints(np.arange(machines)),
        replicas=ints(demand),
        demand=ints(demand),
        request=ints(rng.integers(0, 9, (workloads, 2))),
        free=ints(rng.choice([100, 200], (machines, 2))),
        row_of=ints(rng.integers(0, 2, workloads)),
        allow=rng.random((2, machines)) < 0.7,
        member=rng.random((sets, workloads)) < 0.4,
        set_free=ints(rng.integers(1, 3, (sets, machines))),
        a=ints([pairs[k][0] for k in some]),
        b=ints([pairs[k][1] for k in some]),
        weight=floats(rng.random(len(some)) + 0.01),
        now=ints(np.zeros((workloads, machines))),
        fixed=ints(np.zeros((workloads, machines))),
    )


def network_of(seed, out):
    rng = np.random.default_rng(seed)
    shapes = ((2, 5), (5, 4), (out, 2))
    n = 5 if out > 4 else 2
    layer = tuple(Layer(matrix=floats(rng.normal(size=shape)), bias=floats(rng.normal(size=shape[1]))) for shape in shapes)
    return Network(centre=floats(rng.normal(size=n)), spread=floats(rng.random(n) + 0.5), layer=layer)


@pytest.mark.parametrize("out", [4, 7])
def test_the_gcn_is_what_its_slow_twin_computes(out):
    for seed in range(20):
        graph, network = feature_graph(subproblem_of(seed)), network_of(seed, out)
        assert gcn_scores(graph, network) == pytest.approx(naive.gcn_scores(graph, network), abs=1e-9)


def test_the_mlp_is_what_its_slow_twin_computes():
    for seed in range(20):
        graph, network = feature_graph(subproblem_of(seed)), network_of(seed, 4)
        assert mlp_scores(graph, network) == pytest.approx(naive.mlp_scores(graph, network), abs=1e-9)


def test_the_shipped_networks_are_what_their_slow_twins_compute():
    networks, _ = shipped_networks()
    graph = feature_graph(subproblem_of(3))
    assert set(networks) == {GCN, GCN_SIZES, MLP}
    for name in (GCN, GCN_SIZES):
        assert gcn_scores(graph, networks[name]) == pytest.approx(naive.gcn_scores(graph, networks[name]), abs=1e-9)
    assert mlp_scores(graph, networks[MLP]) == pytest.approx(naive.mlp_scores(graph, networks[MLP]), abs=1e-9)
    assert WEIGHTS_FILE.stat().st_size < 100_000


def test_machine_types_are_counted_as_their_slow_twin_counts_them():
    subproblems = [subproblem_of(seed, workloads=2, machines=12, sets=1) for seed in range(30)]
    subproblems = [replace(subproblem, row_of=ints([0, 1])) for subproblem in subproblems]  # no row of `allow` that nobody has
    counted = [machine_types(subproblem) for subproblem in subproblems]
    assert counted == [naive.machine_types(subproblem) for subproblem in subproblems]
    assert len(set(counted)) > 1


def test_features_are_those_of_the_subproblems_own_workloads():
    subproblem = subproblem_of()
    graph = feature_graph(replace(subproblem, workload=subproblem.workload + 40))
    mean = subproblem.free.mean(axis=0)
    assert graph.feature[2, 0] == max(subproblem.request[2] / mean)
    assert graph.feature[:, 1].tolist() == subproblem.demand.tolist()


def test_the_order_of_workloads_does_not_matter():
    graph, network = feature_graph(subproblem_of(5)), network_of(5, 7)
    order = np.random.default_rng(0).permutation(len(graph.feature))
    place = np.argsort(order)
    other = replace(graph, feature=graph.feature[order], a=ints(place[graph.b]), b=ints(place[graph.a]))
    assert gcn_scores(other, network) == pytest.approx(gcn_scores(graph, network))


def test_the_unit_of_weights_does_not_matter_but_the_graph_does():
    graph, network = feature_graph(subproblem_of(6)), network_of(6, 4)
    assert gcn_scores(replace(graph, weight=graph.weight * 1e-7), network) == pytest.approx(gcn_scores(graph, network))
    turned = replace(graph, a=ints((graph.a + 1) % 7), b=ints((graph.b + 1) % 7))
    assert abs(gcn_scores(turned, network) - gcn_scores(graph, network)).max() > 1e-6
    assert mlp_scores(turned, network).tolist() == mlp_scores(graph, network).tolist()


def test_the_adjacency_of_equal_weights_is_that_of_kipf_and_welling():
    path = FeatureGraph(
        feature=floats(np.ones((3, 2))), a=ints([0, 1]), b=ints([1, 2]), weight=floats([7, 7]), machines=2, types=1
    )
    half, sixth = 1 / 2, 1 / np.sqrt(6)
    assert adjacency(path).toarray() == pytest.approx(np.array([[half, sixth, 0], [sixth, 1 / 3, sixth], [0, sixth, half]]))


def test_probabilities_sum_to_one_even_where_scores_are_huge():
    network = network_of(1, 4)
    last = Layer(matrix=network.layer[-1].matrix, bias=floats([4000, -4000]))
    assert gcn_probability(feature_graph(subproblem_of()), replace(network, layer=(*network.layer[:-1], last))).tolist() == [1, 0]


def test_the_heuristic_compares_containers_of_a_workload_with_machines_of_a_type():
    subproblem = replace(subproblem_of(sets=0), row_of=ints(np.zeros(7)), allow=np.ones((1, 6), dtype=bool))
    alike = replace(subproblem, free=ints(np.full((6, 2), 50)))  # six of one type
    for each, label in ((6, MIP), (7, CG)):
        assert heuristic(replace(alike, demand=ints(np.full(7, each)))) == label
    apart = replace(subproblem, free=ints(np.arange(12).reshape(6, 2)))  # six types
    assert heuristic(replace(apart, demand=ints(np.full(7, 2)))) == CG
    assert (choice(2.0, 2.0), choice(2.1, 2.0)) == (MIP, CG)


DEGENERATE = {
    "no edges": {"edges": 0},
    "one workload": {"workloads": 1, "edges": 0},
    "no workload": {"workloads": 0, "edges": 0},
    "no machine": {"machines": 0},
    "one machine": {"machines": 1},
    "plain": {},
}


@every_selector
@pytest.mark.parametrize("shape", DEGENERATE.values(), ids=DEGENERATE)
def test_every_selector_has_an_answer_for_every_subproblem(selector, shape):
    assert selector(subproblem_of(**shape)) in (CG, MIP)


@every_selector
def test_a_subproblem_without_free_capacity_or_requests_has_an_answer(selector):
    subproblem = subproblem_of()
    assert selector(replace(subproblem, free=ints(np.zeros((6, 2))), request=ints(np.zeros((7, 2))))) in (CG, MIP)


@pytest.mark.parametrize("name", ["gcn", "mlp"])
def test_a_network_never_chooses_an_integer_program_that_is_not_tried(name, monkeypatch):
    subproblem, network = subproblem_of(), network_of(1, 4)
    last = Layer(matrix=network.layer[-1].matrix, bias=floats([-4000, 4000]))
    always = replace(network, layer=(*network.layer[:-1], last))
    monkeypatch.setattr(select_networks, "shipped_networks", lambda: ({GCN: always, MLP: always}, {}))
    assert SELECTORS[name](subproblem) == MIP
    monkeypatch.setattr(select_networks, "MOST_ENTRIES", 10)
    assert SELECTORS[name](subproblem) == CG


def test_constant_selectors_are_constant():
    assert {SELECTORS["cg"](subproblem_of(seed)) for seed in range(9)} == {CG}
    assert {SELECTORS["mip"](subproblem_of(seed)) for seed in range(9)} == {MIP}


def test_written_weights_are_read_as_they_were_up_to_five_digits():
    networks = {GCN: network_of(1, 4), MLP: network_of(2, 4)}
    back, note = read_networks(networks_text(networks, {"seed": 3}))
    assert note == {"seed": 3}
    for name, network in networks.items():
        assert back[name].centre == pytest.approx(network.centre, rel=1e-4)
        for one, other in zip(back[name].layer, network.layer, strict=True):
            assert one.matrix == pytest.approx(other.matrix, rel=1e-4)
    assert json.loads(networks_text(networks, {})) == json.loads(networks_text(read_networks(networks_text(networks, {}))[0], {}))
