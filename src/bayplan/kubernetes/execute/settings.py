"""What may be said about carrying out steps on a Kubernetes cluster."""

from dataclasses import dataclass

from bayplan.errors import UsageError
from bayplan.kubernetes.execute.gate_webhook import WebhookAddress
from bayplan.kubernetes.execute.node_naming import NodeNaming


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteSettings:
    """How long things may take, and what may be done. Times in seconds.

    >>> ExecuteSettings(surge=True).pending
    60.0
    """

    namespace: str = ""  # what is observed and acted on; empty: all namespaces
    surge: bool = False  # may a Deployment be scaled up by one for a while, where a replica must not be missing?
    webhook: WebhookAddress | None = None  # new pods wait by a webhook that is reached there; None: by a policy of the API server
    naming: NodeNaming | None = None  # how a pod is told its node; None: as the version of the API server allows
    arming: float = 2.0  # until every API server asks the gate: they look for new policies and webhooks once a second
    pending: float = 60.0  # a replica that was placed and is not bound by then is let go
    appearing: float = 15.0  # for a replacement to appear after its pod is gone
    sweeping: float = 15.0  # from one look for gates that are overdue to the next

    def __post_init__(self) -> None:
        for name in ("arming", "pending", "appearing", "sweeping"):
            if not getattr(self, name) >= 0:
                raise UsageError(f"{name} {getattr(self, name)}: expected 0 seconds or more")
