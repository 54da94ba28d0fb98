"""The state of a cluster in numbers: what `bayplan show` shows."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUse:
    """How one resource is used over the machines that have it (000 Table I)."""

    resource: str
    load: int  # base units, all machines
    capacity: int  # base units, all machines
    mean: float  # of the machines' utilisations
    p50: float
    p95: float
    maximum: float
    top1: float  # mean utilisation of the hottest 1 % of machines (at least one)
    top5: float
    top10: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HotMachine:
    """One of the fullest machines."""

    machine: str
    resource: str  # its fullest resource
    utilisation: float
    over_safety: bool
    containers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The state of one placement of one cluster."""

    name: str
    counts: Mapping[str, int]  # machines, machines_used, services, workloads, containers, unplaced, edges, rules
    use: tuple[ResourceUse, ...]  # per resource
    hot: tuple[HotMachine, ...]  # hottest first
    score: Mapping[str, float]  # keys of the command line: utilisation, balance, communication, total, affinity, ...
    normalised: Mapping[str, float]  # U, B, C min-max normalised (000 section VI), 0 best .. 1 worst
