"""Nodes: what they have, their labels and taints, whether they take pods, and the levels that their labels make."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.kubernetes.client import Json
from bayplan.kubernetes.collect.requests import base_units, quantities
from bayplan.kubernetes.collect.selectors import LabelTable
from bayplan.model import MACHINE, BoolArray, IntArray, Level, ints, machine_level

HOSTNAME = "kubernetes.io/hostname"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
LEVEL_NAMES = {ZONE: "zone", REGION: "region", HOSTNAME: "host"}  # others are called after their key
CONDITION_TAINTS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")  # set by controllers while something is wrong
HARD = ("NoSchedule", "NoExecute")


class Taint(NamedTuple):
    """What keeps pods away that do not tolerate it."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node as it was read."""

    name: str
    uid: str
    version: str
    joined: str  # RFC 3339
    allocatable: dict[str, int]  # base units
    taints: tuple[Taint, ...]  # that keep pods away, but for those that say that the node is in trouble
    closed: str  # why it takes no pods now: "cordoned", "not ready", ...; empty if it does


class NodeTable:
    """All nodes, and the levels of the model that their labels make."""

    def __init__(self, objects: Sequence[Json]) -> None:
        ordered = sorted(objects, key=lambda node: str(node["metadata"]["name"]))
        self.nodes = tuple(map(_node, ordered))
        self.names = tuple(node.name for node in self.nodes)
        self.index = {name: m for m, name in enumerate(self.names)}
        self.labels = LabelTable(self.names, [node["metadata"].get("labels") or {} for node in ordered])
        self.open = np.array([not node.closed for node in self.nodes], dtype=np.bool_)
        self._levels: list[Level] = [machine_level(self.names)]
        self._level_of: dict[str, int] = {}  # topology key -> index into levels
        for key in (ZONE, REGION):
            if self.labels.values(key):
                self.level(key)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of the model: the machine, zones and regions where there are some, and whatever was asked for."""
        return tuple(self._levels)

    def level(self, key: str) -> int:
        """The level of a topology key. A node without the label is a group of its own."""
        if key not in self._level_of:
            self._level_of[key] = self._new_level(key)
        return self._level_of[key]

    def _new_level(self, key: str) -> int:
        values = self.labels.values(key)
        if key == HOSTNAME and all(len(rows) == 1 for rows in values.values()):
            return 0
        group_of = np.full(len(self), -1, dtype=np.int64)
        groups = list(values)
        for number, rows in enumerate(values.values()):
            group_of[list(rows)] = number
        alone = np.flatnonzero(group_of < 0)
        group_of[alone] = len(groups) + np.arange(len(alone))
        groups += [f"{self.names[m]} (without {key})" for m in alone.tolist()]
        self._levels.append(Level(name=self._name(key), group=tuple(groups), group_of=ints(group_of)))
        return len(self._levels) - 1

    def _name(self, key: str) -> str:
        """'zone' of the usual key; others are called after their key, unless a level has that name already."""
        name = LEVEL_NAMES.get(key, key)
        return name if name not in (MACHINE, *LEVEL_NAMES.values()) or key in LEVEL_NAMES else f"label {name}"

    def with_key(self, key: str) -> BoolArray:
        """(node,) those that have the label of a topology key."""
        return self.labels.with_any(key)

    def domains_of(self, key: str, machines: IntArray) -> BoolArray:
        """(node,) those in a topology domain of one of these nodes; nodes without the label are in none."""
        mask = np.zeros(len(self), dtype=np.bool_)
        here = set(machines.tolist())
        for rows in self.labels.values(key).values():
            if not here.isdisjoint(rows):
                mask[list(rows)] = True
        return mask


def _node(node: Json) -> Node:
    metadata, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    name = str(metadata["name"])
    taints = [Taint(one["key"], one.get("value") or "", one["effect"]) for one in spec.get("taints") or ()]
    hard = [taint for taint in taints if taint.effect in HARD]
    return Node(
        name=name,
        uid=str(metadata.get("uid", "")),
        version=str(metadata.get("resourceVersion", "")),
        joined=str(metadata.get("creationTimestamp") or ""),
        allocatable=base_units(quantities(status.get("allocatable"), f"node {name}")),
        taints=tuple(taint for taint in hard if not taint.key.startswith(CONDITION_TAINTS)),
        closed=_closed(spec, status, [taint for taint in hard if taint.key.startswith(CONDITION_TAINTS)]),
    )


def _closed(spec: Json, status: Json, troubles: Sequence[Taint]) -> str:
    """Why a node takes no pods now; empty if it does."""
    if spec.get("unschedulable"):
        return "cordoned"
    ready = next((one.get("status") for one in status.get("conditions") or () if one.get("type") == "Ready"), "Unknown")
    if ready != "True":
        return "not ready"
    return f"tainted {troubles[0]}" if troubles else ""
