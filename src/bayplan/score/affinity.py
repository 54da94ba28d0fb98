"""Gained affinity (004 Definition 1): which share of the traffic can stay inside of machines. A gain, not a cost."""

import numpy as np

from bayplan.model import Cluster, FloatArray, Placement
from bayplan.score.counts import workload_counts
from bayplan.score.meetings import meetings


def total_affinity(cluster: Cluster) -> float:
    """The weight of all edges, as the file states it; every gain below is relative to it."""
    return float(cluster.traffic.weight.sum())


def gained_shares(cluster: Cluster, placement: Placement) -> FloatArray:
    """(edge,) sum over machines of min(x_a / d_a, x_b / d_b) (004 (1)): 0 none, 1 all of the edge's traffic."""
    traffic, replicas = cluster.traffic, cluster.replicas
    met = meetings(traffic, workload_counts(cluster, placement))
    share_a = met.of_a / replicas[traffic.a[met.edge]]
    share_b = met.of_b / replicas[traffic.b[met.edge]]
    share = np.bincount(met.edge, weights=np.minimum(share_a, share_b), minlength=len(traffic.a))
    return np.minimum(share, 1.0)  # 1/3 + 1/3 + 1/3 may round above it


def gained_affinity(cluster: Cluster, placement: Placement) -> float:
    """The gained part of a total affinity of 1 (004 (2)); 0 if there is no traffic."""
    total = total_affinity(cluster)
    return float(cluster.traffic.weight @ gained_shares(cluster, placement)) / total if total else 0.0
