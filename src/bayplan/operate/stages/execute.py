"""Execute: a plan batch by batch, each checked against a fresh observation. What changed meanwhile is planned anew, not forced.

Before a batch the referee judges it on what runs now; after it, every step is confirmed by observing. A container that was
deleted, rolled out or whose machine closed is given up, and the rest goes on. When acting is no longer allowed (paused, the
window shuts, too much fails), moves that have begun are brought to their end and no other is begun: nothing is left half-moved.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bayplan.check import check_migration
from bayplan.model import Action, Plan, Step
from bayplan.model.record import RecordedPlan, RecordedStep, StepStatus
from bayplan.operate.context import LoopContext
from bayplan.operate.orchestrator import StepOrder
from bayplan.operate.stages.gate import acting_paused
from bayplan.operate.stages.observe import fresh_observation
from bayplan.operate.stages.steps import begun_step, make_steps, reserve
from bayplan.operate.stages.tracking import FreshState, NamedStep, TrackedContainer, fresh_state, new_order, spoiled, tracked
from bayplan.operate.windows import closing_time
from bayplan.words import count

REORDERINGS, BETWEEN = 20, 15.0  # of one plan, before it is stopped; seconds from one to the next
STILL_STOPPING = "what is stopping on their machines counts for their rules until it has ended"
TRIES = 3  # of the steps of one container for which the orchestrator did not answer, or that leave two instances of it
NEVER_MORE_THAN = 200  # batches of one plan, whatever happens


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionEnd:
    """How far a plan was carried out."""

    plan: RecordedPlan
    following: dict[str, TrackedContainer]
    stopped: str = ""  # why no further move was begun; empty if all were made or given up
    paused: bool = False  # is the rest to go on later?

    @property
    def moved(self) -> int:
        """Containers that arrived on another machine."""
        return sum(each.arrived and each.move.source != each.move.target for each in self.following.values())

    @property
    def given_up(self) -> dict[str, str]:
        """Containers that were left alone, with why."""
        return {name: each.given_up for name, each in self.following.items() if each.given_up and not each.arrived}


def execute(context: LoopContext, plan: RecordedPlan, *, back: bool = False) -> ExecutionEnd:
    """Carry out a plan, or go on with it after a crash: from the steps that the record knows to have been made."""
    run = PlanRun(context, plan, back=back)
    run.go_on()
    context.patiently(lambda: context.orchestrator.release(plan.id))
    return ExecutionEnd(plan=run.plan, following=run.following, stopped=run.stopped, paused=run.paused)


class PlanRun:
    """A plan on its way."""

    def __init__(self, context: LoopContext, plan: RecordedPlan, *, back: bool) -> None:
        self.context, self.plan, self.back = context, plan, back
        made = [step for step in context.store.steps(plan.id) if step.back == back]
        self.number = len(context.store.steps(plan.id))  # of the next step
        self.batch = 1 + max((step.batch for step in made), default=-1)
        self.following = tracked(plan, made)
        self.failed = 0  # since this process is at it: what a crash cut off is no failure
        self.tries: Counter[str] = Counter()  # by container
        self.todo = [list(batch) for batch in plan.batches]
        self.reorder = bool(made) or not plan.batches  # after a crash, and on the way back, the order is found on what runs
        self.reorderings = 0
        self.stopped, self.paused = "", False

    def go_on(self) -> None:
        """Batch after batch, until nothing is left."""
        for _ in range(NEVER_MORE_THAN):
            self.context.renew()
            self.stopped = self.stopped or self._must_stop()
            state = self._look()
            if self.reorder:
                self._order_anew(state)
            whole = self._next_batch(state)
            if not whole:
                return
            batch = state.within_limits(whole)
            orders = [self._order(state, named, self.number + i) for i, (named, _) in enumerate(batch)]
            unsafe = self._unsafe(state, batch) if batch else state.unready([step for _, step in whole]) or STILL_STOPPING
            unsafe = unsafe or self._unsafe_when_reserved(state, batch, orders)
            if not unsafe:
                self._make(batch, orders, rest=len(whole) - len(batch))
            elif self.reorderings < REORDERINGS:
                self.context.log(
                    "order", f"batch {self.batch + 1} is not safe any more: {unsafe}; the rest is ordered anew", self.plan
                )
                self.reorder = True
                self.context.wait(BETWEEN)
            else:
                self.stopped = self.stopped or f"the cluster changes too fast: {unsafe}"
                return
        self.stopped = self.stopped or "it takes too many batches"

    def _must_stop(self) -> str:
        """Why no further move may be begun; empty if one may."""
        context, store = self.context, self.context.store
        paused = acting_paused(context)
        if paused:
            self.paused = True
            return paused
        if self.back:
            return ""  # what is taken back is taken back
        if store.rollback_asked(self.plan.id):
            return "to be rolled back"
        if context.now() - self.plan.created > context.settings.fresh + context.settings.expires:
            return "the plan is out of date"
        if closing_time(context.settings.windows, context.now()) is None:
            return "the window has shut"
        if self.failed > max(1.0, context.settings.failing * len(self.plan.moves)):
            return f"{count(self.failed, 'step')} failed"
        return ""

    def _look(self) -> FreshState:
        """The rest of the plan on a fresh observation; what must not be begun any more is given up."""
        observation = fresh_observation(self.context)
        before = {name for name, each in self.following.items() if each.given_up}
        state = fresh_state(observation, self.following, self.context.settings.alive, self.context.settings.way)
        for name, each in self.following.items():
            if self.stopped and not each.begun and not each.arrived and not each.given_up:
                each.given_up = f"not begun: {self.stopped}"
            if each.given_up and name not in before and not each.arrived:
                self._tell_given_up(name)
        return state

    def _tell_given_up(self, name: str) -> None:
        each = self.following[name]
        self.context.log("given-up", f"{name}: {each.given_up}", self.plan)
        self.context.listener.given_up(self.plan, each.move, each.given_up)

    def _order_anew(self, state: FreshState) -> None:
        batches = new_order(state, self.context.settings.seed)
        self.todo = [list(batch) for batch in batches]
        if not self.back:  # of the way back only the steps are recorded: the record keeps the plan as it was
            self.plan = replace(self.plan, batches=batches)
            self.context.save_plan(self.plan)
        self.reorder = False
        self.reorderings += 1

    def _next_batch(self, state: FreshState) -> list[tuple[NamedStep, Step]]:
        """The next steps that are left to make; empty if none is."""
        while self.todo:
            batch = [(named, step) for named in self.todo[0] if (step := state.step(named)) is not None]
            if batch:
                return batch
            self.todo.pop(0)
        return []

    def _unsafe(self, state: FreshState, batch: Sequence[tuple[NamedStep, Step]]) -> str:
        """Why a batch must not be made on what runs now; empty if it may. The referee of plans judges, then what is ready."""
        steps = [step for _, step in batch]
        checked = check_migration(state.migration, Plan(batches=(tuple(steps),)))
        return str(checked.violations[0]) if checked.violations else state.unready(steps) or spoiled(state)

    def _unsafe_when_reserved(self, state: FreshState, batch: Sequence[tuple[NamedStep, Step]], orders: list[StepOrder]) -> str:
        """Reserve for a batch, and look again: what is no longer reserved is placed by the orchestrator at once."""
        reserve(self.context, self.plan.id, [*orders, *self._still_needed(state, batch)])
        state = self._look()
        steps = [(named, step) for named, _ in batch if (step := state.step(named)) is not None]
        return self._unsafe(state, steps) if len(steps) == len(batch) else "it changed meanwhile"

    def _make(self, batch: Sequence[tuple[NamedStep, Step]], orders: list[StepOrder], rest: int) -> None:
        """Make the steps of a batch, or those that are possible now: the rest of it comes next."""
        numbered = enumerate(zip(batch, orders, strict=True), start=self.number)
        steps = [
            begun_step(self.context, self.plan.id, named[1], order, number=number, batch=self.batch, back=self.back)
            for number, ((named, _), order) in numbered
        ]
        self.number += len(steps)
        ended, unanswered = make_steps(self.context, steps, orders)
        again = unanswered | {step.token for step in ended if step.status is not StepStatus.DONE and _leaves_two(step)}
        for step in ended:
            if step.status is StepStatus.DONE:
                self.following[step.container].apply(step)
            elif step.token in again and self.tries[step.container] < TRIES:
                self.tries[step.container] += 1
            else:
                self._failed(step)
        made = sum(step.status is StepStatus.DONE for step in ended)
        back = "way back, " if self.back else ""
        self.context.log("batch", f"{back}batch {self.batch + 1}: {made} of {count(len(ended), 'step')} made", self.plan)
        self.batch += 1
        if again:
            self.context.wait(BETWEEN)
        if not again and not rest:  # otherwise it comes again, without what has been made or given up
            self.todo.pop(0)

    def _failed(self, step: RecordedStep) -> None:
        following = self.following[step.container]
        self.failed += 1
        following.given_up = f"{step.action} on machine '{step.machine}' failed: {step.outcome}"
        self.context.log("failed", f"{step.container}: {following.given_up}", self.plan)
        self.context.listener.given_up(self.plan, following.move, following.given_up)

    def _order(self, state: FreshState, named: NamedStep, number: int) -> StepOrder:
        """A step as the orchestrator gets it."""
        action, container, machine = Action(named[0]), named[1], named[2]
        following = self.following[container]
        runs_elsewhere = bool(set(following.instances) - {machine})
        return StepOrder(
            token=f"{self.plan.id}/{number}",
            action=action,
            workload=following.move.workload,
            machine=machine,
            machine_uid=state.observation.machines[state.machine[machine]].uid,
            uid=following.instances.get(machine, following.last) if action is Action.DELETE else following.last,
            surge=runs_elsewhere,
        )

    def _still_needed(self, state: FreshState, batch: Sequence[tuple[NamedStep, Step]]) -> list[StepOrder]:
        """Later steps of moves that have begun or begin with this batch: the orchestrator reserves for them too."""
        now, moving = {named for named, _ in batch}, {named[1] for named, _ in batch}
        moving |= {name for name, each in self.following.items() if each.begun}
        moving -= {name for name, each in self.following.items() if each.given_up}
        later = [named for steps in self.todo for named in steps if named[1] in moving and named not in now]
        return [replace(self._order(state, named, 0), token="") for named in later if named[2] in state.machine]


def _leaves_two(step: RecordedStep) -> bool:
    """Do two instances of a container run if this step is not made? Which of them ends, the orchestrator would choose."""
    return step.action is Action.DELETE and step.surge
