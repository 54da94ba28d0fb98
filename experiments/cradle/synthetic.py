"""Requests that no trace has: with the shapes of Google's tasks, and fitted to what [Cradle] states of load 12.

*Fitted*: demands for cpu and memory are exponential and independent, arrivals uniform over a day, lifetimes lognormal. Demands
and the spread of the lifetimes were chosen so that at load 12 Cradle+ serves just below half of the requests and the baselines a
quarter, as the paper has it. Shares at load 12 are therefore no evidence; what is measured at other loads is: do the paper's
numbers occur together?
"""

import numpy as np

from bayplan.generate import GENERATORS
from bayplan.model import Resource, TimedRequests

MACHINES, LOAD = 1000, 12.0  # the most that Figure 2 needs
MEAN_DEMAND = 0.1  # of one machine, cpu and memory; at most all of it
DAY = 86_400.0  # seconds
MEDIAN, SPREAD = 0.02 * DAY, 1.3  # of lifetimes: seconds, and the standard deviation of the logarithm
FITTED_REQUESTS = 3_000_000  # for 1,000 machines at load 12
SCALE = 1_000_000  # base units in one machine


def generated(seed: int) -> TimedRequests:
    """About two million requests, with the shapes of Google's tasks."""
    made = GENERATORS["requests"].make(machines=MACHINES, load=LOAD, seed=seed)
    assert isinstance(made, TimedRequests)
    return made


def fitted(seed: int, n: int = FITTED_REQUESTS) -> TimedRequests:
    """Requests whose load 12 is as the paper has it."""
    rng = np.random.default_rng(seed)
    demand = np.clip(np.rint(rng.exponential(MEAN_DEMAND, size=(n, 2)) * SCALE), 1, SCALE)
    start = rng.random(n) * DAY
    lifetime = MEDIAN * np.exp(SPREAD * rng.standard_normal(n))
    return TimedRequests(
        name=tuple(map(str, range(n))),
        resources=tuple(Resource(name=name, scale=SCALE, unit="machines") for name in ("cpu", "memory")),
        capacity=np.array([SCALE, SCALE]),
        start=start,
        end=np.minimum(start + np.maximum(lifetime, 1e-3), DAY),
        demand=demand,
        value=np.ones(n),
    )
