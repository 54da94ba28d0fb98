"""Pack a cluster: ask a method, and say what its answer takes, how safe it is, and what over-commitment buys."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from bayplan.api.decide import Decision, decide
from bayplan.api.problem import matching
from bayplan.decide.pack import PackOptions, PackProblem
from bayplan.decide.pack.confidence_levels import confidence_levels
from bayplan.decide.pack.instance import PackInstance, UsageModel, expect_confidence, pack_instance
from bayplan.errors import UsageError
from bayplan.formats.document.text import write_text_atomically
from bayplan.formats.patterns import patterns_of, patterns_text, read_patterns
from bayplan.formats.solutions import write_solution
from bayplan.model import Cluster, FloatArray, Placement, Reason, Result, Snapshot, floats
from bayplan.report.answers.pack_page import PackPageData, pack_page
from bayplan.report.page import how_made
from bayplan.report.pictures.ucac import UcacCurve
from bayplan.score.counts import containers_on
from bayplan.score.packing import ConfidenceLevel, PackedMachine, PackFigures, pack_figures, packed_machines, strictest_ucac

EACH_CONTAINER = 1e-4  # seconds to simulate it, and to pack it again

Ask = Callable[[PackProblem], Result[Placement]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Packing:
    """What a method made of an instance."""

    instance: PackInstance
    decision: Decision
    figures: PackFigures
    levels: tuple[ConfidenceLevel, ...]

    @property
    def placement(self) -> Placement:
        """Where everything runs now; as before, if there is no solution."""
        return self.decision.after.placement

    @property
    def left_out(self) -> tuple[Reason, ...]:
        """Why containers have no machine."""
        return self.decision.left_out

    @property
    def broken(self) -> tuple[str, ...]:
        """Where the confidence is not kept: only methods that do not promise it have some."""
        return self.decision.still_broken

    @property
    def without(self) -> int:
        """Containers that have no machine."""
        return len(self.placement.unplaced)


def pack(instance: PackInstance, ask: Ask) -> Packing:
    """The packing of a method, in numbers. Ctrl-C asks the method to stop, and its best so far counts."""
    decision = decide(instance.snapshot, instance.problem, ask)
    figures = figures_of(instance, decision.after.placement)
    levels = tuple(confidence_levels(instance)) if len(instance.snapshot.placement.unplaced) else ()
    return Packing(instance=instance, decision=decision, figures=figures, levels=levels)


def instance_of(
    snapshot: Snapshot,
    *,
    confidence: float | None,
    confidence_of: Mapping[str, float],
    resource: str | None,
    usage: UsageModel,
) -> PackInstance:
    """The instance of a snapshot; `confidence_of`: a higher confidence for services or workloads by name or pattern."""
    alpha_of = _alpha_of(snapshot.cluster, confidence_of)
    return pack_instance(snapshot, confidence=confidence, alpha_of=alpha_of, resource=resource, usage=usage)


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
    hit = matching(cluster, pattern, "with a confidence of its own")
    return [int(w) for w in np.unique(cluster.containers.workload[hit])]


def figures_of(instance: PackInstance, placement: Placement) -> PackFigures:
    """The numbers of one placement."""
    usage = instance.usage
    return pack_figures(
        instance.snapshot.cluster,
        placement,
        instance.problem.main,
        alpha=instance.alpha,
        samples=usage.samples,
        seed=usage.seed,
    )


def _machines(instance: PackInstance, placement: Placement) -> list[PackedMachine]:
    usage = instance.usage
    return packed_machines(instance.snapshot.cluster, placement, instance.problem.main, samples=usage.samples, seed=usage.seed)


def seconds_afterwards(instance: PackInstance, seconds: float) -> float:
    """What it takes to simulate, and to pack at other confidences, of a user's seconds: at most a quarter."""
    return min(EACH_CONTAINER * len(instance.snapshot.cluster.containers.name), 0.25 * seconds)


def pack_options(instance: PackInstance, *, n_sigma: float | None, patterns: Path | None) -> PackOptions:
    """The options of a packer; UsageError if one makes no sense."""
    if n_sigma is not None and not 0 <= n_sigma < float("inf"):
        raise UsageError(f"n-sigma is {n_sigma}; expected a number of 0 or more")
    known = None if patterns is None else read_patterns(patterns, instance.problem.cluster)
    return PackOptions(n_sigma=n_sigma, patterns=known)


def save(packing: Packing, path: Path | None) -> None:
    """Write what shares machines now, for another day."""
    if path is not None and packing.decision.result.solution is not None:
        cluster = packing.instance.snapshot.cluster
        write_text_atomically(path, patterns_text(cluster, patterns_of(cluster, packing.placement)))


def pack_object(packing: Packing) -> Mapping[str, Any]:
    """What `pack` says as JSON beside what every decision says. Amounts are in the resource's written unit."""
    figures, unit = packing.figures, packing.figures.resource.scale
    odds = {
        "predicted": figures.predicted,
        "simulated": figures.simulated,
        "draws": figures.draws,
        "allowed": round(1 - figures.alpha, 12),
    }
    capacity = {
        "resource": figures.resource.name,
        "confidence": figures.alpha,
        "ucac": figures.ucac / unit,
        "mean": figures.mean / unit,
        "reserved": None if figures.reserved is None else figures.reserved / unit,
        "reserved_by": figures.reserved_by or None,
        "machines": figures.capacity / unit,
        "over_commitment": figures.over_commitment,
    }
    levels = [
        {
            "confidence": row.alpha,
            "by": row.by or "bi-level",
            "machines": row.machines,
            "ucac": row.ucac / unit,
            "left_out": row.left_out,
            "saved": row.saved,
        }
        for row in packing.levels
    ]
    return {"violation": odds, "capacity": capacity, "levels": levels, "unplaced": packing.without, "broken": packing.broken}


def write_packing(packing: Packing, *, out: Path | None, report: Path | None, command: str) -> None:
    """Write the placement in the form of its input, and a page about it."""
    placement = packing.decision.result.solution
    if placement is None:
        return
    if out is not None:
        write_solution(out, packing.decision.snapshot, placement)
    if report is not None:
        write_text_atomically(report, pack_page(_page_data(packing), made=how_made(command)))


def _page_data(packing: Packing) -> PackPageData:
    instance, snapshot = packing.instance, packing.decision.snapshot
    return PackPageData(
        snapshot=replace(snapshot, notes=(*snapshot.notes, *instance.notes)),
        after=packing.placement,
        result=packing.decision.result,
        figures=packing.figures,
        before=figures_of(instance, snapshot.placement) if len(snapshot.placement.placed) else None,
        curves=tuple(_curves(packing)),
        levels=packing.levels,
        machines=_machines(instance, packing.placement),
        left_out=packing.left_out,
        violated=packing.broken,
    )


def _curves(packing: Packing) -> Iterator[UcacCurve]:
    """After, and before if something ran."""
    yield UcacCurve(name="after", share=_shares(packing.instance, packing.placement))
    before = packing.decision.snapshot.placement
    if len(before.placed):
        yield UcacCurve(name="before", share=_shares(packing.instance, before))


def _shares(instance: PackInstance, placement: Placement) -> FloatArray:
    cluster = instance.snapshot.cluster
    busy = containers_on(cluster, placement) > 0
    capacity = np.maximum(1, cluster.machines.capacity[busy, instance.problem.main.resource])
    return floats(strictest_ucac(cluster, placement, instance.problem.main)[busy] / capacity)
