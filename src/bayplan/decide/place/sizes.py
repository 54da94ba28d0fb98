"""How big a container is, and how much room a machine has: the metrics of 000 sections IV-B and VI-A.

All amounts are relative to the largest machine of their resource, so that cores and bytes can be compared.
"""

import numpy as np

from bayplan.kernels.search.place_greedy import CHANCE, FEWEST, FEWEST_OF_SERVICE, RESIDUAL, Taste
from bayplan.model import Cluster, FloatArray, IntArray
from bayplan.search.game import Game
from bayplan.search.rule_lists import kind_sums

STEEP = 0.01  # of a_r = exp(0.01 avdem_r), 000 section VI-A2


def relative_request(game: Game) -> FloatArray:
    """(kind, resource) D_cr; a unit of co-located containers asks for their sum."""
    request: IntArray = kind_sums(game.items, game.cluster.workloads.request)
    relative: FloatArray = request / largest(game.cluster)
    return relative


def largest(cluster: Cluster) -> FloatArray:
    """(resource,) the capacity of the largest machine, 1 where no machine has any."""
    return np.asarray(np.maximum(1, cluster.machines.capacity.max(axis=0, initial=0)), dtype=np.float64)


def cpu_of(cluster: Cluster) -> int:
    """The first resource that is called cpu, else the first one."""
    names = [resource.name.lower() for resource in cluster.resources]
    return names.index("cpu") if "cpu" in names else 0


def dominant_requirement(game: Game) -> FloatArray:
    """(kind,) max over r of D_cr."""
    return np.asarray(relative_request(game).max(axis=1, initial=0.0), dtype=np.float64)


def sum_of_requirements(game: Game) -> FloatArray:
    """(kind,) sum over r of D_cr, every weight 1."""
    return np.asarray(relative_request(game).sum(axis=1), dtype=np.float64)


def cpu_requirement(game: Game) -> FloatArray:
    """(kind,) D_cr of the CPU."""
    return np.asarray(relative_request(game)[:, cpu_of(game.cluster)], dtype=np.float64)


def sum_of_residuals(game: Game) -> Taste:
    """sum over r of A(h, r), every weight 1."""
    return Taste(RESIDUAL, (1.0 / largest(game.cluster))[None, :])


def dot_product(game: Game) -> Taste:
    """sum over r of a_r D_cr A(h, r), where a_r = exp(0.01 avdem_r) and avdem_r is the mean of D_cr over all containers."""
    cluster = game.cluster
    demand = cluster.workloads.request / largest(cluster)
    mean = (cluster.replicas @ demand) / max(1, len(cluster.containers.name))
    return Taste(RESIDUAL, np.ascontiguousarray(np.exp(STEEP * mean) * relative_request(game) / largest(cluster)))


def free_cpu(game: Game) -> Taste:
    """The more CPU is free the better."""
    return _cpu(game, 1.0)


def scarce_cpu(game: Game) -> Taste:
    """The less CPU is free the better."""
    return _cpu(game, -1.0)


def fewest_of_service(game: Game) -> Taste:
    """The fewer containers of the same service the better."""
    return _no_weights(FEWEST_OF_SERVICE)


def fewest(game: Game) -> Taste:
    """The fewer containers the better."""
    return _no_weights(FEWEST)


def chance(game: Game) -> Taste:
    """Any machine is as good as any other."""
    return _no_weights(CHANCE)


def _cpu(game: Game, sign: float) -> Taste:
    weight = np.zeros((1, len(game.cluster.resources)))
    weight[0, cpu_of(game.cluster)] = sign
    return Taste(RESIDUAL, weight)


def _no_weights(mode: int) -> Taste:
    return Taste(mode, np.zeros((1, 1)))
