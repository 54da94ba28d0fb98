"""The options about traffic and usage from Prometheus, and what their texts mean."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bayplan.cli.options.cluster import CLUSTER
from bayplan.cli.options.groups import OptionGroup
from bayplan.cli.options.operate import seconds_of
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.kubernetes.measure import MeasurementRequest

WINDOW = "1h"
PRESET_NAMES = (
    "istio",
    "istio-bytes",
    "linkerd",
    "hubble",
    "hubble-flows",
    "caretta",
    "otel",
)  # here, so that --help needs no numpy


def _presets(incomplete: str) -> list[str]:
    return [name for name in (*PRESET_NAMES, "auto", "none") if name.startswith(incomplete)]


PrometheusAddress: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--prometheus",
        metavar="URL|SERVICE",
        help="Measure traffic and usage: the address of a Prometheus, NAMESPACE/SERVICE[:PORT] of the cluster, or 'discover'. "
        "A token is read from BAYPLAN_PROMETHEUS_TOKEN.",
        show_default=False,
        rich_help_panel=CLUSTER,
    ),
]
TrafficPreset: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--traffic",
        metavar="PRESET",
        help=f"What measures traffic: {', '.join(PRESET_NAMES)}; auto: the one that is there; none. By default auto.",
        autocompletion=_presets,
        show_default=False,
        rich_help_panel=CLUSTER,
    ),
]
TrafficExpression: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--traffic-query",
        metavar="PROMQL",
        help="Traffic by a query of your own, with --traffic-labels; $window in it is that of --measure.",
        show_default=False,
        rich_help_panel=CLUSTER,
    ),
]
TrafficLabels: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--traffic-labels",
        metavar="NS,NAME,NS,NAME",
        help="The labels of that query: namespace and name of the source, then of the destination; a namespace may be empty.",
        show_default=False,
        rich_help_panel=CLUSTER,
    ),
]
MeasureWindow: TypeAlias = Annotated[
    str,
    typer.Option(
        "--measure", metavar="TIME", help="Traffic and usage are those of the last 1h, 6h, 7d, ...", rich_help_panel=CLUSTER
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementOptions(OptionGroup):
    """Traffic and usage from Prometheus."""

    prometheus: PrometheusAddress = None
    traffic: TrafficPreset = None
    traffic_query: TrafficExpression = None
    traffic_labels: TrafficLabels = None
    measure: MeasureWindow = WINDOW

    def request(self) -> "MeasurementRequest | None":
        """What is to be measured; None if no option asks for it. Traffic without an address means: discover Prometheus."""
        query, labels = self.traffic_query, self.traffic_labels
        if (query is None) is not (labels is None):
            raise UsageError("--traffic-query and --traffic-labels need each other")
        if query is not None and self.traffic is not None:
            raise UsageError(f"--traffic '{self.traffic}' and --traffic-query exclude each other")
        if self.prometheus is None and self.traffic is None and query is None:
            if self.measure != WINDOW:
                raise UsageError(f"--measure '{self.measure}' is for traffic and usage; expected --prometheus too")
            return None
        from bayplan.kubernetes.measure import MeasurementRequest
        from bayplan.kubernetes.prometheus import MeasurementSettings, TrafficQuery

        source = self.traffic or "auto" if query is None else TrafficQuery.parse(query, labels or "")
        settings = MeasurementSettings(traffic=source, window=seconds_of(self.measure, "--measure"))
        return MeasurementRequest(prometheus=self.prometheus or "discover", settings=settings)
