"""Deployments that roll out: every instance of a workload is replaced by one of a new template, a few at a time."""

import math
import random
from dataclasses import dataclass

from bayplan.operate.orchestrator import Phase
from bayplan.operate.simulated.instances import ReplicaSlot
from bayplan.operate.simulated.live_cluster import LiveCluster

ROLLOUT, CAUSE = "in rollout", "rollout"
SHARE = 0.25  # of the replicas: in addition, and unavailable where a rollout permits that
EVERY = 5.0  # seconds between two looks at a rollout
PATIENCE = 1_800.0  # after that a rollout that may take none away takes one away nevertheless


@dataclass(slots=True, kw_only=True)
class Rollout:
    """One rollout that goes on."""

    started: float
    unavailable: float  # share of the replicas that may be missing


class Rollouts:
    """All rollouts that go on."""

    def __init__(self, live: LiveCluster, seed: int) -> None:
        self.live = live
        self.going_on: dict[int, Rollout] = {}  # by workload
        self._random = random.Random(f"{seed}:rollouts")

    def begin(self, workload: int) -> None:
        """A new template for a workload; nothing, if it is changing already."""
        if workload in self.live.changing or not self.live.slots[workload]:
            return
        self.live.template[workload] += 1
        self.live.change(workload, ROLLOUT)
        self.going_on[workload] = Rollout(started=self.live.queue.time, unavailable=self._random.choice([0.0, SHARE]))
        self._look(workload)

    def _look(self, workload: int) -> None:
        """Go on as far as it is possible now."""
        live, slots = self.live, self.live.slots[workload]
        old = [slot for slot in slots if slot.first is not None and slot.first.template < live.template[workload]]
        if not old and all(slot.first is not None and slot.first.phase is Phase.READY for slot in slots):
            del self.going_on[workload]
            live.change(workload, "")
            return
        self._end_replaced(old)
        old = [slot for slot in old if slot.first is not None and slot.first.template < live.template[workload]]
        self._surge(workload, old)
        self._take_away(workload, old)
        live.queue.after(EVERY, self._look, workload)

    def _end_replaced(self, old: list[ReplicaSlot]) -> None:
        """End instances whose replacement is ready, and those that never became ready."""
        for slot in old:
            assert slot.first is not None
            template = self.live.template[slot.workload]
            if slot.second is not None and (slot.second.phase is not Phase.READY or slot.second.template < template):
                continue
            if slot.second is not None or slot.first.phase is not Phase.READY:
                self.live.stop(slot.first, CAUSE)

    def _surge(self, workload: int, old: list[ReplicaSlot]) -> None:
        """Create new instances in addition, unless those found no machine for a long time."""
        slots = self.live.slots[workload]
        if self._is_late(workload):
            return
        more = math.ceil(SHARE * len(slots)) - sum(slot.second is not None for slot in slots)
        for slot in [slot for slot in old if slot.second is None][: max(0, more)]:
            self.live.add_second(slot)

    def _take_away(self, workload: int, old: list[ReplicaSlot]) -> None:
        """End old instances before their replacement, as far as the rollout permits."""
        live, rollout = self.live, self.going_on[workload]
        missing = int(rollout.unavailable * live.desired(workload))
        if self._is_late(workload):
            missing = max(1, missing)
            for slot in old:
                if slot.second is not None and slot.second.phase is Phase.PENDING and not slot.second.token:
                    live.stop(slot.second, CAUSE)  # it found no machine
        spare = live.ready[workload] - (live.desired(workload) - missing)
        for slot in [slot for slot in old if slot.second is None][: max(0, spare)]:
            if slot.first is not None:
                live.stop(slot.first, CAUSE)

    def _is_late(self, workload: int) -> bool:
        return self.live.queue.time - self.going_on[workload].started > PATIENCE
