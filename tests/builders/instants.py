"""Histories of a running cluster, instant by instant, for its referee."""

from collections.abc import Sequence
from itertools import count

from bayplan.check.operation import OURS, Instant, InstantKind, OperationReferee, first_instants
from bayplan.model import Cluster, Placement, ints


class Told:
    """A referee that is told what happens in few words; one second passes with each instant."""

    def __init__(self, cluster: Cluster, machine_of: Sequence[int], alive: float = 0.0) -> None:
        self.cluster, self.clock = cluster, count(1)
        self.referee = OperationReferee(cluster, alive)
        self.referee.start(first_instants(cluster, Placement(machine_of=ints(machine_of))))

    def tell(self, kind: InstantKind, uid: str = "", cause: str = OURS, **fields) -> list[str]:
        """The rules that this instant violates because of us."""
        instant = Instant(at=float(next(self.clock)), cause=cause, kind=kind, uid=uid, **fields)
        return [violation.rule for violation in self.referee.see(instant)]

    def create(self, c: int, m: int, uid: str = "", cause: str = OURS, token: str = "") -> list[str]:
        """A further instance of a container, bound and ready."""
        uid, w = uid or f"{self.cluster.containers.name[c]}/{m}", int(self.cluster.containers.workload[c])
        bound = self.tell(InstantKind.BOUND, uid, cause, workload=w, container=c, machine=m, token=token)
        return bound + self.tell(InstantKind.READY, uid, cause, token=token)

    def delete(self, uid: str, cause: str = OURS, token: str = "") -> list[str]:
        """An instance stops and is gone."""
        stopping = self.tell(InstantKind.STOPPING, uid, cause, token=token)
        return stopping + self.tell(InstantKind.GONE, uid, cause, token=token)

    def standing(self) -> list[str]:
        """The rules that are violated now, whoever did it."""
        return [violation.rule for violation in self.referee.standing()]
