"""The options that name a running cluster, and where a cluster is read from: a file, or an API server."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bayplan.cli.options.groups import OptionGroup
from bayplan.cli.options.operate import seconds_of
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.kubernetes.collect.snapshot import Collected
    from bayplan.kubernetes.measure import MeasurementRequest
    from bayplan.model import Snapshot

CLUSTER = "A running cluster"
OptionalFile: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="A snapshot (JSON or YAML, .gz too), a RASA cluster, a GMRP model or the JSON of kubectl; '-' is stdin.",
        show_default=False,
    ),
]
Context: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--context",
        metavar="CTX",
        help="A running Kubernetes cluster: a context of your kubeconfig.",
        show_default=False,
        rich_help_panel=CLUSTER,
    ),
]
Kubeconfig: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="Where contexts are found; by default as kubectl does.",
        show_default=False,
        rich_help_panel=CLUSTER,
    ),
]
Namespaces: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NS",
        help="Only its pods may move; may be repeated. By default that of the context, of a file all.",
        show_default=False,
        rich_help_panel=CLUSTER,
    ),
]
AllNamespaces: TypeAlias = Annotated[
    bool, typer.Option("--all-namespaces", "-A", help="Pods of all namespaces may move.", rich_help_panel=CLUSTER)
]
MoveKinds: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--move",
        metavar="KIND",
        help="Pods of owners of this kind may move too: StatefulSet, Job, or another kind that replaces its pods.",
        show_default=False,
        rich_help_panel=CLUSTER,
    ),
]
Young: TypeAlias = Annotated[
    str, typer.Option("--young", metavar="TIME", help="New pods are left alone for as long.", rich_help_panel=CLUSTER)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions(OptionGroup):
    """A running cluster, and what of it may move."""

    context: Context = None
    kubeconfig: Kubeconfig = None
    namespace: Namespaces = None
    all_namespaces: AllNamespaces = False
    move: MoveKinds = None

    @property
    def named(self) -> bool:
        """Was a cluster named?"""
        return self.context is not None or self.kubeconfig is not None

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Whose pods may move, as far as that was said."""
        return tuple(self.namespace or ())

    @property
    def kinds(self) -> frozenset[str]:
        """Further kinds of owners whose pods may move."""
        return frozenset(self.move or ())

    @property
    def config(self) -> str:
        """The kubeconfig that was named, or nothing."""
        return str(self.kubeconfig or "")

    def expect_sense(self) -> None:
        """UsageError if options exclude each other."""
        if self.namespace and self.all_namespaces:
            raise UsageError(f"-n {self.namespace[0]} and -A: expected one of the two")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSource:
    """Where a cluster is read from."""

    file: Path | None
    cluster: ClusterOptions
    measure: "MeasurementRequest | None" = None  # traffic and usage; None: nothing is measured
    young: float = 600.0  # seconds for which new pods are left alone

    @property
    def label(self) -> str:
        """For messages: the file or the context."""
        return str(self.file) if self.file is not None else f"context {self.cluster.context or 'in use'}"

    @property
    def again(self) -> str:
        """How to name it in a further command."""
        if self.file is not None:
            return shlex.quote(str(self.file))
        cluster = self.cluster
        scope = ["-A"] if cluster.all_namespaces else [part for name in cluster.namespaces for part in ("-n", name)]
        where = ["--context", cluster.context] if cluster.context else ["--kubeconfig", cluster.config]
        return shlex.join([*where, *scope])

    @property
    def replaces_pods(self) -> bool:
        """Is it a cluster of Kubernetes? Its pods are moved by replacing them, unless another way is stated."""
        from bayplan.kubernetes.collect.reading.kubectl_json import is_kubectl_file

        return self.file is None or is_kubectl_file(self.file)

    def read(self, start: Path | None, draining: Sequence[str] = ()) -> tuple["Snapshot", "Collected | None"]:
        """The snapshot, and what it was collected from; None if the file is not of Kubernetes."""
        from bayplan.api.files import read, started_from

        collected = self.collected(draining)
        return (read(self.file or Path(), start) if collected is None else started_from(collected.snapshot, start)), collected

    def collected(self, draining: Sequence[str] = ()) -> "Collected | None":
        """What was collected of a cluster of Kubernetes; None if the file is of another kind."""
        from bayplan.kubernetes.collect.settings import CollectSettings
        from bayplan.kubernetes.measurements import NOT_MEASURED

        cluster, measure = self.cluster, self.measure or NOT_MEASURED
        settings = CollectSettings(kinds=cluster.kinds, young=self.young, draining=frozenset(draining))
        if self.file is None:
            from bayplan.kubernetes.snapshots import collect_cluster

            return collect_cluster(
                context=cluster.context or "",
                kubeconfig=cluster.config,
                namespaces=() if cluster.all_namespaces else cluster.namespaces or None,
                settings=settings,
                measurements=measure,
            )
        from bayplan.kubernetes.collect.reading.kubectl_json import is_kubectl_file

        if not is_kubectl_file(self.file):
            if cluster.namespaces or cluster.all_namespaces or cluster.kinds or self.measure is not None:
                raise UsageError(f"'{self.file}' is not the JSON of kubectl; expected no --namespace, no --move, no --prometheus")
            return None
        from bayplan.kubernetes.snapshots import collect_file

        return collect_file(self.file, namespaces=cluster.namespaces, settings=settings, measurements=measure)


def cluster_source(
    file: Path | None, cluster: ClusterOptions, measure: "MeasurementRequest | None" = None, young: str = "10m"
) -> ClusterSource:
    """The source that these options name; UsageError if they name none, or two."""
    if file is None and not cluster.named:
        raise UsageError("nothing to read: expected a FILE, or --context CTX for a running cluster")
    if file is not None and cluster.named:
        raise UsageError(f"'{file}' and a running cluster: expected one of the two")
    cluster.expect_sense()
    return ClusterSource(file=file, cluster=cluster, measure=measure, young=seconds_of(young, "--young"))
