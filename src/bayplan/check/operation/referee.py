"""The referee of a running system: it sees every instant, and says which of ours made something worse than it was."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bayplan.check.operation.availability import AliveWatch, ReadyWatch
from bayplan.check.operation.group_watches import AntiAffinityWatch, DependencyWatch, InterferenceWatch
from bayplan.check.operation.instant import OURS, Instant, InstantKind, OperationViolation
from bayplan.check.operation.machine_watches import AllowWatch, CapacityWatch, ConfidenceWatch, TransientWatch
from bayplan.check.operation.population import Change, Population
from bayplan.check.operation.service_watches import CoLocateWatch, SpreadWatch
from bayplan.check.operation.skew_watch import SkewWatch
from bayplan.check.operation.step_rules import StepRules
from bayplan.check.operation.watch import Finding, Place, Watch
from bayplan.check.violation import TOLERANCE
from bayplan.errors import ModelError
from bayplan.model import UNPLACED, Cluster, Placement


class OperationReferee:
    """Sees all that happens to a cluster, and reports what steps of ours violated.

    A step of ours violates a rule if the rule is violated in some place after it, and was not, or less so, before it. What was
    violated already, by others or from the start, is theirs until a step of ours makes it worse. An instance of ours that is
    taken back before it was ready has served nothing: what is violated without it is as it would be if we had done nothing.
    Skew is asked at creates only: what a delete leaves behind is no violation.
    O(rules of the workload, slot and machine) for each instant.
    """

    def __init__(self, cluster: Cluster, alive: float = 0.75) -> None:
        self.cluster = cluster
        self.population = Population(cluster)
        self.violations: list[OperationViolation] = []  # ours
        self.others: Counter[tuple[str, str]] = Counter()  # (cause, rule) -> how often others made a rule worse
        self.seen = 0  # instants
        self._alive = alive
        self._watches = _watches(cluster, self.population, alive)
        self._standing: list[dict[Place, float]] = [{} for _ in self._watches]  # what is violated now, and how far
        self._steps = StepRules(cluster, self.population)
        self._starting: set[str] = set()  # uids that we bound and that have not been ready yet

    def start(self, instants: Iterable[Instant]) -> None:
        """What there is at the beginning, as if it came one by one; nothing of it is held against anyone."""
        for instant in instants:
            for _ in self._worse(instant):
                pass

    def extend(self, cluster: Cluster) -> None:
        """More machines, at the end of those of a cluster; workloads, slots and rules stay as they are.

        O(instances): all are counted anew.
        """
        cluster = replace(self.cluster, machines=cluster.machines, levels=cluster.levels, machine_sets=cluster.machine_sets)
        self.cluster = self._steps.cluster = cluster
        settled = [watch.settled for watch in self._watches if isinstance(watch, SpreadWatch)]
        self._watches = _watches(cluster, self.population, self._alive)
        self._standing = [{} for _ in self._watches]
        self._count(self.population.changes())
        for watch, before in zip((watch for watch in self._watches if isinstance(watch, SpreadWatch)), settled, strict=True):
            watch.settled = before
        self._count(Change(workload=w, container=-1, machine=-1) for w in range(len(cluster.workloads.name)))

    def _count(self, changes: Iterable[Change]) -> None:
        """Take changes in; nothing of it is held against anyone."""
        for change in changes:
            for _ in self._effects(change):
                pass

    def see(self, instant: Instant) -> Sequence[OperationViolation]:
        """Take an instant in; the violations that are ours, which are also added to `violations`."""
        self.seen += 1
        by_step = [(rule, finding, 1.0) for rule, finding in self._steps.before(instant)]
        worse = list(self._worse(instant))
        taken_back = instant.uid in self._starting and instant.kind in (InstantKind.STOPPING, InstantKind.GONE)
        if instant.cause != OURS:
            self.others.update((instant.cause, watch.rule) for watch, _, _ in worse)
        by_state = [
            (watch.rule, watch.describe(place), excess)
            for watch, place, excess in worse
            if instant.cause == OURS and not taken_back
        ]
        self._note_start(instant)
        ours = [_violation(instant, *parts) for parts in (*by_step, *by_state)]
        self.violations.extend(ours)
        return ours

    def _note_start(self, instant: Instant) -> None:
        if instant.kind == InstantKind.BOUND and instant.cause == OURS:
            self._starting.add(instant.uid)
        elif instant.kind in (InstantKind.READY, InstantKind.GONE):
            self._starting.discard(instant.uid)

    def standing(self) -> Iterator[OperationViolation]:
        """What is violated now, whoever caused it."""
        for watch, excesses in zip(self._watches, self._standing, strict=True):
            for place, excess in excesses.items():
                subject, sentence = watch.describe(place)
                yield OperationViolation(at=0.0, rule=watch.rule, subject=subject, excess=excess, sentence=sentence, cause="")

    def _worse(self, instant: Instant) -> Iterator[tuple[Watch, Place, float]]:
        """Carry an instant out; each place where a rule is violated more than before it."""
        if instant.machine >= len(self.cluster.machines.name) or instant.workload >= len(self.cluster.workloads.name):
            raise ModelError("the cluster lacks a machine or workload of this instant: extend the referee's cluster first")
        change = self.population.apply(instant)
        if change is not None:
            yield from self._effects(change)

    def _effects(self, change: Change) -> Iterator[tuple[Watch, Place, float]]:
        for watch, standing in zip(self._watches, self._standing, strict=True):
            for place, excess in watch.after(change):
                before = standing.pop(place, 0.0)
                if excess:
                    standing[place] = excess
                    asked = not isinstance(watch, SkewWatch) or watch.is_asked(place, change)
                    if asked and excess > before * (1 + TOLERANCE):
                        yield watch, place, excess


def _watches(cluster: Cluster, population: Population, alive: float) -> list[Watch]:
    stated = {rule.kind for rule in cluster.rules}
    watches: list[Watch] = [
        CapacityWatch(cluster),
        AntiAffinityWatch(cluster),
        SpreadWatch(cluster, population),
        SkewWatch(cluster, population),
        CoLocateWatch(cluster, population),
        AllowWatch(cluster),
        DependencyWatch(cluster),
        TransientWatch(cluster),
        InterferenceWatch(cluster),
        ConfidenceWatch(cluster),
    ]
    return [*(w for w in watches if w.rule in stated), AliveWatch(cluster, population, alive), ReadyWatch(cluster, population)]


def _violation(instant: Instant, rule: str, finding: Finding, excess: float) -> OperationViolation:
    return OperationViolation(
        at=instant.at, rule=rule, subject=finding.subject, excess=excess, sentence=finding.sentence, cause=instant.cause
    )


def first_instants(
    cluster: Cluster, placement: Placement, *, uids: Sequence[str] = (), needed: Sequence[int] = (), at: float = 0.0
) -> Iterator[Instant]:
    """A first snapshot as instants: every placed container bound and ready, and how many of each workload must be ready.

    The uid of a container is its name unless others are given.
    """
    names, owner = uids or cluster.containers.name, cluster.containers.workload.tolist()
    for w, least in enumerate(needed):
        yield Instant(at=at, cause="start", kind=InstantKind.REPLICAS, workload=w, needed=int(least))
    for c, m in enumerate(placement.machine_of.tolist()):
        if m != UNPLACED:
            for kind in (InstantKind.BOUND, InstantKind.READY):
                yield Instant(at=at, cause="start", kind=kind, uid=names[c], workload=owner[c], container=c, machine=m)
