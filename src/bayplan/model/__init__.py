"""The shared language of all parts: frozen values over numpy arrays."""

from bayplan.model.arrays import BoolArray, FloatArray, IntArray, floats, ints
from bayplan.model.budget import Budget, Clock, Progress, Tick, silent
from bayplan.model.cluster import NO_LIMIT, Cluster, Containers, Machines, Resource, Services, Traffic, Workloads
from bayplan.model.combined import Allowed, allowed, singled_out
from bayplan.model.fleet import Fleet
from bayplan.model.migration import Limits, Migration, Terms, Way
from bayplan.model.objective import BalanceTarget, MoveCosts, Objective, Term
from bayplan.model.placement import UNPLACED, Placement, relabelled
from bayplan.model.plan import Action, Plan, Step
from bayplan.model.requests import Schedule, TimedRequests
from bayplan.model.result import GAINS, Reason, Result, Status
from bayplan.model.rules import (
    RULES,
    Allow,
    AntiAffinity,
    Capacity,
    CoLocate,
    Confidence,
    Dependency,
    Interference,
    Pinned,
    Rule,
    Spread,
    Transient,
    TransientMode,
)
from bayplan.model.running import Running
from bayplan.model.snapshot import Snapshot
from bayplan.model.topology import MACHINE, Level, machine_level
from bayplan.model.zones import Acceptance, ClusterRequest, ClusterRequests, Zones

__all__ = [
    "GAINS",
    "MACHINE",
    "NO_LIMIT",
    "RULES",
    "UNPLACED",
    "Acceptance",
    "Action",
    "Allow",
    "Allowed",
    "AntiAffinity",
    "BalanceTarget",
    "BoolArray",
    "Budget",
    "Capacity",
    "Clock",
    "Cluster",
    "ClusterRequest",
    "ClusterRequests",
    "CoLocate",
    "Confidence",
    "Containers",
    "Dependency",
    "Fleet",
    "FloatArray",
    "IntArray",
    "Interference",
    "Level",
    "Limits",
    "Machines",
    "Migration",
    "MoveCosts",
    "Objective",
    "Pinned",
    "Placement",
    "Plan",
    "Progress",
    "Reason",
    "Resource",
    "Result",
    "Rule",
    "Running",
    "Schedule",
    "Services",
    "Snapshot",
    "Spread",
    "Status",
    "Step",
    "Term",
    "Terms",
    "Tick",
    "TimedRequests",
    "Traffic",
    "Transient",
    "TransientMode",
    "Way",
    "Workloads",
    "Zones",
    "allowed",
    "floats",
    "ints",
    "machine_level",
    "relabelled",
    "silent",
    "singled_out",
]
