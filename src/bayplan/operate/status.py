"""`status`: what the loop does now, from its record."""

from dataclasses import dataclass
from typing import Any

from bayplan.model.record import Event, Hold, Lease, Pause, PlanStatus, RecordedPlan, Turn
from bayplan.operate.store import Store
from bayplan.report.history.clock import when
from bayplan.report.table import Facts, Report, Sentence, facts, report
from bayplan.words import count, first_names

EVENTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAnswer:
    """Who acts, what is planned or under way, what is held, and whether it is paused."""

    now: float
    lease: Lease | None
    paused: Pause | None
    turn: Turn | None  # the last
    under_way: RecordedPlan | None
    waiting: tuple[RecordedPlan, ...]  # for approval
    approved: tuple[RecordedPlan, ...]  # for the loop
    holds: tuple[Hold, ...]
    events: tuple[Event, ...]  # the last

    @property
    def headline(self) -> str:
        """The state in one sentence."""
        if self.paused is not None:
            return f"Paused by {self.paused.by} since {when(self.paused.at)}; next: bayplan resume"
        if self.under_way is not None:
            return f"Plan {self.under_way.id} is {self.under_way.status}."
        if self.approved:
            return f"Plan {self.approved[-1].id} is {self.approved[-1].why}; the loop takes it as soon as it may act."
        if self.waiting:
            return f"Plan {self.waiting[-1].id} waits; next: bayplan approve {self.waiting[-1].id}"
        return "Nothing is under way."

    @property
    def acts(self) -> str:
        """Who may act now."""
        if self.lease is None:
            return "no loop"
        return self.lease.holder if self.lease.until > self.now else f"no loop; the last was {self.lease.holder}"

    def content(self) -> Report:
        """For people."""
        turn = "none" if self.turn is None else f"{when(self.turn.started)} {self.turn.verdict}: {self.turn.why}"
        held = first_names([hold.workload for hold in self.holds])
        told: Facts = facts(
            ("acts", self.acts),
            ("last turn", turn),
            ("held", f"{count(len(self.holds), 'workload')}: {held}" if self.holds else "nothing"),
        )
        events = [Sentence(f"{when(event.at)} {event.kind}: {event.text}", "soft") for event in self.events]
        return report(Sentence(self.headline, "strong"), told, *events)

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        from bayplan.report.json import plain

        answer: dict[str, Any] = plain(
            {
                "headline": self.headline,
                "acts": self.acts,
                "paused": self.paused,
                "last_turn": self.turn,
                "under_way": None if self.under_way is None else self.under_way.id,
                "waiting": [plan.id for plan in self.waiting],
                "approved": [plan.id for plan in self.approved],
                "holds": self.holds,
            }
        )
        return answer


def status_of(store: Store, now: float) -> StatusAnswer:
    """The status, as the record has it."""
    turns = store.turns(last=1)
    return StatusAnswer(
        now=now,
        lease=store.lease(),
        paused=store.paused(),
        turn=turns[0] if turns else None,
        under_way=store.open_plan(),
        waiting=tuple(store.plans(PlanStatus.PROPOSED)),
        approved=tuple(store.plans(PlanStatus.APPROVED)),
        holds=tuple(store.holds(now).values()),
        events=tuple(store.events(EVENTS)),
    )
