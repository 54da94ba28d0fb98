"""Decide: a plan for what was observed, within the seconds and the moves that are left."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from bayplan.api.planning.answer import PlanAnswer
from bayplan.api.planning.plan import plan as make_plan
from bayplan.api.problem import move_limit
from bayplan.model import UNPLACED, Placement, Plan, Running
from bayplan.model.record import PlannedMove, PlanStatus, RecordedPlan, Turn
from bayplan.operate.context import LoopContext
from bayplan.operate.orchestrator import Observation
from bayplan.operate.settings import DAY, HOUR
from bayplan.operate.stages.observe import figures_of, fingerprint_of, running

USUAL, FEW = 0.05, 10  # of what runs, and in any case, may be moved at once where nothing is said


def decided(context: LoopContext, observation: Observation, stay: Sequence[str], limit: int) -> PlanAnswer:
    """The plan of at most `limit` moves; the target may take more, and is then reached by several plans in turn.

    What stays is not moved on the way either.
    """
    settings = context.settings
    keywords: dict[str, Any] = {"progress": context.progress}
    if settings.budget is not None:
        keywords["budget"] = settings.budget
    if settings.threads is not None:
        keywords["threads"] = settings.threads
    frozen = (*settings.freeze, *stay)
    answer = make_plan(
        observation.snapshot,
        goal=settings.goal,
        seconds=settings.seconds,
        seed=settings.seed,
        max_moves="100%",
        at_once=limit,
        freeze=frozen,
        never=frozen,
        alive=settings.alive,
        needed=observation.needed,
        way=settings.way,
        min_gain=settings.min_gain,
        performance=False,
        **keywords,
    )
    if settings.planning_takes:
        context.wait(settings.planning_takes)
    context.renew()
    return answer


def potential(answer: PlanAnswer) -> float:
    """What there is to gain in all: by this plan or, where it is a part of the way, by all moves to where that leads."""
    return answer.gain if answer.whole_gain is None else max(answer.gain, answer.whole_gain)


def moves_left(context: LoopContext, observation: Observation) -> int:
    """How many containers may be moved now: the limit of a plan, and what is left of the hour's and the day's."""
    settings, containers = context.settings, running(observation)
    by_default = max(int(USUAL * containers), FEW)
    once = by_default if settings.max_moves is None else move_limit(settings.max_moves, containers)
    limits = [once]
    for stated, times, span in ((settings.moves_per_hour, 2, HOUR), (settings.moves_per_day, 10, DAY)):
        most = times * once if stated is None else move_limit(stated, containers)
        limits.append(most - context.store.moved_since(observation.at - span))
    return max(0, min(limits))


def executions_left(context: LoopContext, now: float) -> bool:
    """May a further plan be carried out in this hour and on this day?"""
    settings, store = context.settings, context.store
    spans = ((settings.executions_per_hour, HOUR), (settings.executions_per_day, DAY))
    return all(most is None or store.executions_since(now - span) < most for most, span in spans)


def recorded_plan(turn: Turn, observation: Observation, answer: PlanAnswer, status: PlanStatus) -> RecordedPlan:
    """A plan as it is written down, with what it promises."""
    figures = answer.figures
    reasons = {observation.snapshot.cluster.containers.name[note.container]: note.why for note in answer.reasons}
    expected = _known(gain=answer.gain, local=figures.after.local, hot=figures.after.hot, urgent=answer.urgent)
    return replace(
        written_plan(turn, observation, answer.plan, reasons),
        status=status,
        goal=answer.wanted.name,
        expected=expected,
        summary=(answer.headline, *answer.details()["sentences"]),
    )


def written_plan(turn: Turn, observation: Observation, plan: Plan, reasons: Mapping[str, str]) -> RecordedPlan:
    """Any plan as it is written down: containers by identity, machines by name, and what was there before.

    Containers that have no machine are left to the orchestrator's scheduler: it places them as soon as there is room.
    """
    fingerprint = fingerprint_of(observation)
    end = Running.of(observation.snapshot.placement).after(plan).placement
    return RecordedPlan(
        id=f"{turn.id}-{_digest(f'{fingerprint} {observation.at}')}",
        turn=turn.id,
        created=observation.at,
        changed=observation.at,
        status=PlanStatus.PROPOSED,
        fingerprint=fingerprint,
        moves=_planned_moves(observation, plan, end, reasons),
        batches=_named_batches(observation, plan),
        before=_state_before(observation, end),
    )


def _digest(text: str) -> str:
    """Six letters: steps are told apart by the id of their plan, also from those of a record that was lost."""
    return blake2b(text.encode(), digest_size=3).hexdigest()


def _planned_moves(observation: Observation, plan: Plan, end: Placement, reasons: Mapping[str, str]) -> tuple[PlannedMove, ...]:
    """Each container that has steps and runs, from where to where its steps lead.

    Replicas are interchangeable, so a container's steps may end where the target has another replica.
    """
    cluster, before = observation.snapshot.cluster, observation.snapshot.placement.machine_of
    machine, name = cluster.machines.name, cluster.containers.name
    moved = sorted({step.container for step in plan.steps() if before[step.container] != UNPLACED})
    return tuple(
        PlannedMove(
            container=name[c],
            uid=observation.containers[c].uid,
            workload=observation.containers[c].workload,
            source=machine[before[c]],
            target=machine[end.machine_of[c] if end.machine_of[c] != UNPLACED else before[c]],
            why=reasons.get(name[c], ""),
        )
        for c in moved
    )


def _named_batches(observation: Observation, plan: Plan) -> tuple[tuple[tuple[str, str, str], ...], ...]:
    """The batches by name, without containers that did not run."""
    cluster, before = observation.snapshot.cluster, observation.snapshot.placement.machine_of
    batches = (
        tuple(
            (step.action.value, cluster.containers.name[step.container], cluster.machines.name[step.machine])
            for step in batch
            if before[step.container] != UNPLACED
        )
        for batch in plan.batches
    )
    return tuple(batch for batch in batches if batch)


def _state_before(observation: Observation, end: Placement) -> Mapping[str, Any]:
    """What the verification compares with: usage of every machine, and what the plan should add to it."""
    cluster, before = observation.snapshot.cluster, observation.snapshot.placement
    usage = cluster.workloads.usage_mean[cluster.containers.workload]  # (container, resource)
    added = np.zeros_like(cluster.machines.capacity, dtype=np.float64)  # (machine, resource)
    for c in end.moved_from(before).tolist():
        added[before.machine_of[c]] -= usage[c]
        if end.machine_of[c] != UNPLACED:
            added[end.machine_of[c]] += usage[c]
    changed = np.flatnonzero(added.any(axis=1)).tolist()
    names, figures = cluster.machines.name, figures_of(observation)
    return {
        **_known(local=figures.local, hot=figures.hot),
        "containers": running(observation),
        "usage": {names[m]: list(observation.machines[m].usage) for m in changed if observation.machines[m].usage},
        "added": {names[m]: added[m].tolist() for m in changed},
    }


def _known(**figures: float | None) -> dict[str, float]:
    """The figures that there are."""
    return {name: float(value) for name, value in figures.items() if value is not None}
