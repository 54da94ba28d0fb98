"""The default scheduler of the simulated orchestrator: filter, score, pick, for one pending container at a time."""

import random

import numpy as np

from bayplan.kernels.kube_scheduler import Filters, Jobs, SchedulerState, nothing_placed, schedule
from bayplan.model import BoolArray, ints
from bayplan.operate.orchestrator import Phase
from bayplan.operate.simulated.instances import NOWHERE, SimulatedInstance
from bayplan.operate.simulated.live_cluster import LiveCluster
from bayplan.operate.simulated.rule_masks import has_further_rules, permitted

ONE = np.zeros(1, dtype=np.int64)


class DefaultScheduler:
    """Places what is pending and not reserved: at once when it appears, and again when a machine has become emptier."""

    def __init__(self, live: LiveCluster, seed: int) -> None:
        self.live = live
        self._random = random.Random(f"{seed}:scheduler")
        self._left_over: dict[str, SimulatedInstance] = {}  # fit nowhere when they were tried last
        self._retry_planned = False
        self._looks_at_all = has_further_rules(live)
        self._seen = NOWHERE  # version of the cluster at the last retry
        self._open: BoolArray = np.zeros(0, dtype=np.bool_)
        self._open_at = NOWHERE

    def settle(self) -> None:
        """Place what has appeared since the last call."""
        live = self.live
        while live.fresh:
            batch, live.fresh = live.fresh, []
            for instance in batch:
                self._place(instance)
        changed = live.freed or (self._looks_at_all and self._seen != live.version)
        if self._left_over and changed and not self._retry_planned:
            self._retry_planned = True
            live.queue.after(live.settings.retry, self._retry)
        elif not self._left_over:
            live.freed.clear()

    def _retry(self) -> None:
        """Try again what may fit now."""
        self._retry_planned = False
        live, freed = self.live, ints(sorted(self.live.freed))
        live.freed.clear()
        for instance in list(self._left_over.values()):
            if self._looks_at_all or live.charges.has_space(instance.workload, freed).any():
                self._place(instance)
        self._seen = live.version

    def _place(self, instance: SimulatedInstance) -> None:
        if instance.gone or instance.gated or instance.phase is not Phase.PENDING:
            self._left_over.pop(instance.uid, None)
            return
        machine = self.choose(instance)
        if machine == NOWHERE:
            self._left_over[instance.uid] = instance
        else:
            self._left_over.pop(instance.uid, None)
            self.live.bind(instance, machine, "scheduler")

    def choose(self, instance: SimulatedInstance) -> int:
        """The machine for a pending instance, `NOWHERE` if it fits on none."""
        charges, w = self.live.charges, instance.workload
        may = charges.may(w) & self._open_machines()
        slot = instance.slot
        if slot.home != NOWHERE:
            may &= np.arange(len(may)) == slot.home
        if instance is slot.second and slot.first is not None and slot.first.machine != NOWHERE:
            may[slot.first.machine] = False  # the same container twice on one machine is no stand-in
        if self._looks_at_all and (may & charges.has_space(w)).any():
            may &= permitted(self.live, instance)
        return self._scored(w, may)

    def _scored(self, workload: int, may: BoolArray) -> int:
        charges = self.live.charges
        counts = charges.set_counts(workload)
        jobs = Jobs(workload_of=ONE, kind_of=ONE, request=charges.request[workload : workload + 1])
        filters = Filters(
            allow_row=ONE,
            allowed=may[None, :],
            set_start=np.array([0, len(counts)]),
            set_of=np.arange(len(counts)),
            limit=np.array([charges.apart[number].limit for number in charges.sets_of.get(workload, ())], dtype=np.int64),
        )
        state: SchedulerState = nothing_placed(jobs, filters, charges.capacity)
        state = state._replace(used=charges.used.copy(), of_set=counts.astype(np.int32))
        tie = np.array([self._random.random()])
        schedule(ONE, tie, jobs, charges.capacity, filters, len(charges.capacity), state)
        return int(state.machine_of[0])

    def _open_machines(self) -> BoolArray:
        """(machine,) those that exist and take containers."""
        if self._open_at != self.live.structure:
            self._open = np.array([machine.open and machine.exists for machine in self.live.machines], dtype=np.bool_)
            self._open_at = self.live.structure
        return self._open
