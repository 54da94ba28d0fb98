"""What is charged on every machine, and whether one more container of a workload fits: capacity, allow, anti-affinity.

These three are kept up to date with every container that comes and goes. All other rules are looked at when they are needed.
"""

from collections import defaultdict

import numpy as np

from bayplan.model import AntiAffinity, BoolArray, Capacity, IntArray, Snapshot, allowed
from bayplan.model.allowed_machines import AllowedMachines

Sets = dict[int, list[int]]


class Charges:
    """Requests and counts of all that is charged: what is starting, ready or stopping."""

    def __init__(self, snapshot: Snapshot) -> None:
        cluster = snapshot.cluster
        limited = np.zeros(len(cluster.resources), dtype=np.int64)
        for rule in cluster.rules:
            if isinstance(rule, Capacity):
                limited[list(rule.resources)] = 1
        self.request: IntArray = cluster.workloads.request * limited  # (workload, resource) as far as capacity is a rule
        self.apart = [rule for rule in cluster.rules if isinstance(rule, AntiAffinity)]
        self.sets_of: Sets = defaultdict(list)  # workload -> anti-affinity rules
        for number, rule in enumerate(self.apart):
            for w in set(rule.workloads):
                self.sets_of[w].append(number)
        self.used: IntArray = np.zeros(cluster.machines.capacity.shape, dtype=np.int64)  # (machine, resource)
        self.of_set = [np.zeros(len(cluster.levels[rule.level].group), dtype=np.int64) for rule in self.apart]  # (group,) each
        self._read_machines(snapshot)

    def _read_machines(self, snapshot: Snapshot) -> None:
        cluster = snapshot.cluster
        self.resources = [resource.name for resource in cluster.resources]
        self.capacity: IntArray = cluster.machines.capacity
        self.allowed: AllowedMachines = allowed(cluster)
        self.group_of = [cluster.levels[rule.level].group_of for rule in self.apart]  # (machine,) each

    def join(self, snapshot: Snapshot) -> None:
        """Take note of a machine that joined: the last one of the universe."""
        self._read_machines(snapshot)
        self.used = np.vstack([self.used, np.zeros((1, self.used.shape[1]), dtype=np.int64)])
        for number, rule in enumerate(self.apart):
            groups = len(snapshot.cluster.levels[rule.level].group)
            self.of_set[number] = np.pad(self.of_set[number], (0, groups - len(self.of_set[number])))

    def add(self, workload: int, machine: int, times: int = 1) -> None:
        """Charge a container of a workload on a machine, or (times -1) charge it no longer."""
        self.used[machine] += times * self.request[workload]
        for number in self.sets_of.get(workload, ()):
            self.of_set[number][self.group_of[number][machine]] += times

    def set_counts(self, workload: int) -> IntArray:
        """(set, machine) containers of each anti-affinity set of the workload in the group of the machine."""
        numbers = self.sets_of.get(workload, ())
        counts = [self.of_set[number][self.group_of[number]] for number in numbers]
        return np.array(counts, dtype=np.int64).reshape(len(numbers), len(self.capacity))

    def has_space(self, workload: int, machines: IntArray | slice = slice(None)) -> BoolArray:
        """(machine,) does one more fit the capacity?"""
        short = self.used[machines] + self.request[workload] > self.capacity[machines]
        return np.asarray(~short.any(axis=1), dtype=np.bool_)

    def misfit(self, workload: int, machine: int) -> str:
        """Why a machine cannot take one more container of a workload; empty if it can."""
        short = np.flatnonzero(self.used[machine] + self.request[workload] > self.capacity[machine])
        if short.size:
            return f"short of {self.resources[int(short[0])]}"
        if not self.may(workload)[machine]:
            return "not allowed"
        for number in self.sets_of.get(workload, ()):
            if self.of_set[number][self.group_of[number][machine]] >= self.apart[number].limit:
                return "anti-affinity"
        return ""

    def may(self, workload: int) -> BoolArray:
        """(machine,) where a workload is allowed."""
        return self.allowed.machines(workload)
