"""Gate: is a plan worth its disruption, and may it be carried out now? Otherwise it is recorded as a dry run."""

from dataclasses import dataclass

from bayplan.api.planning.answer import PlanAnswer
from bayplan.operate.context import LoopContext
from bayplan.operate.stages.decide import executions_left
from bayplan.operate.windows import closing_time

PAYS = 0.15  # of `min_gain`: a plan that is a part of the way gains at least as much by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """Whether a plan passes, and why or why not, in a sentence."""

    passes: bool
    why: str


def gate(context: LoopContext, answer: PlanAnswer, most: float) -> GateVerdict:
    """A plan passes if it is urgent, or if there is more than `min_gain` to gain, the price of all moves taken off.

    `most` is what there is to gain in all, by this plan and those that may follow.

    The gain is a sum of weighted shares: with a weight of 1 for local traffic, 0.03 is three points of gained affinity. As in
    [RASA] §III-C it is what a new placement would gain in all; a plan may be a part of the way, but must pay for itself.
    """
    settings = context.settings
    words = f"{100 * answer.gain:.1f} points to gain, the price of moves taken off"
    if most > answer.gain:
        words = f"{100 * most:.1f} points to gain, {100 * answer.gain:.1f} by this plan, the price of moves taken off"
    if answer.urgent:
        return GateVerdict(passes=True, why=f"urgent: {_urgency(answer)}")
    if most <= settings.min_gain:
        return GateVerdict(passes=False, why=f"{words}: not more than {100 * settings.min_gain:g}")
    if answer.gain < PAYS * settings.min_gain:
        return GateVerdict(passes=False, why=f"{words}: as few moves as are allowed hardly pay")
    return GateVerdict(passes=True, why=words)


def _urgency(answer: PlanAnswer) -> str:
    """What it repairs."""
    before, after = answer.figures.before, answer.figures.after
    parts = []
    if after.violated < before.violated:
        parts.append(f"violated rules {before.violated:,} -> {after.violated:,}")
    if after.unplaced < before.unplaced:
        parts.append(f"containers without a machine {before.unplaced:,} -> {after.unplaced:,}")
    if after.overload < before.overload:
        parts.append(f"machines above safety {before.hot:,} -> {after.hot:,}, and less load above it")
    if answer.drained or (answer.wanted.empty_machines and answer.emptied):
        parts.append("machines are emptied")
    return ", ".join(parts)


def acting_paused(context: LoopContext) -> str:
    """Who has set the stop switch, and why, or that this process was asked to end; empty if nothing is against acting."""
    paused = context.store.paused()
    if paused is None and context.stop():
        return "asked to end"
    if paused is None:
        return ""
    return f"paused by {paused.by}: {paused.why}" if paused.why else f"paused by {paused.by}"


def acting_allowed(context: LoopContext, duration: float = 0.0) -> GateVerdict:
    """May anything be done now: not paused, inside of a window that stays open for long enough, within the executions allowed?"""
    paused, now = acting_paused(context), context.now()
    if paused:
        return GateVerdict(passes=False, why=paused)
    closes = closing_time(context.settings.windows, now)
    if closes is None:
        return GateVerdict(passes=False, why="outside of the windows in which acting is allowed")
    if closes - now < duration:
        return GateVerdict(passes=False, why=f"the window closes in {(closes - now) / 60:.0f} minutes, the plan takes longer")
    if not executions_left(context, now):
        return GateVerdict(passes=False, why="no further plan may be carried out in this hour or on this day")
    return GateVerdict(passes=True, why="")
