"""Selectors by trained networks: GCN-BASED of [RASA] §IV-D and MLP-BASED of §V-C.

GCN: two graph convolutions with ReLU, mean readout, a linear layer, softmax. MLP: the mean of each feature over the workloads,
then a perceptron; no graph. The weights are in weights.json, which `experiments/selection/train.py` writes; its note says how.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bayplan.decide.collocate.assignment_mip import MOST_ENTRIES, size_of, variables_of
from bayplan.decide.collocate.select.features import FEATURES, FeatureGraph, adjacency, feature_graph, logs, sizes
from bayplan.decide.collocate.select.selector import CG, LABELS, MIP
from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.model import FloatArray, floats

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
GCN, GCN_SIZES, MLP = "gcn", "gcn+sizes", "mlp"

Note: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layer:
    """A linear layer: x -> x @ matrix + bias."""

    matrix: FloatArray  # (in, out)
    bias: FloatArray  # (out,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Network:
    """Layers from the features to one number per label, and what the inputs are standardised with."""

    centre: FloatArray  # (input,) features, then sizes if the network takes them
    spread: FloatArray  # (input,)
    layer: tuple[Layer, ...]  # the last one leads to the labels


def read_networks(text: str) -> tuple[Mapping[str, Network], Note]:
    """All networks by name, and how they were trained."""
    document = json.loads(text)
    return {name: _network(fields) for name, fields in document["networks"].items()}, document["note"]


@cache
def shipped_networks() -> tuple[Mapping[str, Network], Note]:
    """The networks of the package; read once."""
    return read_networks(WEIGHTS_FILE.read_text(encoding="utf-8"))


def _network(fields: Mapping[str, Any]) -> Network:
    return Network(
        centre=floats(np.asarray(fields["centre"])),
        spread=floats(np.asarray(fields["spread"])),
        layer=tuple(
            Layer(matrix=floats(np.asarray(layer["matrix"])), bias=floats(np.asarray(layer["bias"])))
            for layer in fields["layers"]
        ),
    )


def networks_text(networks: Mapping[str, Network], note: Note) -> str:
    """The text that `read_networks` reads, numbers with five significant digits."""
    fields = {name: _fields(network) for name, network in networks.items()}
    return json.dumps({"note": note, "networks": fields}, indent=1) + "\n"


def _fields(network: Network) -> dict[str, Any]:
    layers = [{"matrix": [_rounded(row) for row in layer.matrix], "bias": _rounded(layer.bias)} for layer in network.layer]
    return {"centre": _rounded(network.centre), "spread": _rounded(network.spread), "layers": layers}


def _rounded(row: FloatArray) -> list[float]:
    return [float(f"{value:.5g}") for value in row]


def gcn(subproblem: Subproblem) -> str:
    """The label with the higher probability; see `_chosen` for what needs no network."""
    return _chosen(subproblem, GCN, gcn_scores)


def mlp(subproblem: Subproblem) -> str:
    """The label with the higher probability; see `_chosen` for what needs no network."""
    return _chosen(subproblem, MLP, mlp_scores)


def _chosen(subproblem: Subproblem, name: str, scores: Callable[[FeatureGraph, Network], FloatArray]) -> str:
    """What a network says. MIP where nothing can be gained; CG where the integer program is too large to be tried at all."""
    graph = feature_graph(subproblem)
    if graph.is_trivial:
        return MIP
    if size_of(subproblem, variables_of(subproblem)) > MOST_ENTRIES:
        return CG
    return LABELS[int(np.argmax(scores(graph, shipped_networks()[0][name])))]


def gcn_probability(graph: FeatureGraph, network: Network) -> FloatArray:
    """(label,) P(CG), P(MIP)."""
    return softmax(gcn_scores(graph, network))


def gcn_scores(graph: FeatureGraph, network: Network) -> FloatArray:
    """(label,) what softmax turns into probabilities. Sizes join the readout if the network was trained with them."""
    around, n_f = adjacency(graph), len(FEATURES)
    hidden = (logs(graph) - network.centre[:n_f]) / network.spread[:n_f]
    for layer in network.layer[:-1]:
        hidden = np.maximum(around @ (hidden @ layer.matrix) + layer.bias, 0.0)  # (workload, hidden)
    readout = hidden.mean(axis=0)
    if len(network.centre) > n_f:
        readout = np.concatenate([readout, (sizes(graph) - network.centre[n_f:]) / network.spread[n_f:]])
    return floats(readout @ network.layer[-1].matrix + network.layer[-1].bias)


def softmax(score: FloatArray) -> FloatArray:
    """Positive numbers that sum to 1."""
    power = np.exp(score - score.max())
    return floats(power / power.sum())


def mlp_scores(graph: FeatureGraph, network: Network) -> FloatArray:
    """(label,) what softmax turns into probabilities."""
    hidden = (logs(graph).mean(axis=0) - network.centre) / network.spread
    for layer in network.layer[:-1]:
        hidden = np.maximum(hidden @ layer.matrix + layer.bias, 0.0)
    return floats(hidden @ network.layer[-1].matrix + network.layer[-1].bias)
