"""What a history comes to: numbers, what each plan brought, and spells of turns that say the same."""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from bayplan.model.record import Event, History, Hold, PlanStatus, RecordedPlan, Turn, TurnVerdict

CARRIED_OUT = (  # plans of which at least one step was made
    PlanStatus.EXECUTING,
    PlanStatus.SETTLING,
    PlanStatus.ROLLING_BACK,
    PlanStatus.DONE,
    PlanStatus.STOPPED,
    PlanStatus.ROLLED_BACK,
)
TAKEN_BACK = (PlanStatus.ROLLING_BACK, PlanStatus.ROLLED_BACK)
_NUMBER = re.compile(r"(?<![\w-])-?\d[\d,]*(?:\.\d+)?(?![\w])")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOutcome:
    """A plan, the turn that made it, and what came of it."""

    plan: RecordedPlan
    turn: Turn | None
    after: Turn | None  # the first turn that measured what came of it

    @property
    def begun(self) -> float:
        """When it was made."""
        return self.turn.started if self.turn else self.plan.created

    @property
    def before(self) -> float | None:
        """The share of local traffic before it."""
        return self.turn.local if self.turn else _share(self.plan.before.get("local"))

    @property
    def expected(self) -> float | None:
        """The share that it was to reach."""
        planned = self.turn.planned_local if self.turn else None
        return planned if planned is not None else _share(self.plan.expected.get("local"))

    @property
    def came(self) -> float | None:
        """The share that its verification measured, or else the next turn."""
        verified = _share(self.plan.expected.get("reached"))
        return verified if verified is not None else self.after.local if self.after else None

    @property
    def gain(self) -> float | None:
        """What it was to gain, less the price of its moves."""
        return self.turn.gain if self.turn and self.turn.gain is not None else _share(self.plan.expected.get("gain"))

    @property
    def moved(self) -> int:
        """Containers that were moved in fact."""
        return self.turn.moved if self.turn else 0

    @property
    def share_moved(self) -> float | None:
        """The same, as a share of all that run."""
        return self.turn.moved / self.turn.containers if self.turn and self.turn.containers else None


def _share(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def outcomes(history: History) -> list[PlanOutcome]:
    """Every plan with its turn and what came of it; the next measurement counts, but not one after a later plan had begun."""
    by_id = {turn.id: turn for turn in history.turns}
    measured = [turn for turn in history.turns if turn.local is not None]
    starts = [turn.started for turn in measured]
    made = sorted(plan.created for plan in history.plans if plan.status in CARRIED_OUT)

    def after(plan: RecordedPlan) -> Turn | None:
        if plan.status not in CARRIED_OUT:
            return None
        turn = by_id.get(plan.turn) if plan.turn is not None else None
        ended = turn.ended if turn is not None and turn.ended is not None else plan.created
        first = bisect_left(starts, ended)
        later = bisect_right(made, plan.created)
        until = made[later] if later < len(made) else math.inf
        return measured[first] if first < len(measured) and measured[first].started <= until else None

    return [
        PlanOutcome(plan=plan, turn=by_id.get(plan.turn) if plan.turn is not None else None, after=after(plan))
        for plan in history.plans
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySummary:
    """A history in numbers."""

    begin: float
    end: float
    turns: int
    verdicts: Counter[TurnVerdict]
    executions: int
    moved: int
    share_moved: tuple[float, float] | None  # median and highest share of the containers that one execution moved
    dry_runs: Counter[str]  # why -> turns
    rollbacks: int
    holds: tuple[Hold, ...]  # in force at the end
    local: tuple[float, float, float] | None  # share of local traffic: first, last, on average
    fullest: float | None  # the highest that any machine was seen
    hot_turns: int  # turns that saw a machine above safety


def summarised(history: History) -> HistorySummary:
    """The numbers of a history."""
    turns, begin, end = history.turns, *span(history)
    local = [turn.local for turn in turns if turn.local is not None]
    shares = [turn.moved / turn.containers for turn in turns if turn.moved and turn.containers]
    return HistorySummary(
        begin=begin,
        end=end,
        turns=len(turns),
        verdicts=Counter(turn.verdict for turn in turns),
        executions=sum(plan.status in CARRIED_OUT for plan in history.plans),
        moved=sum(turn.moved for turn in turns),
        share_moved=(median(shares), max(shares)) if shares else None,
        dry_runs=reasons(turn.why for turn in turns if turn.verdict is TurnVerdict.DRY_RUN),
        rollbacks=sum(plan.status in TAKEN_BACK for plan in history.plans),
        holds=tuple(hold for hold in history.holds if hold.until > end),
        local=(local[0], local[-1], sum(local) / len(local)) if local else None,
        fullest=max((turn.fullest for turn in turns if turn.fullest is not None), default=None),
        hot_turns=sum(turn.hot > 0 for turn in turns),
    )


def span(history: History) -> tuple[float, float]:
    """From the first thing that happened to the last."""
    moments = [turn.started for turn in history.turns] + [turn.ended for turn in history.turns if turn.ended is not None]
    moments += [event.at for event in history.events] + [plan.created for plan in history.plans]
    return (min(moments), max(moments)) if moments else (0.0, 0.0)


def reasons(sentences: Iterable[str]) -> Counter[str]:
    """How often each reason was given, the most frequent first; sentences that differ in numbers only are one."""
    alike: dict[str, list[str]] = {}
    for sentence in sentences:
        alike.setdefault(template(sentence), []).append(sentence)
    return Counter({merged(group): len(group) for group in sorted(alike.values(), key=len, reverse=True)})


def template(sentence: str) -> str:
    """A sentence without its numbers."""
    return _NUMBER.sub("#", sentence)


def merged(sentences: Sequence[str]) -> str:
    """One sentence for several that differ in numbers only: 'the gain of 0.4–2.9 % is below 3 %'."""
    slots = zip(*(_NUMBER.findall(sentence) for sentence in sentences), strict=True)
    ranges = iter([_range(numbers) for numbers in slots])
    return _NUMBER.sub(lambda _: next(ranges), sentences[0])


def _range(numbers: Sequence[str]) -> str:
    low, high = (pick(numbers, key=lambda written: float(written.replace(",", ""))) for pick in (min, max))
    return low if low == high else f"{low}–{high}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spell:
    """Turns in a row that came to the same, for the same reason."""

    turns: tuple[Turn, ...]
    why: str

    @property
    def first(self) -> Turn:
        """Its first turn."""
        return self.turns[0]

    @property
    def last(self) -> Turn:
        """Its last turn."""
        return self.turns[-1]


def spells(turns: Sequence[Turn]) -> Iterator[Spell]:
    """All turns in spells; each execution and each proposal is one of its own."""

    def key(turn: Turn) -> tuple[object, ...]:
        alone = turn.verdict in (TurnVerdict.EXECUTED, TurnVerdict.PROPOSED)
        return turn.verdict, template(turn.why), turn.id if alone else -1

    for _, group in groupby(turns, key):
        members = tuple(group)
        yield Spell(turns=members, why=merged([turn.why for turn in members]))


def hold_begins(history: History) -> list[float]:
    """When each hold began: with the last change of its plan, or when the log names the workload; else with the history."""
    plans = {plan.id: plan for plan in history.plans}
    begin, _ = span(history)
    named: dict[str, Event] = {}
    for event in history.events:
        if event.kind == "hold":
            for hold in history.holds:
                if hold.workload in event.text:
                    named.setdefault(hold.workload, event)

    def begun(hold: Hold) -> float:
        if hold.workload in named:
            return named[hold.workload].at
        return (plans[hold.plan].changed or plans[hold.plan].created) if hold.plan in plans else begin

    return [min(begun(hold), hold.until) for hold in history.holds]
