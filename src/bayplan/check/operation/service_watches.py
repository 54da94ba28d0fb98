"""Rules about several containers wherever they run, over time: spread, co-locate. What is stopping does not count."""

from collections import Counter
from collections.abc import Iterator

from bayplan.check.operation.population import Change, Population
from bayplan.check.operation.watch import Finding, Place, by_key, numbered
from bayplan.check.violation import containers, counted, named
from bayplan.model import Cluster
from bayplan.words import plural

NO_SLOT = -1  # of an instance that the first snapshot did not have


class SpreadWatch:
    """A service uses at least `minimum` groups, or as many as it has containers. Places: (rule,).

    While a container of it moves, one instance too many or one too few run; two instances of one container are one container.
    Then what was missing when the number was right last is no news, and not held against the step that ends the move.
    """

    rule = "spread"

    def __init__(self, cluster: Cluster, population: Population) -> None:
        self.cluster, self.population = cluster, population
        self.rules = dict(numbered(cluster, "spread"))
        self.rules_of = by_key([(rule.service, number) for number, rule in self.rules.items()])
        self.service: list[int] = cluster.workloads.service.tolist()
        self.workloads_of = by_key([(s, w) for w, s in enumerate(self.service)])
        self.group_of = [level.group_of.tolist() for level in cluster.levels]
        self.used: dict[int, Counter[int]] = {number: Counter() for number in self.rules}  # rule -> group -> kept
        self.slots: dict[int, Counter[int]] = {number: Counter() for number in self.rules}  # rule -> slot -> kept; -1: no slot
        self.settled: dict[int, int] = {}  # rule -> groups missing when the number of containers was right last

    def after(self, change: Change) -> Iterator[tuple[Place, float]]:
        """Every such rule of the service."""
        for number in self.rules_of.get(self.service[change.workload], ()):
            if change.kept:
                self._count(number, change)
            elif change.machine >= 0:  # neither here nor a new desired number
                continue
            running, _, missing = self._state(number)
            if running == self._size(number) == self.used[number].total():
                self.settled[number] = missing
            yield (number,), max(missing, self.settled.get(number, 0))

    def _count(self, number: int, change: Change) -> None:
        group = self.group_of[self.rules[number].level][change.machine]
        for counter, key in ((self.used[number], group), (self.slots[number], change.container)):
            counter[key] += change.kept
            if not counter[key]:
                del counter[key]

    def _size(self, number: int) -> int:
        return sum(self.population.desired[w] for w in self.workloads_of[self.rules[number].service])

    def _state(self, number: int) -> tuple[int, int, int]:
        """Containers, groups that they need, groups that are missing."""
        slots = self.slots[number]
        running = len(slots) + max(0, slots[NO_SLOT] - 1)  # instances without a slot are containers of their own
        need = min(self.rules[number].minimum, self._size(number), running)
        return running, need, max(0, need - len(self.used[number]))

    def describe(self, place: Place) -> Finding:
        """A service in too few groups."""
        rule = self.rules[place[0]]
        running, need, _ = self._state(place[0])
        name, level = self.cluster.services.name[rule.service], self.cluster.levels[rule.level].name
        sentence = (
            f"spread: service '{name}' runs {containers(running)} in {counted(len(self.used[place[0]]), level)}, "
            f"at least {need} {plural(level)} needed"
        )
        return Finding((name,), sentence)


class CoLocateWatch:
    """There is one machine on which all members of a rule run. Places: (rule,).

    Members that do not run at all are left out: they are down together for a moment while a set moves, and the alive share is
    a rule of its own.
    """

    rule = "co-locate"

    def __init__(self, cluster: Cluster, population: Population) -> None:
        self.cluster, self.population = cluster, population
        self.members = {number: tuple(dict.fromkeys(rule.containers)) for number, rule in numbered(cluster, "co-locate")}
        self.rules_of = by_key([(c, number) for number, members in self.members.items() for c in members])

    def after(self, change: Change) -> Iterator[tuple[Place, float]]:
        """The rule of the slot."""
        if change.kept:
            for number in self.rules_of.get(change.container, ()):
                yield (number,), self._apart(number)

    def _machines(self, number: int) -> list[set[int]]:
        """The machines of each member that runs."""
        of_slot = self.population.of_slot
        machines = [{i.machine for i in of_slot.get(c, ()) if not i.stopping} for c in self.members[number]]
        return [each for each in machines if each]

    def _apart(self, number: int) -> int:
        machines = self._machines(number)
        return len(set.union(*machines)) - 1 if machines and not set.intersection(*machines) else 0

    def describe(self, place: Place) -> Finding:
        """Members without a machine in common."""
        names = tuple(self.cluster.containers.name[c] for c in self.members[place[0]])
        used = [self.cluster.machines.name[m] for m in sorted(set().union(*self._machines(place[0])))]
        return Finding(names, f"co-locate: {named(names)} run on {named(used)}; they belong on one machine")
