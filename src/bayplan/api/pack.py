"""`pack`: put containers whose usage varies onto machines, so that machines overflow with at most a stated probability."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bayplan.api.answer import PathLike
from bayplan.api.control import Control, RunKeywords, options_from
from bayplan.api.placement import PlacementAnswer, finish_seconds
from bayplan.api.problem import matching
from bayplan.api.registry import method_of
from bayplan.decide.pack.confidence_levels import confidence_levels
from bayplan.decide.pack.cutting_stock import with_bound
from bayplan.decide.pack.instance import PackInstance, UsageModel, expect_confidence, main_resource, pack_instance
from bayplan.decide.pack.options import PackOptions
from bayplan.decide.pack.within_rules import has_other_rules
from bayplan.errors import UsageError, did_you_mean
from bayplan.formats.patterns import patterns_of, write_patterns
from bayplan.formats.samples import read_samples
from bayplan.model import Clock, Cluster, FloatArray, IntArray, Placement, Snapshot, floats
from bayplan.model.interrupt import stoppable
from bayplan.score.counts import containers_on
from bayplan.score.packing import (
    FEWEST_DRAWS,
    MOST_DRAWS,
    ConfidenceLevel,
    PackFigures,
    pack_figures,
    packed_machines,
    strictest_ucac,
)

if TYPE_CHECKING:
    from bayplan.report.pictures.ucac import UcacCurve
    from bayplan.report.table import Report

DRAWN_A_SECOND = 2e7  # numbers
EACH_CONTAINER = 1e-4  # seconds to simulate it, and to pack it again

Samples = Mapping[str, Sequence[float] | FloatArray]  # workload -> measured usage of the resource that counts, in base units


class PackKeywords(RunKeywords, total=False):
    """Options of the methods."""

    n_sigma: float | None  # bf-nsigma: deviations above its mean that a container counts; those of the confidence if None
    patterns: IntArray | None  # csp-ucac, csp-machines: the `patterns` of an earlier answer, to begin from


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PackingAnswer(PlacementAnswer):
    """Which machine each container got, what that takes at the stated confidence, and how often machines overflow."""

    instance: PackInstance
    figures: PackFigures  # of the answer
    levels: tuple[ConfidenceLevel, ...]  # the same containers at other confidences

    @property
    def patterns(self) -> IntArray:
        """(pattern, workload) which containers share a machine, for `pack` on another day."""
        return patterns_of(self.snapshot.cluster, self.placement)

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        from bayplan.report.answers.pack_tables import pack_headline

        return pack_headline(self.result, self.figures, packed=self.placed, left_out=self.unplaced)

    def content(self) -> "Report":
        """What it takes, how often machines overflow, what over-commitment buys, what is left out and why."""
        from bayplan.report.answers.decision_tables import frame
        from bayplan.report.answers.pack_tables import pack_report
        from bayplan.report.table import report

        counts = [("packed", f"{self.placed:,}"), ("left out", f"{self.unplaced:,}")]
        frame_facts = frame(self.result, method=self.method, seed=self.seed, wall=self.seconds, more=counts)
        return report(frame_facts) + pack_report(self.result, self.figures, self.levels)

    def details(self) -> Mapping[str, Any]:
        """Capacity, overflows and levels of confidence. Amounts are in the resource's written unit."""
        figures, unit = self.figures, self.figures.resource.scale
        return {
            "unplaced": self.unplaced,
            "violation": {
                "predicted": figures.predicted,
                "simulated": figures.simulated,
                "draws": figures.draws,
                "allowed": round(1 - figures.alpha, 12),
            },
            "capacity": {
                "resource": figures.resource.name,
                "confidence": figures.alpha,
                "ucac": figures.ucac / unit,
                "mean": figures.mean / unit,
                "reserved": None if figures.reserved is None else figures.reserved / unit,
                "reserved_by": figures.reserved_by or None,
                "machines": figures.capacity / unit,
                "over_commitment": figures.over_commitment,
            },
            "levels": [
                {
                    "confidence": level.alpha,
                    "by": level.by or "bi-level",
                    "machines": level.machines,
                    "ucac": level.ucac / unit,
                    "left_out": level.left_out,
                    "saved": level.saved,
                }
                for level in self.levels
            ],
        }

    def save_patterns(self, path: PathLike) -> None:
        """Write which containers share a machine, for `pack` on another day."""
        if self.result.solution is not None:
            write_patterns(path, self.snapshot.cluster, self.patterns)

    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page for capacity planning."""
        from bayplan.formats.document.text import write_text_atomically
        from bayplan.report.answers.pack_page import PackPageData, pack_page
        from bayplan.report.page import how_made

        if self.result.solution is None:
            return
        before, usage = self.snapshot.placement, self.instance.usage
        machines = packed_machines(
            self.snapshot.cluster, self.placement, self.instance.problem.main, samples=usage.samples, seed=usage.seed
        )
        data = PackPageData(
            snapshot=replace(self.snapshot, notes=self.input_notes),
            after=self.placement,
            result=self.result,
            figures=self.figures,
            before=figures_of(self.instance, before) if len(before.placed) else None,
            curves=tuple(_curves(self.instance, before, self.placement)),
            levels=self.levels,
            machines=machines,
        )
        write_text_atomically(path, pack_page(data, made=how_made(command)))


def pack(
    snapshot: Snapshot,
    *,
    confidence: float | None = None,
    method: str = "csp-ucac",
    seconds: float = 30.0,
    seed: int = 0,
    confidence_of: Mapping[str, float] | None = None,
    resource: str | None = None,
    uncertainty: str = "gaussian",
    samples: Samples | None = None,
    **options: Unpack[PackKeywords],
) -> PackingAnswer:
    """Put containers whose usage varies onto machines, so that machines overflow with at most a stated probability.

    Containers without a machine are packed, those that run stay. As little capacity as possible is used at that confidence
    (UCaC). What fits nowhere is left out, with the reason.

    - `confidence`: the probability that a machine's usage stays within its capacity; the snapshot's own rules if None;
    - `confidence_of`: a higher one wherever a service or workload runs, by name or pattern: `{"checkout*": 0.9999}`;
    - `resource`: the one whose UCaC counts; that of the first confidence rule, or the first, if None;
    - `uncertainty`: how usage varies: "gaussian" (mean and deviation), "hoeffding" (anything within 0 and the limit),
      "hoeffding-mean" (the same, sharper), "empirical" (as measured);
    - `samples`: measured usage of that resource in base units, by workload; mean and deviation come from here.

    >>> import bayplan as bp
    >>> fleet = bp.generate("ucac", services=5, scale=0.02, machines=40)
    >>> answer = bp.pack(fleet, confidence=0.99, budget=bp.Budget(iterations=50))
    >>> answer.unplaced, answer.gap < 0.01
    (0, True)
    """
    control, chosen = Control.of(seconds, seed, options), method_of("pack", method)
    method_options = options_from(PackOptions, options)
    instance = instance_of(
        snapshot,
        confidence=confidence,
        confidence_of=confidence_of,
        resource=resource,
        uncertainty=uncertainty,
        samples=samples,
        seed=seed,
    )
    control = control.after_compiling(("pack", method), *_rules_need(instance))
    budget = control.method_budget(finish_seconds(snapshot) + EACH_CONTAINER * len(snapshot.cluster.containers.name))
    clock = budget.clock()

    with stoppable() as stop:  # Ctrl-C while the answer is put into numbers does not lose it
        result = chosen(instance.problem, method_options, budget=budget, seed=seed, progress=control.progress)
        if not stop.requested:
            result = with_bound(instance.problem, result, clock=clock, progress=control.progress)
        interrupted = stop.requested
        after = snapshot.placement if result.solution is None else result.solution
        in_time = clock if control.budget is not None else control.clock
        figures = figures_of(instance, after, draws=FEWEST_DRAWS if interrupted else _draws(after, in_time))
        levels = (
            () if interrupted or not len(snapshot.placement.unplaced) else tuple(_within(in_time, confidence_levels(instance)))
        )
    return PackingAnswer(
        verb="pack",
        method=method,
        seed=seed,
        result=result,
        before=_scores_before(instance),
        seconds=control.seconds,
        interrupted=interrupted,
        input_notes=(*snapshot.notes, *instance.notes),
        snapshot=instance.snapshot,
        instance=instance,
        figures=figures,
        levels=levels,
    )


def _rules_need(instance: PackInstance) -> list[tuple[str, str]]:
    """What is called beside the method, as (verb, name) of kernels: rules that packers do not know are those of the search."""
    return [("pack", "within rules")] if has_other_rules(instance.problem) and len(instance.problem.before.unplaced) else []


def _draws(placement: Placement, clock: Clock) -> int:
    """How often the usage of every container is drawn at most: with half of the seconds left."""
    seconds = 0.5 * max(0.0, clock.seconds_left)
    return int(np.clip(seconds * DRAWN_A_SECOND / max(1, len(placement.placed)), FEWEST_DRAWS, MOST_DRAWS))


def _within(clock: Clock, levels: Iterator[ConfidenceLevel]) -> Iterator[ConfidenceLevel]:
    """The levels for which there is time: none is begun if the longest so far took more than what is left."""
    longest = 0.0
    while longest < clock.seconds_left:
        began = clock.seconds
        level = next(levels, None)
        if level is None:
            return
        yield level
        longest = max(longest, clock.seconds - began)


def read_usage(path: PathLike, cluster: Cluster, resource: str | None = None) -> Samples:
    """Measured usage from a file (CSV, JSON or YAML), for `samples` of `pack` and `machines_needed`."""
    by_workload = read_samples(path, cluster, main_resource(cluster, resource))
    return {cluster.workloads.name[w]: values for w, values in by_workload.items()}


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


def figures_of(instance: PackInstance, placement: Placement, draws: int = MOST_DRAWS) -> PackFigures:
    """The numbers of one placement."""
    return pack_figures(
        instance.snapshot.cluster,
        placement,
        instance.problem.main,
        alpha=instance.alpha,
        samples=instance.usage.samples,
        seed=instance.usage.seed,
        most_draws=draws,
    )


def _scores_before(instance: PackInstance) -> Mapping[str, float]:
    """What ran before takes, under the names of the scores."""
    cluster, before = instance.snapshot.cluster, instance.snapshot.placement
    ucac = float(strictest_ucac(cluster, before, instance.problem.main).sum()) / instance.resource.scale
    return {"ucac": ucac, "machines": float((containers_on(cluster, before) > 0).sum())}


def _curves(instance: PackInstance, before: Placement, after: Placement) -> Iterator["UcacCurve"]:
    """After, and before if something ran."""
    from bayplan.report.pictures.ucac import UcacCurve

    yield UcacCurve(name="after", share=_shares(instance, after))
    if len(before.placed):
        yield UcacCurve(name="before", share=_shares(instance, before))


def _shares(instance: PackInstance, placement: Placement) -> FloatArray:
    """(machine,) UCaC relative to capacity, where something runs."""
    cluster, main = instance.snapshot.cluster, instance.problem.main
    busy = containers_on(cluster, placement) > 0
    capacity = np.maximum(1, cluster.machines.capacity[busy, main.resource])
    return floats(strictest_ucac(cluster, placement, main)[busy] / capacity)
