"""Pack a cluster: ask a method, and say what its answer takes, how safe it is, and what over-commitment buys."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bayplan.api.decide import Decision, decide
from bayplan.api.pack_figures import figures_of, machine_rows
from bayplan.api.pack_levels import QUICK, level_rows
from bayplan.api.pack_wishes import Question
from bayplan.decide.pack import PackOptions, PackProblem
from bayplan.decide.pack.result import strictest_ucac
from bayplan.errors import UsageError
from bayplan.formats.document.text import write_text_atomically
from bayplan.formats.patterns import patterns_of, patterns_text, read_patterns
from bayplan.formats.solutions import write_solution
from bayplan.model import FloatArray, Placement, Reason, Result, floats
from bayplan.report.answers.pack_page import PackStory, pack_page
from bayplan.report.answers.pack_tables import ConfidenceLevel, PackFigures
from bayplan.report.page import how_made
from bayplan.report.pictures.ucac import Curve
from bayplan.score.counts import containers_on

EACH_CONTAINER = 1e-4  # seconds to simulate it, and to pack it again

Ask = Callable[[PackProblem], Result[Placement]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Packing:
    """What a method made of a question."""

    question: Question
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


def pack(question: Question, ask: Ask) -> Packing:
    """The packing of a method, in numbers. Ctrl-C asks the method to stop, and its best so far counts."""
    decision = decide(question.snapshot, question.problem, ask)
    figures = figures_of(question, decision.after.placement, question.wishes.seed)
    levels = tuple(level_rows(question)) if len(question.snapshot.placement.unplaced) else ()
    return Packing(question=question, decision=decision, figures=figures, levels=levels)


def seconds_afterwards(question: Question, seconds: float) -> float:
    """What it takes to simulate, and to pack at other confidences, of a user's seconds: at most a quarter."""
    return min(EACH_CONTAINER * len(question.snapshot.cluster.containers.name), 0.25 * seconds)


def pack_options(question: Question, *, n_sigma: float | None, patterns: Path | None) -> PackOptions:
    """The wishes that are not rules; UsageError if one makes no sense."""
    if n_sigma is not None and not 0 <= n_sigma < float("inf"):
        raise UsageError(f"--n-sigma {n_sigma}: expected a number of 0 or more")
    known = None if patterns is None else read_patterns(patterns, question.problem.cluster)
    return PackOptions(n_sigma=n_sigma, patterns=known)


def save(packing: Packing, path: Path | None) -> None:
    """Write what shares machines now, for another day."""
    if path is not None and packing.decision.result.solution is not None:
        cluster = packing.question.snapshot.cluster
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
            "by": row.by or QUICK,
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
        write_text_atomically(report, pack_page(_story(packing), made=how_made(command)))


def _story(packing: Packing) -> PackStory:
    question, snapshot = packing.question, packing.decision.snapshot
    seed = question.wishes.seed
    return PackStory(
        snapshot=replace(snapshot, notes=(*snapshot.notes, *question.notes)),
        after=packing.placement,
        result=packing.decision.result,
        figures=packing.figures,
        before=figures_of(question, snapshot.placement, seed) if len(snapshot.placement.placed) else None,
        curves=tuple(_curves(packing)),
        levels=packing.levels,
        machines=machine_rows(question, packing.placement, seed),
        left_out=packing.left_out,
        violated=packing.broken,
    )


def _curves(packing: Packing) -> Iterator[Curve]:
    """After, and before if something ran."""
    yield Curve(name="after", share=_shares(packing.question, packing.placement))
    before = packing.decision.snapshot.placement
    if len(before.placed):
        yield Curve(name="before", share=_shares(packing.question, before))


def _shares(question: Question, placement: Placement) -> FloatArray:
    cluster = question.snapshot.cluster
    busy = containers_on(cluster, placement) > 0
    capacity = np.maximum(1, cluster.machines.capacity[busy, question.problem.main.resource])
    return floats(strictest_ucac(question.problem, placement)[busy] / capacity)
