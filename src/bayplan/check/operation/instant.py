"""What the referee of a running system sees, and what it says."""

from dataclasses import dataclass
from enum import StrEnum

OURS = "bayplan"  # the cause of all that we do; all other causes are of others


class InstantKind(StrEnum):
    """What happened at an instant."""

    BOUND = "bound"  # an instance is charged on its machine from now on
    READY = "ready"
    UNREADY = "unready"  # it serves nothing, for now or because its machine died; it is still charged
    STOPPING = "stopping"  # it serves no more, and is still charged
    GONE = "gone"  # it is no longer charged
    REPLICAS = "replicas"  # the desired number of a workload changed
    MACHINE_OPEN = "machine-open"
    MACHINE_CLOSED = "machine-closed"
    MACHINE_GONE = "machine-gone"
    MACHINE_JOINED = "machine-joined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Instant:
    """One change of a running cluster. Indices are of the universe: the cluster with all that ever exists."""

    at: float
    cause: str  # "bayplan", "controller", "scheduler", "user", "rollout", "scaling", "machine"
    kind: str  # an `InstantKind`
    uid: str = ""  # of the instance
    workload: int = -1
    container: int = -1  # slot, -1 for one that the first snapshot did not have
    machine: int = -1
    replicas: int = -1  # kind "replicas": the new desired number
    needed: int = -1  # kind "replicas": how many must be ready from now on; -1 leaves it
    token: str = ""  # of the step of ours that caused it


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationViolation:
    """One rule that an instant violated in one place, or violated more than before."""

    at: float
    rule: str  # "capacity", "anti-affinity", ..., "alive", "needed", "closed", "slot", "token"
    subject: tuple[str, ...]  # the names it is about
    excess: float  # how far beyond what is allowed
    sentence: str
    cause: str

    def __str__(self) -> str:
        return self.sentence
