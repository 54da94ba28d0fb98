"""A history in one picture: local traffic, the fullest machine, moves, what each turn came to, and holds, on one time axis."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple, TypeAlias

from bayplan.model.record import History, Turn, TurnVerdict
from bayplan.report.amounts import percent
from bayplan.report.history.clock import moment_words
from bayplan.report.history.figures import CARRIED_OUT, TAKEN_BACK, PlanOutcome, Spell, hold_begins, outcomes, span, spells
from bayplan.report.history.story import ENDINGS, QUIET, WORDS
from bayplan.report.history.timeline import Timeline
from bayplan.report.pictures.axis import Axis, round_numbers, round_step
from bayplan.report.pictures.chart import Chart, line_legend, polyline
from bayplan.report.svg import document, element, escaped, line, number, rect, shortened, text, width_of
from bayplan.words import count

WIDE, SLIM = 1120.0, 372.0
TALL_LOCAL, TALL_FULLEST, TALL_MOVES, TALL_BAND, LANE = 220.0, 120.0, 84.0, 26.0, 17.0
MOST_LANES = 8  # workloads that are held, one lane each
MOST_COLUMNS = 1500  # turns that each have words of their own
LAST = 1800.0  # seconds that a turn is drawn if there is only one
Points: TypeAlias = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a history is compared with: shares of local traffic over time, and the share of a machine that is safe."""

    baseline: Points = ()  # the orchestrator's own scheduler alone
    fresh: Points = ()  # a placement that is made anew
    safety: float | None = None


class _Panel(NamedTuple):
    """What has been drawn, and from where to where its plot reaches."""

    body: str
    top: float
    bottom: float


def history_picture(history: History, comparison: Comparison, *, width: float = WIDE, title: str = "History") -> str:
    """The picture as an SVG document of a width."""
    return _Picture(history, comparison, width).drawn(title)


class _Picture:
    """One picture while it is drawn, from top to bottom."""

    def __init__(self, history: History, comparison: Comparison, width: float) -> None:
        self.history, self.comparison, self.width = history, comparison, width
        self.slim = width < 700
        low, high = span(history)
        starts = [turn.started for turn in history.turns]
        gaps = [b - a for a, b in pairwise(starts)]
        self.step = median(gaps) if gaps else LAST
        high = max(high, starts[-1] + self.step) if starts else high
        axis = Axis(
            left=40.0 if self.slim else 52.0, right=width - (12.0 if self.slim else 64.0), low=low, high=max(high, low + 1)
        )
        self.time, self.left, self.right = Timeline(axis=axis), axis.left, axis.right
        self.outcomes = [outcome for outcome in outcomes(history) if outcome.plan.status in CARRIED_OUT]

    def drawn(self, title: str) -> str:
        """All panels, one below the other, and what lies over them."""
        local = self._local(14.0)
        fullest = self._fullest(local.bottom + 18)
        moves = self._moves(fullest.bottom + 18)
        band = self._band(moves.bottom + 18)
        lanes = self._lanes(band.bottom + 18)
        last = lanes if lanes.body else band
        panels = "".join(panel.body for panel in (local, fullest, moves, band, lanes))
        over = self._columns(local.top, band.bottom) + self._rollbacks([local, fullest, moves, band])
        body = panels + over + self.time.marks(last.bottom)
        return document(self.width, last.bottom + 30, title, self._words(), body)

    def _words(self) -> str:
        moved = sum(turn.moved for turn in self.history.turns)
        return f"{count(len(self.history.turns), 'turn')}, {count(len(self.outcomes), 'execution')}, {count(moved, 'move')}"

    def _chart(self, top: float, tall: float, most: float) -> Chart:
        axis = self.time.axis
        return Chart(left=self.left, right=self.right, top=top, bottom=top + tall, low=axis.low, high=axis.high, most=most)

    def _frame(self, chart: Chart, shares: bool) -> str:
        """Shades, grid and numbers at the left."""
        step = round_step(chart.most / max(3, int((chart.bottom - chart.top) / 44)))
        marks = round_numbers(0.0, chart.most, step if shares else max(1.0, step))
        parts = [self.time.shades(chart.top, chart.bottom)]
        parts += [line(self.left, chart.y(v), self.right, chart.y(v), "grid") for v in marks if v]
        words = (percent(v) if v else "0" for v in marks) if shares else (f"{v:,.0f}" for v in marks)
        parts += [text(self.left - 7, chart.y(v) + 4, shown, "soft small end") for v, shown in zip(marks, words, strict=True)]
        return "".join([*parts, line(self.left, chart.bottom, self.right, chart.bottom, "floor")])

    def _head(self, top: float, words: str, note: str = "") -> str:
        """What a panel shows."""
        beside = element("tspan", escaped(note), dx=8, class_="soft small", font_weight=400) if note and not self.slim else ""
        return element("text", escaped(words), beside, x=number(self.left), y=number(top + 10), class_="strong")

    def _runs(self, field: str) -> list[list[tuple[float, float]]]:
        """The measured values of turns in runs without a gap."""
        runs: list[list[tuple[float, float]]] = [[]]
        for turn in self.history.turns:
            value = getattr(turn, field)
            if value is None:
                runs.append([])
            else:
                runs[-1].append((turn.started, value))
        return [run for run in runs if run]

    def _local(self, top: float) -> _Panel:
        runs, baseline, fresh = self._runs("local"), self.comparison.baseline, self.comparison.fresh
        entries = [("curve", "bayplan", self._last(runs))]
        entries += [("before", "default scheduler", percent(baseline[-1][1]))] if baseline else []
        head = self._head(top, "Traffic that stays on one machine")
        legend, y = line_legend(entries, left=self.left, top=top + 20, space=self.right - self.left)
        if fresh:
            legend += self._fresh_key(top + 20 if not self.slim else y)
            y += 20.0 if self.slim else 0.0
        shares = [share for run in runs for _, share in run] + [share for _, share in (*baseline, *fresh)]
        chart = self._chart(y + 12, TALL_LOCAL, min(1.0, max(shares, default=1.0) * 1.12) or 1.0)
        parts = [head, legend, self._frame(chart, shares=True)]
        parts += [_area(chart, run) for run in runs]
        parts.append(polyline(chart, baseline, "before", "the default scheduler alone"))
        parts += [polyline(chart, run, "curve", "bayplan") for run in runs]
        parts += [
            _diamond(self.time.x(at), chart.y(share), f"made anew {moment_words(at)}: {percent(share)}") for at, share in fresh
        ]
        parts += (
            [text(self.right + 6, chart.y(runs[-1][-1][1]) + 4, self._last(runs), "strong small")]
            if runs and not self.slim
            else []
        )
        return _Panel("".join(parts), chart.top, chart.bottom)

    def _last(self, runs: list[list[tuple[float, float]]]) -> str:
        return percent(runs[-1][-1][1]) if runs else ""

    def _fresh_key(self, top: float) -> str:
        words = "made anew from scratch"
        x = self.left if self.slim else self.right - width_of(words) - 16
        return _diamond(x + 6, top + 5, words) + text(x + 18, top + 9, words)

    def _fullest(self, top: float) -> _Panel:
        safety, runs = self.comparison.safety, self._runs("fullest")
        most = max([1.0, *(share for run in runs for _, share in run)])
        chart = self._chart(top + 20, TALL_FULLEST, most * 1.02)
        parts = [self._head(top, "Fullest machine", "share of its capacity; red: a machine was above safety")]
        parts.append(self._frame(chart, shares=True))
        if safety is not None:
            parts.append(line(self.left, chart.y(safety), self.right, chart.y(safety), "safety"))
            parts += [text(self.right + 6, chart.y(safety) + 4, "safety", "small hot")] if not self.slim else []
        parts += [polyline(chart, run, "hottest", "fullest machine") for run in runs]
        hot = [turn for turn in self.history.turns if turn.hot and turn.fullest is not None]
        parts += [element("circle", cx=self.time.x(t.started), cy=chart.y(t.fullest or 0.0), r=1.8, class_="back") for t in hot]
        return _Panel("".join(parts), chart.top, chart.bottom)

    def _moves(self, top: float) -> _Panel:
        highest = max([1, *(max(outcome.moved, len(outcome.plan.moves)) for outcome in self.outcomes)])
        chart = self._chart(top + 20, TALL_MOVES, highest * 1.1)
        parts = [self._head(top, "Containers moved", "by each execution; red: rolled back"), self._frame(chart, shares=False)]
        wide = max(2.5 if self.slim else 4.0, self.time.axis.wide * self.step / self.time.axis.span - 1)
        for outcome in self.outcomes:
            x, class_ = self.time.x(outcome.begun), "back" if outcome.plan.status in TAKEN_BACK else "move"
            planned, made = (chart.bottom - chart.y(size) for size in (len(outcome.plan.moves), outcome.moved))
            if planned > made:
                parts.append(rect(x, chart.bottom - planned, wide, planned, "unmade"))
            parts.append(rect(x, chart.bottom - made, wide, made, class_))
        return _Panel("".join(parts), chart.top, chart.bottom)

    def _band(self, top: float) -> _Panel:
        """What each turn came to, by colour."""
        counts = Counter(turn.verdict for turn in self.history.turns)
        parts, x, y = [self._head(top, "What each turn came to")], self.left, top + 20
        for verdict, times in counts.most_common():
            words = f"{WORDS[verdict][0]} {times:,}"
            taken = 16 + width_of(words, 11) + 14
            if x > self.left and x + taken > self.right:
                x, y = self.left, y + 17
            parts += [rect(x, y, 11, 11, verdict.value), text(x + 16, y + 10, words, "soft small")]
            x += taken
        y += 20
        parts += self._blocks(y)
        parts.append(line(self.left, y + TALL_BAND, self.right, y + TALL_BAND, "floor"))
        return _Panel("".join(parts), y, y + TALL_BAND)

    def _blocks(self, y: float) -> list[str]:
        """A block for all turns in a row that came to the same; those in which something was done lie on top, never too thin."""
        quiet, loud = [], []
        for verdict, group in groupby(self._spans(), lambda span: span[0].verdict):
            spans = list(group)
            begin, wide = spans[0][1], spans[-1][2] - spans[0][1]
            if verdict in QUIET:
                tall = TALL_BAND if verdict is TurnVerdict.DRY_RUN else TALL_BAND / 2
                quiet.append(rect(begin, y + TALL_BAND - tall, wide, tall, verdict.value))
            else:
                loud.append(rect(begin, y, max(wide, 2.0), TALL_BAND, verdict.value))
        return [*quiet, *loud]

    def _spans(self) -> Iterator[tuple[Turn, float, float]]:
        """Each turn, and from where to where it is drawn: up to the next, but not over a long gap."""
        turns = self.history.turns
        for k, turn in enumerate(turns):
            following = turns[k + 1].started if k + 1 < len(turns) else turn.started + self.step
            yield turn, self.time.x(turn.started), self.time.x(min(following, turn.started + 2 * self.step))

    def _lanes(self, top: float) -> _Panel:
        """Workloads that are left alone, from when to when."""
        held: dict[str, list[tuple[float, float, str]]] = {}
        for hold, begun in zip(self.history.holds, hold_begins(self.history), strict=True):
            held.setdefault(hold.workload, []).append((begun, hold.until, hold.why))
        if not held:
            return _Panel("", top, top)
        hidden = len(held) - MOST_LANES
        parts = [self._head(top, "Left alone", f"and {hidden:,} more workloads" if hidden > 0 else ""), ""]
        y = top + 20
        shown = list(held.items())[:MOST_LANES]
        parts.append(self.time.shades(y, y + LANE * len(shown)))
        for workload, spans in shown:
            for begun, until, why in spans:
                parts.append(self._lane(y, workload, begun, until, why))
            y += LANE
        return _Panel("".join([*parts, line(self.left, y, self.right, y, "floor")]), top + 20, y)

    def _lane(self, y: float, workload: str, begun: float, until: float, why: str) -> str:
        begin, end = self.time.x(begun), self.time.x(until)
        tip = f"{workload} left alone until {moment_words(until)}\n{why}"
        bar = rect(begin, y + 2, max(2.0, end - begin), LANE - 4, "held", tip)
        after = end + 5 + width_of(workload, 11) <= self.right
        name = shortened(workload, 0.4 * (self.right - self.left), 11)
        return bar + (text(end + 5, y + 12, name, "small") if after else text(begin - 5, y + 12, name, "small end"))

    def _rollbacks(self, panels: Sequence[_Panel]) -> str:
        """A line through all plots where a plan was taken back, and a mark above it."""
        parts = []
        for outcome in self.outcomes:
            if outcome.plan.status in TAKEN_BACK:
                x, top = self.time.x(outcome.plan.changed or outcome.begun), panels[0].top
                tip = f"rolled back plan {outcome.plan.id} {moment_words(outcome.plan.changed)}\n{outcome.plan.why}"
                mark = element("path", d=f"M{number(x - 5)} {number(top - 9)}h10l-5 8z", class_="back")
                lines = (line(x, panel.top, x, panel.bottom, "rollback") for panel in panels)
                parts.append(element("g", element("title", escaped(tip, keep="\n")), *lines, mark))
        return "".join(parts)

    def _columns(self, top: float, bottom: float) -> str:
        """An invisible column for each turn, that says all about it when it is pointed at; telephones do not point."""
        if self.slim:
            return ""
        by_turn = {outcome.turn.id: outcome for outcome in self.outcomes if outcome.turn}
        spans = list(self._spans())
        if len(spans) <= MOST_COLUMNS:
            told = [(begin, end, turn_words(turn, by_turn.get(turn.id))) for turn, begin, end in spans]
        else:  # a long history: turns in a row that say the same share a column
            edges = {turn.id: (begin, end) for turn, begin, end in spans}
            told = [
                (edges[spell.first.id][0], edges[spell.last.id][1], spell_words(spell, by_turn.get(spell.first.id)))
                for spell in spells(self.history.turns)
            ]
        return "".join(rect(begin, top, max(end - begin, 0.6), bottom - top, "turn", words) for begin, end, words in told)


def spell_words(spell: Spell, outcome: PlanOutcome | None = None) -> str:
    """All about several turns that say the same, in a few lines."""
    if len(spell.turns) == 1:
        return turn_words(spell.first, outcome)
    times = f"{moment_words(spell.first.started)} to {moment_words(spell.last.started)}"
    return "\n".join(filter(None, [f"{times}: {len(spell.turns):,} × {WORDS[spell.first.verdict][0]}", spell.why]))


def turn_words(turn: Turn, outcome: PlanOutcome | None = None) -> str:
    """All about a turn, in a few lines."""
    lines = [f"{moment_words(turn.started)}: {WORDS[turn.verdict][0]}", turn.why]
    if outcome is not None:
        lines[0] += f" plan {outcome.plan.id}, {ENDINGS[outcome.plan.status][0]}"
        lines.append(
            f"{turn.moved:,} of {len(outcome.plan.moves):,} planned moves made, {count(turn.containers, 'container')} run"
        )
    if turn.local is not None:
        came = f", then {percent(outcome.came)}" if outcome is not None and outcome.came is not None else ""
        planned = f", planned {percent(turn.planned_local)}" if turn.planned_local is not None else ""
        lines.append(f"local traffic {percent(turn.local)}{planned}{came}")
    if turn.fullest is not None:
        above = f", {count(turn.hot, 'machine')} above safety" if turn.hot else ""
        lines.append(f"fullest machine {percent(turn.fullest)}{above}")
    return "\n".join(filter(None, lines))


def _area(chart: Chart, run: Points) -> str:
    """What is below a curve."""
    path = "L".join(f"{number(chart.x(at))} {number(chart.y(share))}" for at, share in run)
    ends = f"L{number(chart.x(run[-1][0]))} {number(chart.bottom)}L{number(chart.x(run[0][0]))} {number(chart.bottom)}Z"
    return element("path", d=f"M{path}{ends}", class_="area")


def _diamond(x: float, y: float, words: str) -> str:
    shape = f"M{number(x)} {number(y - 5)}l5 5l-5 5l-5 -5z"
    return element("path", element("title", escaped(words)), d=shape, class_="fresh")
