"""The networks of `bayplan.decide.collocate.select` over many graphs at once, with gradients: one hidden form for all kinds.

    hidden = relu(inputs @ W1 + b1)
    hidden = relu(around @ hidden @ W2 + b2)
    scores = [mean @ hidden, size] @ W3 + b3

A GCN has one row per workload, and `inputs` are its features after one step along the edges. The perceptron has one row per
graph, its mean features, and `around` and `mean` change nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from scipy.sparse import block_diag, csr_array, eye_array

from bayplan.decide.collocate.select.features import FEATURES, SIZES, FeatureGraph, Matrix, adjacency, logs, sizes
from bayplan.decide.collocate.select.networks import GCN_SIZES, MLP, Layer, Network
from bayplan.decide.collocate.select.selector import LABELS
from bayplan.model import FloatArray, IntArray, floats

HIDDEN = 32

Weights: TypeAlias = list[FloatArray]  # matrix and bias of each of the three layers, in turn


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scale:
    """What inputs are standardised with."""

    centre: FloatArray  # (5,) features, then sizes
    spread: FloatArray  # (5,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Graphs side by side. A row is a workload, or a whole graph for the perceptron."""

    inputs: FloatArray  # (row, 2)
    around: Matrix  # (row, row) symmetric
    mean: Matrix  # (graph, row)
    size: FloatArray  # (graph, 3) standardised logarithms; (graph, 0) if the network does not take them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Passed:
    """What a pass through the network leaves behind for the way back."""

    first: FloatArray  # (row, hidden)
    near: FloatArray  # (row, hidden) around @ first
    second: FloatArray  # (row, hidden)
    readout: FloatArray  # (graph, hidden + sizes)
    score: FloatArray  # (graph, label)


def scale_of(graphs: Sequence[FeatureGraph]) -> Scale:
    """Means and deviations: of features over all workloads, of sizes over the graphs."""
    feature, size = np.vstack([logs(graph) for graph in graphs]), np.vstack([sizes(graph) for graph in graphs])
    spread = np.concatenate([feature.std(axis=0), size.std(axis=0)])
    centre = np.concatenate([feature.mean(axis=0), size.mean(axis=0)])
    return Scale(centre=floats(centre), spread=floats(np.where(spread > 0, spread, 1.0)))


def batch(kind: str, graphs: Sequence[FeatureGraph], scale: Scale) -> Batch:
    """The graphs as a network of that kind sees them."""
    n_f, n_g = len(FEATURES), len(graphs)
    feature = (np.vstack([logs(graph) for graph in graphs]) - scale.centre[:n_f]) / scale.spread[:n_f]
    size = (np.vstack([sizes(graph) for graph in graphs]) - scale.centre[n_f:]) / scale.spread[n_f:]
    mean = csr_array(block_diag([np.full((1, len(graph.feature)), 1.0 / len(graph.feature)) for graph in graphs]))
    if kind == MLP:
        same = csr_array(eye_array(n_g))
        return Batch(inputs=mean @ feature, around=same, mean=same, size=size[:, :0])
    around = csr_array(block_diag([adjacency(graph) for graph in graphs]))
    return Batch(inputs=around @ feature, around=around, mean=mean, size=size if kind == GCN_SIZES else size[:, :0])


def new_weights(kind: str, rng: np.random.Generator) -> Weights:
    """Random matrices (Glorot & Bengio 2010) and zero biases: two hidden layers, and the one that leads to the labels."""
    last = HIDDEN + (len(SIZES) if kind == GCN_SIZES else 0)
    weights: Weights = []
    for n_in, n_out in ((len(FEATURES), HIDDEN), (HIDDEN, HIDDEN), (last, len(LABELS))):
        edge = np.sqrt(6 / (n_in + n_out))
        weights += [rng.uniform(-edge, edge, (n_in, n_out)), np.zeros(n_out)]
    return weights


def forward(weights: Weights, shown: Batch) -> Passed:
    """Scores of each graph, and what led to them."""
    one, one_bias, two, two_bias, last, last_bias = weights
    first = np.maximum(shown.inputs @ one + one_bias, 0.0)
    near = shown.around @ first
    second = np.maximum(near @ two + two_bias, 0.0)
    readout = np.hstack([shown.mean @ second, shown.size])
    return Passed(first=first, near=near, second=second, readout=readout, score=readout @ last + last_bias)


def loss_and_gradient(weights: Weights, shown: Batch, label: IntArray, weight: FloatArray) -> tuple[float, Weights]:
    """sum_g weight_g * cross-entropy of graph g, and its gradient. label, weight: (graph,)."""
    passed, rows = forward(weights, shown), np.arange(len(label))
    below = passed.score - passed.score.max(axis=1, keepdims=True)
    log_chance = below - np.log(np.exp(below).sum(axis=1, keepdims=True))  # (graph, label)
    by_score = np.exp(log_chance)
    by_score[rows, label] -= 1.0
    by_score *= weight[:, None]
    return float(-weight @ log_chance[rows, label]), _backward(weights, shown, passed, by_score)


def _backward(weights: Weights, shown: Batch, passed: Passed, by_score: FloatArray) -> Weights:
    """The gradient by all weights, from the one by the scores (graph, label)."""
    _, _, two, _, last, _ = weights
    by_readout = (by_score @ last.T)[:, :HIDDEN]
    by_second = (shown.mean.T @ by_readout) * (passed.second > 0)
    by_first = (shown.around.T @ (by_second @ two.T)) * (passed.first > 0)
    outer = (shown.inputs, by_first), (passed.near, by_second), (passed.readout, by_score)
    return [part for inputs, by in outer for part in (inputs.T @ by, by.sum(axis=0))]


@dataclass(slots=True, kw_only=True, eq=False)
class AdamW:
    """Adam with decoupled weight decay (Loshchilov & Hutter, ICLR 2019); changes the weights in place."""

    weights: Weights
    rate: float
    decay: float
    steps: int = 0
    mean: Weights = field(init=False)
    square: Weights = field(init=False)

    def __post_init__(self) -> None:
        self.mean, self.square = ([np.zeros_like(each) for each in self.weights] for _ in range(2))

    def step(self, gradient: Weights) -> None:
        """One step down."""
        self.steps += 1
        for k, by in enumerate(gradient):
            self.mean[k] += 0.1 * (by - self.mean[k])
            self.square[k] += 0.001 * (by**2 - self.square[k])
            ahead = self.mean[k] / (1 - 0.9**self.steps)
            scale = np.sqrt(self.square[k] / (1 - 0.999**self.steps)) + 1e-8
            self.weights[k] -= self.rate * (self.decay * self.weights[k] + ahead / scale)


def frozen(kind: str, weights: Weights, scale: Scale) -> Network:
    """What the package needs."""
    n = len(scale.centre) if kind == GCN_SIZES else len(FEATURES)
    pairs = zip(weights[::2], weights[1::2], strict=True)
    layer = tuple(Layer(matrix=floats(matrix), bias=floats(bias)) for matrix, bias in pairs)
    return Network(centre=floats(scale.centre[:n]), spread=floats(scale.spread[:n]), layer=layer)
