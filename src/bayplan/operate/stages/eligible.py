"""Skip: what is young, in rollout, held, cooling down or unreachable stays where it is in this turn."""

from collections import Counter
from dataclasses import dataclass

from bayplan.operate.context import LoopContext
from bayplan.operate.orchestrator import Observation, Phase
from bayplan.words import count

COOLING = "moved lately"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Containers that stay, each with why."""

    why: dict[str, str]  # container -> why

    @property
    def names(self) -> tuple[str, ...]:
        """The containers."""
        return tuple(self.why)

    @property
    def in_any_case(self) -> tuple[str, ...]:
        """Those that stay however large the gain."""
        return tuple(name for name, why in self.why.items() if why != COOLING)

    @property
    def sentence(self) -> str:
        """'41 containers stay: 30 moved lately, 11 young'; empty if all may move."""
        if not self.why:
            return ""
        reasons = Counter(self.why.values()).most_common()
        return f"{count(len(self.why), 'container')} stay: " + ", ".join(f"{number:,} {why}" for why, number in reasons)


def skipped(context: LoopContext, observation: Observation) -> Skipped:
    """What must not move in this turn."""
    settings, now = context.settings, observation.at
    held = context.store.holds(now)
    cooling = _cooling(context, observation)
    closed = {machine.name for machine in observation.machines if not machine.open}
    why: dict[str, str] = {}
    for state in observation.containers:
        if state.phase is Phase.PENDING:
            continue
        reason = (
            observation.changing.get(state.workload)
            or ("not all replicas shown" if state.workload in observation.incomplete else "")
            or ("held" if state.workload in held else "")
            or ("young" if now - state.created < settings.young or state.phase is not Phase.READY else "")
            or ("on a closed machine" if state.machine in closed else "")
            or ("in the middle of a move" if state.name in observation.second or state.name in observation.still_stopping else "")
            or (COOLING if state.name in cooling else "")
        )
        if reason:
            why[state.name] = reason
    return Skipped(why=why)


def _cooling(context: LoopContext, observation: Observation) -> set[str]:
    """Containers that were moved within the cooldown, or whose workload was, as the settings say."""
    settings, now = context.settings, observation.at
    if not settings.cooldown:
        return set()
    if settings.cooldown_of == "container":
        return {state.name for state in observation.containers if state.token and now - state.created < settings.cooldown}
    moved = context.store.last_moved(now - settings.cooldown)
    return {state.name for state in observation.containers if state.workload in moved}
