"""What a placement is worth in milliseconds, under a model with stated assumptions."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bayplan.errors import ModelError, UsageError
from bayplan.model import Placement, Progress, Snapshot, silent
from bayplan.score.performance import Assumptions, Performance, Walks, performance_of, walks_of

if TYPE_CHECKING:
    from bayplan.report.table import Report
    from bayplan.score.performance.simulation import SimulatedLatency


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PerformanceAnswer:
    """What requests would see, under a model: the figures of the formula, and of the simulation where that was wanted."""

    figures: Performance
    assumptions: Assumptions
    walks: Walks  # what the figures are worked out from
    simulated: "SimulatedLatency | None" = None

    def content(self) -> "Report":
        """The figures and every assumption."""
        from bayplan.report.answers.performance_words import performance_content

        return performance_content(self.figures, self.assumptions, self.simulated)

    def summary(self) -> str:
        """The same in plain text."""
        from bayplan.report.terminal import text_of

        return text_of(self.content())

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the figures, those of the simulation, the assumptions."""
        from bayplan.report.json import plain

        run = self.simulated
        simulated = None if run is None else simulated_figures(run)
        found: dict[str, Any] = plain(
            {"model": asdict(self.figures), "simulated": simulated, "assumptions": asdict(self.assumptions)}
        )
        return found

    def _repr_html_(self) -> str:
        from bayplan.report.fragment import fragment

        return fragment(self.content())


def performance(
    snapshot: Snapshot,
    *,
    measured: Placement | None = None,
    distribution: bool = False,
    requests: int = 100_000,
    seed: int = 0,
    progress: Progress = silent,
    **assumptions: float | str,
) -> PerformanceAnswer:
    """Latency, errors and throughput that the snapshot's placement would have, under a model.

    It is a model, not a measurement: requests walk the call graph, a call costs less on one machine than over the network, and a
    busy machine is slow. Read it for comparing placements, and change the assumptions by name.

    - `measured`: the placement in which the stated CPU was used, if it is not the snapshot's;
    - `distribution`: also simulate that many `requests`, event by event, from a `seed`;
    - every other keyword is an assumption, such as `network_ms=1`, `router="random"`, `queue="curve"`.

    >>> import bayplan as bp
    >>> shop = bp.generate("boutique")
    >>> far, near = (bp.performance(shop, router=router).figures for router in ("random", "spill-over"))
    >>> near.p95_ms < far.p95_ms, near.local_share > far.local_share
    (True, True)
    """
    given = assumptions_of(assumptions)
    walks = walks_of(snapshot.cluster, snapshot.placement, given, measured)
    if walks is None:
        raise UsageError(f"cluster '{snapshot.cluster.name}' has no traffic: there are no requests to model")
    simulated = _simulated(walks, requests, seed, progress) if distribution else None
    return PerformanceAnswer(figures=performance_of(walks), assumptions=given, walks=walks, simulated=simulated)


def assumptions_of(given: Mapping[str, object] | Assumptions | None) -> Assumptions:
    """Assumptions by name; UsageError for a name that does not exist or a value that makes no sense."""
    try:
        return Assumptions.of(given)
    except ModelError as error:
        raise UsageError(str(error)) from error


def simulated_figures(run: "SimulatedLatency") -> dict[str, float]:
    """A simulation in figures."""
    return {
        "mean_ms": run.mean_ms,
        "half_width_ms": run.half_width_ms,
        "p50_ms": run.quantile_ms(0.5),
        "p95_ms": run.quantile_ms(0.95),
        "p99_ms": run.quantile_ms(0.99),
        "error_rate": run.error_rate,
        "local_share": run.local_share,
    }


def _simulated(walks: Walks, requests: int, seed: int, progress: Progress) -> "SimulatedLatency":
    from bayplan.api.warm_up import warm_up_methods
    from bayplan.score.performance.simulation import simulate_walks

    warm_up_methods([("performance", "distribution")], progress)
    try:
        return simulate_walks(walks, requests=requests, seed=seed)
    except ModelError as error:
        raise UsageError(str(error)) from error
