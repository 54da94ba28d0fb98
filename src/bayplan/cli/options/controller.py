"""The options of a controller: which live cluster, what of it, where probes are answered, which lease; what their texts mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bayplan.cli.options.cluster import CLUSTER
from bayplan.cli.options.operate import seconds_of
from bayplan.errors import UsageError, expect_one_of

if TYPE_CHECKING:
    from bayplan.kubernetes.by_hand import LiveTarget
    from bayplan.kubernetes.client import Client
    from bayplan.kubernetes.controller.health import ListenAddress
    from bayplan.kubernetes.measure import MeasurementRequest

LEASE = "bayplan"
LOGS = ("json", "text", "none")
CONTROLLER = "A controller, on a running cluster"

LiveContext: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--context",
        metavar="CTX",
        help="A live Kubernetes cluster: a context of your kubeconfig.",
        show_default=False,
        rich_help_panel=CLUSTER,
    ),
]
InCluster: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--in-cluster",
        help="The Kubernetes cluster in which this process runs, as its service account.",
        rich_help_panel=CLUSTER,
    ),
]
Listen: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--listen",
        metavar="[HOST]:PORT",
        help="Where /healthz, /readyz and /metrics are answered; 127.0.0.1:8080 by default, :8080 with --in-cluster; "
        "'none' for nowhere.",
        show_default=False,
        rich_help_panel=CONTROLLER,
    ),
]
LeaseName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--lease",
        metavar="[NAMESPACE/]NAME",
        help="The lease that decides which controller acts; 'bayplan' in the context's namespace by default. "
        "All controllers of one cluster must name the same one.",
        show_default=False,
        rich_help_panel=CONTROLLER,
    ),
]
Grace: TypeAlias = Annotated[
    str,
    typer.Option(
        "--grace",
        metavar="TIME",
        help="After SIGTERM, moves that have begun may take as long; then they are cancelled.",
        rich_help_panel=CONTROLLER,
    ),
]
LogFormName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="json|text|none",
        help="The log on stderr; text by default, json with --in-cluster.",
        show_default=False,
        rich_help_panel=CONTROLLER,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveClusterOptions:
    """What was said about a live cluster."""

    context: str | None
    kubeconfig: Path | None
    in_cluster: bool
    namespaces: Sequence[str]
    everywhere: bool
    kinds: Sequence[str]
    measure: "MeasurementRequest | None"
    listen: str | None
    lease: str | None
    grace: str
    log: str | None

    @property
    def named(self) -> bool:
        """Was a live cluster named?"""
        return self.in_cluster or self.context is not None or self.kubeconfig is not None

    def expect_sense(self) -> None:
        """UsageError if options exclude each other, or have a value that is none."""
        if self.in_cluster and (self.context is not None or self.kubeconfig is not None):
            raise UsageError("--in-cluster uses the pod's service account; expected no --context and no --kubeconfig beside it")
        if self.namespaces and self.everywhere:
            raise UsageError(f"-n {self.namespaces[0]} and -A: expected one of the two")
        if self.log is not None:
            expect_one_of(self.log, LOGS, "form of the log")
        self.lease_parts("")
        self.address()
        seconds_of(self.grace, "--grace")

    def client(self) -> "Client":
        """The connection."""
        from bayplan.kubernetes.client import Client

        if self.in_cluster:
            return Client.in_cluster()
        return Client.connect(context=self.context or "", kubeconfig=str(self.kubeconfig or ""))

    def scope(self, client: "Client") -> tuple[str, ...]:
        """The namespaces that are acted on; none for all."""
        return () if self.everywhere else tuple(self.namespaces) or (client.namespace,)

    def target(self) -> "LiveTarget":
        """The cluster as something to act on by hand."""
        from bayplan.kubernetes.by_hand import LiveTarget

        client = self.client()
        lease, scope = self.lease_parts(client.namespace), self.scope(client)
        return LiveTarget(client=client, lease=lease, namespaces=scope, kinds=frozenset(self.kinds), measure=self.measure)

    def lease_parts(self, namespace: str) -> tuple[str, str]:
        """The namespace and the name of the lease; `namespace` where none was said."""
        if self.lease is None:
            return namespace, LEASE
        stated, slash, name = self.lease.rpartition("/")
        if not name or "/" in stated or (slash and not stated):
            raise UsageError(f"--lease '{self.lease}': expected a name such as bayplan, or NAMESPACE/NAME")
        return stated or namespace, name

    def address(self) -> "ListenAddress | None":
        """Where probes are answered; None if nowhere."""
        from bayplan.kubernetes.controller.health import read_address

        usual = ":8080" if self.in_cluster else "127.0.0.1:8080"
        return None if self.listen == "none" else read_address(self.listen or usual)


def live_cluster(
    context: str | None,
    kubeconfig: Path | None,
    namespaces: Sequence[str] | None = None,
    everywhere: bool = False,
    *,
    kinds: Sequence[str] | None = None,
    measure: "MeasurementRequest | None" = None,
    lease: str | None = None,
) -> LiveClusterOptions:
    """What was said about a live cluster by a command that does one thing and ends; UsageError if it makes no sense."""
    options = LiveClusterOptions(
        context=context,
        kubeconfig=kubeconfig,
        in_cluster=False,
        namespaces=namespaces or (),
        everywhere=everywhere,
        kinds=kinds or (),
        measure=measure,
        listen="none",
        lease=lease,
        grace="20s",
        log=None,
    )
    options.expect_sense()
    return options
