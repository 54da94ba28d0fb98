"""Compile every kernel module once; Numba keeps the machine code on disk."""

import importlib
import pkgutil

import bayplan.kernels
from bayplan.model import Progress, Tick


def warm_up(progress: Progress) -> tuple[str, ...]:
    """Names of the kernel modules, each after its own `warm_up()` has run."""
    names = tuple(module.name for module in pkgutil.iter_modules(bayplan.kernels.__path__))
    for done, name in enumerate(names):
        progress(Tick(stage=f"compiling {name}", done=done / len(names)))
        importlib.import_module(f"bayplan.kernels.{name}").warm_up()
    return names
