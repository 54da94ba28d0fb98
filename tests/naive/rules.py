"""The eleven rules as obvious loops over containers: the slow twin of `score.check`.

Each violation is (index in the cluster's rules, names, excess).
"""

from collections.abc import Iterator, Sequence
from math import sqrt
from statistics import NormalDist

from bayplan.model import UNPLACED, Cluster, Placement, Rule, TransientMode

Violated = tuple[int, tuple[str, ...], float]


def violated_rules(cluster: Cluster, placement: Placement, before: Placement | None = None) -> Iterator[Violated]:
    machine_of = placement.machine_of.tolist()
    ran_on = None if before is None else before.machine_of.tolist()
    for number, rule in enumerate(cluster.rules):
        for names, excess in violated(cluster, machine_of, ran_on, rule):
            yield number, tuple(names), excess
    for c, old in enumerate(ran_on or []):
        if old != UNPLACED and machine_of[c] == UNPLACED:
            yield -1, (cluster.containers.name[c], cluster.machines.name[old]), 1


def violated(cluster: Cluster, at: list[int], ran_on: list[int] | None, rule: Rule) -> Iterator[tuple[list[str], float]]:
    if rule.kind in ("transient", "pinned"):
        if ran_on is not None:
            yield from MOVES[rule.kind](cluster, at, ran_on, rule)
    else:
        yield from STATES[rule.kind](cluster, at, rule)


def workload(cluster: Cluster, c: int) -> int:
    return int(cluster.containers.workload[c])


def service(cluster: Cluster, c: int) -> int:
    return int(cluster.workloads.service[workload(cluster, c)])


def on_machine(at: Sequence[int], m: int) -> list[int]:
    return [c for c, machine in enumerate(at) if machine == m]


def in_group(cluster: Cluster, at: Sequence[int], level: int, group: int) -> list[int]:
    return [c for c, m in enumerate(at) if m != UNPLACED and cluster.levels[level].group_of[m] == group]


def groups(cluster: Cluster, rule: Rule) -> list[tuple[int, str]]:
    return list(enumerate(cluster.levels[rule.level].group))


def request(cluster: Cluster, containers: Sequence[int], r: int) -> int:
    return sum(int(cluster.workloads.request[workload(cluster, c), r]) for c in containers)


def capacity(cluster, at, rule):
    for m, name in enumerate(cluster.machines.name):
        for r in rule.resources:
            over = request(cluster, on_machine(at, m), r) - int(cluster.machines.capacity[m, r])
            if over > 0:
                yield [name, cluster.resources[r].name], over


def anti_affinity(cluster, at, rule):
    for group, name in groups(cluster, rule):
        together = [c for c in in_group(cluster, at, rule.level, group) if workload(cluster, c) in rule.workloads]
        if len(together) > rule.limit:
            yield [*(cluster.workloads.name[w] for w in rule.workloads), name], len(together) - rule.limit


def spread(cluster, at, rule):
    placed = [m for c, m in enumerate(at) if m != UNPLACED and service(cluster, c) == rule.service]
    used = {int(cluster.levels[rule.level].group_of[m]) for m in placed}
    everyone = [c for c in range(len(at)) if service(cluster, c) == rule.service]
    enough = rule.minimum if placed and len(placed) == len(everyone) else min(rule.minimum, len(placed))
    missing = enough - len(used)
    if missing > 0:
        yield [cluster.services.name[rule.service]], missing


def skew(cluster, at, rule):
    level = cluster.levels[rule.level]
    machines = cluster.machine_sets[rule.machines].tolist() if rule.machines else range(len(cluster.machines.name))
    count = {int(level.group_of[m]): 0 for m in machines}
    judged = set()
    for c, m in enumerate(at):
        if m in machines:
            count[int(level.group_of[m])] += workload(cluster, c) in (rule.counted or (rule.workload,))
            judged |= {int(level.group_of[m])} if workload(cluster, c) == rule.workload else set()
    emptiest = min(count.values(), default=0) if len(count) >= rule.min_groups else 0
    for group in sorted(judged):
        if count[group] - emptiest > rule.limit:
            others = [w for w in rule.counted if w != rule.workload]
            names = [cluster.workloads.name[w] for w in (rule.workload, *others)]
            yield [*names, level.group[group]], count[group] - emptiest - rule.limit


def co_locate(cluster, at, rule):
    machines = [at[c] for c in rule.containers]
    if len(set(machines)) > 1:
        without = machines.count(UNPLACED)
        yield [cluster.containers.name[c] for c in rule.containers], len(set(machines) - {UNPLACED}) - 1 + without


def allow(cluster, at, rule):
    for w in rule.workloads:
        for m, name in enumerate(cluster.machines.name):
            here = [c for c in on_machine(at, m) if workload(cluster, c) == w]
            if here and m not in cluster.machine_sets[rule.machines]:
                yield [cluster.workloads.name[w], name], len(here)


def dependency(cluster, at, rule):
    for group, name in groups(cluster, rule):
        here = [service(cluster, c) for c in in_group(cluster, at, rule.level, group)]
        if rule.service in here and rule.on not in here:
            names = [cluster.services.name[rule.service], cluster.services.name[rule.on], name]
            yield names, here.count(rule.service)


def interference(cluster, at, rule):
    for group, name in groups(cluster, rule):
        here = [workload(cluster, c) for c in in_group(cluster, at, rule.level, group)]
        if rule.a in here and here.count(rule.b) > rule.limit:
            yield [cluster.workloads.name[rule.a], cluster.workloads.name[rule.b], name], here.count(rule.b) - rule.limit


def confidence(cluster, at, rule):
    for m, name in enumerate(cluster.machines.name):
        here = [workload(cluster, c) for c in on_machine(at, m)]
        mean = sum(float(cluster.workloads.usage_mean[w, rule.resource]) for w in here)
        variance = sum(float(cluster.workloads.usage_std[w, rule.resource]) ** 2 for w in here)
        need, has = mean + NormalDist().inv_cdf(rule.alpha) * sqrt(variance), int(cluster.machines.capacity[m, rule.resource])
        if need > has * (1 + 1e-9):
            yield [name, cluster.resources[rule.resource].name], need - has


def transient(cluster, at, ran_on, rule):
    for m, name in enumerate(cluster.machines.name):
        arrived = [c for c in on_machine(at, m) if ran_on[c] != m]
        charged = set(on_machine(at, m))
        if rule.mode is TransientMode.JOINT:
            charged |= set(on_machine(ran_on, m))
        over = request(cluster, sorted(charged), rule.resource) - int(cluster.machines.capacity[m, rule.resource])
        if arrived and over > 0:
            yield [name, cluster.resources[rule.resource].name], over


def pinned(cluster, at, ran_on, rule):
    for c in rule.containers:
        if ran_on[c] != UNPLACED and at[c] != ran_on[c]:
            machines = [cluster.machines.name[m] for m in (ran_on[c], at[c]) if m != UNPLACED]
            yield [cluster.containers.name[c], *machines], 1


STATES = {
    "capacity": capacity,
    "anti-affinity": anti_affinity,
    "spread": spread,
    "skew": skew,
    "co-locate": co_locate,
    "allow": allow,
    "dependency": dependency,
    "interference": interference,
    "confidence": confidence,
}
MOVES = {"transient": transient, "pinned": pinned}
