"""What a generator is, which settings it offers, and how settings written as text are read."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from bayplan.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from bayplan.model import ClusterRequests, Snapshot, TimedRequests

    Instance: TypeAlias = Snapshot | TimedRequests | ClusterRequests

Setting: TypeAlias = int | float | str
NOT_OFFERED = ("seed", "progress", "folder")  # no settings of an instance
KIND = {int: "a whole number", float: "a number", str: "a word"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """One entry of `GENERATORS`."""

    about: str  # one line for --help
    source: str  # "[RASA] Table II"
    make: Callable[..., Instance]  # keyword-only: seed, progress if it takes long, and settings with defaults


@dataclass(frozen=True)
class Lazy:
    """A function that is imported when it is called or asked for its signature, not before."""

    module: str
    name: str

    def __call__(self, **settings: Any) -> Instance:
        """What the function makes."""
        if "progress" not in inspect.signature(self.target).parameters:
            settings.pop("progress", None)
        made: Instance = self.target(**settings)
        return made

    @property
    def target(self) -> Callable[..., Instance]:
        """The function itself."""
        function: Callable[..., Instance] = getattr(import_module(self.module), self.name)
        return function

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.target)


def options(generator: Generator) -> Mapping[str, tuple[type, Setting]]:
    """The settings a generator offers: name -> (type, default)."""
    parameters = inspect.signature(generator.make).parameters.values()
    return {p.name: (type(p.default), p.default) for p in parameters if p.name not in NOT_OFFERED}


def read_settings(name: str, generator: Generator, text: Mapping[str, str]) -> dict[str, Setting]:
    """The settings that `text` states, each in its type; UsageError names every bad one."""
    offered = options(generator)
    settings: dict[str, Setting] = {}
    faults: list[str] = []
    for key, value in text.items():
        if key not in offered:
            faults.append(f"no setting '{key}' ({value}); expected {_one_of(offered)}{did_you_mean(key, offered)}")
            continue
        kind, default = offered[key]
        try:
            settings[key] = _read(kind, value)
        except ValueError:
            faults.append(f"setting '{key}' is '{value}'; expected {KIND[kind]}, such as {default}")
    if faults:
        raise UsageError(f"generator '{name}': " + "; ".join(faults))
    return settings


def _read(kind: type, text: str) -> Setting:
    value: Setting = kind(text)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(text)
    return value


def _one_of(names: Mapping[str, object]) -> str:
    return ("one of " + ", ".join(names)) if names else "none: it has no settings"


def require(generator: str, *claims: tuple[bool, str]) -> None:
    """UsageError with every claim about the settings that does not hold."""
    violated = [claim for holds, claim in claims if not holds]
    if violated:
        raise UsageError(f"generator '{generator}': " + "; ".join(violated))
