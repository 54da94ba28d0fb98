"""What may be said about a collection, and the names that it looks for on objects."""

from collections.abc import Collection
from dataclasses import dataclass

MOVED_KINDS = frozenset({"Deployment", "ReplicaSet", "ReplicationController"})  # their pods are replaced when they are evicted
ON_REQUEST = frozenset({"StatefulSet", "Job"})  # movable only when asked for
MINUTE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectSettings:
    """What may move beside the usual, and what is left alone for now."""

    kinds: frozenset[str] = frozenset()  # further kinds of owners whose pods may move: StatefulSet, Job, ...
    young: float = 10 * MINUTE  # seconds: a pod that was created later is left alone
    draining: frozenset[str] = frozenset()  # closed nodes whose pods may leave all the same
    schedulers: frozenset[str] = frozenset({"default-scheduler"})  # pods of another scheduler do not move
    now: float | None = None  # seconds since 1970; None: when the objects were read

    @property
    def moved_kinds(self) -> frozenset[str]:
        """The kinds of owners whose pods may move."""
        return MOVED_KINDS | self.kinds


def in_scope(namespace: str, scope: Collection[str]) -> bool:
    """Is this namespace collected? All are, if none is named."""
    return not scope or namespace in scope
