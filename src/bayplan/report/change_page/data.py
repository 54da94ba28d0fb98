"""What the page about a change shows, as values."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from bayplan.model import UNPLACED, Action, IntArray, Placement, Plan, Running, Snapshot, ints
from bayplan.report.amounts import percent
from bayplan.report.answers.plan_tables import BatchFigures
from bayplan.report.table import Table
from bayplan.score.duration import Timetable
from bayplan.words import count

Verdict: TypeAlias = Literal["better", "worse", "same"]
ROUNDING = 1e-9
MOVES, COMES, GOES = "moves", "gets a machine", "is taken away"  # the reasons of what no note explains


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MoveNote:
    """One moved container: from where to where, and why. `UNPLACED` is no machine."""

    container: int
    source: int  # machine
    target: int  # machine
    gain: Mapping[str, float] = field(default_factory=dict)  # label in words -> share; positive is good
    net: float = 0.0  # what the plan would lose without this move, after its price
    why: str = ""  # one sentence
    reason: str = MOVES  # a short category


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One number before and after. Without `before` it is a number of the plan, such as its batches."""

    label: str
    before: str
    after: str
    verdict: Verdict = "same"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """What could be gained with this many moves."""

    moved: int
    share: float  # of the containers that ran
    gain: float
    figures: Mapping[str, str] = field(default_factory=dict)  # label -> text
    chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """A heading and what stands below it, as markup."""

    title: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangePageData:
    """What the page about a change shows. Only the snapshot, the placement after and the headline are needed."""

    snapshot: Snapshot  # the cluster and where everything runs now
    after: Placement
    headline: str
    details: tuple[str, ...] = ()  # further sentences of the summary
    verdict: str = ""  # of the referee, and
    valid: bool = True  # whether it is a good one
    cards: tuple[Card, ...] = ()
    moves: tuple[MoveNote, ...] = ()  # containers that change without a note get one, without gains
    plan: Plan | None = None
    running: Running | None = None  # at the start of the plan, if containers run twice there
    timetable: Timetable | None = None
    batches: Sequence[BatchFigures | Mapping[str, Any]] = ()  # in numbers
    front: tuple[FrontPoint, ...] = ()
    comparisons: tuple[Table, ...] = ()  # what-if: now, what-if, what-if with the plan
    sections: tuple[PageSection, ...] = ()  # further pictures
    tables: tuple[Table, ...] = ()  # scores
    warnings: tuple[str, ...] = ()
    group_by: str | None = None  # a level by which machines are grouped
    made: Mapping[str, str] = field(default_factory=dict)


def number_card(
    label: str,
    before: float,
    after: float,
    *,
    words: Callable[[float], str] = percent,
    more_is_better: bool = False,
    note: str = "",
) -> Card:
    """A card about a number: better or worse by its direction, the same if it changes by rounding only."""
    gain = (after - before) * (1 if more_is_better else -1) if before != after else 0.0
    near = math.isfinite(gain) and abs(gain) <= ROUNDING * max(1.0, abs(before))
    verdict: Verdict = "same" if near else "better" if gain > 0 else "worse"
    return Card(label=label, before=words(before), after=words(after), verdict=verdict, note=note)


def all_moves(data: ChangePageData) -> tuple[MoveNote, ...]:
    """The given notes, then one for every container that changes without a note."""
    before, after = data.snapshot.placement.machine_of, data.after.machine_of
    noted = {move.container for move in data.moves}
    others = (
        MoveNote(container=c, source=int(before[c]), target=int(after[c]), reason=_reason(int(before[c]), int(after[c])))
        for c in np.flatnonzero(before != after).tolist()
        if c not in noted
    )
    return (*data.moves, *others)


def _reason(source: int, target: int) -> str:
    return COMES if source == UNPLACED else GOES if target == UNPLACED else MOVES


def batch_of(moves: Sequence[MoveNote], plan: Plan | None) -> IntArray:
    """(move,) the batch, from 1, in which a container starts on its target, or ends if it has none; 0 if no batch does."""
    arrives: dict[int, int] = {}
    for number, batch in enumerate(plan.batches if plan is not None else (), start=1):
        for step in batch:
            if step.action is Action.CREATE or step.container not in arrives:
                arrives[step.container] = number
    return ints([arrives.get(move.container, 0) for move in moves])


def change_words(before: Placement, after: Placement) -> str:
    """'37 containers moved, 4 placed, 1 taken away'."""
    moved = len(after.moved_from(before))
    came = int(((before.machine_of < 0) & (after.machine_of >= 0)).sum())
    went = int(((before.machine_of >= 0) & (after.machine_of < 0)).sum())
    parts = [
        f"{count(moved - went, 'container')} moved",
        f"{came:,} placed" if came else "",
        f"{went:,} taken away" if went else "",
    ]
    return ", ".join(filter(None, parts))
