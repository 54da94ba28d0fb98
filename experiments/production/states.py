"""The clusters of both studies, before and after."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

import bayplan as bp
from bayplan.model import Placement, Snapshot
from bayplan.score.performance import Assumptions, Walks, walks_of
from experiments.calibration.data import real_file
from experiments.freecontainer.instances import running
from experiments.production.settings import (
    AFTER,
    COLLOCATED,
    RASA,
    SEED,
    STRESS,
    STRESSED_ABOVE,
    STRESSED_SERVERS,
    Cell,
    Scope,
)

M3 = "rasa/M3.json"


class Study(NamedTuple):
    """A cluster as it runs, and the placement that we would have it in."""

    snapshot: Snapshot
    after: Placement


@lru_cache(maxsize=2)
def study_of(name: str, scope: Scope) -> Study:
    """RASA: M3 and our best collocation. FreeContainer: a generated data centre and Sweep&Search."""
    if name == RASA:
        snapshot = _collocated_cluster(scope)
        budget = bp.Budget(iterations=scope.collocate)
        return Study(snapshot, bp.collocate(snapshot, method="best", engine="here", seed=SEED, budget=budget).placement)
    snapshot = running(scope.centre, SEED)
    budget = bp.Budget(iterations=scope.rebalance)
    return Study(snapshot, bp.rebalance(snapshot, method="sweep-search", seed=SEED, budget=budget).placement)


def _collocated_cluster(scope: Scope) -> Snapshot:
    """M3 where its file can be had, else a generated cluster of its size."""
    if scope.tiny:
        return bp.generate("boutique")
    try:
        return bp.read(real_file(M3))
    except SystemExit:
        return bp.generate("rasa-m3")


def assumptions_of(cell: Cell, scope: Scope) -> Assumptions:
    """What the model assumes in a cell. In a generated data centre the requests are what is used."""
    given = Assumptions(
        router=cell.router, queue=cell.queue, network_ms=cell.network_ms, ipc_ms=cell.ipc_ms, peer_calls=cell.peer_calls
    )
    if cell.study == RASA:
        return given
    given = replace(given, request_used=1.0)
    return replace(given, load=stress_load(scope)) if cell.load == STRESS else given


@lru_cache(maxsize=1)
def stress_load(scope: Scope) -> float:
    """The load at which as many servers are above 80 % of their CPU before as the paper states."""
    snapshot = study_of("freecontainer", scope).snapshot
    walks = walks_of(snapshot.cluster, snapshot.placement, Assumptions(request_used=1.0))
    assert walks is not None
    return float(STRESSED_ABOVE / np.quantile(walks.load.served + walks.load.other, 1.0 - STRESSED_SERVERS))


def walks_in(cell: Cell, scope: Scope) -> Walks:
    """The walks of requests in a cell. ONLY COLLOCATED: the machines of after, and every call as if it stayed on its machine."""
    study, given = study_of(cell.study, scope), assumptions_of(cell, scope)
    placement = study.after if cell.state in (AFTER, COLLOCATED) else study.snapshot.placement
    walks = walks_of(study.snapshot.cluster, placement, given, study.snapshot.placement)
    assert walks is not None
    if cell.state == COLLOCATED:
        return walks._replace(given=replace(given, network_ms=given.ipc_ms, network_error=given.ipc_error))
    return walks
