"""What the performance model assumes: every number of it, each with a default and where that comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

from bayplan.errors import ModelError, did_you_mean

ROUTERS = ("spill-over", "prefer-local", "random")
QUEUES = ("ps", "curve")


def _assumption(default: object, unit: str, about: str, source: str) -> Any:
    return field(default=default, metadata={"unit": unit, "about": about, "source": source})


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What the performance model assumes about calls, the router and the machines.

    >>> import bayplan as bp
    >>> bp.performance(bp.generate("boutique"), network_ms=1).assumptions.network_ms
    1.0
    """

    router: str = _assumption(
        "spill-over",
        "",
        "which replica is called: 'spill-over', 'prefer-local' or 'random'",
        "gained affinity ([RASA] (1)); Kubernetes alone is random",
    )
    queue: str = _assumption(
        "ps",
        "",
        "how a machine slows down: 'ps' processor sharing, 'curve' as measured",
        "M/G/1-PS; [FreeContainer] §VII-C",
    )
    service_ms: float = _assumption(1.0, "ms", "of CPU that one visit takes, under 'ps'", "own choice: a short RPC handler")
    ipc_ms: float = _assumption(
        0.05, "ms", "there and back, of a call that stays on its machine", "own choice: a local socket takes tens of microseconds"
    )
    network_ms: float = _assumption(
        0.5, "ms", "there and back, of a call to another machine", "Dean: 500 microseconds there and back within a data centre"
    )
    serialisation: float = _assumption(
        0.1,
        "share",
        "of a workload's CPU for its calls, if all cross the network",
        "own choice; Kanev et al. 2015: nearly 30 % 'datacenter tax'",
    )
    network_error: float = _assumption(0.001, "share", "of calls to other machines that fail", "own choice: 99.9 % succeed")
    ipc_error: float = _assumption(0.0001, "share", "of calls that stay on their machine and fail", "own choice: 99.99 % succeed")
    overload_from: float = _assumption(
        0.8, "share", "of its CPU above which a machine fails visits", "own choice: where [FreeContainer]'s curve turns steep"
    )
    overload_error: float = _assumption(
        0.01, "share", "of visits that fail on a machine at 100 % CPU, growing linearly up to there", "own choice"
    )
    request_used: float = _assumption(
        0.5, "share", "of its CPU request that a workload without a stated usage uses", "own choice: requests are seldom used up"
    )
    peer_calls: int = _assumption(
        3, "calls", "that one request makes within a service whose containers all talk to each other", "own choice: four tiers"
    )
    load: float = _assumption(1.0, "times", "the stated traffic, and the CPU that workloads with traffic use", "as stated")
    saturated_at: float = _assumption(
        0.98, "share", "of its CPU from which a machine is called saturated; it is no slower than there", "own choice"
    )

    def __post_init__(self) -> None:
        faults = [fault for known in fields(self) if (fault := self._fault(known.name))]
        if faults:
            raise ModelError("; ".join(faults))

    def _fault(self, name: str) -> str:
        """What is wrong with one value, and what was expected; empty if nothing is. Numbers become floats."""
        value = getattr(self, name)
        if name in CHOICES:
            known = CHOICES[name]
            return "" if value in known else f"assumption {name} is '{value}'; expected one of {', '.join(known)}"
        number = _number(value)
        low, high = LIMITS.get(name, (0.0, float("inf")))
        if number is None or not low <= number <= high:
            top = f" to {high:g}" if isfinite(high) else " or more"
            return f"assumption {name} is '{value}'; expected a number of {low:g}{top}"
        if name == "peer_calls" and number != int(number):
            return f"assumption {name} is '{value}'; expected a whole number"
        object.__setattr__(self, name, int(number) if name == "peer_calls" else number)
        return ""

    @classmethod
    def of(cls, given: "Mapping[str, object] | Assumptions | None") -> "Assumptions":
        """The defaults with some of them changed; ModelError with the nearest name for one that does not exist."""
        if isinstance(given, Assumptions):
            return given
        known = [each.name for each in fields(cls)]
        for name in given or {}:
            if name not in known:
                raise ModelError(f"no assumption '{name}'; expected one of {', '.join(known)}{did_you_mean(name, known)}")
        return cls(**dict(given or {}))  # type: ignore[arg-type]

    def differing(self) -> dict[str, object]:
        """Those that are not the defaults."""
        return {each.name: getattr(self, each.name) for each in fields(self) if getattr(self, each.name) != each.default}


CHOICES: Mapping[str, tuple[str, ...]] = {"router": ROUTERS, "queue": QUEUES}
LIMITS: Mapping[str, tuple[float, float]] = {  # of the others: 0 and more
    "serialisation": (0.0, 0.9),
    "network_error": (0.0, 1.0),
    "ipc_error": (0.0, 1.0),
    "overload_from": (0.0, 1.0),
    "overload_error": (0.0, 1.0),
    "saturated_at": (0.01, 0.999),
    "peer_calls": (1.0, 100.0),
}


def _number(value: object) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if isfinite(number) else None
