"""MLP-BASED of 004 section V-C: the mean of each feature over the services, then a perceptron; no graph."""

import numpy as np

from bayplan.decide.collocate.select.features import FeatureGraph, feature_graph, logs
from bayplan.decide.collocate.select.gcn import softmax
from bayplan.decide.collocate.select.signature import LABELS, MIP
from bayplan.decide.collocate.select.weights import MLP, Network, shipped
from bayplan.decide.collocate.task import Task
from bayplan.model import FloatArray, floats


def mlp(task: Task) -> str:
    """The label with the higher probability; MIP where nothing can be gained."""
    graph = feature_graph(task)
    if graph.is_trivial:
        return MIP
    return LABELS[int(np.argmax(softmax(mlp_scores(graph, shipped()[0][MLP]))))]


def mlp_scores(graph: FeatureGraph, network: Network) -> FloatArray:
    """(label,) what softmax turns into probabilities."""
    hidden = (logs(graph).mean(axis=0) - network.centre) / network.spread
    for layer in network.layer[:-1]:
        hidden = np.maximum(hidden @ layer.matrix + layer.bias, 0.0)
    return floats(hidden @ network.layer[-1].matrix + network.layer[-1].bias)
