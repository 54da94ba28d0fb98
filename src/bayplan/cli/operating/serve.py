"""`bayplan serve`"""

import json as json_format
import signal
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayplan.cli.console.screen import print_object
from bayplan.cli.options import operate as option
from bayplan.cli.options.shared import Json, Quiet
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.kubernetes.extender import ExtenderServer

ExtenderFlag = Annotated[bool, typer.Option("--extender", help="Answer kube-scheduler: which node is best for a new pod?")]
Listen = Annotated[
    str,
    typer.Option("--listen", metavar="ADDRESS:PORT", help="Where it listens; only this machine can reach it by default."),
]
ContextName = Annotated[
    str | None,
    typer.Option("--context", metavar="NAME", help="Of the kubeconfig; the current one by default.", show_default=False),
]
Kubeconfig = Annotated[
    str | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="By default as kubectl: KUBECONFIG, ~/.kube/config, or the service account of the pod that this runs in.",
        show_default=False,
    ),
]
Candidates = Annotated[
    str,
    typer.Option(
        "--candidates",
        metavar="N|P%",
        help="Nodes with most free, among which the one decides that runs most of what the pod communicates with.",
    ),
]
Patience = Annotated[
    str, typer.Option("--patience", metavar="TIME", help="How long a pod that bayplan moves waits for its planned node.")
]
Certificate = Annotated[
    Path | None, typer.Option("--certificate", metavar="FILE", help="Serve HTTPS with this certificate.", show_default=False)
]
Key = Annotated[Path | None, typer.Option("--key", metavar="FILE", help="The key of --certificate.", show_default=False)]
OFFERS = "nothing to serve: expected --extender (answers kube-scheduler's questions about new pods), the only service so far"


def serve(
    extender: ExtenderFlag = False,
    listen: Listen = "127.0.0.1:8888",
    context: ContextName = None,
    kubeconfig: Kubeconfig = None,
    candidates: Candidates = "10%",
    patience: Patience = "60s",
    certificate: Certificate = None,
    key: Key = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Serve a scheduler extender: kube-scheduler asks it about every new pod, and places it where CA-WFD would.

    It follows the nodes and pods of a cluster and answers POST /filter and POST /prioritize, for pods of all namespaces. A pod
    that a step of bayplan created passes on its planned node only. For every other pod all nodes pass, and the one with most of
    the pod's application, among those with most free, gets the highest score. GET /healthz and GET /readyz are for probes. The
    log is one JSON object a line on stderr; stdout says where it listens. Ctrl-C or SIGTERM ends it.

    There is no HTTP interface for planning yet: without --extender it says so and ends.

    Example: [cyan]bayplan serve --extender --context prod[/cyan]
    """
    if not extender:
        raise UsageError(OFFERS)
    if (certificate is None) != (key is None):
        raise UsageError("--certificate and --key belong together: expected both or none")
    from bayplan.api.machine_scores import LivePlacement
    from bayplan.kubernetes.client import Client
    from bayplan.kubernetes.extender import ClusterWatch, Extender, ExtenderServer
    from bayplan.kubernetes.extender.pods import RESOURCES

    tell = _silent if quiet else _log
    client = Client.connect(context=context or "", kubeconfig=kubeconfig or "")
    watch = ClusterWatch(client=client, live=LivePlacement(len(RESOURCES), candidates=candidates), tell=tell)
    decisions = Extender(live=watch.live, ready=watch.ready, patience=option.seconds_of(patience, "--patience"))
    tls = (str(certificate), str(key)) if certificate is not None else None
    server = ExtenderServer(decisions, listen, tell=tell, tls=tls)
    watch.start()
    started = {"address": server.address, "context": client.context, "filter": "/filter", "prioritize": "/prioritize"}
    print_object(started) if json else print(f"the extender of cluster '{client.context}' listens on {server.address}")
    _serve_until_told(server)
    watch.stop()


def _serve_until_told(server: "ExtenderServer") -> None:
    """Until Ctrl-C or SIGTERM."""
    sys.stdout.flush()
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    try:
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


def _silent(event: str, fields: dict[str, Any]) -> None:
    """Say nothing."""


def _log(event: str, fields: dict[str, Any]) -> None:
    """One JSON object on a line of stderr."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    print(json_format.dumps({"time": at, "event": event, **fields}), file=sys.stderr, flush=True)
