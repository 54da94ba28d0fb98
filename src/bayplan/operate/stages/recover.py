"""Recover: after a crash, find out by observing what is true, and write it down. No step is ever made twice."""

from dataclasses import replace

from bayplan.model import Action
from bayplan.model.record import RecordedPlan, RecordedStep, StepStatus, TurnVerdict
from bayplan.operate.context import LoopContext
from bayplan.operate.orchestrator import StepOrder, StepReport
from bayplan.operate.stages.observe import fresh_observation
from bayplan.operate.stages.steps import ended_step, last_outcome
from bayplan.words import count

INTERRUPTED = "interrupted: the process ended in the middle of it"
NOT_MADE = "not made before the process ended"


def end_interrupted_turns(context: LoopContext) -> None:
    """Write down that turns which have not ended never will."""
    for turn in context.store.turns(last=20):
        if turn.verdict is TurnVerdict.RUNNING:
            ended = replace(turn, verdict=TurnVerdict.FAILED, why=INTERRUPTED, ended=context.now())
            context.end_turn(ended)


def recover(context: LoopContext) -> RecordedPlan | None:
    """The plan that is open, with the outcome of all its steps known; None if there is none.

    A step that was begun, and of which it is not known what became of it, is cancelled: after that it has been made, or it never
    will be, and an observation shows which.
    """
    plan = context.store.open_plan()
    if plan is None:
        return None
    unknown = [step for step in context.store.steps(plan.id) if step.status is StepStatus.BEGUN]
    if unknown:
        _find_out(context, plan, unknown)
    return plan


def _find_out(context: LoopContext, plan: RecordedPlan, unknown: list[RecordedStep]) -> None:
    reports = [_cancelled(context, step.token) for step in unknown]
    observation = fresh_observation(context)
    ended = [
        ended_step(step, last_outcome(_order(step), observation, report, NOT_MADE), context.now())
        for step, report in zip(unknown, reports, strict=True)
    ]
    context.end_steps(ended)
    made = sum(step.status is StepStatus.DONE for step in ended)
    words = f"{count(len(ended), 'step')} had been begun when the process ended: {made} made, {len(ended) - made} not"
    context.log("recover", words, plan)


def _cancelled(context: LoopContext, token: str) -> StepReport:
    return context.patiently(lambda: context.orchestrator.cancel(token))


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
