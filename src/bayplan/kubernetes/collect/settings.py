"""What may be said about a collection, and the names that it looks for on objects."""

from collections.abc import Collection
from dataclasses import dataclass

PREFIX = "bayplan.io/"
CONTAINER = f"{PREFIX}container"  # on a pod: the name of the container that it stands for, where it replaced another pod
STEP = f"{PREFIX}step"  # on a pod: the token of the step of ours that created it
REPLACES = f"{PREFIX}replaces"  # on a pod: the uid of the deleted pod that it replaces
GATE = f"{PREFIX}steer"  # the scheduling gate of pods that wait for a create of ours
DO_NOT_MOVE = f"{PREFIX}do-not-move"  # on a pod or its owner
HOLD_UNTIL = f"{PREFIX}hold-until"  # on an owner: RFC 3339
HOLD_REASON = f"{PREFIX}hold-reason"
PART_OF = "app.kubernetes.io/part-of"

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
