"""Recover: after a crash, find out by observing what is true, and write it down. No step is ever made twice."""

from dataclasses import replace

from bayplan.model import Action
from bayplan.model.record import RecordedPlan, RecordedStep, StepStatus, TurnVerdict
from bayplan.operate.context import LoopContext
from bayplan.operate.orchestrator import StepOrder
from bayplan.operate.stages.observe import sound_observation
from bayplan.operate.stages.steps import Outcome, ended_step, outcome
from bayplan.words import count

INTERRUPTED = "interrupted: the process ended in the middle of it"


def recover(context: LoopContext) -> RecordedPlan | None:
    """The plan that is open, with the outcome of all its steps known; None if there is none.

    A step that was begun, and of which it is not known what became of it, is cancelled: after that it has been made, or it never
    will be, and an observation shows which.
    """
    for turn in context.store.turns(last=20):
        if turn.verdict is TurnVerdict.RUNNING:
            ended = replace(turn, verdict=TurnVerdict.FAILED, why=INTERRUPTED, ended=context.now())
            context.store.end_turn(ended, context.fence)
    plan = context.store.open_plan()
    if plan is None:
        return None
    unknown = [step for step in context.store.steps(plan.id) if step.status is StepStatus.BEGUN]
    if unknown:
        _find_out(context, plan, unknown)
    return plan


def _find_out(context: LoopContext, plan: RecordedPlan, unknown: list[RecordedStep]) -> None:
    for step in unknown:
        context.patiently(lambda token=step.token: context.orchestrator.cancel(token))  # type: ignore[misc]
    observation = sound_observation(context, since=context.now())
    ended = []
    for step in unknown:
        seen = outcome(_order(step), observation)
        if seen.status is StepStatus.BEGUN:
            seen = Outcome(status=StepStatus.FAILED, text="not made before the process ended")
        ended.append(ended_step(step, seen, context.now()))
    context.store.end_steps(ended, context.fence)
    made = sum(step.status is StepStatus.DONE for step in ended)
    words = f"{count(len(ended), 'step')} had been begun when the process ended: {made} made, {len(ended) - made} not"
    context.log("recover", words, plan)


def _order(step: RecordedStep) -> StepOrder:
    """The order that a recorded step was sent as, as far as its outcome needs it."""
    return StepOrder(
        token=step.token,
        action=Action(step.action),
        workload=step.workload,
        machine=step.machine,
        machine_uid="",
        uid=step.uid,
        surge=step.surge,
    )
