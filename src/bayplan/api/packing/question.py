"""What is asked of a packing: the instance that a caller of `pack` or `machines_needed` states."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np

from bayplan.api.problem import matching
from bayplan.decide.pack.instance import PackInstance, UsageModel, expect_confidence, pack_instance
from bayplan.errors import UsageError, did_you_mean
from bayplan.model import Cluster, FloatArray, Snapshot, floats

Samples = Mapping[str, Sequence[float] | FloatArray]  # workload -> measured usage of the resource that counts, in base units


def instance_of(
    snapshot: Snapshot,
    *,
    confidence: float | None,
    confidence_of: Mapping[str, float] | None,
    resource: str | None,
    uncertainty: str,
    samples: Samples | None,
    seed: int,
) -> PackInstance:
    """The instance that a caller of `pack` or `machines_needed` states."""
    return pack_instance(
        snapshot,
        confidence=confidence,
        alpha_of=_alpha_of(snapshot.cluster, confidence_of or {}),
        resource=resource,
        usage=UsageModel(uncertainty=uncertainty, samples=_by_workload(snapshot.cluster, samples or {}), seed=seed),
    )


def _by_workload(cluster: Cluster, samples: Samples) -> dict[int, FloatArray]:
    """Samples by the number of their workload; UsageError for a name that no workload has."""
    number, by_workload = {name: w for w, name in enumerate(cluster.workloads.name)}, {}
    for name, values in samples.items():
        if name not in number:
            raise UsageError(f"samples of '{name}': no workload has that name{did_you_mean(name, number)}")
        by_workload[number[name]] = floats(values)
    return by_workload


def _alpha_of(cluster: Cluster, confidence_of: Mapping[str, float]) -> FloatArray | None:
    """(workload,) the confidence that is stated by name; 0 where none is."""
    if not confidence_of:
        return None
    alpha = np.zeros(len(cluster.workloads.name))
    for name, value in confidence_of.items():
        named = _workloads(cluster, name)
        alpha[named] = np.maximum(alpha[named], expect_confidence(value, f"confidence of '{name}'"))
    return floats(alpha)


def _workloads(cluster: Cluster, pattern: str) -> list[int]:
    """Workloads whose service has such a name, or else those that have it themselves."""
    service = [fnmatchcase(name, pattern) for name in cluster.services.name]
    of_service = [w for w, s in enumerate(cluster.workloads.service.tolist()) if service[s]]
    if of_service:
        return of_service
    containers = matching(cluster, pattern, "with a confidence of its own")
    return [int(w) for w in np.unique(cluster.containers.workload[containers])]
