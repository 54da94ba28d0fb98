"""A history as facts and tables, and as one JSON object."""

from collections.abc import Sequence
from typing import Any

from bayplan.model.record import History, PlanStatus, TurnVerdict
from bayplan.report.amounts import percent
from bayplan.report.history.clock import clock, iso, midnight, moment_words, when
from bayplan.report.history.figures import CARRIED_OUT, HistorySummary, PlanOutcome, Spell, outcomes, spells, summarised
from bayplan.report.history.story import ENDINGS, WORDS
from bayplan.report.json import plain
from bayplan.report.table import (
    UNKNOWN,
    Cell,
    Facts,
    Report,
    Sentence,
    Style,
    Table,
    TableColumn,
    count_cell,
    facts,
    report,
    share_cell,
    table,
)
from bayplan.words import count, first_names

EVENTS = 12  # the last ones, in a terminal
ROWS = 20  # of the other tables, in a terminal: the last ones
REASONS = 3  # of dry runs

TURNS = (
    TableColumn("when", least=16),
    TableColumn("turns", "number", drop=3),
    TableColumn("verdict", least=10),
    TableColumn("moves", "number", drop=4),
    TableColumn("local", "share"),
    TableColumn("fullest", "share", drop=1),
    TableColumn("above safety", "number", short="above\nsafety", drop=2),
    TableColumn("why", least=24),
)
PLANS = (
    TableColumn("when", least=16),
    TableColumn("plan", least=8),
    TableColumn("status", least=11),
    TableColumn("moved", "number"),
    TableColumn("planned", "number", drop=2),
    TableColumn("share of all", "share", short="share\nof all", drop=3),
    TableColumn("expected gain", "share", short="expected\ngain", drop=1, key="gain"),
    TableColumn("before", "share"),
    TableColumn("expected", "share"),
    TableColumn("came", "share"),
    TableColumn("why", drop=4, least=16),
)
LOG = (
    TableColumn("when", least=16),
    TableColumn("kind", least=8),
    TableColumn("plan", drop=1, least=8),
    TableColumn("event", least=30),
)


def history_report(history: History) -> Report:
    """What `history` prints: a summary, turns, plans, the last events."""
    summary = summarised(history)
    if not summary.turns and not history.plans:
        return report(Sentence("Nothing has happened yet: there is no turn on record."))
    turns, plans = turn_table(history), plan_table(history)
    return report(
        Sentence(headline(summary), "bad" if summary.rollbacks else "good"),
        summary_facts(summary),
        last_rows(turns, ROWS),
        last_rows(plans, ROWS),
        last_rows(event_table(history), EVENTS),
    )


def history_headline(history: History) -> str:
    """What it came to, in one sentence."""
    return headline(summarised(history))


def headline(summary: HistorySummary) -> str:
    """'12 executions in 336 turns, 1 rolled back; local traffic 19 % → 61 %'."""
    back = f", {summary.rollbacks:,} rolled back" if summary.rollbacks else ""
    local = f"; local traffic {percent(summary.local[0])} → {percent(summary.local[1])}" if summary.local else ""
    return f"{count(summary.executions, 'execution')} in {count(summary.turns, 'turn')}{back}{local}"


def summary_facts(summary: HistorySummary) -> Facts:
    """Names and values."""
    shares, local = summary.share_moved, summary.local
    dry = [f"{times:,} × {why or 'no reason given'}" for why, times in summary.dry_runs.most_common(REASONS)]
    more = len(summary.dry_runs) - REASONS
    return facts(
        ("time", f"{moment_words(summary.begin)} to {moment_words(summary.end)} UTC"),
        ("turns", ", ".join(f"{times:,} {WORDS[verdict][0]}" for verdict, times in summary.verdicts.most_common())),
        ("moved", f"{count(summary.moved, 'container')} in {count(summary.executions, 'execution')}"),
        ("per execution", f"{percent(shares[0])} of all containers (median), {percent(shares[1])} at most" if shares else ""),
        ("dry runs", "; ".join(dry) + (f"; and {count(more, 'other reason')}" if more > 0 else "")),
        ("rolled back", f"{summary.rollbacks:,}" if summary.executions else ""),
        ("held now", first_names([f"{hold.workload} until {moment_words(hold.until)}" for hold in summary.holds])),
        ("local traffic", f"{percent(local[0])} → {percent(local[1])}, {percent(local[2])} on average" if local else ""),
        ("fullest machine", f"{percent(summary.fullest)} at most" if summary.fullest is not None else ""),
        ("above safety", f"a machine in {count(summary.hot_turns, 'turn')}" if summary.hot_turns else ""),
    )


def turn_table(history: History) -> Table:
    """Turns with something to say; those in a row that say the same are one line."""
    spoken = [turn for turn in history.turns if turn.verdict is not TurnVerdict.NOTHING]
    return table(TURNS, map(_turn, spells(spoken)), title="Turns")


def _turn(spell: Spell) -> tuple[Cell, ...]:
    first, last = spell.first, spell.last
    words, style = WORDS[first.verdict]
    until = clock(last.started) if midnight(last.started) == midnight(first.started) else when(last.started)
    return (
        Cell(moment_words(first.started) + (f" – {until}" if last is not first else ""), first.started),
        count_cell(len(spell.turns)),
        Cell(words, style=style),
        count_cell(first.moved or first.moves) if len(spell.turns) == 1 else Cell(UNKNOWN),
        share_cell(last.local),
        share_cell(last.fullest, "warn" if last.hot else ""),
        count_cell(last.hot, "warn" if last.hot else ""),
        Cell(spell.why),
    )


def plan_table(history: History, *, carried_out: bool = False) -> Table:
    """Every plan, or those that were carried out, and what came of it."""
    listed = [outcome for outcome in outcomes(history) if not carried_out or outcome.plan.status in CARRIED_OUT]
    return table(PLANS, map(_plan, listed), title="Plans")


def _plan(outcome: PlanOutcome) -> tuple[Cell, ...]:
    plan = outcome.plan
    words, style = ENDINGS.get(plan.status, (plan.status.value, "soft"))
    return (
        Cell(moment_words(outcome.begun), outcome.begun),
        Cell(plan.id),
        Cell(words, style=style),
        count_cell(outcome.moved),
        count_cell(len(plan.moves)),
        share_cell(outcome.share_moved if outcome.moved else None),
        share_cell(outcome.gain),
        share_cell(outcome.before),
        share_cell(outcome.expected),
        share_cell(outcome.came, _how_good(outcome)),
        Cell(plan.why),
    )


def _how_good(outcome: PlanOutcome) -> Style:
    """Better or worse than before?"""
    if outcome.came is None or outcome.before is None or outcome.plan.status is PlanStatus.ROLLED_BACK:
        return ""
    return "good" if outcome.came > outcome.before else "bad" if outcome.came < outcome.before else ""


def event_table(history: History) -> Table:
    """The log."""
    rows = ((Cell(moment_words(e.at), e.at), Cell(e.kind), Cell(e.plan), Cell(e.text)) for e in history.events)
    return table(LOG, rows, title="Events")


def last_rows(every: Table, most: int) -> Table:
    """The last rows, and how many there were before."""
    hidden = len(every.rows) - most
    if hidden <= 0:
        return every
    shown = table(every.columns, every.rows[-most:], title=f"{every.title}, the last {most}")
    return Table(columns=shown.columns, rows=shown.rows, title=shown.title, footer=f"{hidden:,} before")


def history_details(history: History) -> dict[str, Any]:
    """The same as JSON: `summary`, `turns`, `plans`, `holds`, `events`; times are seconds since 1970, with `_utc` beside some."""
    summary = summarised(history)
    return {
        "summary": {
            **plain(summary),
            "verdicts": {verdict.value: times for verdict, times in summary.verdicts.items()},
            "begin_utc": iso(summary.begin),
            "end_utc": iso(summary.end),
        },
        "turns": plain(history.turns),
        "plans": [_details(outcome) for outcome in outcomes(history)],
        "holds": plain(history.holds),
        "events": plain(history.events),
    }


def _details(outcome: PlanOutcome) -> dict[str, Any]:
    """A plan without its batches and the loads before it: they are for going on with it."""
    plan = plain(outcome.plan)
    kept: Sequence[str] = (
        "id",
        "turn",
        "created",
        "status",
        "goal",
        "fingerprint",
        "moves",
        "expected",
        "summary",
        "changed",
        "why",
        "approved_by",
    )
    return {
        **{key: plan[key] for key in kept},
        "moved": outcome.moved,
        "local_before": outcome.before,
        "local_expected": outcome.expected,
        "local_after": outcome.came,
        "gain": outcome.gain,
    }
