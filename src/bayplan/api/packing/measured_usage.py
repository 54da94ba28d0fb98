"""Usage that was measured, for `samples` of `pack` and `machines_needed`: all of it, or that of the busiest hour."""

from collections.abc import Mapping

from bayplan.api.answer import PathLike
from bayplan.decide.pack.instance import main_resource
from bayplan.formats.samples import read_samples, read_usage_series
from bayplan.model import Cluster, FloatArray
from bayplan.score.peak import HOUR, PeakUsage, peak_usage
from bayplan.words import count

MOST_NOTES = 20


def read_usage(
    path: PathLike, cluster: Cluster, resource: str | None = None, *, peak: str | None = None, window: float = HOUR
) -> Mapping[str, FloatArray]:
    """Measured usage by workload from a file (CSV, JSON or YAML).

    `peak`: of a table with times only the busiest `window` seconds, "service" of each workload by itself, "cluster" of all
    together ([UCaC] §6.2); everything if it is None.
    """
    if peak is not None:
        return {name: usage.samples for name, usage in read_peaks(path, cluster, resource, of=peak, window=window).items()}
    by_workload = read_samples(path, cluster, main_resource(cluster, resource))
    return {cluster.workloads.name[w]: values for w, values in by_workload.items()}


def read_peaks(
    path: PathLike, cluster: Cluster, resource: str | None = None, *, of: str = "service", window: float = HOUR
) -> Mapping[str, PeakUsage]:
    """By workload, when its usage is highest and what its containers use then, from a table with times."""
    series = read_usage_series(path, cluster, main_resource(cluster, resource))
    busiest = peak_usage(series, of=of, replicas=cluster.replicas, window=window)
    return {cluster.workloads.name[w]: usage for w, usage in busiest.items()}


def peak_notes(
    peaks: Mapping[str, PeakUsage], cluster: Cluster, resource: str | None = None, *, window: float = HOUR
) -> tuple[str, ...]:
    """One sentence for each of the first workloads: when its peak is, and its mean and deviation."""
    from bayplan.report.answers.pack_tables import peak_sentence

    main = cluster.resources[main_resource(cluster, resource)]
    told = [peak_sentence(name, usage, main, window) for name, usage in list(peaks.items())[:MOST_NOTES]]
    more = len(peaks) - len(told)
    return (*told, *([f"the peaks of {count(more, 'more workload')} are not listed"] if more else []))
