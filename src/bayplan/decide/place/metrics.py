"""How large a container is and how much a machine has free: the metrics of [FreeContainer] §IV-B and §VI-A.

All amounts are relative to the largest machine of their resource, so that cores and bytes can be compared.
"""

import numpy as np

from bayplan.kernels.search.place_greedy import FEWEST, FEWEST_OF_SERVICE, RANDOM, RESIDUAL, Scoring
from bayplan.model import Cluster, FloatArray, IntArray
from bayplan.search.compile_rules import kind_sums
from bayplan.search.state import SearchState

STEEP = 0.01  # of a_r = exp(0.01 avdem_r), [FreeContainer] §VI-A2
HIGHEST = 100.0  # exponent: what is requested may be far beyond every machine, or no machine has any


def relative_request(state: SearchState) -> FloatArray:
    """(kind, resource) D_cr; a unit of co-located containers requests their sum."""
    request: IntArray = kind_sums(state.items, state.cluster.workloads.request)
    relative: FloatArray = request / largest_capacity(state.cluster)
    return relative


def largest_capacity(cluster: Cluster) -> FloatArray:
    """(resource,) the capacity of the largest machine, 1 where no machine has any."""
    return np.asarray(np.maximum(1, cluster.machines.capacity.max(axis=0, initial=0)), dtype=np.float64)


def cpu_of(cluster: Cluster) -> slice:
    """The first resource that is called cpu, else the first one, if there is any."""
    names = [resource.name.lower() for resource in cluster.resources]
    number = names.index("cpu") if "cpu" in names else 0
    return slice(number, number + 1)


# Sizes: the largest container is placed first.


def dominant_requirement(state: SearchState) -> FloatArray:
    """(kind,) max over r of D_cr."""
    return np.asarray(relative_request(state).max(axis=1, initial=0.0), dtype=np.float64)


def sum_of_requirements(state: SearchState) -> FloatArray:
    """(kind,) sum over r of D_cr, every weight 1."""
    return np.asarray(relative_request(state).sum(axis=1), dtype=np.float64)


def cpu_requirement(state: SearchState) -> FloatArray:
    """(kind,) D_cr of the CPU."""
    return np.asarray(relative_request(state)[:, cpu_of(state.cluster)].sum(axis=1), dtype=np.float64)


# Preferences: the machine with the largest value is preferred.


def sum_of_residuals(state: SearchState) -> Scoring:
    """Sum over r of A(h, r), every weight 1."""
    return Scoring(RESIDUAL, (1.0 / largest_capacity(state.cluster))[None, :])


def dot_product(state: SearchState) -> Scoring:
    """Sum over r of a_r D_cr A(h, r), where a_r = exp(0.01 avdem_r) and avdem_r is the mean of D_cr over all containers."""
    cluster = state.cluster
    demand = cluster.workloads.request / largest_capacity(cluster)
    mean = (cluster.replicas @ demand) / max(1, len(cluster.containers.name))
    steep = np.exp(np.minimum(HIGHEST, STEEP * mean))
    return Scoring(RESIDUAL, np.ascontiguousarray(steep * relative_request(state) / largest_capacity(cluster)))


def most_free_cpu(state: SearchState) -> Scoring:
    """The more CPU is free the better."""
    return _cpu(state, 1.0)


def least_free_cpu(state: SearchState) -> Scoring:
    """The less CPU is free the better."""
    return _cpu(state, -1.0)


def fewest_of_service(state: SearchState) -> Scoring:
    """The fewer containers of the same service the better."""
    return _no_weights(FEWEST_OF_SERVICE)


def fewest_containers(state: SearchState) -> Scoring:
    """The fewer containers the better."""
    return _no_weights(FEWEST)


def no_preference(state: SearchState) -> Scoring:
    """Every machine is as good as any other."""
    return _no_weights(RANDOM)


def _cpu(state: SearchState, sign: float) -> Scoring:
    weight = np.zeros((1, len(state.cluster.resources)))
    weight[0, cpu_of(state.cluster)] = sign
    return Scoring(RESIDUAL, weight)


def _no_weights(mode: int) -> Scoring:
    return Scoring(mode, np.zeros((1, 1)))
