"""The loop of a record, for the page: what it does now, what its plan comes to, what it did; and what people say to it."""

import gzip
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from bayplan.model.plan import Action
from bayplan.model.record import PlanStatus, RecordedPlan, RecordedStep, StepStatus
from bayplan.operate import instructions
from bayplan.operate.run import RunAnswer
from bayplan.operate.status import status_of
from bayplan.operate.store import Store
from bayplan.operate.store.store import STARTED
from bayplan.report.history import history_page
from bayplan.report.json import plain
from bayplan.report.page import how_made
from bayplan.serve.views.drawing import drawn_columns

TURNS, EVENTS = 48, 40  # of the past that are shown beside what happens now
RECENT = 30  # plans among which one to take back is looked for
WAITS, GOES, ARRIVED, BACK, FAILED = "waits", "under way", "arrived", "taken back", "given up"


class LoopRecord:
    """The record of a loop that another process runs; opened when it is first asked for, since the loop begins it."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._store: Store | None = None
        self._opening, self._drawing = threading.Lock(), threading.Lock()
        self._drawn: tuple[float, bytes] | None = None  # when what is drawn was seen

    @property
    def store(self) -> Store:
        """The store; UsageError while no loop has begun it."""
        with self._opening:
            if self._store is None:
                self._store = instructions.open_record(self.where)
            return self._store

    def close(self) -> None:
        """End the connection, if there is one."""
        with self._opening:
            if self._store is not None:
                self._store.close()
                self._store = None

    # ---- what it sees --------------------------------------------------------------------------------

    def snapshot(self) -> bytes | None:
        """The cluster as the loop saw it last, as compressed JSON of our own format; None if it has seen nothing yet."""
        observed = self.store.observed()
        return None if observed is None else observed[1]

    def columns(self) -> bytes | None:
        """What the bay plan of that cluster is drawn from, as compressed JSON; None if it has seen nothing yet."""
        with self._drawing:
            at = self.store.observed_at()
            if at is not None and (self._drawn is None or self._drawn[0] != at):
                observed = self.store.observed()
                assert observed is not None  # it is replaced, never removed
                self._drawn = (observed[0], drawn_columns(gzip.decompress(observed[1])))
            return None if self._drawn is None else self._drawn[1]

    # ---- what it does ---------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """What it does now: the state in a sentence, the plan with every move's progress, the last turns and events."""
        store = self.store
        now = instructions.record_time(store)
        answer = status_of(store, now)
        waiting = answer.approved or answer.waiting
        shown = answer.under_way or (waiting[-1] if waiting else next(iter(store.plans(last=1)), None))
        status: dict[str, Any] = {
            **answer.to_dict(),
            "now": now,
            "observed": store.observed_at(),
            "plan": None if shown is None else plan_progress(shown, store.steps(shown.id)),
            "reversible": _reversible(store),
            "turns": plain(store.turns(last=TURNS)),
            "events": plain(store.events(EVENTS)),
        }
        return status

    def history(self, last: float | None = None) -> dict[str, Any]:
        """What `bayplan history --json` prints: of the last seconds, or of all time."""
        return self._answer(last).to_dict()

    def report(self, last: float | None = None) -> str:
        """The page that `bayplan history --report` writes."""
        answer = self._answer(last)
        return history_page(answer.history, title=answer.name, made=how_made())

    def _answer(self, last: float | None) -> RunAnswer:
        store = self.store
        start = None if last is None else instructions.record_time(store) - last
        told = store.history(start)
        return RunAnswer(history=told, name="The loop", turns=len(told.turns))

    # ---- what people say to it -----------------------------------------------------------------------

    def pause(self, by: str, why: str = "") -> str:
        """Stop all acting; moves that have begun are brought to their end."""
        self.store.pause(by, instructions.record_time(self.store), why)
        return "paused: moves that have begun are brought to their end, and none is begun"

    def resume(self, by: str, *, trust: bool = False) -> str:
        """Let the loop act again."""
        instructions.resume(self.store, by, trust=trust)
        return "resumed: a plan that was under way goes on"

    def approve(self, plan: str, by: str) -> str:
        """Approve a plan that waits for it."""
        approved = self.store.approve(instructions.plan_named(self.store, plan), by, instructions.record_time(self.store))
        return f"approved plan {approved.id}: the loop carries it out, if it is not out of date by then"

    def hand_in(self, document: Mapping[str, Any], source: str, by: str) -> str:
        """Give the loop a plan that a person has made and approved."""
        plan = instructions.hand_in(self.store, document, source, by)
        return f"handed in as plan {plan.id}: the loop carries it out, as far as the cluster is still as it was"

    def rollback(self, plan: str, by: str) -> str:
        """Ask the loop to take a plan back."""
        name = instructions.plan_named(self.store, plan)
        self.store.ask_rollback(name, by, instructions.record_time(self.store))
        return f"plan {name} will be taken back by the loop, as far as that is still possible"


def _reversible(store: Store) -> str | None:
    """The id of the newest plan that can be taken back, if that was not asked for already."""
    plans = [plan for plan in store.plans(last=RECENT) if plan.status in STARTED and plan.status is not PlanStatus.ROLLING_BACK]
    return next((plan.id for plan in reversed(plans) if not store.rollback_asked(plan.id)), None)


def plan_progress(plan: RecordedPlan, steps: Sequence[RecordedStep]) -> dict[str, Any]:
    """A plan with what has become of each of its moves, and how far each batch is."""
    states = _states(steps)
    moves = [{**plain(move), "state": states.get(move.container, WAITS)} for move in plan.moves]
    progress: dict[str, Any] = {
        "id": plan.id,
        "status": str(plan.status),
        "open": plan.status.is_open,
        "proposed": plan.status is PlanStatus.PROPOSED,
        "goal": plan.goal,
        "created": plan.created,
        "changed": plan.changed,
        "why": plan.why,
        "approved_by": plan.approved_by,
        "summary": list(plan.summary),
        "expected": plain(plan.expected),
        "moves": moves,
        "arrived": sum(move["state"] == ARRIVED for move in moves),
        "batches": _batches(plan, steps),
    }
    return progress


def _states(steps: Sequence[RecordedStep]) -> Mapping[str, str]:
    """What the last step of each container says about its move."""
    states: dict[str, str] = {}
    for step in steps:
        arrives = step.action is Action.CREATE and step.status is StepStatus.DONE
        if step.status is StepStatus.FAILED:
            states[step.container] = FAILED
        elif step.back:
            states[step.container] = BACK if arrives else states.get(step.container, GOES)
        elif arrives:
            states[step.container] = ARRIVED
        elif states.get(step.container) != ARRIVED:
            states[step.container] = GOES
    return states


def _batches(plan: RecordedPlan, steps: Sequence[RecordedStep]) -> list[dict[str, int]]:
    """Steps of each batch: planned, begun, done and failed; those of the way back have no batch of the plan."""
    forward = [step for step in steps if not step.back]
    size = max([len(plan.batches), *(step.batch + 1 for step in forward)])
    batches = [{"planned": len(batch), "begun": 0, "done": 0, "failed": 0} for batch in plan.batches]
    batches += [{"planned": 0, "begun": 0, "done": 0, "failed": 0} for _ in range(size - len(batches))]
    for step in forward:
        batches[step.batch][str(step.status)] += 1
    return batches
