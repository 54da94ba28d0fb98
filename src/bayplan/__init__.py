"""Decide on which machine every container runs, see how good the answer is, and how to get there safely.

    import bayplan as bp

    shop = bp.read("shop.yaml")  # or bp.generate("boutique"), bp.ClusterBuilder(), bp.kubernetes.observe(context="prod")
    answer = bp.rebalance(shop, max_moves="10%", seconds=5)
    print(answer.summary())
    answer.report("answer.html")
    answer.save("new.json")

Everything below is imported when it is first used, so `import bayplan` is quick.
"""

import sys
from importlib import import_module
from types import ModuleType

from bayplan.version import __version__

TYPE_CHECKING = False  # as type checkers know it; importing `typing` would double the time in which Ctrl-C ends in a traceback

_HOME = {  # public name -> module
    # in and out
    "read": "bayplan.api.files",
    "read_requests": "bayplan.api.files",
    "read_fleet": "bayplan.api.fleet.plan",
    "read_stream": "bayplan.api.files",
    "write": "bayplan.api.files",
    "generate": "bayplan.api.files",
    # values
    "ClusterBuilder": "bayplan.formats.builder",
    "Snapshot": "bayplan.model.snapshot",
    "Placement": "bayplan.model.placement",
    "Objective": "bayplan.model.objective",
    "Budget": "bayplan.model.budget",
    "WhatIf": "bayplan.api.what_if",
    # rules
    "Capacity": "bayplan.model.rules",
    "AntiAffinity": "bayplan.model.rules",
    "Spread": "bayplan.model.rules",
    "Skew": "bayplan.model.rules",
    "CoLocate": "bayplan.model.rules",
    "Allow": "bayplan.model.rules",
    "Dependency": "bayplan.model.rules",
    "Transient": "bayplan.model.rules",
    "Interference": "bayplan.model.rules",
    "Pinned": "bayplan.model.rules",
    "Confidence": "bayplan.model.rules",
    # instruments
    "score": "bayplan.api.inspect",
    "check": "bayplan.api.check",
    "explain": "bayplan.api.inspect",
    "performance": "bayplan.api.performance",
    # verbs
    "plan": "bayplan.api.planning.plan",
    "plan_fleet": "bayplan.api.fleet.plan",
    "Goal": "bayplan.model.goal",
    "place": "bayplan.api.place",
    "rebalance": "bayplan.api.rebalance",
    "collocate": "bayplan.api.collocate",
    "pack": "bayplan.api.pack",
    "OnlinePacking": "bayplan.api.packing.online_packing",
    "machines_needed": "bayplan.api.packing.machines_needed",
    "admit": "bayplan.api.requests.admit",
    "Admission": "bayplan.api.requests.live_admission",
    "schedule": "bayplan.api.requests.schedule",
    "migrate": "bayplan.api.migrate",
    "simulate": "bayplan.operate.plan_simulation.simulate",
    "capacity": "bayplan.api.capacity",
    "engine": "bayplan.api.control",
    # the running system
    "run": "bayplan.operate.run",
    "LoopSettings": "bayplan.operate.settings",
    "Client": "bayplan.serve.client",
    # methods
    "methods": "bayplan.api.registry",
    "register": "bayplan.api.registry",
    # errors
    "BayplanError": "bayplan.errors",
    "InputError": "bayplan.errors",
    "UsageError": "bayplan.errors",
    "WorldError": "bayplan.errors",
    "ModelError": "bayplan.errors",
}

__all__ = [
    "Admission",
    "Allow",
    "AntiAffinity",
    "BayplanError",
    "Budget",
    "Capacity",
    "Client",
    "ClusterBuilder",
    "CoLocate",
    "Confidence",
    "Dependency",
    "Goal",
    "InputError",
    "Interference",
    "LoopSettings",
    "ModelError",
    "Objective",
    "OnlinePacking",
    "Pinned",
    "Placement",
    "Skew",
    "Snapshot",
    "Spread",
    "Transient",
    "UsageError",
    "WhatIf",
    "WorldError",
    "__version__",
    "admit",
    "capacity",
    "check",
    "collocate",
    "engine",
    "explain",
    "generate",
    "kubernetes",
    "machines_needed",
    "methods",
    "migrate",
    "pack",
    "performance",
    "place",
    "plan",
    "plan_fleet",
    "read",
    "read_fleet",
    "read_requests",
    "read_stream",
    "rebalance",
    "register",
    "run",
    "schedule",
    "score",
    "simulate",
    "write",
]


def __getattr__(name: str) -> "Any":
    if name == "kubernetes":  # a folder with calls of its own: bp.kubernetes.observe
        return import_module("bayplan.kubernetes")
    if name not in _HOME:
        raise AttributeError(f"module 'bayplan' has no attribute '{name}'")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """`bayplan.check`, `engine`, `score`, `generate` and `migrate` are functions, though folders have the same names.

    When a folder is imported, Python sets it as an attribute of its parent; here the function keeps the name. So inside of the
    package one writes `from bayplan.score import ...`, never `bayplan.score.x`.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if TYPE_CHECKING:  # what type checkers and editors see
    from typing import Any

    from bayplan import kubernetes
    from bayplan.api.capacity import capacity
    from bayplan.api.check import check
    from bayplan.api.collocate import collocate
    from bayplan.api.control import engine
    from bayplan.api.files import generate, read, read_requests, read_stream, write
    from bayplan.api.fleet.plan import plan_fleet, read_fleet
    from bayplan.api.inspect import explain, score
    from bayplan.api.migrate import migrate
    from bayplan.api.pack import pack
    from bayplan.api.packing.machines_needed import machines_needed
    from bayplan.api.packing.online_packing import OnlinePacking
    from bayplan.api.performance import performance
    from bayplan.api.place import place
    from bayplan.api.planning.plan import plan
    from bayplan.api.rebalance import rebalance
    from bayplan.api.registry import methods, register
    from bayplan.api.requests.admit import admit
    from bayplan.api.requests.live_admission import Admission
    from bayplan.api.requests.schedule import schedule
    from bayplan.api.what_if import WhatIf
    from bayplan.errors import BayplanError, InputError, ModelError, UsageError, WorldError
    from bayplan.formats.builder import ClusterBuilder
    from bayplan.model.budget import Budget
    from bayplan.model.goal import Goal
    from bayplan.model.objective import Objective
    from bayplan.model.placement import Placement
    from bayplan.model.rules import (
        Allow,
        AntiAffinity,
        Capacity,
        CoLocate,
        Confidence,
        Dependency,
        Interference,
        Pinned,
        Skew,
        Spread,
        Transient,
    )
    from bayplan.model.snapshot import Snapshot
    from bayplan.operate.plan_simulation.simulate import simulate
    from bayplan.operate.run import run
    from bayplan.operate.settings import LoopSettings
    from bayplan.serve.client import Client
