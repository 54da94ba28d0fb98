"""`pack`: put containers whose usage varies onto machines, so that machines overflow with at most a stated probability."""

import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from bayplan.api.answer import PathLike
from bayplan.api.control import Control, ParallelKeywords, options_from
from bayplan.api.packing.overflow_simulation import simulation_on
from bayplan.api.packing.question import Samples, instance_of
from bayplan.api.packing.replica_targets import ReplicaChange, change_to, over_confidence, violated_by_deletions
from bayplan.api.placement import PlacementAnswer, finish_seconds
from bayplan.api.registry import method_of
from bayplan.decide.pack.confidence_levels import confidence_levels
from bayplan.decide.pack.cutting_stock import with_bound
from bayplan.decide.pack.instance import PackInstance
from bayplan.decide.pack.options import PackOptions
from bayplan.decide.pack.within_rules import has_other_rules
from bayplan.engine import Engine, LossNotes, LossReport, log_loss
from bayplan.engine.lazy import LazyEngine
from bayplan.formats.patterns import patterns_of, write_patterns
from bayplan.model import UNPLACED, Clock, FloatArray, IntArray, Placement, Snapshot, floats
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


class PackKeywords(ParallelKeywords, total=False):
    """What is packed, and options of the methods."""

    targets: Mapping[str, int] | None  # containers that workloads must have; those that are not named keep their number
    n_sigma: float | None  # bf-nsigma: deviations above its mean that a container counts; those of the confidence if None
    patterns: IntArray | None  # csp-ucac, csp-machines, csp-mac: the `patterns` of an earlier answer, to begin from


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PackingAnswer(PlacementAnswer):
    """Which machine each container got, what that takes at the stated confidence, and how often machines overflow."""

    instance: PackInstance
    figures: PackFigures  # of the answer
    levels: tuple[ConfidenceLevel, ...]  # the same containers at other confidences
    change: ReplicaChange | None = None  # to target numbers, if some were stated; `snapshot` lacks what is deleted

    @property
    def patterns(self) -> IntArray:
        """(pattern, workload) which containers share a machine, for `pack` on another day."""
        return patterns_of(self.snapshot.cluster, self.placement)

    @property
    def deleted(self) -> tuple[tuple[str, str], ...]:
        """Containers that are deleted to reach the target numbers, each with its machine; "" if it had none."""
        return () if self.change is None else self.change.deleted

    @property
    def created(self) -> tuple[tuple[str, str], ...]:
        """Containers that had no machine and have one now, each with its machine."""
        cluster, before, after = self.snapshot.cluster, self.snapshot.placement.machine_of, self.placement.machine_of
        new = np.flatnonzero((before == UNPLACED) & (after != UNPLACED)).tolist()
        return tuple((cluster.containers.name[c], cluster.machines.name[after[c]]) for c in new)

    @property
    def machines_freed(self) -> tuple[str, ...]:
        """Machines that ran something before and run nothing any more."""
        return () if self.change is None else self.change.freed(self.after)

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        from bayplan.report.answers.pack_tables import change_headline, pack_headline

        packed = pack_headline(self.result, self.figures, packed=self.placed, left_out=self.unplaced)
        return packed if self.change is None else f"{change_headline(len(self.deleted), len(self.machines_freed))}; {packed}"

    def content(self) -> "Report":
        """What it takes, how often machines overflow, what over-commitment buys, what is left out and why."""
        from bayplan.report.answers.decision_tables import frame
        from bayplan.report.answers.pack_tables import pack_report
        from bayplan.report.table import report

        counts = [("packed", f"{self.placed:,}"), ("left out", f"{self.unplaced:,}")]
        frame_facts = frame(self.result, method=self.method, seed=self.seed, wall=self.seconds, more=counts)
        return report(frame_facts) + self._change_content() + pack_report(self.result, self.figures, self.levels)

    def _change_content(self) -> "Report":
        """What is deleted and created per workload, and what becomes of machines; nothing without target numbers."""
        from bayplan.report.answers.pack_tables import WorkloadChange, change_report
        from bayplan.report.table import report

        if self.change is None:
            return report()
        rows = [WorkloadChange(**row) for row in self._by_workload()]
        over = over_confidence(self.change.before, self.change.before.snapshot.placement), self._over()
        containers = {"deleted": self.deleted, "created": self.created}
        return change_report(rows, containers, freed=self.machines_freed, opened=self.change.opened(self.after), over=over)

    def _by_workload(self) -> Iterator[dict[str, Any]]:
        """One entry per workload whose number changes."""
        assert self.change is not None
        cluster, before = self.snapshot.cluster, self.change.before.snapshot.cluster.replicas
        left = np.bincount(cluster.containers.workload[self.placement.unplaced], minlength=len(before))
        unplaced = np.bincount(cluster.containers.workload[self.snapshot.placement.unplaced], minlength=len(before))
        for w in np.flatnonzero((self.change.target != before) | (unplaced > 0)).tolist():
            yield {
                "workload": cluster.workloads.name[w],
                "before": int(before[w]),
                "target": int(self.change.target[w]),
                "deleted": max(0, int(before[w] - self.change.target[w])),
                "created": int(unplaced[w] - left[w]),
                "left_out": int(left[w]),
            }

    def _over(self) -> int:
        """Machines on which the confidence does not hold in the answer."""
        return over_confidence(self.instance, self.placement)

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
            **({} if self.change is None else {"change": self._change_details(self.change)}),
        }

    def _change_details(self, change: ReplicaChange) -> Mapping[str, Any]:
        return {
            "workloads": list(self._by_workload()),
            "deleted": [{"container": container, "machine": machine or None} for container, machine in self.deleted],
            "created": [{"container": container, "machine": machine} for container, machine in self.created],
            "machines_freed": list(self.machines_freed),
            "machines_opened": list(change.opened(self.after)),
            "machines_over_confidence": {
                "before": over_confidence(change.before, change.before.snapshot.placement),
                "after": self._over(),
            },
        }

    def save(self, path: PathLike) -> None:
        """Write the placement in the form of its input; to target numbers: the whole snapshot, as containers come and go."""
        if self.change is None:
            PlacementAnswer.save(self, path)
        elif self.result.solution is not None:
            from bayplan.formats import write

            write(self.after, path)

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
        earlier = self.instance if self.change is None else self.change.before
        before, usage = earlier.snapshot.placement, self.instance.usage
        machines = packed_machines(
            self.snapshot.cluster, self.placement, self.instance.problem.main, simulation=simulation_on(usage)
        )
        data = PackPageData(
            snapshot=replace(self.snapshot, notes=self.input_notes),
            after=self.placement,
            result=self.result,
            figures=self.figures,
            before=figures_of(earlier, before) if len(before.placed) else None,
            curves=tuple(_curves(earlier, self.instance, self.placement)),
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
    - `samples`: measured usage of that resource in base units, by workload; mean and deviation come from here;
    - `targets`: how many containers workloads must have. What is too much is deleted where that saves most UCaC, what is missing
      is packed; workloads that are not named keep their number. Patterns of what runs now are carried over;
    - `engine`: where patterns are priced and other confidences are packed, once that takes long: "pool", as many processes as
      `threads` says, or "ray"; it changes no answer but by its speed.

    >>> import bayplan as bp
    >>> fleet = bp.generate("ucac", services=5, scale=0.02, machines=40)
    >>> answer = bp.pack(fleet, confidence=0.99, budget=bp.Budget(iterations=50))
    >>> answer.unplaced, answer.gap < 0.01
    (0, True)
    """
    control, chosen = Control.of(seconds, seed, options), method_of("pack", method)
    targets = options.pop("targets", None)
    method_options = replace(options_from(PackOptions, options), engine=control.engine)
    stated: dict[str, Any] = {"confidence": confidence, "confidence_of": confidence_of, "resource": resource}
    stated |= {"uncertainty": uncertainty, "samples": samples, "seed": seed}
    instance, change = instance_of(snapshot, **stated), None
    if targets is not None:
        change, snapshot = change_to(instance, targets)
        instance = instance_of(snapshot, **stated)
        method_options = replace(method_options, patterns=_carried_over(method_options.patterns, change.patterns))
    control = control.after_compiling(("pack", method), *_rules_need(instance))
    budget = control.method_budget(finish_seconds(snapshot) + EACH_CONTAINER * len(snapshot.cluster.containers.name))
    clock = budget.clock()

    with control.engine or nullcontext(), stoppable() as stop:  # Ctrl-C while the answer is put into numbers does not lose it
        result = chosen(instance.problem, method_options, budget=budget, seed=seed, progress=control.progress)
        if not stop.requested:
            result = with_bound(instance.problem, result, clock=clock, progress=control.progress, engine=control.engine)
        interrupted = stop.requested
        after = snapshot.placement if result.solution is None else result.solution
        in_time = clock if control.budget is not None else control.clock
        place, losses = DrawnOn(None if interrupted else control.engine, budget.threads), LossNotes()
        draws = FEWEST_DRAWS if interrupted else _draws(after, in_time)
        figures = figures_of(instance, after, draws=draws, place=place, lost=losses.report)
        result = replace(result, notes=(*result.notes, *losses.notes))
        if change is not None:
            result = replace(result, notes=(*result.notes, *violated_by_deletions(change, instance.snapshot, after)))
        levels: tuple[ConfidenceLevel, ...] = ()
        if not interrupted and len(snapshot.placement.unplaced):
            engine = LazyEngine(control.engine, workers=budget.threads)
            ends = time.perf_counter() + in_time.seconds_left
            levels = tuple(_within(in_time, confidence_levels(instance, engine, ends)))
            result = replace(result, notes=(*result.notes, *engine.notes))
    return PackingAnswer(
        verb="pack",
        method=method,
        seed=seed,
        result=result,
        before=_scores_before(instance if change is None else change.before),
        seconds=control.seconds,
        interrupted=interrupted,
        input_notes=(*snapshot.notes, *instance.notes),
        snapshot=instance.snapshot,
        instance=instance,
        figures=figures,
        levels=levels,
        change=change,
    )


def _carried_over(stated: IntArray | None, yesterday: IntArray) -> IntArray | None:
    """Patterns to begin from: those that were stated, and those of the day before."""
    patterns = yesterday if stated is None else np.unique(np.concatenate([stated, yesterday]), axis=0)
    return patterns if len(patterns) else None


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


class DrawnOn(NamedTuple):
    """Where usage is drawn: this process by default."""

    engine: Engine | None = None
    workers: int = 1


def figures_of(
    instance: PackInstance,
    placement: Placement,
    draws: int = MOST_DRAWS,
    *,
    place: DrawnOn = DrawnOn(),
    lost: LossReport = log_loss,
) -> PackFigures:
    """The numbers of one placement."""
    return pack_figures(
        instance.snapshot.cluster,
        placement,
        instance.problem.main,
        alpha=instance.alpha,
        simulation=simulation_on(instance.usage, place.engine, workers=place.workers, lost=lost),
        most_draws=draws,
    )


def _scores_before(instance: PackInstance) -> Mapping[str, float]:
    """What ran before takes, under the names of the scores."""
    cluster, before = instance.snapshot.cluster, instance.snapshot.placement
    ucac = float(strictest_ucac(cluster, before, instance.problem.main).sum()) / instance.resource.scale
    return {"ucac": ucac, "machines": float((containers_on(cluster, before) > 0).sum())}


def _curves(before: PackInstance, instance: PackInstance, after: Placement) -> Iterator["UcacCurve"]:
    """After, and before if something ran."""
    from bayplan.report.pictures.ucac import UcacCurve

    yield UcacCurve(name="after", share=_shares(instance, after))
    if len(before.snapshot.placement.placed):
        yield UcacCurve(name="before", share=_shares(before, before.snapshot.placement))


def _shares(instance: PackInstance, placement: Placement) -> FloatArray:
    """(machine,) UCaC relative to capacity, where something runs."""
    cluster, main = instance.snapshot.cluster, instance.problem.main
    busy = containers_on(cluster, placement) > 0
    capacity = np.maximum(1, cluster.machines.capacity[busy, main.resource])
    return floats(strictest_ucac(cluster, placement, main)[busy] / capacity)
