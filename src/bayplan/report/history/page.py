"""One HTML page about what the running system did: a picture, what each plan brought, and the days as a story."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from bayplan.model.record import History, Turn, TurnVerdict
from bayplan.report.amounts import percent
from bayplan.report.history.clock import clock, day, iso, midnight, moment_words
from bayplan.report.history.figures import HistorySummary, summarised
from bayplan.report.history.picture import SLIM, WIDE, Comparison, Points, history_picture
from bayplan.report.history.story import Told, story_days
from bayplan.report.history.tables import event_table, last_rows, plan_table, summary_facts
from bayplan.report.markup import CLASSES, Tile, card, fact_list, html_table, paragraph, tag, tiles
from bayplan.report.page import asset, footer, header, page
from bayplan.report.svg import escaped, without_style
from bayplan.report.table import Style
from bayplan.words import count, first_names

MOST_EVENTS = 500
HOW_TO_READ = (
    "Point at a time to see what that turn came to, and why. Nights (20:00 to 06:00) and weekends are shaded; all times are UTC. "
    "A gap in a line: nothing sound was measured."
)
PLANS = (
    "What came is the share of local traffic that was measured when the plan was verified, or else by the next turn. "
    "Traffic changes by itself, too."
)


def history_page(
    history: History,
    *,
    title: str,
    made: Mapping[str, str],
    baseline: Points = (),
    fresh: Points = (),
    safety: float | None = None,
) -> str:
    """The page. `made` says how it came about.

    To compare with, as (time, share of local traffic): `baseline` is what the orchestrator's own scheduler alone would have,
    `fresh` what placements made anew would have. `safety` is the share of a machine above which it is too full.
    """
    summary, comparison = summarised(history), Comparison(baseline=baseline, fresh=fresh, safety=safety)
    body = [header(title, _verdict(summary), not summary.rollbacks, _lead(history, summary))]
    if history.turns or history.plans:
        body += [_tiles(summary), *_pictures(history, comparison, title), *_sections(history, summary)]
    else:
        body.append(card("", paragraph("There is no turn on record yet.")))
    return page(title, [*body, footer(made, ())], style=asset("history/history.css"))


def _verdict(summary: HistorySummary) -> str:
    """'1 of 26 executions rolled back'."""
    if not summary.executions:
        return "no execution"
    if not summary.rollbacks:
        return f"{count(summary.executions, 'execution')}, none rolled back"
    return f"{summary.rollbacks:,} of {count(summary.executions, 'execution')} rolled back"


def _lead(history: History, summary: HistorySummary) -> str:
    if not summary.turns:
        return ""
    last = history.turns[-1]
    goal = f", goal {last.goal}" if last.goal else ""
    span = f"{moment_words(summary.begin)} to {moment_words(summary.end)} UTC"
    return f"{span}, {count(summary.turns, 'turn')}, mode {last.mode}{goal}"


def _tiles(summary: HistorySummary) -> str:
    local, shares = summary.local, summary.share_moved
    numbers = []
    if local is not None:
        gained: Style = "good" if local[1] > local[0] else "bad" if local[1] < local[0] else ""
        remark = f"{percent(local[0])} at first, {percent(local[2])} on average"
        remark = f"{percent(local[0])} at first, {percent(local[2])} on average"
        numbers.append(Tile("local traffic now", percent(local[1]), remark, gained))
    numbers.append(Tile("executions", f"{summary.executions:,}", f"in {count(summary.turns, 'turn')}"))
    per_execution = f"{percent(shares[0])} of all by one execution, {percent(shares[1])} at most" if shares else ""
    numbers.append(Tile("containers moved", f"{summary.moved:,}", per_execution))
    numbers.append(Tile("rolled back", f"{summary.rollbacks:,}", f"of {count(summary.executions, 'execution')}"))
    if summary.fullest is not None:
        above = f"above safety in {count(summary.hot_turns, 'turn')}" if summary.hot_turns else "never above safety"
        numbers.append(Tile("fullest machine", percent(summary.fullest), above, "bad" if summary.hot_turns else ""))
    held = first_names([hold.workload for hold in summary.holds], 2)
    numbers.append(Tile("held now", f"{len(summary.holds):,}", held or "no workload"))
    return tiles(numbers)


def _pictures(history: History, comparison: Comparison, title: str) -> list[str]:
    """The picture twice: for wide windows, and for telephones. A style sheet shows one of them."""
    drawn = {"wide": WIDE, "narrow": SLIM}
    return [
        tag("h2", "What happened"),
        paragraph(HOW_TO_READ, "soft small"),
        *(
            tag("figure", without_style(history_picture(history, comparison, width=width, title=title)), class_=class_)
            for class_, width in drawn.items()
        ),
    ]


def _sections(history: History, summary: HistorySummary) -> list[str]:
    plans = plan_table(history, carried_out=True)
    return [
        *([tag("h2", "What each plan brought"), card("", paragraph(PLANS, "soft"), html_table(plans))] if plans.rows else []),
        tag("h2", "In short"),
        card("", fact_list(summary_facts(summary))),
        tag("h2", "Day by day"),
        card("", *_days(history)),
        *_log(history),
    ]


def _days(history: History) -> Iterator[str]:
    """Each day folded, with its sum; the last one is open."""
    days = story_days(history)
    turns = {begin: list(group) for begin, group in groupby(history.turns, lambda turn: midnight(turn.started))}
    for number, (begin, told) in enumerate(days):
        lines = [tag("li", tag("time", clock(one.at), datetime=iso(one.at)), _words(one)) for one in told]
        heading = tag("summary", escaped(day(begin)), tag("small", escaped(_of_day(turns.get(begin, [])))))
        yield tag("details", heading, tag("ol", *lines, class_="story"), open="" if number == len(days) - 1 else None)


def _words(told: Told) -> str:
    return tag("span", escaped(told.text), class_=CLASSES[told.style] or None)


def _of_day(turns: Sequence[Turn]) -> str:
    """'4 executions, 57 moved, local traffic 61 % → 63 %'."""
    local = [turn.local for turn in turns if turn.local is not None]
    executed = sum(turn.verdict is TurnVerdict.EXECUTED for turn in turns)
    parts = [count(executed, "execution"), f"{sum(turn.moved for turn in turns):,} moved"] if executed else ["no execution"]
    return ", ".join([*parts, *([f"local traffic {percent(local[0])} → {percent(local[-1])}"] if local else [])])


def _log(history: History) -> list[str]:
    events = event_table(history)
    if not events.rows:
        return []
    shown = last_rows(events, MOST_EVENTS)
    return [tag("h2", "Log"), card("", tag("details", tag("summary", count(len(events.rows), "event")), html_table(shown)))]
