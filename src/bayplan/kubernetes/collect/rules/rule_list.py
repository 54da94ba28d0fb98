"""The rules of a collected cluster as they are gathered: machine sets by their words, pairs once, refusals by group."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from bayplan.kubernetes.collect.groups import PodGroup
from bayplan.kubernetes.collect.nodes import NodeTable
from bayplan.model import Allow, AntiAffinity, BoolArray, IntArray, Interference, Rule, ints

LONGEST = 100  # letters of the name of a machine set


class RuleList:
    """Rules in the making. What has no exact rule is refused: the pods of that group stay where they are."""

    def __init__(self, nodes: NodeTable, groups: Sequence[PodGroup], movable: Sequence[bool]) -> None:
        self.nodes, self.groups = nodes, groups
        self.movable = movable  # (group,) may one of its pods move, or does one wait for a node?
        self.refused: dict[int, str] = {}  # group -> why its pods stay
        self._sets: dict[str, IntArray] = {}
        self._name_of: dict[tuple[str, bytes], str] = {}
        self._users: dict[str, list[int]] = defaultdict(list)  # machine set -> workloads
        self._rules: dict[Rule, None] = {}

    def refuse(self, group: int, reason: str) -> None:
        """The pods of a group stay, because of this."""
        self.refused.setdefault(group, reason)

    def allow(self, group: int, mask: BoolArray, words: str) -> None:
        """The pods of a group run only on these nodes."""
        workload = self.groups[group].workload
        if mask.all() or workload < 0 or not self.movable[group]:
            return
        self._users[self.machine_set(mask, words)].append(workload)

    def machine_set(self, mask: BoolArray, words: str) -> str:
        """The name of a set of nodes; sets of the same words get numbers."""
        key = (words[:LONGEST], mask.tobytes())
        if key not in self._name_of:
            name, number = key[0], 1
            while name in self._sets:
                number += 1
                name = f"{key[0]} ({number})"
            self._name_of[key] = name
            self._sets[name] = ints(np.flatnonzero(mask))
        return self._name_of[key]

    def keep_away(self, group: int, mask: BoolArray, words: str) -> None:
        """The pods of a group run on none of these nodes."""
        if mask.any():
            self.allow(group, ~mask, words)

    def keep_apart(self, one: int, other: int, level: int) -> None:
        """Pods of two groups never run in one group of machines; a group may be kept apart from itself."""
        a, b = sorted((self.groups[one].workload, self.groups[other].workload))
        if not self.movable[one] and not self.movable[other]:
            return
        if a == b:
            self.add(AntiAffinity(workloads=(a,), limit=1, level=level))
        else:
            self.add(Interference(a=a, b=b, limit=0, level=level))

    def add(self, rule: Rule) -> None:
        """A rule, once."""
        self._rules[rule] = None

    @property
    def machine_sets(self) -> dict[str, IntArray]:
        """The sets that rules name."""
        return dict(self._sets)

    def rules(self) -> tuple[Rule, ...]:
        """All rules: where workloads may run first, in the order in which they were found."""
        allow = [Allow(workloads=tuple(sorted(set(users))), machines=name) for name, users in self._users.items()]
        return (*allow, *self._rules)
