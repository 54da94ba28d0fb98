"""What happens to a simulated cluster by itself: each kind of event at random times, from random numbers of its own."""

import random
from collections.abc import Callable

import numpy as np

from bayplan.operate.orchestrator import Phase
from bayplan.operate.simulated.instances import NOWHERE
from bayplan.operate.simulated.live_cluster import LiveCluster
from bayplan.operate.simulated.machine_churn import MachineChurn
from bayplan.operate.simulated.measurements import SimulatedMeasurements
from bayplan.operate.simulated.rollouts import Rollouts
from bayplan.operate.simulated.scaling import Autoscaler
from bayplan.operate.simulated.settings import DAY

Action = Callable[[], None]


class ChurnProcess:
    """Rollouts, users, bursts and machines at the rates of the settings; scaling by the time of day."""

    def __init__(self, live: LiveCluster, measurements: SimulatedMeasurements, seed: int) -> None:
        self.live, self.measurements = live, measurements
        self.rollouts, self.machines, self.scaling = Rollouts(live, seed), MachineChurn(live, seed), Autoscaler(live, seed)
        self._users, self._choice = random.Random(f"{seed}:users"), random.Random(f"{seed}:choice")
        pinned = {slot.workload for slot in live.every_slot() if slot.home != NOWHERE}
        self._deployed = [w for w, slots in enumerate(live.slots) if slots and w not in pinned]
        traffic = live.universe.cluster.traffic
        self._talking = [int(w) for w in np.union1d(traffic.a, traffic.b)]
        churn = live.settings.churn
        rates: dict[str, tuple[float, Action]] = {
            "rollouts": (churn.rollouts, self.roll_out),
            "deletes": (churn.user_deletes, self.delete_by_hand),
            "bursts": (churn.bursts, self.burst),
            "joins": (churn.joins, self.machines.join),
            "drains": (churn.drains, self.machines.drain),
            "deaths": (churn.deaths, self.machines.die),
        }
        for name, (rate, action) in rates.items():
            if rate:
                self._plan(random.Random(f"{seed}:{name}"), DAY / rate, action)

    def _plan(self, times: random.Random, mean: float, action: Action) -> None:
        self.live.queue.after(times.expovariate(1.0 / mean), self._happen, times, mean, action)

    def _happen(self, times: random.Random, mean: float, action: Action) -> None:
        action()
        self._plan(times, mean, action)

    def roll_out(self) -> None:
        """A workload gets a new template."""
        if self._deployed:
            self.rollouts.begin(self._choice.choice(self._deployed))

    def delete_by_hand(self) -> None:
        """A user deletes a container that is ready, whatever the limit of disruption says."""
        ready = [instance for instance in self.live.by_uid.values() if instance.phase is Phase.READY]
        if ready:
            self.live.stop(self._users.choice(ready), "user")

    def burst(self) -> None:
        """The traffic of a workload grows for an hour."""
        if self._talking:
            self.measurements.burst(self._choice.choice(self._talking), self.live.queue.time)
