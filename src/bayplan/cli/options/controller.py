"""The options of a controller: which live cluster, what of it, where probes are answered, which lease; what their texts mean."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bayplan.cli.options.operate import seconds_of
from bayplan.errors import UsageError, expect_one_of

if TYPE_CHECKING:
    from bayplan.kubernetes.by_hand import LiveTarget
    from bayplan.kubernetes.client import Client
    from bayplan.kubernetes.controller.health import ListenAddress
    from bayplan.kubernetes.measure import MeasurementRequest

LEASE = "bayplan"
LOGS = ("json", "text", "none")

Context: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--context", metavar="NAME", help="A live Kubernetes cluster: a context of your kubeconfig.", show_default=False
    ),
]
Kubeconfig: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="The kubeconfig; by default KUBECONFIG or ~/.kube/config. Alone, its current context is meant.",
        show_default=False,
    ),
]
InCluster: TypeAlias = Annotated[
    bool, typer.Option("--in-cluster", help="The Kubernetes cluster in which this process runs, as its service account.")
]
Namespace: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAMESPACE",
        help="Move pods of this namespace only; by default the context's own. Pods of others count as used capacity.",
        show_default=False,
    ),
]
AllNamespaces: TypeAlias = Annotated[bool, typer.Option("--all-namespaces", "-A", help="Move pods of all namespaces.")]
PrometheusAddress: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--prometheus",
        metavar="URL|NAMESPACE/SERVICE|discover",
        help="Where traffic and usage were measured; without it, requests count as usage and traffic is not known.",
        show_default=False,
    ),
]
TrafficPreset: TypeAlias = Annotated[
    str, typer.Option("--traffic", metavar="PRESET", help="Whose traffic metrics: istio, linkerd, hubble, ...; auto, none.")
]
MeasureWindow: TypeAlias = Annotated[
    str, typer.Option("--measure", metavar="TIME", help="Over how long traffic and usage are measured: 1h, 1d.")
]
Listen: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--listen",
        metavar="[HOST]:PORT",
        help="Where /healthz, /readyz and /metrics are answered; 127.0.0.1:8080 by default, :8080 with --in-cluster; "
        "'none' for nowhere.",
        show_default=False,
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
    ),
]
Grace: TypeAlias = Annotated[
    str,
    typer.Option(
        "--grace", metavar="TIME", help="After SIGTERM, moves that have begun may take as long; then they are cancelled."
    ),
]
LogFormName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="json|text|none",
        help="The log on stderr; text by default, json with --in-cluster.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveClusterOptions:
    """What was said about a live cluster."""

    context: str | None
    kubeconfig: str | None
    in_cluster: bool
    namespace: str | None
    everywhere: bool
    prometheus: str | None
    traffic: str
    measure: str
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
        if self.namespace is not None and self.everywhere:
            raise UsageError(f"--namespace '{self.namespace}' and --all-namespaces exclude each other; expected one of them")
        if self.namespace == "":
            raise UsageError("--namespace '': expected the name of a namespace")
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
        return Client.connect(context=self.context or "", kubeconfig=self.kubeconfig or "")

    def scope(self, client: "Client") -> str:
        """The namespace that is acted on; empty for all."""
        return "" if self.everywhere else self.namespace or client.namespace

    def target(self) -> "LiveTarget":
        """The cluster as something to act on by hand."""
        from bayplan.kubernetes.by_hand import LiveTarget

        client = self.client()
        lease = self.lease_parts(client.namespace)
        return LiveTarget(client=client, lease=lease, namespace=self.scope(client), measure=self.measurement())

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

    def measurement(self) -> "MeasurementRequest | None":
        """What is measured; None if nothing."""
        from bayplan.kubernetes.measure import MeasurementRequest
        from bayplan.kubernetes.prometheus import MeasurementSettings

        if self.prometheus is None:
            return None
        settings = MeasurementSettings(traffic=self.traffic, window=seconds_of(self.measure, "--measure"))
        return MeasurementRequest(prometheus=self.prometheus, settings=settings)


def live_cluster(
    context: str | None,
    kubeconfig: str | None,
    namespace: str | None = None,
    everywhere: bool = False,
    *,
    prometheus: str | None = None,
    traffic: str = "auto",
    measure: str = "1h",
    lease: str | None = None,
) -> LiveClusterOptions:
    """What was said about a live cluster by a command that does one thing and ends; UsageError if it makes no sense."""
    options = LiveClusterOptions(
        context=context,
        kubeconfig=kubeconfig,
        in_cluster=False,
        namespace=namespace,
        everywhere=everywhere,
        prometheus=prometheus,
        traffic=traffic,
        measure=measure,
        listen="none",
        lease=lease,
        grace="20s",
        log=None,
    )
    options.expect_sense()
    return options
