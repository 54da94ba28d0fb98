"""The same networks in torch: what `bayplan.decide.collocate.select` computes, with gradients, over many graphs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import block_diag

from bayplan.decide.collocate.select.features import FEATURES, FeatureGraph, adjacency, logs, sizes
from bayplan.decide.collocate.select.networks import GCN_SIZES, MLP, Layer, Network
from bayplan.decide.collocate.select.selector import LABELS
from bayplan.model import FloatArray, floats

if TYPE_CHECKING:
    import torch

HIDDEN = 32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Graphs side by side."""

    around: torch.Tensor  # (service, service) sparse, block by block
    feature: torch.Tensor  # (service, 2) standardised logarithms
    mean: torch.Tensor  # (graph, service) sparse: the mean over a graph's services
    size: torch.Tensor  # (graph, 3) standardised logarithms


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scale:
    """What inputs are standardised with."""

    centre: FloatArray  # (5,) features, then sizes
    spread: FloatArray  # (5,)


def scale_of(graphs: Sequence[FeatureGraph]) -> Scale:
    """Means and deviations: of features over all services, of sizes over the graphs."""
    feature, size = np.vstack([logs(graph) for graph in graphs]), np.vstack([sizes(graph) for graph in graphs])
    spread = np.concatenate([feature.std(axis=0), size.std(axis=0)])
    centre = np.concatenate([feature.mean(axis=0), size.mean(axis=0)])
    return Scale(centre=floats(centre), spread=floats(np.where(spread > 0, spread, 1.0)))


def batch(graphs: Sequence[FeatureGraph], scale: Scale) -> Batch:
    """The graphs as tensors."""
    import torch

    n_f = len(FEATURES)
    count = [len(graph.feature) for graph in graphs]
    mean = block_diag([np.full((1, n), 1.0 / n) for n in count])
    feature = (np.vstack([logs(graph) for graph in graphs]) - scale.centre[:n_f]) / scale.spread[:n_f]
    size = (np.vstack([sizes(graph) for graph in graphs]) - scale.centre[n_f:]) / scale.spread[n_f:]
    around = _sparse(block_diag([adjacency(graph) for graph in graphs]))
    return Batch(around=around, feature=torch.from_numpy(feature), mean=_sparse(mean), size=torch.from_numpy(size))


def _sparse(matrix: object) -> torch.Tensor:
    import torch

    entry = matrix.tocoo()  # type: ignore[attr-defined]
    place = torch.from_numpy(np.vstack([entry.row, entry.col]).astype(np.int64))
    return torch.sparse_coo_tensor(place, torch.from_numpy(entry.data), entry.shape, check_invariants=True).coalesce()


def new_layers(kind: str, rng: np.random.Generator) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Random layers (Glorot & Bengio 2010): two hidden ones, and the one that leads to the labels."""
    import torch

    out = HIDDEN + (3 if kind == GCN_SIZES else 0)
    layers = []
    for n_in, n_out in ((len(FEATURES), HIDDEN), (HIDDEN, HIDDEN), (out, len(LABELS))):
        edge = np.sqrt(6 / (n_in + n_out))
        matrix = torch.from_numpy(rng.uniform(-edge, edge, (n_in, n_out)))
        layers.append((matrix.requires_grad_(), torch.zeros(n_out, dtype=matrix.dtype).requires_grad_()))
    return layers


def forward(kind: str, layers: Sequence[tuple[torch.Tensor, torch.Tensor]], some: Batch) -> torch.Tensor:
    """(graph, label) scores."""
    import torch

    (one, one_bias), (two, two_bias), (out, out_bias) = layers
    if kind == MLP:
        hidden = torch.relu(torch.sparse.mm(some.mean, some.feature) @ one + one_bias)
        return torch.relu(hidden @ two + two_bias) @ out + out_bias
    hidden = torch.relu(torch.sparse.mm(some.around, some.feature @ one) + one_bias)
    hidden = torch.relu(torch.sparse.mm(some.around, hidden @ two) + two_bias)
    readout = torch.sparse.mm(some.mean, hidden)
    return (torch.cat([readout, some.size], dim=1) if kind == GCN_SIZES else readout) @ out + out_bias


def frozen(kind: str, layers: Sequence[tuple[torch.Tensor, torch.Tensor]], scale: Scale) -> Network:
    """What numpy needs."""
    n = len(scale.centre) if kind == GCN_SIZES else len(FEATURES)
    arrays = [(matrix.detach().numpy(), bias.detach().numpy()) for matrix, bias in layers]
    layer = tuple(Layer(matrix=floats(matrix), bias=floats(bias)) for matrix, bias in arrays)
    return Network(centre=floats(scale.centre[:n]), spread=floats(scale.spread[:n]), layer=layer)
