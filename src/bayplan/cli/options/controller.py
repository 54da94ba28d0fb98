"""The options of whatever acts on a running cluster: which lease, how pods wait, where probes are answered; what they mean."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bayplan.cli.options.cluster import CLUSTER, ClusterOptions
from bayplan.cli.options.groups import OptionGroup
from bayplan.cli.options.operate import seconds_of
from bayplan.errors import UsageError, expect_one_of

if TYPE_CHECKING:
    from bayplan.kubernetes.by_hand import LiveTarget
    from bayplan.kubernetes.client import Client
    from bayplan.kubernetes.controller.health import ListenAddress
    from bayplan.kubernetes.execute.gate_webhook import WebhookSettings
    from bayplan.kubernetes.json_server import Tell
    from bayplan.kubernetes.measure import MeasurementRequest

LEASE = "bayplan"
LOGS = ("json", "text", "none")
CONTROLLER = "A controller, on a running cluster"

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


SurgeFlag: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--surge",
        help="Where a pod must not be missing even for a moment, scale its Deployment up by one for a while.",
        rich_help_panel=CLUSTER,
    ),
]
WebhookReach: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--webhook",
        metavar="NAMESPACE/SERVICE[:PORT]|URL",
        help="Let new pods wait by a webhook of this process, which API servers reach there, instead of a "
        "MutatingAdmissionPolicy: for Kubernetes before 1.36. Needs --webhook-certs.",
        show_default=False,
        rich_help_panel=CONTROLLER,
    ),
]
WebhookCertificates: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--webhook-certs",
        metavar="FOLDER",
        help="Of the webhook: tls.crt, tls.key and ca.crt, as in a Secret.",
        show_default=False,
        rich_help_panel=CONTROLLER,
    ),
]
WebhookListen: TypeAlias = Annotated[
    str,
    typer.Option("--webhook-listen", metavar="[HOST]:PORT", help="Where the webhook listens.", rich_help_panel=CONTROLLER),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActingOptions(OptionGroup):
    """How a running cluster is acted on."""

    lease: LeaseName = None
    surge: SurgeFlag = False
    webhook: WebhookReach = None
    webhook_certs: WebhookCertificates = None
    webhook_listen: WebhookListen = ":9443"

    def lease_parts(self, namespace: str) -> tuple[str, str]:
        """The namespace and the name of the lease; `namespace` where none was said."""
        if self.lease is None:
            return namespace, LEASE
        stated, slash, name = self.lease.rpartition("/")
        if not name or "/" in stated or (slash and not stated):
            raise UsageError(f"--lease '{self.lease}': expected a name such as bayplan, or NAMESPACE/NAME")
        return stated or namespace, name

    def webhook_settings(self) -> "WebhookSettings | None":
        """What was said about a webhook; UsageError if that is not enough, or its certificates cannot be read."""
        if self.webhook is None and self.webhook_certs is None:
            return None
        if self.webhook is None or self.webhook_certs is None:
            raise UsageError("--webhook and --webhook-certs need each other")
        from bayplan.kubernetes.execute.gate_webhook import WebhookSettings

        settings = WebhookSettings(reach=self.webhook, certificates=self.webhook_certs, listen=self.webhook_listen)
        settings.address()
        return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCluster:
    """What was said about a running cluster that is acted on."""

    cluster: ClusterOptions
    acting: ActingOptions = ActingOptions()
    measure: "MeasurementRequest | None" = None
    in_cluster: bool = False
    listen: str | None = "none"
    grace: str = "20s"
    log: str | None = None

    @property
    def named(self) -> bool:
        """Was a live cluster named?"""
        return self.in_cluster or self.cluster.named

    def expect_sense(self) -> "RunningCluster":
        """Itself; UsageError if options exclude each other, or have a value that is none."""
        if self.in_cluster and self.cluster.named:
            raise UsageError("--in-cluster uses the pod's service account; expected no --context and no --kubeconfig beside it")
        self.cluster.expect_sense()
        if self.log is not None:
            expect_one_of(self.log, LOGS, "form of the log")
        self.acting.lease_parts("")
        self.acting.webhook_settings()
        self.address()
        seconds_of(self.grace, "--grace")
        return self

    def client(self) -> "Client":
        """The connection."""
        from bayplan.kubernetes.client import Client

        if self.in_cluster:
            return Client.in_cluster()
        return Client.connect(context=self.cluster.context or "", kubeconfig=self.cluster.config)

    @contextmanager
    def target(self, tell: "Tell") -> Iterator["LiveTarget"]:
        """The cluster as something to act on, until the end of the block: so long a webhook of ours answers, if there is one."""
        from bayplan.kubernetes.by_hand import LiveTarget
        from bayplan.kubernetes.controller.start import ClusterScope
        from bayplan.kubernetes.execute.gates import webhook_of

        client, cluster = self.client(), self.cluster
        with webhook_of(client, self.acting.webhook_settings(), tell) as webhook:
            scope = ClusterScope(
                namespaces=() if cluster.all_namespaces else cluster.namespaces or (client.namespace,),
                kinds=cluster.kinds,
                measure=self.measure,
                surge=self.acting.surge,
                webhook=webhook,
            )
            yield LiveTarget(client=client, lease=self.acting.lease_parts(client.namespace), scope=scope)

    def address(self) -> "ListenAddress | None":
        """Where probes are answered; None if nowhere."""
        from bayplan.kubernetes.controller.health import read_address

        usual = ":8080" if self.in_cluster else "127.0.0.1:8080"
        return None if self.listen == "none" else read_address(self.listen or usual)
