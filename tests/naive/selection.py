"""The classifiers of sub-problems, slow and obvious: one service, one neighbour, one number at a time."""

import math


def gcn_scores(graph, network):
    neighbours = _neighbours(graph)
    hidden = [_standard(row, network) for row in graph.feature]
    for layer in network.layer[:-1]:
        hidden = [_convolved(s, hidden, neighbours, layer) for s in range(len(hidden))]
    readout = [sum(row[k] for row in hidden) / len(hidden) for k in range(len(hidden[0]))]
    sizes = (len(graph.feature), graph.machines, graph.machines / graph.types)
    readout += [(math.log(sizes[k - 2]) - network.centre[k]) / network.spread[k] for k in range(2, len(network.centre))]
    return _linear(readout, network.layer[-1])


def mlp_scores(graph, network):
    logs = [[math.log(max(value, 1e-6)) for value in row] for row in graph.feature]
    means = [sum(row[k] for row in logs) / len(logs) for k in range(2)]
    hidden = [(means[k] - network.centre[k]) / network.spread[k] for k in range(2)]
    for layer in network.layer[:-1]:
        hidden = [max(0.0, value) for value in _linear(hidden, layer)]
    return _linear(hidden, network.layer[-1])


def machine_types(subproblem):
    kinds = set()
    for m in range(subproblem.shape[1]):
        may = tuple(bool(subproblem.allow[subproblem.row_of[s], m]) for s in range(subproblem.shape[0]))
        sets = tuple(int(subproblem.set_free[k, m]) for k in range(len(subproblem.set_free)))
        kinds.add((tuple(subproblem.free[m].tolist()), may, sets, tuple(subproblem.fixed[:, m].tolist())))
    return len(kinds)


def _neighbours(graph):
    """service -> [(neighbour, weight)], itself among them with weight 1."""
    mean = sum(graph.weight) / len(graph.weight)
    around = {s: [(s, 1.0)] for s in range(len(graph.feature))}
    for a, b, weight in zip(graph.a, graph.b, graph.weight, strict=True):
        around[int(a)].append((int(b), weight / mean))
        around[int(b)].append((int(a), weight / mean))
    return around


def _convolved(s, hidden, neighbours, layer):
    degree = {t: sum(weight for _, weight in some) for t, some in neighbours.items()}
    summed = [0.0] * len(hidden[0])
    for t, weight in neighbours[s]:
        for k, value in enumerate(hidden[t]):
            summed[k] += weight / math.sqrt(degree[s] * degree[t]) * value
    return [max(0.0, value) for value in _linear(summed, layer)]


def _standard(row, network):
    return [(math.log(max(value, 1e-6)) - network.centre[k]) / network.spread[k] for k, value in enumerate(row)]


def _linear(row, layer):
    return [sum(row[i] * layer.matrix[i][j] for i in range(len(row))) + layer.bias[j] for j in range(len(layer.bias))]
