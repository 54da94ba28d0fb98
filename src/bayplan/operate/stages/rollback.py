"""Roll back: the inverse plan where it is still possible, the orchestrator's scheduler for what made a machine skewed.

What made a machine skewed is held for three days, so that it is not moved again at once ([RASA] §III-C).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bayplan.check import check_migration
from bayplan.model import Action, Plan, Step
from bayplan.model.record import Hold, PlannedMove, PlanStatus, RecordedPlan, RecordedStep, StepStatus
from bayplan.operate.context import LoopContext
from bayplan.operate.orchestrator import Phase, StepOrder
from bayplan.operate.stages.execute import ExecutionEnd, execute
from bayplan.operate.stages.gate import acting_paused
from bayplan.operate.stages.observe import fresh_observation
from bayplan.operate.stages.steps import begun_step, make_steps
from bayplan.operate.stages.tracking import FreshState, TrackedContainer, fresh_state, tracked
from bayplan.words import count


def roll_back(context: LoopContext, plan: RecordedPlan, why: str, skewed: Iterable[str] = ()) -> RecordedPlan:
    """Take a plan back, as far as that is still possible; the plan with its last status.

    Containers that we brought to a skewed machine are deleted there one by one; the orchestrator's scheduler places them.
    """
    before = {**plan.before, "skewed": sorted(skewed)}
    plan = replace(plan, status=PlanStatus.ROLLING_BACK, why=why, changed=context.now(), before=before)
    context.save_plan(plan)
    context.log("rollback", why, plan)
    return finish_rollback(context, plan)


def finish_rollback(context: LoopContext, plan: RecordedPlan) -> RecordedPlan:
    """Go on with a rollback, also after a crash. While it is paused, what is left of it waits."""
    store, machines = context.store, set(plan.before.get("skewed", ()))
    steps = store.steps(plan.id)
    following = tracked(plan, [step for step in steps if not step.back])
    moved = {name: each for name, each in following.items() if each.arrived and each.move.source != each.move.target}
    on_skewed = {name: each for name, each in moved.items() if each.move.target in machines}
    if on_skewed:
        _hold(context, plan, on_skewed)
        _reschedule(context, plan, on_skewed, steps)
    back = _way_back(plan, {name: each for name, each in moved.items() if name not in on_skewed})
    end = execute(context, back, back=True) if back.moves else None
    paused = acting_paused(context) or (end.stopped if end is not None and end.paused else "")
    if paused:
        context.log("rollback", f"{paused}: the rest of it waits", plan)
        return plan
    plan = replace(plan, status=PlanStatus.ROLLED_BACK, changed=context.now(), why=_words(plan, end, on_skewed))
    context.save_plan(plan)
    context.log("rollback", plan.why, plan)
    return plan


def _way_back(plan: RecordedPlan, moved: Mapping[str, TrackedContainer]) -> RecordedPlan:
    """The inverse plan: each container from where it runs to where it was. Its order is found on what runs when it begins."""
    moves = tuple(
        PlannedMove(
            container=name,
            uid=each.instances[each.move.target],
            workload=each.move.workload,
            source=each.move.target,
            target=each.move.source,
            why="taken back",
        )
        for name, each in moved.items()
    )
    return replace(plan, moves=moves, batches=())


def _hold(context: LoopContext, plan: RecordedPlan, containers: Mapping[str, TrackedContainer]) -> None:
    until, workloads = context.now() + context.settings.hold, sorted({each.move.workload for each in containers.values()})
    why = "made a machine skewed"
    context.hold([Hold(workload=name, until=until, why=why, plan=plan.id) for name in workloads])
    days = context.settings.hold / 86400
    context.log("hold", f"{count(len(workloads), 'workload')} held for {days:g} days: {', '.join(workloads[:5])}", plan)


def _reschedule(
    context: LoopContext, plan: RecordedPlan, containers: Mapping[str, TrackedContainer], steps: Iterable[RecordedStep]
) -> None:
    """Delete each container for the orchestrator's scheduler to place, if enough replicas of its workload are ready."""
    done = {step.container for step in steps if step.back and step.status is StepStatus.DONE}
    for name, each in containers.items():
        if name in done or acting_paused(context):
            continue
        state = fresh_state(fresh_observation(context), {name: each}, context.settings.alive, context.settings.way)
        number = len(context.store.steps(plan.id))
        refusal = _why_not(state, name)
        if refusal:
            context.log("rollback", f"{name} stays: {refusal}", plan)
            continue
        order = _delete_order(state, plan, name, number)
        step = begun_step(context, plan.id, name, order, number=number, batch=0, back=True)
        make_steps(context, [step], [order])
        _await_replacement(context, each)


def _why_not(state: FreshState, name: str) -> str:
    """Why a container must not be deleted now; empty if it may."""
    each = state.following[name]
    if each.given_up or name not in state.index:
        return each.given_up or "it is not there any more"
    step = Step(Action.DELETE, state.index[name], state.machine[each.move.target])
    checked = check_migration(state.migration, Plan(batches=((step,),)))  # its target is where it runs: nothing is forgiven
    return str(checked.violations[0]) if checked.violations else state.unready([step])


def _delete_order(state: FreshState, plan: RecordedPlan, name: str, number: int) -> StepOrder:
    each = state.following[name]
    return StepOrder(
        token=f"{plan.id}/{number}",
        action=Action.DELETE,
        workload=each.move.workload,
        machine=each.move.target,
        machine_uid=state.observation.machines[state.machine[each.move.target]].uid,
        uid=each.instances[each.move.target],
        steered=False,
    )


def _await_replacement(context: LoopContext, each: TrackedContainer) -> None:
    """Wait until the workload has all its ready replicas again, but not forever: the next delete judges by itself."""
    deadline = context.now() + context.settings.step_timeout
    while context.now() < deadline:
        observation = fresh_observation(context)
        ready = sum(state.workload == each.move.workload and state.phase is Phase.READY for state in observation.containers)
        if ready >= observation.replicas.get(each.move.workload, 0):
            return
        context.wait(15.0)


def _words(plan: RecordedPlan, end: ExecutionEnd | None, on_skewed: Mapping[str, TrackedContainer]) -> str:
    back = 0 if end is None else end.moved
    parts = [plan.why, f"{back} taken back"]
    stay = 0 if end is None else len(end.following) - end.moved
    if stay:
        parts.append(f"{stay} stay, since they changed meanwhile")
    if on_skewed:
        parts.append(f"{len(on_skewed)} left to the orchestrator's scheduler and held")
    return "; ".join(parts)
