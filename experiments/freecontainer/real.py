"""The methods to rebalance on real layouts: the Tianchi trace, in which rules are violated as every container requests its peak.

The trace has no traffic. Calls come from another trace, Alibaba's call graphs: their microservices are given to the applications
in random order. That pairing is synthetic. Weights are scaled so that they add up to the square of the containers: then
w_C C is the share of the traffic that crosses machines, from 0 to 1.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bayplan.decide.rebalance import REBALANCERS, RebalanceOptions
from bayplan.formats.traces import CallGraph, read_callgraphs, read_tianchi
from bayplan.model import Budget, Objective, Snapshot, Traffic, floats, ints, silent
from bayplan.model.problem import Problem
from bayplan.score.terms import score
from experiments.calibration.data import real_file
from experiments.freecontainer.measures import TERMS, violated
from experiments.freecontainer.settings import START, Scope
from experiments.sweeps import Runs, sweep

KINDS = ("capacity", "interference")
FIELDS = (
    *("layout", "method", "seed", "allowed", *TERMS, "traffic", "total", "overload"),
    *(f"{kind}_{column}" for kind in KINDS for column in ("places", "excess")),
    *("others", "moved", "seconds", "commit", "machine"),
)
METHODS = (START, *REBALANCERS)
SEED = 0


class Cell(NamedTuple):
    """A layout, and the method that rebalances it."""

    layout: str
    method: str

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes it from the others in the CSV file."""
        return tuple(self)


def measure(path: Path, scope: Scope, shard: tuple[int, int] = (1, 1), runs: Runs | None = None) -> None:
    """One row per layout and method that is not there yet."""
    some = [Cell(layout, method) for layout in scope.layouts[shard[0] - 1 :: shard[1]] for method in METHODS]
    sweep(path, Cell._fields, some, partial(measured, allowed=scope.real_seconds), runs, fields=FIELDS)


def measured(cell: Cell, allowed: float) -> dict[str, str]:
    """What is written of a cell, without its layout, commit and machine."""
    return {"seed": str(SEED), **row(paired(cell.layout), cell.method, allowed)}


@lru_cache(maxsize=1)
def paired(layout: str) -> Snapshot:
    """A layout with calls between its applications."""
    snapshot = read_tianchi(real_file("traces/alibaba_tianchi2018"), layout)
    return with_traffic(snapshot, read_callgraphs(real_file("traces/alibaba_callgraphs")), SEED)


def with_traffic(snapshot: Snapshot, graphs: tuple[CallGraph, ...], seed: int) -> Snapshot:
    """Microservices become applications, one after another in random order, until all applications have one."""
    cluster = snapshot.cluster
    owner = np.random.default_rng(seed).permutation(len(cluster.workloads.name))
    a, b, calls, first = [], [], [], 0
    for graph in graphs:
        if first + len(graph.nodes) > len(owner):
            break
        a.append(owner[first + graph.a])
        b.append(owner[first + graph.b])
        calls.append(graph.calls)
        first += len(graph.nodes)
    ends = np.concatenate(a), np.concatenate(b)
    weight = np.concatenate(calls).astype(np.float64) * (ends[0] != ends[1]) * (cluster.replicas[ends[0]] > 0)
    weight *= cluster.replicas[ends[1]] > 0
    weight *= len(cluster.containers.name) ** 2 / weight.sum()
    traffic = Traffic.between(ints(ends[0]), ints(ends[1]), floats(weight))
    joined = replace(cluster, traffic=traffic)
    return replace(snapshot, cluster=joined, objective=Objective.default(joined))


def row(snapshot: Snapshot, method: str, allowed: float) -> dict[str, str]:
    """What is written of a run: scores, what is violated, and by how much: in base units of the resources, or containers.

    Safety is capacity in this trace, so `overload` is the load above capacity, in largest machines.
    """
    placement, started = snapshot.placement, time.perf_counter()
    if method != START:
        budget = Budget(seconds=allowed)
        problem = Problem.of(snapshot)
        result = REBALANCERS[method](problem, RebalanceOptions(), budget=budget, seed=SEED, progress=silent)
        assert result.solution is not None
        placement = result.solution
    seconds = time.perf_counter() - started
    scores = score(snapshot.cluster, placement, snapshot.objective)
    return {
        "method": method,
        "allowed": f"{allowed:g}",
        **{name: f"{scores[name]:.8g}" for name in (*TERMS, "total", "overload")},
        "traffic": f"{snapshot.cluster.traffic.weight.sum():.8g}",
        **_columns(violated(snapshot.cluster, placement, snapshot.placement)),
        "moved": str(len(placement.moved_from(snapshot.placement))),
        "seconds": f"{seconds:.2f}",
    }


def _columns(by_kind: Mapping[str, tuple[int, float]]) -> dict[str, str]:
    columns = {}
    for kind in KINDS:
        count, excess = by_kind.get(kind, (0, 0.0))
        columns |= {f"{kind}_places": str(count), f"{kind}_excess": f"{excess:.8g}"}
    return {**columns, "others": str(sum(count for kind, (count, _) in by_kind.items() if kind not in KINDS))}
