"""The streams of a setting: those of a generator, with other durations, values, capacities, and D_ss for traffic in a zone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayplan.generate import GENERATORS
from bayplan.generate.container_clusters import CAPACITY, UNIT, largest_use
from bayplan.model import ClusterRequest, ClusterRequests, FloatArray, ints
from experiments.calibration.data import real_file
from experiments.online_clusters.settings import AZURE, LIMITED, Setting

SHORT = 5  # slots of a short request at most
DURATIONS, LIMITS = 1, 2  # random numbers of their own


def stream(setting: Setting, seed: int) -> ClusterRequests:
    """The requests of one seed."""
    least, _, most = setting.members.partition("-")
    chosen = {
        "zones": setting.zones,
        "members_least": int(least),
        "members_most": int(most or least),
        "value_ratio": float(setting.ratio),
        "count": setting.requests,
        "slots": setting.slots,
        "seed": seed,
    }
    return _revalued(_lasting(_with_capacity(_made(setting.data, chosen), setting), setting, seed), setting)


def _made(data: str, chosen: Mapping[str, Any]) -> ClusterRequests:
    if data == AZURE:
        made = GENERATORS["azure-clusters"].make(**chosen, folder=str(real_file("traces")))
    else:
        made = GENERATORS["container-clusters"].make(**chosen)
    assert isinstance(made, ClusterRequests)
    return made


def _with_capacity(made: ClusterRequests, setting: Setting) -> ClusterRequests:
    """The same C in every zone, if one is set."""
    if not setting.capacity:
        return made
    amount = ints(np.full(made.zones.capacity.shape, setting.capacity * UNIT))
    return replace(made, zones=replace(made.zones, capacity=amount))


def _lasting(made: ClusterRequests, setting: Setting, seed: int) -> ClusterRequests:
    """Other ends of the requests: soon, or with the last slot."""
    if setting.lasts == "uniform":
        return made
    rng, last = np.random.default_rng([seed, DURATIONS]), float(setting.slots)
    slots = rng.integers(1, SHORT, size=len(made.requests), endpoint=True).tolist()
    ends = [min(r.start + n, last) if setting.lasts == "short" else last for r, n in zip(made.requests, slots, strict=True)]
    return replace(made, requests=tuple(replace(r, end=end) for r, end in zip(made.requests, ends, strict=True)))


def _revalued(made: ClusterRequests, setting: Setting) -> ClusterRequests:
    """Other values: rho, which is b / max f of the generator, times what the setting names."""
    if setting.worth == "peak":
        return made
    return replace(made, requests=tuple(replace(r, value=_value(r, setting.worth)) for r in made.requests))


def _value(request: ClusterRequest, worth: str) -> float:
    slots = request.end - request.start
    if worth == "peak-slots":
        return float(request.value * slots)
    units = request.demand.sum() + request.traffic.sum()
    return float(request.value / largest_use(request.demand, request.traffic) * units * slots)


def inside_of(setting: Setting, seed: int) -> FloatArray:
    """(zone,) D_ss: infinite if traffic inside of a zone is free, else drawn as the other bandwidths are."""
    if setting.inside != LIMITED:
        return np.full(setting.zones, np.inf)
    rng = np.random.default_rng([seed, LIMITS])
    return rng.integers(CAPACITY[0] * UNIT, CAPACITY[1] * UNIT, size=setting.zones, endpoint=True).astype(np.float64)


def tiny(inside: str) -> Setting:
    """A stream that is decided at once."""
    return Setting(inside=inside, members="2", zones=2, requests=2, slots=4)
