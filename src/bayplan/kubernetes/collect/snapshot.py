"""Objects -> a snapshot of the model, with what does not move and why."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bayplan.kubernetes.collect.cluster_arrays import ClusterParts, cluster_of
from bayplan.kubernetes.collect.disruption import DisruptionBudget, disruption_budgets
from bayplan.kubernetes.collect.groups import Matches, PodGroup, grouped
from bayplan.kubernetes.collect.movable import never_moved, not_now
from bayplan.kubernetes.collect.nodes import NodeTable
from bayplan.kubernetes.collect.objects import KINDS, Objects
from bayplan.kubernetes.collect.owners import Owner, Owners, workload_names
from bayplan.kubernetes.collect.pods import CollectedPod, PodRow, pod_rows
from bayplan.kubernetes.collect.rules.node_rules import NodeMasks, add_node_rules
from bayplan.kubernetes.collect.rules.pod_rules import add_affinity, add_anti_affinity, add_host_ports, add_spread
from bayplan.kubernetes.collect.rules.rule_list import RuleList
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.collect.slots import slots_of
from bayplan.kubernetes.collect.volumes import Volumes
from bayplan.kubernetes.measurements import NOT_MEASURED, Measurements
from bayplan.model import Capacity, Objective, Pinned, Rule, Snapshot
from bayplan.operate.orchestrator import Phase
from bayplan.words import count

OWNING = frozenset({"CronJob", "Rollout"})  # kinds that are not asked for, but may be in a file as owners of others


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Collected:
    """A snapshot of a cluster, and what is known about the pods in it.

    `snapshot` pins what never moves. What only does not move now, because it is young or in rollout, is in `resting`: it is not
    pinned, so that a plan made now still fits in ten minutes. `pinned` has both.
    """

    snapshot: Snapshot
    pods: Mapping[str, CollectedPod]  # container -> its pod
    second: Mapping[str, CollectedPod]  # container -> a further pod that stands in for it
    stopping: tuple[CollectedPod, ...]
    unmovable: Mapping[str, str]  # container -> why it never moves
    resting: Mapping[str, str]  # container -> why it does not move now
    refused: Mapping[str, str]  # container -> which of its constraints has no exact rule; all of these are unmovable
    owners: Mapping[str, Owner]  # workload -> owner
    budgets: Mapping[str, tuple[DisruptionBudget, ...]]  # workload -> the budgets that cover it
    measurements: Measurements = NOT_MEASURED
    nodes: NodeTable

    @property
    def pinned(self) -> Snapshot:
        """The snapshot in which everything is pinned that does not move now."""
        names = self.snapshot.cluster.containers.name
        stays = tuple(c for c, name in enumerate(names) if name in self.unmovable or name in self.resting)
        rules = (*(rule for rule in self.snapshot.cluster.rules if not isinstance(rule, Pinned)), Pinned(containers=stays))
        return replace(self.snapshot, cluster=replace(self.snapshot.cluster, rules=rules)) if stays else self.snapshot

    @property
    def needed(self) -> dict[str, int]:
        """How many of each workload must be ready by its disruption budgets; one over several workloads is left to Kubernetes."""
        cluster = self.snapshot.cluster
        shown = dict(zip(cluster.workloads.name, cluster.replicas.tolist(), strict=True))
        return {
            name: max(0, shown[name] - min(budget.may_be_down(shown[name]) for budget in budgets))
            for name, budgets in self.budgets.items()
            if budgets
        }

    @property
    def movable(self) -> int:
        """How many containers run and may move now."""
        return sum(pod.phase is not Phase.PENDING for pod in self.pods.values()) - sum(self.reasons().values())

    def stays(self, name: str) -> str:
        """Why a container does not move, as a sentence; of a workload, of each of its containers. Empty if it may."""
        why = {**self.resting, **self.unmovable}
        cluster = self.snapshot.cluster
        if name in cluster.workloads.name and name not in why:
            members = cluster.containers.workload == cluster.workloads.name.index(name)
            names = [own for own, inside in zip(cluster.containers.name, members, strict=True) if inside]
            reasons = Counter(why[own] for own in names if own in why)
            stay = ", ".join(f"{number:,} {reason}" for reason, number in reasons.most_common())
            return f"{sum(reasons.values()):,} of {count(len(names), 'pod')} stay: {stay}" if reasons else ""
        return f"it stays: {why[name]}" if name in why else ""

    def reasons(self) -> Counter[str]:
        """Why running containers do not move, each reason with how many there are."""
        running = [name for name, pod in self.pods.items() if pod.phase is not Phase.PENDING]
        why = (self.unmovable.get(name) or self.resting.get(name, "") for name in running)
        return Counter(reason for reason in why if reason)


def collected(
    objects: Objects,
    *,
    scope: Sequence[str] = (),
    settings: CollectSettings | None = None,
    measurements: Measurements = NOT_MEASURED,
    name: str = "",
) -> Collected:
    """The snapshot of these objects: of the namespaces in `scope`, or of all if none is named.

    Pods outside of the scope, and those that are stopping, are taken off the capacity of their nodes.
    """
    settings = settings or CollectSettings()
    now = objects.read_at if settings.now is None else settings.now
    nodes = NodeTable(objects.of("Node"))
    rows = pod_rows(objects, nodes, Owners(objects), Volumes(objects, nodes, scope), scope)
    slots = slots_of(rows)
    budgets = disruption_budgets(objects.of("PodDisruptionBudget"))
    groups = grouped(slots.rows, _asked(slots.rows, budgets))
    shown = [group for group in groups if group.shown]
    spaces = {str(one["metadata"]["name"]): one["metadata"].get("labels") or {} for one in objects.of("Namespace")}
    matches = Matches(groups, spaces if objects.has("Namespace") else None)
    covering = _covering(matches, budgets)
    unmovable = {row.pod.container: reason for group in shown for row, reason in _stays(group, covering[group.name], settings)}
    parts = ClusterParts(
        name=name or objects.source,
        nodes=nodes,
        groups=shown,
        others=[row for row in slots.rows if not row.shown],
        measurements=_by_group(measurements, shown),
    )
    gathered = _rules(nodes, matches, unmovable, parts.service_of)
    refused = _refused(groups, gathered)
    unmovable = {**refused, **unmovable}
    resting = {row.pod.container: why for group in shown for row in group.rows if (why := not_now(row, nodes, settings, now))}
    return Collected(
        snapshot=_snapshot(parts, gathered, unmovable, _notes(objects, measurements)),
        pods={row.pod.container: row.pod for group in shown for row in group.rows},
        second=slots.second,
        stopping=slots.stopping,
        unmovable=unmovable,
        resting={name: why for name, why in resting.items() if name not in unmovable},
        refused=refused,
        owners={group.name: group.owner for group in shown},
        budgets=covering,
        measurements=measurements,
        nodes=nodes,
    )


def _by_group(measurements: Measurements, groups: Iterable[PodGroup]) -> Measurements:
    """What was measured of owners, divided among the groups of their pods."""
    replicas: dict[Owner, dict[str, int]] = defaultdict(dict)
    for group in groups:
        replicas[group.owner][group.name] = len(group.rows)
    names = workload_names(replicas)
    return measurements.divided({names[owner]: parts for owner, parts in replicas.items()})


def _asked(rows: Sequence[PodRow], budgets: Iterable[DisruptionBudget]) -> frozenset[str]:
    """The labels of pods that any selector asks about."""
    facts = {id(row.facts): row.facts for row in rows}.values()
    return frozenset().union(*(one.label_keys for one in facts), *(budget.selector.keys for budget in budgets))


def _covering(matches: Matches, budgets: Iterable[DisruptionBudget]) -> dict[str, tuple[DisruptionBudget, ...]]:
    """The budgets that cover each workload."""
    covering: dict[str, tuple[DisruptionBudget, ...]] = {group.name: () for group in matches.groups if group.shown}
    for budget in budgets:
        for number in matches.selected([budget.namespace], budget.selector):
            if matches.groups[number].shown:
                covering[matches.groups[number].name] += (budget,)
    return covering


def _stays(group: PodGroup, budgets: Sequence[DisruptionBudget], settings: CollectSettings) -> Iterable[tuple[PodRow, str]]:
    """The pods of a group that never move, each with why."""
    common = _by_budgets(group, budgets) or ("" if group.main else "differs from the other pods of its owner")
    for row in group.rows:
        reason = never_moved(row, settings) or common
        if reason:
            yield row, reason


def _refused(groups: Sequence[PodGroup], gathered: RuleList) -> dict[str, str]:
    """The containers with a constraint that has no exact rule, each with why."""
    why = {number: next(iter(group.facts.refused), "") or group.reach.refused for number, group in enumerate(groups)}
    why |= gathered.refused
    return {row.pod.container: reason for number, reason in why.items() if reason for row in groups[number].rows if row.shown}


def _by_budgets(group: PodGroup, budgets: Sequence[DisruptionBudget]) -> str:
    """Why the budgets that cover a group never let a pod of it go; empty if they do."""
    if len(budgets) > 1:
        return f"covered by {len(budgets)} disruption budgets, which Kubernetes never evicts"
    if budgets and not budgets[0].may_be_down(len(group.rows)):
        return f"its disruption budget {budgets[0].name} allows no disruption"
    return ""


def _rules(nodes: NodeTable, matches: Matches, unmovable: Mapping[str, str], service: Sequence[int]) -> RuleList:
    movable = [
        group.shown and any(row.pod.container not in unmovable or row.pod.phase is Phase.PENDING for row in group.rows)
        for group in matches.groups
    ]
    rules, masks = RuleList(nodes, matches.groups, movable), NodeMasks(nodes)
    add_node_rules(rules, masks)
    add_anti_affinity(rules, matches)
    add_host_ports(rules)
    add_affinity(rules, matches, service)
    add_spread(rules, matches, masks)
    return rules


def _snapshot(parts: ClusterParts, gathered: RuleList, unmovable: Mapping[str, str], notes: tuple[str, ...]) -> Snapshot:
    rows = [row for group in parts.groups for row in group.rows]
    stays = tuple(c for c, row in enumerate(rows) if row.pod.container in unmovable)
    pinned: tuple[Rule, ...] = (Pinned(containers=stays),) if stays else ()
    capacity = Capacity(resources=tuple(range(len(parts.resources))))
    cluster, placement = cluster_of(parts, (capacity, *gathered.rules(), *pinned), gathered.machine_sets)
    return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster), notes=notes)


def _notes(objects: Objects, measurements: Measurements) -> tuple[str, ...]:
    """What was not read, and what follows from it."""
    notes = [f"{kind} objects were not read ({why})" for kind, why in objects.missing.items()]
    if not objects.has("PodDisruptionBudget") and "PodDisruptionBudget" not in objects.missing:
        notes.append("disruption budgets are not in the input: a plan may have to wait for them")
    unused = sorted(objects.items.keys() - KINDS.keys() - OWNING)
    if unused:
        notes.append(f"not used: objects of the {'kind' if len(unused) == 1 else 'kinds'} {', '.join(unused)}")
    unready = [node for node in objects.of("Node") if not (node.get("status") or {}).get("allocatable")]
    if unready:
        notes.append(f"{count(len(unready), 'node')} without allocatable resources")
    return (*notes, *measurements.sentences())
