"""`bayplan serve`"""

import json as json_format
import signal
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayplan.cli.console.screen import print_object
from bayplan.cli.operating import service as http
from bayplan.cli.options import operate as option
from bayplan.cli.options.shared import Json, Quiet
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.kubernetes.extender import ExtenderServer

ExtenderFlag = Annotated[bool, typer.Option("--extender", help="Answer kube-scheduler: which node is best for a new pod?")]
Listen = Annotated[
    str | None,
    typer.Option(
        "--listen",
        metavar="ADDRESS:PORT",
        help="Where it listens; by default 127.0.0.1:8080 (the extender: 8888), which only this machine can reach. "
        "Any other address needs a token.",
        show_default=False,
    ),
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
EXTENDER_LISTEN = "127.0.0.1:8888"


def serve(
    listen: Listen = None,
    store: http.ServiceStore = None,
    folder: http.Folder = None,
    token_file: http.TokenFile = None,
    read_token_file: http.ReadTokenFile = None,
    certificate: Certificate = None,
    key: Key = None,
    max_body: http.MaxBody = 64,
    rate: http.Rate = 2000,
    jobs: http.Jobs = 2,
    record: http.LoopRecord = "",
    demo: http.Demo = False,
    extender: ExtenderFlag = False,
    context: ContextName = None,
    kubeconfig: Kubeconfig = None,
    candidates: Candidates = "10%",
    patience: Patience = "60s",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Serve an HTTP API, durable admission, metrics and a page on one port, with an embedded store; or a scheduler extender.

    Nothing needs to be set up: it listens on this machine only, and keeps everything in bayplan-serve.db. GET /openapi.json
    describes every path. Any other address than this machine needs a token (--token-file FILE or BAYPLAN_TOKEN), which clients
    send as Authorization: Bearer TOKEN; tokens of --read-token-file may only read. With a --store in PostgreSQL several servers
    can share everything: one decides for an admission at a time, and another takes over if it is gone. The log is one JSON object
    a line on stderr, without secrets; stdout says where it listens. Ctrl-C or SIGTERM ends it, after what is under way.

    Example: [cyan]bayplan serve[/cyan]

    Example: [cyan]bayplan serve --listen :8443 --token-file tokens --certificate tls.crt --key tls.key[/cyan]

    With --extender it is a scheduler extender instead: kube-scheduler asks it about every new pod, and places it where CA-WFD
    would. It follows the nodes and pods of a cluster and answers POST /filter and POST /prioritize, for pods of all namespaces. A
    pod that a step of bayplan created passes on its planned node only. For every other pod all nodes pass, and the one with most
    of the pod's application, among those with most free, gets the highest score. GET /healthz and GET /readyz are for probes.

    Example: [cyan]bayplan serve --extender --context prod[/cyan]
    """
    tell = _silent if quiet else _log
    if not extender:
        tokens = {"operators": (token_file, "BAYPLAN_TOKEN"), "readers": (read_token_file, "BAYPLAN_READ_TOKEN")}
        limits = {"file_bytes": max_body * 2**20, "rate": rate, "jobs": jobs}
        given = {"store": store, "folder": folder, "certificate": certificate, "key": key, "record": record, "demo": demo}
        http.serve_http(http.service_settings(listen, tokens, limits, **given), tell, json)
        return
    if (certificate is None) != (key is None):
        raise UsageError("--certificate and --key belong together: expected both or none")
    from bayplan.api.machine_scores import LivePlacement
    from bayplan.kubernetes.client import Client
    from bayplan.kubernetes.extender import ClusterWatch, Extender, ExtenderServer
    from bayplan.kubernetes.extender.pods import RESOURCES

    client = Client.connect(context=context or "", kubeconfig=kubeconfig or "")
    watch = ClusterWatch(client=client, live=LivePlacement(len(RESOURCES), candidates=candidates), tell=tell)
    decisions = Extender(live=watch.live, ready=watch.ready, patience=option.seconds_of(patience, "--patience"))
    tls = (str(certificate), str(key)) if certificate is not None else None
    server = ExtenderServer(decisions, listen or EXTENDER_LISTEN, tell=tell, tls=tls)
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
    """One JSON object on a line of stderr; a log that cannot be written (a full disk, a pipe that was closed) stops nothing."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    with suppress(OSError, ValueError):
        print(json_format.dumps({"time": at, "event": event, **fields}), file=sys.stderr, flush=True)
