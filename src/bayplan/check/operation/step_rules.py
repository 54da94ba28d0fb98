"""What no step of ours may do, whatever state it leaves: use a closed machine, move a pinned container, act twice."""

from collections.abc import Iterator

from bayplan.check.operation.instant import OURS, Instant, InstantKind
from bayplan.check.operation.population import Population
from bayplan.check.operation.watch import Finding, numbered
from bayplan.check.violation import counted
from bayplan.model import Cluster

SURGE = 2  # instances of one slot: the old one and the one that takes its place


class StepRules:
    """Looks at an instant before it is carried out."""

    def __init__(self, cluster: Cluster, population: Population) -> None:
        self.cluster, self.population = cluster, population
        self.pinned = frozenset(c for _, rule in numbered(cluster, "pinned") for c in rule.containers)
        self.made: dict[str, str] = {}  # token -> uid of the instance that its create made
        self.ended: dict[str, str] = {}  # token -> uid of the instance that its delete ended
        self.doubled: set[tuple[str, str]] = set()  # (token, uid) that was reported: an instance stops first and is gone later

    def before(self, instant: Instant) -> Iterator[tuple[str, Finding]]:
        """(rule, violation) of an instant. What others do violates none of these, but their instants may carry our tokens."""
        if instant.kind == InstantKind.BOUND:
            yield from self._twice(instant, self.made, "made")
            if instant.cause == OURS:
                yield from self._create(instant)
        elif instant.cause == OURS and instant.kind in (InstantKind.STOPPING, InstantKind.GONE):
            yield from self._twice(instant, self.ended, "deleted")
            yield from self._delete(instant)

    def _twice(self, instant: Instant, by_token: dict[str, str], verb: str) -> Iterator[tuple[str, Finding]]:
        first = by_token.setdefault(instant.token, instant.uid) if instant.token else instant.uid
        if first != instant.uid and (instant.token, instant.uid) not in self.doubled:
            self.doubled.add((instant.token, instant.uid))
            sentence = f"token: step '{instant.token}' {verb} '{first}' and '{instant.uid}'"
            yield "token", Finding((instant.token, instant.uid), sentence)

    def _create(self, instant: Instant) -> Iterator[tuple[str, Finding]]:
        m, c = instant.machine, instant.container
        machine = self.cluster.machines.name[m]
        if m in self.population.closed | self.population.missing:
            state = "does not exist" if m in self.population.missing else "is closed"
            yield (
                "closed",
                Finding((instant.uid, machine), f"closed: '{instant.uid}' is created on machine '{machine}', which {state}"),
            )
        others = self.population.of_slot.get(c, []) if c >= 0 else []
        if len(others) >= SURGE:
            name = self.cluster.containers.name[c]
            yield "slot", Finding((name,), f"slot: {counted(len(others) + 1, 'instance')} of '{name}' at once")
        if c in self.pinned and any(not other.stopping for other in others):
            name = self.cluster.containers.name[c]
            yield "pinned", Finding((name, machine), f"pinned: '{name}' runs already and is created on machine '{machine}'")

    def _delete(self, instant: Instant) -> Iterator[tuple[str, Finding]]:
        instance = self.population.instances.get(instant.uid)
        if instance is not None and instance.container in self.pinned and not instance.stopping:
            name, machine = self.cluster.containers.name[instance.container], self.cluster.machines.name[instance.machine]
            yield "pinned", Finding((name, machine), f"pinned: '{name}' is deleted on machine '{machine}'")
