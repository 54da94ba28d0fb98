"""`apply`: one pass of the executing half of the loop, for a plan from a file or from the record."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bayplan.check import PlanCheck, check_migration
from bayplan.errors import UsageError, WorldError
from bayplan.model import Action, Plan, Step
from bayplan.model.record import PlanStatus, RecordedPlan, Turn, TurnVerdict
from bayplan.operate.context import LoopContext
from bayplan.operate.loop import Loop
from bayplan.operate.orchestrator import Observation, PermanentError, TemporaryError
from bayplan.operate.stages.decide import written_plan
from bayplan.operate.stages.gate import acting_paused
from bayplan.operate.stages.observe import UnsoundError, sound_observation, with_figures
from bayplan.operate.stages.recover import end_interrupted_turns, recover
from bayplan.operate.stages.tracking import FreshState, NamedStep, fresh_state, new_order, spoiled, tracked
from bayplan.report.table import Report, Sentence, facts, report
from bayplan.words import count

TRIES = 3  # to go on with a plan, when the cluster cannot be observed
MAY_BE_APPLIED = (PlanStatus.PROPOSED, PlanStatus.APPROVED, PlanStatus.DRY_RUN)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ApplyAnswer:
    """What was done with a plan, or what would be."""

    plan: RecordedPlan
    verdict: str  # of the referee, on what runs now; empty if the plan is safe
    turn: Turn | None = None  # None: a dry run

    @property
    def succeeded(self) -> bool:
        """Was it carried out and kept; or, in a dry run, could it be?"""
        return not self.verdict if self.turn is None else self.plan.status is PlanStatus.DONE

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        if self.turn is not None:
            why = self.turn.why if self.turn.verdict is TurnVerdict.FAILED else self.plan.why
            return f"Plan {self.plan.id} is {self.plan.status}: {why}"
        size = f"{count(len(self.plan.moves), 'container')} in {count(len(self.plan.batches), 'batch')}"
        if not self.plan.moves:
            return "Nothing to do: the plan moves no container that runs."
        if self.verdict:
            return f"Not safe now: {self.verdict}"
        return f"Safe: would move {size}. Nothing was changed; --yes does it."

    def content(self) -> Report:
        """For people."""
        moves = [Sentence(f"{move.container}: {move.source} -> {move.target}") for move in self.plan.moves[:20]]
        more = [Sentence(f"and {len(self.plan.moves) - 20:,} more", "soft")] if len(self.plan.moves) > 20 else []
        known = facts(("plan", self.plan.id), ("status", str(self.plan.status)), ("goal", self.plan.goal))
        return report(Sentence(self.headline, "strong"), known, *moves, *more)

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        from bayplan.report.json import plain

        done = None if self.turn is None else {"moved": self.turn.moved, "why": self.turn.why}
        answer: dict[str, Any] = plain(
            {
                "plan": self.plan.id,
                "status": self.plan.status,
                "succeeded": self.succeeded,
                "headline": self.headline,
                "moves": self.plan.moves,
                "done": done,
            }
        )
        return answer


def apply(context: LoopContext, plan: str, *, yes: bool = False) -> ApplyAnswer:
    """Carry out a plan: a file that `plan` wrote, or the id of one in the record. Without `yes` only what would be done.

    A plan is judged on what runs now: one that was made for another state, or that is not safe any more, is refused.
    """
    if not yes:
        return _dry_run(context, plan)
    if not context.acquire():
        lease = context.store.lease()
        raise WorldError(f"another process acts on this cluster: {lease.holder if lease else 'unknown'}; see bayplan status")
    try:
        return _applied(context, plan)
    finally:
        with suppress(WorldError):
            context.release()


def _dry_run(context: LoopContext, plan: str) -> ApplyAnswer:
    """What would be done. Nothing is touched: neither the cluster nor the record, nor the right to act."""
    _expect_none_open(context.store.open_plan())
    observation = sound_observation(context)
    wanted = _wanted(context, plan, observation, _blank(context))
    return ApplyAnswer(plan=wanted, verdict=acting_paused(context) or _unsafe(context, observation, wanted))


def _applied(context: LoopContext, plan: str) -> ApplyAnswer:
    end_interrupted_turns(context)
    _expect_none_open(recover(context))
    observation = sound_observation(context)
    wanted = _wanted(context, plan, observation, _blank(context))  # what cannot be read begins no turn
    if not wanted.moves:
        return ApplyAnswer(plan=wanted, verdict="")
    turn = with_figures(context.begin_turn(_blank(context)), observation)
    wanted = _wanted(context, plan, observation, turn)
    unsafe = acting_paused(context) or _unsafe(context, observation, wanted)
    if unsafe:
        turn = replace(turn, verdict=TurnVerdict.HELD_OFF, why=f"plan {wanted.id} is not safe now: {unsafe}", ended=context.now())
        context.end_turn(turn)
        return ApplyAnswer(plan=wanted, verdict=unsafe)
    return _carried_out(context, turn, wanted)


def _blank(context: LoopContext) -> Turn:
    return Turn(id=0, started=context.now(), mode="apply")


def _expect_none_open(plan: RecordedPlan | None) -> None:
    if plan is not None:
        raise WorldError(f"plan {plan.id} is {plan.status}: only one plan at a time; bayplan run goes on with it")


def _carried_out(context: LoopContext, turn: Turn, wanted: RecordedPlan) -> ApplyAnswer:
    """Carry a plan out; a few times anew, when the cluster cannot be observed or does not answer for long."""
    begun = replace(wanted, status=PlanStatus.EXECUTING, changed=context.now(), why="applied by hand")
    context.save_plan(begun)
    turn = replace(turn, moves=len(begun.moves), gain=begun.expected.get("gain"), planned_local=begun.expected.get("local"))
    for _ in range(TRIES):
        try:
            turn = Loop(context).go_on(turn, recover(context) or begun)
            break
        except (UnsoundError, TemporaryError, PermanentError) as error:
            why = f"{error}; plan {begun.id} is not at its end, bayplan run goes on with it"
            turn = replace(turn, verdict=TurnVerdict.FAILED, why=why)
            context.log("apply", str(error), begun)
            if isinstance(error, PermanentError):
                break
    context.end_turn(replace(turn, ended=context.now()))
    return ApplyAnswer(plan=context.store.plan(begun.id), verdict="", turn=turn)


def _wanted(context: LoopContext, plan: str, observation: Observation, turn: Turn) -> RecordedPlan:
    """The plan that is meant."""
    if not Path(plan).is_file():
        known = context.store.plan(plan)
        if known.status not in MAY_BE_APPLIED:
            raise UsageError(f"plan {known.id} is {known.status}; expected one that waits, or a dry run")
        return known
    from bayplan.formats.targets import read_plan_of, reasons_in_plan

    _, steps = read_plan_of(plan, observation.snapshot)
    known_steps = tuple(tuple(step for step in batch if step.container < len(observation.containers)) for batch in steps.batches)
    return written_plan(turn, observation, Plan(batches=known_steps), reasons_in_plan(plan))


def _unsafe(context: LoopContext, observation: Observation, plan: RecordedPlan) -> str:
    """Why the plan must not be carried out on what runs now; empty if it may.

    The referee judges all its batches. Where their order is not safe any more, as it is when containers wait for a machine that
    had one before, it is found anew, as in an execution.
    """
    state = fresh_state(observation, tracked(plan, ()), context.settings.alive, context.settings.way)
    gone = next((f"{name}: {each.given_up}" for name, each in state.following.items() if each.given_up), "")
    if gone:
        return gone
    checked = _checked(state, plan.batches)
    if checked.violations and not spoiled(state):
        checked = _checked(state, new_order(state, context.settings.seed))
        gone = next((f"{name}: {each.given_up}" for name, each in state.following.items() if each.given_up), "")
    return gone or (str(checked.violations[0]) if checked.violations else spoiled(state))


def _checked(state: FreshState, named: Sequence[Sequence[NamedStep]]) -> PlanCheck:
    batches = tuple(
        tuple(Step(Action(action), state.index[container], state.machine[machine]) for action, container, machine in batch)
        for batch in named
    )
    return check_migration(state.migration, Plan(batches=batches))
