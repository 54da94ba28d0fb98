"""Rules about containers and workloads that only another cluster has, in the numbers of this one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bayplan.model import Allow, AntiAffinity, Cluster, CoLocate, Dependency, Interference, Rule, Spread

MORE = "of the target: "  # before the names of machine sets that come with new workloads


class Translation:
    """Rules of one cluster in the numbers of another that has the same names and more."""

    def __init__(self, other: Cluster, cluster: Cluster, workloads: frozenset[int], containers: frozenset[str]) -> None:
        self.other, self.cluster, self.new, self.newcomers = other, cluster, workloads, containers
        self.workload = _numbers(other.workloads.name, cluster.workloads.name)
        self.service = _numbers(other.services.name, cluster.services.name)
        self.container = _numbers(other.containers.name, cluster.containers.name)
        self.level = _numbers([level.name for level in other.levels], [level.name for level in cluster.levels])
        old = {other.workloads.service[w] for w in range(len(other.workloads.name)) if w not in workloads}
        self.new_services = {int(other.workloads.service[w]) for w in workloads} - {int(s) for s in old}
        self.together = {c for rule in cluster.rules if isinstance(rule, CoLocate) for c in rule.containers}

    def rules(self) -> Iterator[Rule]:
        """Those about newcomers; a rule of a level that is not here is left out."""
        for rule in self.other.rules:
            if self._is_new(rule) and getattr(rule, "level", 0) in self.level:
                yield self._translated(rule)

    def _is_new(self, rule: Rule) -> bool:
        if isinstance(rule, AntiAffinity | Allow):
            return not self.new.isdisjoint(rule.workloads)
        if isinstance(rule, Interference):
            return rule.a in self.new or rule.b in self.new
        if isinstance(rule, Spread | Dependency):
            return rule.service in self.new_services and getattr(rule, "on", rule.service) in self.service
        return isinstance(rule, CoLocate) and self._new_unit(rule)

    def _new_unit(self, rule: CoLocate) -> bool:
        """Two such rules never share a container: one that is bound already stays as it is bound."""
        names = [self.other.containers.name[c] for c in rule.containers]
        bound = any(self.container[c] in self.together for c in rule.containers)
        return not bound and any(name in self.newcomers for name in names)

    def _translated(self, rule: Rule) -> Rule:
        level = {"level": self.level[rule.level]} if hasattr(rule, "level") else {}
        if isinstance(rule, AntiAffinity):
            return replace(rule, workloads=tuple(self.workload[w] for w in rule.workloads), **level)
        if isinstance(rule, Allow):
            mine = tuple(self.workload[w] for w in rule.workloads if w in self.new)
            return Allow(workloads=mine, machines=f"{MORE}{rule.machines}")
        if isinstance(rule, Interference):
            return replace(rule, a=self.workload[rule.a], b=self.workload[rule.b], **level)
        if isinstance(rule, Spread):
            return replace(rule, service=self.service[rule.service], **level)
        if isinstance(rule, Dependency):
            return replace(rule, service=self.service[rule.service], on=self.service[rule.on], **level)
        assert isinstance(rule, CoLocate)
        return CoLocate(containers=tuple(self.container[c] for c in rule.containers))


def _numbers(names: Sequence[str], known: Sequence[str]) -> dict[int, int]:
    """Number there -> number here, of every name that both have."""
    here = {name: k for k, name in enumerate(known)}
    return {k: here[name] for k, name in enumerate(names) if name in here}
