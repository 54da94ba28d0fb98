"""A history told day by day, in sentences."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from bayplan.model.record import History, PlanStatus, Turn, TurnVerdict
from bayplan.report.amounts import percent
from bayplan.report.history.clock import clock, day, midnight, moment_words, when
from bayplan.report.history.figures import CARRIED_OUT, PlanOutcome, Spell, hold_begins, outcomes, reasons, spells
from bayplan.report.table import Report, Sentence, Style, report
from bayplan.words import count, first_names

WORDS: dict[TurnVerdict, tuple[str, Style]] = {
    TurnVerdict.RUNNING: ("running", "soft"),
    TurnVerdict.EXECUTED: ("executed", "good"),
    TurnVerdict.PROPOSED: ("proposed", ""),
    TurnVerdict.DRY_RUN: ("dry run", "soft"),
    TurnVerdict.NOTHING: ("nothing to move", "soft"),
    TurnVerdict.HELD_OFF: ("held off", "warn"),
    TurnVerdict.UNSOUND: ("unsound observation", "warn"),
    TurnVerdict.FAILED: ("failed", "bad"),
}
ENDINGS: dict[PlanStatus, tuple[str, Style]] = {  # of a plan that was carried out: what is said of it in the end
    PlanStatus.EXECUTING: ("at work", ""),
    PlanStatus.SETTLING: ("not verified yet", ""),
    PlanStatus.ROLLING_BACK: ("being rolled back", "bad"),
    PlanStatus.DONE: ("verified", "good"),
    PlanStatus.STOPPED: ("stopped", "warn"),
    PlanStatus.ROLLED_BACK: ("rolled back", "bad"),
}
ENDED = (PlanStatus.STOPPED, PlanStatus.ROLLED_BACK, PlanStatus.ROLLING_BACK, PlanStatus.EXPIRED)  # told when it happened
QUIET = (TurnVerdict.DRY_RUN, TurnVerdict.NOTHING)
MOST_REASONS = 3  # of turns without a move, in one sentence
TOLD_EVENTS = ("approve", "reject", "pause", "resume", "lease", "recover")  # beside what turns and plans say themselves


class Told(NamedTuple):
    """One sentence of the story, at its time."""

    at: float
    text: str
    style: Style


def history_story(history: History) -> Report:
    """What happened, day by day, oldest first: 'Mon 06:30 executed plan 3f2a: 12 of 75 containers moved, ...'."""
    lines: list[Sentence] = []
    for begin, sentences in story_days(history):
        lines.append(Sentence(day(begin), "strong"))
        lines += [Sentence(f"{when(one.at)} {one.text}", one.style) for one in sentences]
    return report(*lines) if lines else report(Sentence("Nothing has happened yet."))


def story_days(history: History) -> list[tuple[float, list[Told]]]:
    """Each day on which something happened, by its midnight, and what did."""
    told = sorted([*_events(history), *_turns(history), *_endings(history)], key=attrgetter("at"))
    return [(begin, list(sentences)) for begin, sentences in groupby(told, lambda one: midnight(one.at))]


def _turns(history: History) -> Iterator[Told]:
    by_turn = {outcome.turn.id: outcome for outcome in outcomes(history) if outcome.turn}
    for (_, quiet), group in groupby(history.turns, lambda turn: (midnight(turn.started), turn.verdict in QUIET)):
        turns = tuple(group)
        if quiet:
            yield _quiet(turns)
        else:
            yield from (_told(spell, by_turn) for spell in spells(turns))


def _quiet(turns: Sequence[Turn]) -> Told:
    """'to 10:30 18 turns without a move: 12 × the gain of 1.0–2.9 % is below 3 %, 6 × no move was found that pays'."""
    causes = reasons(turn.why or WORDS[turn.verdict][0] for turn in turns).most_common()
    if len(turns) == 1:
        return Told(turns[0].started, f"{WORDS[turns[0].verdict][0]}: {causes[0][0]}", "soft")
    listed = ", ".join(f"{times} × {why}" for why, times in causes[:MOST_REASONS]) if len(causes) > 1 else causes[0][0]
    more = f", {count(len(causes) - MOST_REASONS, 'other reason')}" if len(causes) > MOST_REASONS else ""
    return Told(turns[0].started, f"to {clock(turns[-1].started)} {len(turns)} turns without a move: {listed}{more}", "soft")


def _told(spell: Spell, by_turn: dict[int, PlanOutcome]) -> Told:
    verdict, outcome = spell.first.verdict, by_turn.get(spell.first.id)
    words, style = WORDS[verdict]
    if outcome is not None and outcome.plan.status in CARRIED_OUT:
        return Told(spell.first.started, executed_words(outcome), ENDINGS[outcome.plan.status][1])
    if outcome is not None and verdict is TurnVerdict.PROPOSED:
        words = f"proposed plan {outcome.plan.id}, {count(spell.first.moves, 'move')}"
    until = f"to {clock(spell.last.started)} {len(spell.turns)} turns " if len(spell.turns) > 1 else ""
    return Told(spell.first.started, f"{until}{words}{f': {spell.why}' if spell.why else ''}", style)


def executed_words(outcome: PlanOutcome) -> str:
    """'executed plan 3f2a: 12 of 75 containers moved, local traffic 19 % → 54 %, verified'."""
    plan, turn = outcome.plan, outcome.turn
    of = f"{outcome.moved:,} of {count(turn.containers, 'container')} moved" if turn else count(len(plan.moves), "move")
    parts = [of, local_words(outcome), ENDINGS[plan.status][0]]
    return f"executed plan {plan.id}: {', '.join(filter(None, parts))}"


def local_words(outcome: PlanOutcome) -> str:
    """'local traffic 19 % → 54 %'; what was expected, where nothing was measured since."""
    if outcome.before is None:
        return ""
    if outcome.came is not None:
        return f"local traffic {percent(outcome.before)} → {percent(outcome.came)}"
    return (
        f"local traffic {percent(outcome.before)}, expected {percent(outcome.expected)}" if outcome.expected is not None else ""
    )


def _endings(history: History) -> Iterator[Told]:
    """What became of plans later than in their own turn: stopped, rolled back, expired; and what is left alone since."""
    for plan in history.plans:
        if plan.status in ENDED:
            words, style = ENDINGS.get(plan.status, (plan.status.value, "soft"))
            held = [hold for hold in history.holds if hold.plan == plan.id]
            names = first_names([hold.workload for hold in held])
            until = f"; {names} left alone until {moment_words(max(hold.until for hold in held))}" if held else ""
            yield Told(plan.changed or plan.created, f"{words} plan {plan.id}{f': {plan.why}' if plan.why else ''}{until}", style)
    said = {plan.id for plan in history.plans if plan.status in ENDED}
    for hold, begun in zip(history.holds, hold_begins(history), strict=True):
        if hold.plan not in said:
            yield Told(begun, f"{hold.workload} left alone until {moment_words(hold.until)}: {hold.why}", "warn")


def _events(history: History) -> Iterator[Told]:
    for event in history.events:
        if event.kind in TOLD_EVENTS:
            yield Told(event.at, f"{f'plan {event.plan} ' if event.plan else ''}{event.text}", "warn")
