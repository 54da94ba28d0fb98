"""Timed requests for cpu and memory at a stated load factor ([Cradle] §V).

The shapes are those of the trace that [Cradle] uses, measured on the first 94 minutes of it (Google 2011,
190,926 tasks): see the constants. The time unit is the second.
"""

import numpy as np
from scipy.optimize import brentq

from bayplan.errors import UsageError
from bayplan.generate.generator import require
from bayplan.model import FloatArray, Progress, Resource, TimedRequests, floats, ints, silent

MEDIAN = (0.0306, 0.0255)  # cpu, memory of one machine; trace: 0.03064, 0.02545
SIGMA = (1.07, 1.10)  # standard deviation of the logarithm; trace: 1.072, 1.098
CORRELATION = 0.59  # of the logarithms; trace: 0.593
SHORT_MEDIAN, SHORT_SIGMA = 375.0, 0.895  # seconds; trace, tasks that start and end in the window: 375.0, 0.895
LONG_MEDIAN, LONG_SIGMA = (
    6000.0,
    1.2,
)  # the tail, so that with the share below p50/p90/p95 are 417/2,040/5,270; trace: 402/2,820/6,318
LONG_SHARE = 0.09  # trace: 8.5 % of the tasks that start in the window outlive it
WINDOW = 5612.0  # seconds of the trace
SCALE = 1_000_000  # base units in one machine
BATCH = 4096  # requests drawn at a time until the load is reached
NEAR = 1e-4  # relative: demands as drawn are left alone if the load is this near
TOLERANCE = 1e-3  # relative: no instance is further from its load
MOST = 5_000_000  # requests
WEIGHTS = ("one", "area", "random")


def requests(
    *,
    machines: int = 100,
    load: float = 2.0,
    horizon: float = WINDOW,
    n: int = 0,
    weights: str = "one",
    seed: int = 0,
    progress: Progress = silent,
) -> TimedRequests:
    """Requests within `horizon` whose load factor ([Cradle] (5)) on `machines` machines is `load`.

    With `n` 0 as many are drawn as the load takes. With another `n`, exactly that many, their demands stretched by one
    factor (and capped at one machine). `weights`: value 1 each, (cpu + memory) / 2 times duration, or uniform on [1, 100].
    """
    require(
        "requests",
        (machines >= 1, f"machines is {machines}; expected 1 or more"),
        (load > 0, f"load is {load}; expected more than 0"),
        (horizon > 0, f"horizon is {horizon}; expected more than 0 seconds"),
        (0 <= n <= MOST, f"n is {n}; expected 0 to {MOST:,}"),
        (weights in WEIGHTS, f"weights is '{weights}'; expected one of {', '.join(WEIGHTS)}"),
    )
    rng = np.random.default_rng(seed)
    demand, start, end = _draw(n, horizon, rng) if n else _draw_until(load * machines * horizon, horizon, rng)
    work = load * machines * float(end.max() - start.min())  # machine seconds: (5) divides by the time that is asked for
    amount = _amounts(demand, end - start, work)
    order = np.argsort(start, kind="stable")
    return TimedRequests(
        name=tuple(f"q{i:06d}" for i in range(len(order))),
        resources=tuple(Resource(name=name, scale=SCALE, unit="machines") for name in ("cpu", "memory")),
        capacity=ints([SCALE, SCALE]),
        start=floats(start[order]),
        end=floats(end[order]),
        demand=ints(amount[order]),
        value=floats(_value(weights, amount / SCALE, end - start, rng)[order]),
    )


def _draw(n: int, horizon: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(request, resource) demands in machines, starts and ends in seconds, clipped to the horizon."""
    normal = rng.standard_normal((n, 2))
    normal[:, 1] = CORRELATION * normal[:, 0] + np.sqrt(1 - CORRELATION**2) * normal[:, 1]
    demand = np.minimum(np.exp(np.log(MEDIAN) + normal * SIGMA), 1.0)
    long = rng.random(n) < LONG_SHARE
    median, sigma = np.where(long, LONG_MEDIAN, SHORT_MEDIAN), np.where(long, LONG_SIGMA, SHORT_SIGMA)
    duration = median * np.exp(sigma * rng.standard_normal(n))
    start = rng.random(n) * horizon
    return demand, start, np.minimum(start + np.maximum(duration, 1e-3), horizon)


def _draw_until(work: float, horizon: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Just enough requests for `work` machine seconds, by [Cradle] (5)."""
    parts: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    done = 0.0
    while done < work:
        if len(parts) * BATCH > MOST:
            raise UsageError(f"generator 'requests': this load takes more than {MOST:,} requests; expected less load or machines")
        parts.append(_draw(BATCH, horizon, rng))
        demand, start, end = parts[-1]
        done += float(np.sum(demand.mean(axis=1) * (end - start)))
    demand, start, end = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    enough = int(np.searchsorted(np.cumsum(demand.mean(axis=1) * (end - start)), work)) + 1
    return demand[:enough], start[:enough], end[:enough]


def _amounts(demand: FloatArray, duration: FloatArray, work: float) -> FloatArray:
    """(request, resource) base units, stretched by one factor so that they take `work` machine seconds."""
    factor = 1.0 if abs(_taken(demand, duration) - work) <= NEAR * work else _stretch(demand, duration, work)
    amount = np.clip(np.rint(np.minimum(demand * factor, 1.0) * SCALE), 1, SCALE)
    if abs(_taken(amount / SCALE, duration) - work) > TOLERANCE * work:
        raise UsageError(
            f"generator 'requests': n is {len(duration)}, too many for this load: requests would be smaller than the smallest "
            f"demand, {1 / SCALE:g} of a machine; expected a smaller n, or more load or machines"
        )
    return floats(amount)


def _stretch(demand: FloatArray, duration: FloatArray, work: float) -> float:
    """The factor on all demands that gives `work` machine seconds when none exceeds one machine."""
    if work > duration.sum():
        most = duration.sum() / work
        raise UsageError(
            f"generator 'requests': n is {len(duration)}, too few for this load: even requests for whole machines reach "
            f"{most:.3g} of it; expected a larger n, or less load, fewer machines, or n 0 for as many as it takes"
        )
    low, high = np.log(work / _taken(demand, duration)) - 1.0, -np.log(demand.min())  # what is taken is concave in the factor
    if _taken(demand * np.exp(high), duration) <= work:
        return float(np.exp(high))
    return float(np.exp(brentq(lambda x: _taken(demand * np.exp(x), duration) - work, low, high, rtol=1e-9)))


def _taken(demand: FloatArray, duration: FloatArray) -> float:
    """Machine seconds by (5), when no demand exceeds one machine."""
    return float(np.minimum(demand, 1.0).mean(axis=1) @ duration)


def _value(weights: str, demand: FloatArray, duration: FloatArray, rng: np.random.Generator) -> FloatArray:
    if weights == "area":
        return floats(demand.mean(axis=1) * duration)
    if weights == "random":
        return rng.uniform(1.0, 100.0, size=len(duration))
    return np.ones(len(duration))
