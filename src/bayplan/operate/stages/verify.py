"""Verify: after a settling time, did the gain come, and did no machine get too much load because of us?

A machine to which we brought containers is skewed if its measured usage (or, where nothing is measured, what its containers
request) is above its safety capacity by more than a measurement may be wrong, or above its former usage by more than the plan
should have added and a margin, and if it would not be so without what we brought. The gain is measured on what runs and talks
now, against the same cluster with the moved containers back where they were: what others changed meanwhile is in both.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayplan.api.planning.question import goal_of
from bayplan.model import FloatArray, Placement, ints
from bayplan.model.goal import GOALS
from bayplan.model.record import RecordedPlan
from bayplan.operate.context import LoopContext
from bayplan.operate.orchestrator import Observation
from bayplan.operate.stages.tracking import TrackedContainer
from bayplan.score.counts import loads
from bayplan.score.goal.objective import goal_objective, third_rank
from bayplan.score.goal.state_figures import local_share, state_figures

ERROR = 0.05  # of a machine's capacity: one measurement may be wrong by as much; less is no reason to take a plan back


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a plan has brought."""

    gain: float  # weighted shares, the price of its moves taken off
    local_gain: float | None  # points of local traffic that are there because of it
    local: float | None  # share of local traffic now
    skewed: Mapping[str, str]  # machine -> why
    missing: str = ""  # why the gain did not come; empty if it did

    @property
    def good(self) -> bool:
        """Is there nothing to take back?"""
        return not self.skewed and not self.missing

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        if self.skewed:
            first = next(iter(self.skewed.items()))
            more = f" (and {len(self.skewed) - 1} more)" if len(self.skewed) > 1 else ""
            return f"machine '{first[0]}' is skewed: {first[1]}{more}"
        if self.missing:
            return self.missing
        local = "" if self.local_gain is None else f", {100 * self.local_gain:+.1f} points of local traffic"
        return f"gained {100 * self.gain:.1f} points{local}; no machine is skewed"


def verify(
    context: LoopContext, plan: RecordedPlan, following: Mapping[str, TrackedContainer], observation: Observation
) -> Verification:
    """Compare what runs now with what was promised and with what was there."""
    arrived = _arrived(observation, following)
    undone = _undone(observation, arrived)
    snapshot = observation.snapshot
    goal = goal_of(plan.goal if plan.goal in GOALS else context.settings.goal)  # one of a person's own is not known by its name
    objective = goal_objective(snapshot.placed_as(undone.machine_of), goal)
    gain = third_rank(snapshot.cluster, undone, objective, undone) - third_rank(
        snapshot.cluster, snapshot.placement, objective, undone
    )
    now, then = local_share(snapshot.cluster, snapshot.placement), local_share(snapshot.cluster, undone)
    return Verification(
        gain=gain,
        local=now,
        local_gain=None if now is None or then is None else now - then,
        skewed=_skewed(context, plan, observation, arrived),
        missing=_missing(context, plan, observation, undone, gain, len(arrived)),
    )


def _arrived(observation: Observation, following: Mapping[str, TrackedContainer]) -> dict[int, TrackedContainer]:
    """Containers that we moved and that still run where we brought them, by their number now."""
    at = {state.uid: c for c, state in enumerate(observation.containers)}
    return {
        at[uid]: each
        for each in following.values()
        if each.arrived and each.move.source != each.move.target and (uid := each.instances[each.move.target]) in at
    }


def _undone(observation: Observation, arrived: Mapping[int, TrackedContainer]) -> Placement:
    """The placement with what we moved back where it was, as far as those machines are still there."""
    machine = {state.name: m for m, state in enumerate(observation.machines)}
    machine_of = observation.snapshot.placement.machine_of.copy()
    for c, each in arrived.items():
        machine_of[c] = machine.get(each.move.source, machine_of[c])
    return Placement(machine_of=ints(machine_of))


def _missing(
    context: LoopContext, plan: RecordedPlan, observation: Observation, undone: Placement, gain: float, arrived: int
) -> str:
    """Why the gain did not come; empty if it did. An urgent plan is judged by the hot machines, any other by its gain.

    Of what was promised only the share counts of the moves that were made and that others have not changed since.
    """
    moves = sum(move.source != move.target for move in plan.moves)
    promised = float(plan.expected.get("gain", 0.0)) * arrived / max(1, moves)
    if plan.expected.get("urgent"):
        cluster = observation.snapshot.cluster
        now, then = (state_figures(cluster, each) for each in (observation.snapshot.placement, undone))
        worse = (now.violated, now.unplaced, now.overload) > (then.violated, then.unplaced, then.overload + 1e-9)
        return "it was urgent, and things are worse than without it" if worse else ""
    if promised > 0 and gain < context.settings.least_gain * promised:
        return f"the gain did not come: {100 * gain:.1f} points of {100 * promised:.1f} promised"
    return ""


def _skewed(
    context: LoopContext, plan: RecordedPlan, observation: Observation, arrived: Mapping[int, TrackedContainer]
) -> dict[str, str]:
    """Machines that have too much load because of us, with why."""
    cluster, margin = observation.snapshot.cluster, context.settings.margin
    usage, brought = machine_usage(observation), _brought(observation, arrived)
    before, added = plan.before.get("usage", {}), plan.before.get("added", {})
    skewed: dict[str, str] = {}
    for m, ours in brought.items():
        name, capacity = cluster.machines.name[m], np.maximum(1, cluster.machines.capacity[m])
        safety = cluster.machines.safety[m] + ERROR * capacity
        over = (usage[m] > safety) & (usage[m] - ours <= safety)
        if name in before and name in added:
            limit = np.array(before[name]) + np.maximum(0.0, np.array(added[name])) + margin * capacity
            grown = (usage[m] > limit) & (usage[m] - ours <= limit)
        else:
            grown = np.zeros(len(capacity), dtype=np.bool_)
        for bad, words in ((over, "above its safety capacity"), (grown, "far above what was expected")):
            if bad.any() and name not in skewed:
                r = int(np.flatnonzero(bad)[0])
                skewed[name] = f"{cluster.resources[r].name} at {100 * usage[m][r] / capacity[r]:.0f} %, {words}"
    return skewed


def _brought(observation: Observation, arrived: Mapping[int, TrackedContainer]) -> dict[int, FloatArray]:
    """Machine -> usage of what we brought there."""
    cluster, brought = observation.snapshot.cluster, dict[int, FloatArray]()
    for c in arrived:
        m = int(observation.snapshot.placement.machine_of[c])
        usage = cluster.workloads.usage_mean[cluster.containers.workload[c]]
        brought[m] = brought.get(m, np.zeros(len(usage))) + usage
    return brought


def machine_usage(observation: Observation) -> FloatArray:
    """(machine, resource) measured usage; what containers request where nothing was measured."""
    requested = loads(observation.snapshot.cluster, observation.snapshot.placement).astype(np.float64)
    for m, state in enumerate(observation.machines):
        if state.usage:
            requested[m] = state.usage
    return requested
