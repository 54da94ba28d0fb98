"""GCN-BASED of 004 section IV-D: two graph convolutions with ReLU, mean readout, a linear layer, softmax."""

import numpy as np

from bayplan.decide.collocate.select.features import FEATURES, FeatureGraph, adjacency, feature_graph, logs, sizes
from bayplan.decide.collocate.select.signature import LABELS, MIP
from bayplan.decide.collocate.select.weights import GCN, Network, shipped
from bayplan.decide.collocate.task import Task
from bayplan.model import FloatArray, floats


def gcn(task: Task) -> str:
    """The label with the higher probability; MIP where nothing can be gained."""
    graph = feature_graph(task)
    if graph.is_trivial:
        return MIP
    return LABELS[int(np.argmax(probability(graph, shipped()[0][GCN])))]


def probability(graph: FeatureGraph, network: Network) -> FloatArray:
    """(label,) P(CG), P(MIP)."""
    return softmax(scores(graph, network))


def scores(graph: FeatureGraph, network: Network) -> FloatArray:
    """(label,) what softmax turns into probabilities. Sizes join the readout if the network was trained with them."""
    around, n_f = adjacency(graph), len(FEATURES)
    hidden = (logs(graph) - network.centre[:n_f]) / network.spread[:n_f]
    for layer in network.layer[:-1]:
        hidden = np.maximum(around @ (hidden @ layer.matrix) + layer.bias, 0.0)  # (service, hidden)
    readout = hidden.mean(axis=0)
    if len(network.centre) > n_f:
        readout = np.concatenate([readout, (sizes(graph) - network.centre[n_f:]) / network.spread[n_f:]])
    return floats(readout @ network.layer[-1].matrix + network.layer[-1].bias)


def softmax(score: FloatArray) -> FloatArray:
    """Positive numbers that sum to 1."""
    power = np.exp(score - score.max())
    return floats(power / power.sum())
