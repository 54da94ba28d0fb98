"""Machines that join, are drained, leave and die."""

import random

from bayplan.operate.orchestrator import Phase
from bayplan.operate.simulated.instances import NOWHERE, SimulatedMachine
from bayplan.operate.simulated.live_cluster import LiveCluster

CAUSE = "machine"
LEAST = 0.9  # share of the first number of machines that stay in use
LEAVES = 0.3  # probability that a drained machine does not come back
BETWEEN = 2.0  # seconds between two evictions
PUT_OFF = 10.0  # seconds until the next try, where no container may go now
LONGEST = 3_600.0  # a drain that takes longer is given up


class MachineChurn:
    """What happens to machines. Where one is lost for good, a copy joins later."""

    def __init__(self, live: LiveCluster, seed: int) -> None:
        self.live = live
        self.first = len(live.machines)
        self._random = random.Random(f"{seed}:machines")

    def join(self) -> None:
        """A machine joins: a copy of one of the first ones."""
        self._join(self._random.randrange(self.first))

    def _join(self, like: int) -> None:
        self.live.join(self.live.machines[like])

    def die(self) -> None:
        """A machine dies with all that is on it, unless too few are left."""
        machine = self._one_in_use()
        if machine is not None:
            self._lose(machine)

    def drain(self) -> None:
        """A machine takes nothing new and is emptied, unless too few are left."""
        machine = self._one_in_use()
        if machine is not None:
            self.drain_machine(machine)

    def drain_machine(self, machine: SimulatedMachine) -> None:
        """This machine takes nothing new and is emptied."""
        self.live.set_open(machine, False)
        self.live.queue.after(BETWEEN, self._evict, machine, self.live.queue.time)

    def _one_in_use(self) -> SimulatedMachine | None:
        used = [machine for machine in self.live.machines if machine.exists and machine.open]
        return self._random.choice(used) if len(used) - 1 >= LEAST * self.first else None

    def _evict(self, machine: SimulatedMachine, began: float) -> None:
        """Evict one container within its workload's limit of disruption; when none is left, the machine is out of service."""
        live = self.live
        if not machine.exists or machine.open:
            return
        staying = [i for i in machine.instances.values() if i.slot.home == NOWHERE]
        if not staying:
            live.queue.after(live.jittered(live.settings.churn.out_of_service), self._after_service, machine)
            return
        if live.queue.time - began > LONGEST:
            live.set_open(machine, True)
            return
        able = (
            i
            for i in staying
            if i.phase is Phase.STARTING or (i.phase is Phase.READY and live.ready[i.workload] > live.needed(i.workload))
        )
        instance = next(able, None)
        if instance is not None:
            live.stop(instance, CAUSE)
        live.queue.after(PUT_OFF if instance is None else BETWEEN, self._evict, machine, began)

    def _after_service(self, machine: SimulatedMachine) -> None:
        """The machine comes back, or leaves."""
        if not machine.exists:
            return
        in_use = sum(other.exists for other in self.live.machines)
        if in_use > self.first or self._random.random() < LEAVES:
            self._lose(machine)
        else:
            self.live.set_open(machine, True)

    def _lose(self, machine: SimulatedMachine) -> None:
        """The machine is gone; if there are fewer than at first, a copy of one joins later."""
        live, churn = self.live, self.live.settings.churn
        live.lose(machine)
        if sum(other.exists for other in live.machines) < self.first and churn.replaced_after:
            like = machine.index if machine.index < self.first else self._random.randrange(self.first)
            live.queue.after(live.jittered(churn.replaced_after), self._join, like)
