"""A Lease of Kubernetes (coordination.k8s.io/v1): who may act, written by everyone who wants to, one write at a time.

The API server refuses a write that was made for an older version of the object, so of two that try at once one succeeds. What is
written, and when, is as in Kubernetes' own components: they and `kubectl get lease` can read it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from bayplan.errors import UsageError
from bayplan.kubernetes.client import Client, Json, RefusedError

MARGIN = 1.2  # the renew deadline has time for more than one try: at least this many retries, as in Kubernetes' own components
LEASES = "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
OURS = {"app.kubernetes.io/managed-by": "bayplan"}
FREED = 1  # seconds: the length of a lease that was given back


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTimes:
    """How long a lease is good for, how long its holder acts on it without having renewed it, and how often it tries; in seconds.

    >>> LeaseTimes(length=10, deadline=10)
    Traceback (most recent call last):
    bayplan.errors.UsageError: a lease of 10 s with a renew deadline of 10 s: expected the deadline to be shorter
    """

    length: int = 15  # others wait for as long, from when they saw it renewed last
    deadline: float = 10.0  # its holder stops acting, from when it sent the last renewal that succeeded
    retry: float = 2.0

    def __post_init__(self) -> None:
        if not self.deadline < self.length:
            raise UsageError(
                f"a lease of {self.length:g} s with a renew deadline of {self.deadline:g} s: expected the deadline to be shorter"
            )
        if not 0 < MARGIN * self.retry < self.deadline:
            raise UsageError(
                f"a renew deadline of {self.deadline:g} s with a retry every {self.retry:g} s: expected time for two tries"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRecord:
    """What a lease says. Its times are those of the machine that wrote them: people read them, nothing is decided by them."""

    holder: str  # "" if it is free
    length: float  # seconds
    acquired: str = ""
    renewed: str = ""
    transitions: int = 0  # how often another one took it

    @classmethod
    def of(cls, lease: Json) -> "LeaseRecord":
        """What an object of the API server says."""
        spec = lease.get("spec") or {}
        return cls(
            holder=spec.get("holderIdentity") or "",
            length=float(spec.get("leaseDurationSeconds") or FREED),
            acquired=spec.get("acquireTime") or "",
            renewed=spec.get("renewTime") or "",
            transitions=int(spec.get("leaseTransitions") or 0),
        )

    def spec(self) -> Json:
        """As the API server stores it."""
        spec: Json = {"leaseDurationSeconds": int(self.length), "leaseTransitions": self.transitions}
        times = {"holderIdentity": self.holder, "acquireTime": self.acquired, "renewTime": self.renewed}
        return spec | {name: value for name, value in times.items() if value}


class LeaseObject:
    """One lease on an API server."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self.namespace, self.name = namespace, name
        self._client = client
        self._collection = LEASES.format(namespace=namespace)

    def read(self) -> Json | None:
        """The object; None if there is none."""
        try:
            return self._client.get(f"{self._collection}/{self.name}")
        except RefusedError as error:
            if error.status == 404:
                return None
            raise

    def create(self, record: LeaseRecord) -> None:
        """Make it; RefusedError if another one did meanwhile."""
        metadata = {"name": self.name, "namespace": self.namespace, "labels": OURS}
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": record.spec()}
        self._client.create(self._collection, lease)

    def replace(self, read: Json, record: LeaseRecord) -> None:
        """Change what was read; RefusedError if it is another version by now."""
        self._client.replace(f"{self._collection}/{self.name}", {**read, "spec": record.spec()})


def micro_time(at: float) -> str:
    """A time as Kubernetes writes it in leases and events: microseconds, UTC.

    >>> micro_time(0.25)
    '1970-01-01T00:00:00.250000Z'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
