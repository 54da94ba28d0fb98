"""Training of the selection: gradients are right, steps are those of AdamW, and the same labels give the same weights."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.selection import networks, train
from experiments.selection.examples import EQUAL, Example, accuracy

from bayplan.decide.collocate.select.features import FeatureGraph
from bayplan.decide.collocate.select.networks import GCN, GCN_SIZES, MLP, gcn_scores, mlp_scores
from bayplan.decide.collocate.select.selector import CG, MIP
from bayplan.model import floats, ints

every_kind = pytest.mark.parametrize("kind", [GCN, GCN_SIZES, MLP])


def graph_of(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    pairs = np.array([(a, b) for a in range(n) for b in range(a)])
    edge = pairs[rng.permutation(len(pairs))[: n + 2]]
    feature = np.column_stack([rng.uniform(0.01, 0.2, n), rng.integers(1, 40, n)])
    machines = int(rng.integers(2, 300))
    return FeatureGraph(
        feature=floats(feature),
        a=ints(edge[:, 0]),
        b=ints(edge[:, 1]),
        weight=floats(rng.random(len(edge)) + 0.01),
        machines=machines,
        types=int(rng.integers(1, machines + 1)),
    )


def example_of(seed, label, lost=0.1):
    graph = graph_of(seed)
    return Example(name=f"{seed}-0", seed=seed, graph=graph, label=label, lost={CG: 0.0, MIP: 0.0} | {_other(label): lost})


def _other(label):
    return MIP if label == CG else CG


def by_machines(seed):
    """An example of a rule: column generation if there are many machines."""
    return example_of(seed, CG if graph_of(seed).machines > 100 else MIP)


@every_kind
def test_the_trainer_computes_what_the_package_computes(kind):
    graphs = [graph_of(seed) for seed in range(8)]
    scale = networks.scale_of(graphs)
    weights = networks.new_weights(kind, np.random.default_rng(1))
    theirs = networks.forward(weights, networks.batch(kind, graphs, scale)).score
    ours = networks.frozen(kind, weights, scale)
    score = mlp_scores if kind == MLP else gcn_scores
    assert np.array([score(graph, ours) for graph in graphs]) == pytest.approx(theirs, abs=1e-9)


@every_kind
def test_gradients_are_the_finite_differences(kind):
    graphs, rng = [graph_of(seed) for seed in range(8)], np.random.default_rng(2)
    shown = networks.batch(kind, graphs, networks.scale_of(graphs))
    label, weight = ints(rng.integers(0, 2, 8)), floats(rng.random(8))
    weights = [each + 0.1 * rng.normal(size=each.shape) for each in networks.new_weights(kind, rng)]
    _, gradient = networks.loss_and_gradient(weights, shown, label, weight)
    assert [each.shape for each in gradient] == [each.shape for each in weights]
    for k, each in enumerate(weights):
        for place in np.ndindex(each.shape):
            assert gradient[k][place] == pytest.approx(_difference(weights, k, place, shown, label, weight), abs=1e-7)
        assert np.abs(gradient[k]).max() > 1e-4


def _difference(weights, k, place, shown, label, weight, step=1e-6):
    losses = []
    for sign in (1, -1):
        moved = [each.copy() for each in weights]
        moved[k][place] += sign * step
        losses.append(networks.loss_and_gradient(moved, shown, label, weight)[0])
    return (losses[0] - losses[1]) / (2 * step)


def test_the_first_step_of_adamw_is_its_rate_and_its_decay():
    weights = [np.array([2.0, -3.0, 5.0])]
    networks.AdamW(weights=weights, rate=0.01, decay=0.1).step([np.array([7.0, -0.2, 0.0])])
    assert weights[0] == pytest.approx([2.0 * 0.999 - 0.01, -3.0 * 0.999 + 0.01, 5.0 * 0.999])


def test_training_learns_a_rule_and_twice_the_same_one(monkeypatch):
    monkeypatch.setattr(train, "EPOCHS", 150)
    shown = [by_machines(seed) for seed in range(200)]
    one, other = (train.train(GCN_SIZES, shown) for _ in range(2))
    assert all(np.array_equal(a.matrix, b.matrix) for a, b in zip(one.layer, other.layer, strict=True))
    unseen = [by_machines(seed) for seed in range(1_000, 1_100)]
    for judged, enough in ((shown, 0.95), (unseen, 0.8)):
        assert accuracy([each.label for each in judged], train.choices(GCN_SIZES, one, judged)) > enough


def test_what_loses_more_counts_more_and_a_tie_counts_nothing(monkeypatch):
    shown = [example_of(1, CG, lost=0.1), example_of(2, MIP, lost=0.004), example_of(3, EQUAL, lost=0.0)]
    heavy, light, tie = train.weight_of(shown)
    assert heavy / light == pytest.approx(0.102 / 0.006)
    assert tie == 0
    monkeypatch.setattr(train, "EPOCHS", 5)
    ties = [replace(each, label=EQUAL, lost={CG: 0.0, MIP: 0.0}) for each in shown]
    assert np.isfinite(train.train(GCN, ties).layer[-1].matrix).all()


def test_folds_are_judged_by_networks_that_were_not_shown_them(monkeypatch):
    shown = [by_machines(seed) for seed in range(1, 41)]
    seen = []

    def remember(kind, rest):
        seen.append({each.fold for each in rest})

    monkeypatch.setattr(train, "train", remember)
    monkeypatch.setattr(train, "choices", lambda kind, network, judged: [str(each.fold) for each in judged])
    assert train.folded(GCN, shown) == [str(each.fold) for each in shown]
    assert [set(range(5)) - folds for folds in seen] == [{0}, {1}, {2}, {3}, {4}]


def test_too_few_labels_are_not_trained_on(monkeypatch):
    monkeypatch.setattr(train, "examples", lambda: [by_machines(3)])
    with pytest.raises(SystemExit, match="1 labelled subproblems: too few"):
        train.main()
