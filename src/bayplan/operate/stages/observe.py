"""Observe: an observation that can be trusted. Nothing is ever decided or done on one that cannot."""

from dataclasses import replace
from hashlib import blake2b

from bayplan.errors import WorldError
from bayplan.model import UNPLACED
from bayplan.model.plan import fingerprint
from bayplan.model.record import Turn, TurnVerdict
from bayplan.operate.context import LoopContext
from bayplan.operate.orchestrator import Observation
from bayplan.score.goal.state_figures import StateFigures, state_figures
from bayplan.words import count

TOO_OLD = 120.0  # seconds: an observation that was made earlier shows the past
AHEAD = 60.0  # seconds: clocks may differ by as much
SHRUNK = 0.5  # with less than this share of the containers or machines of the last turn, something is wrong with the observation
MISSING = 0.1  # of the replicas that the orchestrator says it keeps: with fewer containers shown, the observation is a part only
TRIES, BETWEEN = 4, 15.0  # an observation that is old, empty, shrunk or a part only is asked for again, after these seconds


class UnsoundError(WorldError):
    """An observation, or the clock, that cannot be trusted: nothing was done. The text says why."""


def sound_observation(context: LoopContext, since: float = 0.0) -> Observation:
    """An observation made at `since` or later; UnsoundError if none can be had that is not old, empty, shrunk or a part only.

    One that lacks a few replicas is taken if it does not get better: `Observation.incomplete` says of which workloads.
    """
    expect_clock(context)
    for left in reversed(range(TRIES)):
        observation = context.patiently(context.orchestrator.observe)
        problem = _is_old(context, observation, since) or _is_shrunk(context, observation) or _is_part(observation)
        if not problem and (not left or not observation.incomplete):
            context.seen = observation
            context.keep_observed(observation)
            context.listener.observed(observation)
            return observation
        if left:
            context.wait(BETWEEN)
    raise UnsoundError(problem)


def fresh_observation(context: LoopContext) -> Observation:
    """A sound observation that was made now or later: what is done next is judged on it."""
    return sound_observation(context, since=context.now())


def expect_clock(context: LoopContext) -> None:
    """UnsoundError if the clock shows less than what was written down before."""
    last = context.store.last_time()
    behind = 0.0 if last is None else last - context.now()
    if behind > AHEAD:
        raise UnsoundError(
            f"the clock went back: it is {behind:,.0f} s behind the last record; nothing is done until it catches up"
        )


def expect_fresh_measurements(context: LoopContext, observation: Observation) -> None:
    """UnsoundError if traffic or usage were measured too long ago to plan with."""
    for what, at in (("traffic", observation.traffic_at), ("usage", observation.usage_at)):
        age = observation.at - at
        if age > context.settings.fresh:
            raise UnsoundError(f"{what} was measured {age / 60:,.0f} minutes ago: too long to plan with")


def _is_old(context: LoopContext, observation: Observation, since: float) -> str:
    """Why an observation shows the past; empty if it does not."""
    now, seen = context.now(), context.seen
    if seen is not None and observation.version < seen.version:
        return f"the observation is older (version {observation.version}) than one seen before ({seen.version})"
    if now - observation.at > TOO_OLD or observation.at < since:
        return f"the observation is {now - observation.at:,.0f} s old"
    if observation.at - now > AHEAD:
        return f"the observation is from {observation.at - now:,.0f} s in the future"
    return ""


def _is_shrunk(context: LoopContext, observation: Observation) -> str:
    """Why an observation has too little in it; empty if it has enough."""
    machines, containers = len(observation.machines), running(observation)
    if not machines or not containers:
        return f"the observation is empty: {count(machines, 'machine')}, {count(containers, 'running container')}"
    seen = context.seen if context.seen is None or not _trusted_since(context, context.seen.at) else None
    before = _last_count(context) if seen is None else running(seen)
    if before and containers < SHRUNK * before:
        return (
            f"the observation has {containers:,} running containers where the last one had {before:,}: less than half; {_TRUST}"
        )
    if seen is not None and machines < SHRUNK * len(seen.machines):
        return (
            f"the observation has {machines:,} machines where the last one had {len(seen.machines):,}: less than half; {_TRUST}"
        )
    return ""


def _is_part(observation: Observation) -> str:
    """Why an observation shows only a part of what there is; empty if it does not."""
    kept, shown = sum(observation.replicas.values()), len(observation.containers)
    if shown < (1.0 - MISSING) * kept:
        return f"the observation has {shown:,} containers where the orchestrator keeps {kept:,}: a part of it is missing"
    return ""


_TRUST = "if that is so, say it: bayplan resume --trust"


def _last_count(context: LoopContext) -> int:
    """Running containers in the last turn that trusted its observation; 0 if a person has said since to trust what there is."""
    for turn in reversed(context.store.turns(last=100)):
        if turn.containers and turn.verdict is not TurnVerdict.UNSOUND:
            return 0 if _trusted_since(context, turn.started) else turn.containers
    return 0


def _trusted_since(context: LoopContext, at: float) -> bool:
    """Has a person said since then to trust what there is?"""
    trusted = context.store.last_event("trust")
    return trusted is not None and trusted.at >= at


def running(observation: Observation) -> int:
    """How many containers have a machine."""
    return int((observation.snapshot.placement.machine_of != UNPLACED).sum())


def figures_of(observation: Observation) -> StateFigures:
    """The figures of what was observed."""
    return state_figures(observation.snapshot.cluster, observation.snapshot.placement)


def with_figures(turn: Turn, observation: Observation) -> Turn:
    """The turn with what its observation shows."""
    figures = figures_of(observation)
    return replace(
        turn,
        fingerprint=fingerprint_of(observation),
        containers=running(observation),
        local=figures.local,
        fullest=figures.fullest if figures.fullest != float("inf") else None,
        hot=figures.hot,
        unplaced=figures.unplaced,
    )


def fingerprint_of(observation: Observation) -> str:
    """One short digest of what runs where, what it requests, and the rules."""
    state = fingerprint(observation.snapshot.cluster, observation.snapshot.placement)
    text = repr((sorted(state.machines.items()), sorted(state.workloads.items()), state.rules))
    return blake2b(text.encode(), digest_size=8).hexdigest()
