"""Alibaba's microservice call graphs (2022, as collected by DGG): how often each calls each other, per application.

Names are per application: the trace does not say which applications share a microservice. It has no amounts of
resources and no numbers of replicas.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bayplan.formats.traces.table import amounts_ok, positions, read_columns
from bayplan.model import IntArray, ints

USER = "USER"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallGraph:
    """The calls inside one application. Kinds of calls (http, rpc, ...) of one pair are added up."""

    application: str
    nodes: tuple[str, ...]
    a: IntArray  # (edge,) the caller, index into `nodes`
    b: IntArray  # (edge,) the called
    calls: IntArray  # (edge,)

    def __post_init__(self) -> None:
        for name in ("a", "b", "calls"):
            object.__setattr__(self, name, ints(getattr(self, name)))

    def matrix(self) -> IntArray:
        """(node, node) calls, from, to."""
        calls = np.zeros((len(self.nodes), len(self.nodes)), dtype=np.int64)
        calls[self.a, self.b] = self.calls
        return calls


def read_callgraphs(
    folder: Path | str, *, smallest: int = 0, largest: int | None = None, with_user: bool = False
) -> tuple[CallGraph, ...]:
    """The applications with `smallest` to `largest` nodes, in order of name.

    The node USER stands for callers from outside; it and its calls are left out unless asked for.
    """
    nodes = read_columns(folder, "nodes.parquet", ["service", "node"])
    edges = read_columns(folder, "edges.parquet", ["service", "src", "dst", "calls"])
    amounts_ok(folder, calls=edges["calls"])
    names: dict[str, list[str]] = {}
    for application, node in zip(nodes["service"].tolist(), nodes["node"].tolist(), strict=True):
        kept = names.setdefault(application, [])
        if with_user or node != USER:
            kept.append(node)
    calls: dict[str, dict[tuple[str, str], int]] = {application: {} for application in names}
    positions(folder, "application", list(names), edges["service"].tolist())  # all there?
    for application, a, b, count in zip(*(edges[key].tolist() for key in ("service", "src", "dst", "calls")), strict=True):
        if with_user or USER not in (a, b):
            calls[application][a, b] = calls[application].get((a, b), 0) + count
    return tuple(
        _graph(folder, application, names[application], calls[application])
        for application in sorted(names)
        if smallest <= len(names[application]) and (largest is None or len(names[application]) <= largest)
    )


def _graph(folder: Path | str, application: str, nodes: list[str], calls: dict[tuple[str, str], int]) -> CallGraph:
    return CallGraph(
        application=application,
        nodes=tuple(nodes),
        a=positions(folder, "node", nodes, [a for a, _ in calls]),
        b=positions(folder, "node", nodes, [b for _, b in calls]),
        calls=np.array(list(calls.values()), dtype=np.int64),
    )
