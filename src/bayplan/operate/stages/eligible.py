"""Skip: what is young, in rollout, held, cooling down or unreachable stays where it is in this turn."""

from collections import Counter
from dataclasses import dataclass

from bayplan.operate.context import LoopContext
from bayplan.operate.orchestrator import Observation, Phase
from bayplan.words import count


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Containers that stay, each with why."""

    why: dict[str, str]  # container -> why

    @property
    def names(self) -> tuple[str, ...]:
        """The containers."""
        return tuple(self.why)

    @property
    def sentence(self) -> str:
        """'41 containers stay: 30 moved lately, 11 young'; empty if all may move."""
        if not self.why:
            return ""
        reasons = Counter(self.why.values()).most_common()
        return f"{count(len(self.why), 'container')} stay: " + ", ".join(f"{number:,} {why}" for why, number in reasons)


def skipped(context: LoopContext, observation: Observation, local: float | None) -> Skipped:
    """What must not move in this turn; `local` is the share of local traffic now."""
    settings, now = context.settings, observation.at
    held = context.store.holds(now)
    cooling = context.store.last_moved(now - settings.cooldown) if settings.cooldown else {}
    if lost_much(context, local):
        cooling = {}
    closed = {machine.name for machine in observation.machines if not machine.open}
    why: dict[str, str] = {}
    for state in observation.containers:
        if state.phase is Phase.PENDING:
            continue
        reason = (
            observation.changing.get(state.workload)
            or ("held" if state.workload in held else "")
            or ("moved lately" if state.workload in cooling else "")
            or ("young" if now - state.created < settings.young or state.phase is not Phase.READY else "")
            or ("on a closed machine" if state.machine in closed else "")
            or ("in the middle of a move" if state.name in observation.second else "")
        )
        if reason:
            why[state.name] = reason
    return Skipped(why=why)


def lost_much(context: LoopContext, local: float | None) -> bool:
    """Is so much local traffic lost since the last plan was verified that workloads may move again at once?"""
    from bayplan.model.record import PlanStatus

    done = context.store.plans(PlanStatus.DONE, last=1)
    if not done or local is None:
        return False
    reached = done[-1].expected.get("reached")
    return reached is not None and reached - local >= context.settings.large_gain
