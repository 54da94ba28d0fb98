"""Collocation in counts: annealing, partitioning, packing of parts, pricing of patterns."""

import importlib
import pkgutil


def warm_up() -> None:
    """Compile what a decision needs, with the types it uses: every module that is called from outside has its own list."""
    for module in pkgutil.iter_modules(__path__):
        getattr(importlib.import_module(f"{__name__}.{module.name}"), "warm_up", lambda: None)()
