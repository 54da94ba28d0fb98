"""The loop: observe, skip, decide, gate, execute, verify, roll back; every half hour, one plan at a time, all of it recorded."""

import math
from contextlib import suppress
from dataclasses import replace

from bayplan.api.planning.answer import PlanAnswer
from bayplan.errors import BayplanError, ModelError, UsageError, WorldError
from bayplan.model.record import PlanStatus, RecordedPlan, Turn, TurnVerdict
from bayplan.operate.context import LoopContext
from bayplan.operate.handed_plan import taken
from bayplan.operate.orchestrator import Observation, PermanentError, TemporaryError
from bayplan.operate.settings import Mode
from bayplan.operate.stages.decide import decided, moves_left, potential, recorded_plan
from bayplan.operate.stages.eligible import Skipped, skipped
from bayplan.operate.stages.execute import ExecutionEnd, execute
from bayplan.operate.stages.gate import GateVerdict, acting_allowed, acting_paused, gate
from bayplan.operate.stages.observe import (
    UnsoundError,
    expect_fresh_measurements,
    fresh_observation,
    sound_observation,
    with_figures,
)
from bayplan.operate.stages.recover import end_interrupted_turns, recover
from bayplan.operate.stages.rollback import finish_rollback, roll_back
from bayplan.operate.stages.tracking import tracked
from bayplan.operate.stages.verify import verify
from bayplan.words import count

OFTEN = 48  # turns after which old records are removed
POLL = 60.0  # seconds between two looks for an approval, a request to roll back, or a lease that is free
SOON = 60.0  # seconds until the next turn, if this one could not go on with a plan that is open


class Loop:
    """Turns on one cluster; `context` says which, how, and with which record."""

    def __init__(self, context: LoopContext, *, poll: float = POLL) -> None:
        self.context, self.poll = context, poll

    def run(self, *, until: float = math.inf, turns: float = math.inf) -> int:
        """Turn after turn until a time, a number of turns, or until the process is asked to end; how many there were.

        The next turn begins `every` seconds after the last one began; a turn that took longer is followed at once. Between turns
        the lease is kept, so of several loops always the same one acts; it is free when this one ends.
        """
        made = 0
        try:
            while made < turns and not self.context.stop():
                began = self.context.now()
                turn = self.turn()
                made += turn is not None
                following = self.context.now() + SOON if self._is_cut_off(turn) else began + self.context.settings.every
                if made >= turns or following >= until:
                    break
                self._wait_until(following)
        finally:
            with suppress(WorldError):
                self.context.release()
        return made

    def _is_cut_off(self, turn: Turn | None) -> bool:
        """Is there a plan that this turn could not go on with?"""
        ended_early = turn is not None and turn.verdict in (TurnVerdict.UNSOUND, TurnVerdict.FAILED)
        return ended_early and self.context.store.open_plan() is not None

    def _wait_until(self, at: float) -> None:
        """Wait, but not longer than until a person has approved a plan or asked for a rollback, or the lease is free."""
        context = self.context
        while (left := at - context.now()) > 0 and not context.stop():
            context.rest(min(left, self.poll if context.fence else POLL))
            if self._is_asked() if context.fence else self._is_free():
                return

    def _is_free(self) -> bool:
        lease = self.context.store.lease()
        return lease is None or lease.until <= self.context.now()

    def _is_asked(self) -> bool:
        """Is there something to do for a person, and may it be done now?"""
        store = self.context.store
        if store.requested_rollback() is not None:
            return not acting_paused(self.context)
        return bool(store.plans(PlanStatus.APPROVED, last=1)) and acting_allowed(self.context).passes

    def turn(self) -> Turn | None:
        """One pass; None if another process is at work: then nothing was done and nothing recorded."""
        context = self.context
        if not context.acquire():
            return None
        end_interrupted_turns(context)
        blank = Turn(id=0, started=context.now(), mode=str(context.settings.mode), goal=context.settings.goal_name)
        turn = context.begin_turn(blank)
        try:
            turn = self._turn(turn)
        except UnsoundError as error:
            turn = replace(turn, verdict=TurnVerdict.UNSOUND, why=str(error))
        except TemporaryError as error:
            turn = replace(turn, verdict=TurnVerdict.FAILED, why=f"the orchestrator does not answer: {error}")
        except PermanentError as error:
            turn = replace(turn, verdict=TurnVerdict.FAILED, why=f"the orchestrator refuses: {error}")
        except WorldError:
            raise  # the record cannot be written, or another process has taken over: nothing more may be done
        except BayplanError as error:
            turn = replace(turn, verdict=TurnVerdict.FAILED, why=str(error))
        turn = replace(turn, ended=context.now())
        context.end_turn(turn)
        context.log("turn", f"{turn.verdict}: {turn.why}")
        if not turn.id % OFTEN:
            context.store.prune(context.now() - context.settings.keep)
        return turn

    def _turn(self, turn: Turn) -> Turn:
        context = self.context
        observation = sound_observation(context)
        turn = with_figures(turn, observation)
        recovered, requested, paused = recover(context), context.store.requested_rollback(), acting_paused(context)
        if paused:
            rest = "" if recovered is None else f"plan {recovered.id} is not at its end"
            return replace(turn, verdict=TurnVerdict.HELD_OFF, why=_join(paused, rest))
        settles = recovered is not None and recovered.status is PlanStatus.SETTLING
        if recovered is not None and not (settles and requested is not None and requested.id == recovered.id):
            return self.go_on(turn, recovered)
        if requested is not None:
            plan = roll_back(context, requested, "asked for by a person")
            return replace(turn, verdict=TurnVerdict.EXECUTED, why=plan.why)
        allowed = acting_allowed(context)
        approved = self._approved_in_time(observation.at)
        if not allowed.passes and context.settings.mode is Mode.AUTO:
            return replace(turn, verdict=TurnVerdict.HELD_OFF, why=allowed.why)
        if approved and allowed.passes:
            return self._approved(turn, approved[-1], observation)
        return self._plan(turn, observation)

    def _approved_in_time(self, now: float) -> list[RecordedPlan]:
        """Approved plans; those that are out of date by now end."""
        approved = []
        for plan in self.context.store.plans(PlanStatus.APPROVED):
            age = now - plan.created
            if age > self.context.settings.expires:
                self._end(plan, PlanStatus.EXPIRED, f"approved too late: it was {age / 60:.0f} minutes old by then")
                self.context.log("expired", f"plan {plan.id} was approved too late: it is out of date", plan)
            else:
                approved.append(plan)
        return approved

    def _plan(self, turn: Turn, observation: Observation) -> Turn:
        """Make a plan, and do with it what the gate and the mode say."""
        context, settings = self.context, self.context.settings
        expect_fresh_measurements(context, observation)
        limit = moves_left(context, observation)
        if not limit:
            return replace(turn, verdict=TurnVerdict.HELD_OFF, why="the moves of this hour or this day are used up")
        stay = skipped(context, observation)
        if stay.why:
            context.log("skip", stay.sentence)
        answer, verdict = self._decide(observation, stay, limit)
        turn = _with_plan(turn, answer)
        if not answer.moved:
            return replace(turn, verdict=TurnVerdict.NOTHING, why="no move was found that pays")
        if not verdict.passes:
            self._record(turn, observation, answer, PlanStatus.DRY_RUN, verdict.why)
            return replace(turn, verdict=TurnVerdict.DRY_RUN, why=verdict.why)
        if settings.mode is not Mode.AUTO:
            plan = self._propose(turn, observation, answer, verdict.why)
            say = "approve" if settings.mode is Mode.APPROVE else "apply"
            return replace(turn, verdict=TurnVerdict.PROPOSED, why=f"{verdict.why}; next: bayplan {say} {plan.id}")
        allowed = acting_allowed(context, answer.duration)
        if not allowed.passes:
            self._record(turn, observation, answer, PlanStatus.DRY_RUN, allowed.why)
            return replace(turn, verdict=TurnVerdict.DRY_RUN, why=allowed.why)
        plan = self._record(turn, observation, answer, PlanStatus.EXECUTING, verdict.why)
        return self.carry_out(turn, plan)

    def _decide(self, observation: Observation, stay: Skipped, limit: int) -> tuple[PlanAnswer, GateVerdict]:
        """A plan in which what was moved lately stays, unless moving it again is urgent or gains much."""
        context, free = self.context, stay.in_any_case
        answer = decided(context, observation, free, limit)
        most = potential(answer)
        again = {move.container for move in answer.moves} & set(stay.names)
        verdict = gate(context, answer, most)
        if not again or not verdict.passes or answer.urgent or most >= context.settings.large_gain:
            return answer, verdict
        answer = decided(context, observation, stay.names, limit)
        return answer, gate(context, answer, potential(answer))

    def _record(self, turn: Turn, observation: Observation, answer: PlanAnswer, status: PlanStatus, why: str) -> RecordedPlan:
        plan = replace(recorded_plan(turn, observation, answer, status), why=why)
        self.context.save_plan(plan)
        self.context.log("gate", f"{count(len(plan.moves), 'move')}: {why}", plan)
        return plan

    def _propose(self, turn: Turn, observation: Observation, answer: PlanAnswer, why: str) -> RecordedPlan:
        """Only the newest plan is proposed: what was proposed before is out of date."""
        for old in self.context.store.plans(PlanStatus.PROPOSED):
            self._end(old, PlanStatus.EXPIRED, "a newer plan was made")
        return self._record(turn, observation, answer, PlanStatus.PROPOSED, why)

    def _end(self, plan: RecordedPlan, status: PlanStatus, why: str) -> RecordedPlan:
        ended = replace(plan, status=status, why=why, changed=self.context.now())
        self.context.save_plan(ended)
        return ended

    def _approved(self, turn: Turn, plan: RecordedPlan, observation: Observation) -> Turn:
        """Carry out what a person has approved, unless it is out of date."""
        words = f"approved by {plan.approved_by}"
        if plan.by_name:
            try:
                handed = taken(plan, turn, observation, self.context.settings.freeze)
                against = handed.out_of_date
            except (ModelError, UsageError) as error:  # its steps contradict each other
                against = str(error)
            if against:
                self._end(plan, PlanStatus.EXPIRED, against)
                return replace(turn, verdict=TurnVerdict.HELD_OFF, why=f"plan {plan.id} is not carried out: {against}")
            plan, words = handed.plan, _join(f"handed in by {plan.approved_by}", handed.words)
        turn = replace(turn, moves=len(plan.moves), gain=plan.expected.get("gain"), planned_local=plan.expected.get("local"))
        return self.carry_out(turn, self._end(plan, PlanStatus.EXECUTING, words))

    def go_on(self, turn: Turn, plan: RecordedPlan) -> Turn:
        """Go on with the plan that was open when the process ended, or when it was paused."""
        if plan.status is PlanStatus.ROLLING_BACK:
            plan = finish_rollback(self.context, plan)
            return replace(turn, verdict=TurnVerdict.EXECUTED, why=plan.why)
        turn = replace(turn, moves=len(plan.moves), gain=plan.expected.get("gain"), planned_local=plan.expected.get("local"))
        return self.carry_out(turn, plan) if plan.status is PlanStatus.EXECUTING else self._settled(turn, plan)

    def carry_out(self, turn: Turn, plan: RecordedPlan) -> Turn:
        """Execute, settle, verify."""
        context = self.context
        end = execute(context, plan)
        turn = replace(turn, moved=end.moved)
        if end.paused:
            why = f"{_moved(end)}; {end.stopped}, the rest of plan {plan.id} waits"
            return replace(turn, verdict=TurnVerdict.EXECUTED, why=why)
        if end.stopped == "to be rolled back":
            back = roll_back(context, end.plan, "asked for by a person")
            return replace(turn, verdict=TurnVerdict.EXECUTED, why=back.why)
        if not end.moved:
            why = _join("nothing was moved", _first_reason(end))
            self._end(end.plan, PlanStatus.STOPPED, why)
            return replace(turn, verdict=TurnVerdict.EXECUTED, why=why)
        return self._settled(turn, self._end(end.plan, PlanStatus.SETTLING, _moved(end)))

    def _settled(self, turn: Turn, plan: RecordedPlan) -> Turn:
        """Verify when the settling time is over, and take back what turned out badly."""
        context = self.context
        context.rest(max(0.0, plan.changed + context.settings.settle - context.now()))
        paused = acting_paused(context)
        if paused:
            return replace(turn, verdict=TurnVerdict.EXECUTED, why=_join(plan.why, paused, "it will be verified later"))
        following = tracked(plan, [step for step in context.store.steps(plan.id) if not step.back])
        try:
            found = verify(context, plan, following, fresh_observation(context))
        except (ModelError, UsageError) as error:  # it would fail at every turn, and no other plan could begin
            stopped = self._end(plan, PlanStatus.STOPPED, f"{plan.why}; it cannot be verified: {error}")
            return replace(turn, verdict=TurnVerdict.EXECUTED, why=stopped.why)
        context.log("verify", found.sentence, plan)
        if not found.good:
            back = roll_back(context, plan, found.sentence, found.skewed)
            return replace(turn, verdict=TurnVerdict.EXECUTED, why=f"rolled back: {back.why}")
        reached = {"gained": found.gain} | ({} if found.local is None else {"reached": found.local})
        done = replace(plan, expected={**plan.expected, **reached})
        self._end(done, PlanStatus.DONE, f"{plan.why}; {found.sentence}")
        return replace(turn, verdict=TurnVerdict.EXECUTED, why=f"{plan.why}; {found.sentence}")


def _with_plan(turn: Turn, answer: PlanAnswer) -> Turn:
    return replace(turn, moves=answer.moved, gain=answer.gain, planned_local=answer.figures.after.local, seconds=answer.seconds)


def _moved(end: ExecutionEnd) -> str:
    """'170 of 174 containers moved; 4 given up: ...'."""
    total = sum(each.move.source != each.move.target for each in end.following.values())
    words = f"{end.moved:,} of {count(total, 'container')} moved"
    given_up = end.given_up
    return _join(words, f"{len(given_up)} given up ({_first_reason(end)})" if given_up else "")


def _first_reason(end: ExecutionEnd) -> str:
    return next((f"{name}: {why}" for name, why in end.given_up.items()), end.stopped)


def _join(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
