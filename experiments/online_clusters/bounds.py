"""A bound of what any answer to a stream is worth: all zones as one, and all links as one."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, lil_array

from bayplan.model import ClusterRequests, FloatArray
from experiments.online_clusters.algorithm4 import slots_of

ROUNDING = 1e-9  # of the bound


def total_bound(stream: ClusterRequests, inside: FloatArray, slots: int) -> float:
    """max sum b_i x_i, 0 <= x <= 1, so that in each slot all zones together, and all links, have what is taken.

    Traffic inside of a zone counts if it is limited everywhere; if not, it may all stay inside, and links say nothing.
    """
    total = stream.zones.capacity.sum(axis=0).astype(np.float64)
    use = np.array([request.demand.sum(axis=0) for request in stream.requests], dtype=np.float64)
    if np.isfinite(inside).all():
        links = stream.zones.bandwidth * (1 - np.eye(len(inside)))
        total = np.append(total, links.sum() + inside.sum())
        use = np.column_stack([use, [request.traffic.sum() for request in stream.requests]])
    rows = lil_array((slots * len(total), len(stream.requests)))
    for i, request in enumerate(stream.requests):
        for r, share in enumerate(use[i] / total):
            rows[r * slots + np.arange(slots)[slots_of(request)], i] = share
    value = np.array([request.value for request in stream.requests])
    return _dual_value(csr_array(rows), value / value.max()) * float(value.max()) * (1 + ROUNDING)


def _dual_value(rows: csr_array, value: FloatArray) -> float:
    """sum p + sum max(0, b - p rows) at the prices p of the linear program: a bound for any p >= 0, so rounding does no harm."""
    found = linprog(-value, A_ub=rows, b_ub=np.ones(rows.shape[0]), bounds=(0, 1), method="highs")
    assert found.status == 0, found.message
    price = np.maximum(-found.ineqlin.marginals, 0.0)
    return float(price.sum() + np.maximum(value - rows.T @ price, 0.0).sum())
