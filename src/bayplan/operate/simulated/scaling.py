"""Autoscaling: workloads whose number of replicas follows the time of day and the day of the week."""

import random

from bayplan.model import singled_out
from bayplan.operate.orchestrator import Phase
from bayplan.operate.simulated.live_cluster import LiveCluster
from bayplan.operate.simulated.measurements import daily_curve

SCALING = "scaling"
TOLERANCE = 0.1  # a smaller change is not made
LONGEST = 300.0  # a workload is no longer said to be scaling after that
EVERY = 10.0


class Autoscaler:
    """Keeps some workloads at a number of replicas between a share of the first one and all of it."""

    def __init__(self, live: LiveCluster, seed: int) -> None:
        self.live, churn = live, live.settings.churn
        choice = random.Random(f"{seed}:scaling")
        cluster = live.universe.cluster
        named = {int(w) for w in cluster.containers.workload[singled_out(cluster)]}
        able = [w for w, d in enumerate(cluster.replicas.tolist()) if d > 1 and w not in named]
        chosen = choice.sample(able, round(churn.scaled * len(able)))
        self.hours_later = {w: choice.uniform(-3.0, 3.0) for w in sorted(chosen)}  # workload -> when its busiest hour is
        self.full_size = {w: int(cluster.replicas[w]) for w in chosen}
        if chosen:
            live.queue.after(churn.scaling_every, self._look)

    def _look(self) -> None:
        for w in self.hours_later:
            if w not in self.live.changing:
                self._scale(w, self.wanted(w))
        self.live.queue.after(self.live.settings.churn.scaling_every, self._look)

    def wanted(self, workload: int) -> int:
        """Replicas by the time of day."""
        low, now = self.live.settings.churn.scaled_to, self.live.queue.time
        share = low + (1.0 - low) * daily_curve(now, self.hours_later[workload])
        return max(1, round(self.full_size[workload] * share))

    def _scale(self, workload: int, wanted: int) -> None:
        live, now = self.live, self.live.desired(workload)
        if abs(wanted - now) <= TOLERANCE * now:
            return
        if wanted > now:
            live.add_slots(workload, wanted - now, SCALING)
        else:
            live.remove_slots(workload, now - wanted, SCALING)
        live.change(workload, SCALING)
        live.queue.after(EVERY, self._end, workload, live.queue.time)

    def _end(self, workload: int, began: float) -> None:
        """Say that the workload is stable again, when it is."""
        slots, late = self.live.slots[workload], self.live.queue.time - began > LONGEST
        if late or all(slot.first is not None and slot.first.phase is Phase.READY for slot in slots):
            self.live.change(workload, "")
        else:
            self.live.queue.after(EVERY, self._end, workload, began)
