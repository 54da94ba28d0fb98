"""Rules about single machines: capacity, confidence, and which machines a workload may use."""

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from bayplan.check.placement.context import NumberedRules, PlacementContext, flattened
from bayplan.check.violation import TOLERANCE, Violation, amount, containers, real_amount
from bayplan.model import UNPLACED, BoolArray, Cluster, FloatArray, floats


def capacity(context: PlacementContext, rules: NumberedRules) -> Iterator[Violation]:
    """Machines whose requests exceed them: one violation per machine and resource."""
    load, has = context.load, context.cluster.machines.capacity
    for number, rule in rules:
        for r in rule.resources:
            resource = context.cluster.resources[r]
            for m in np.flatnonzero(load[:, r] > has[:, r]):
                name, over = context.cluster.machines.name[m], int(load[m, r]) - int(has[m, r])
                yield Violation(
                    rule="capacity",
                    number=number,
                    subject=(name, resource.name),
                    excess=over,
                    sentence=f"machine '{name}': {amount(load[m, r], resource)} {resource.name} requested of "
                    f"{amount(has[m, r], resource)} ({amount(over, resource)} too much)",
                )


def quantile(alpha: float) -> float:
    """D of [UCaC]: as many standard deviations above the mean as a share `alpha` stays below."""
    return NormalDist().inv_cdf(alpha)


def usage(context: PlacementContext, r: int) -> tuple[FloatArray, FloatArray]:
    """(machine,) mean and variance of one resource's usage; containers are independent."""
    placed = context.machine_of != UNPLACED
    machine, w = context.machine_of[placed], context.cluster.containers.workload[placed]
    n_m = len(context.cluster.machines.name)
    mean = np.bincount(machine, weights=context.cluster.workloads.usage_mean[w, r], minlength=n_m)
    variance = np.bincount(machine, weights=context.cluster.workloads.usage_std[w, r] ** 2, minlength=n_m)
    return floats(mean), floats(variance)


def confidence(context: PlacementContext, rules: NumberedRules) -> Iterator[Violation]:
    """Machines whose mean + D * deviation exceeds their capacity ([UCaC] (2) for normal usage)."""
    for number, rule in rules:
        r, resource = rule.resource, context.cluster.resources[rule.resource]
        mean, variance = usage(context, r)
        need, has = mean + quantile(rule.alpha) * np.sqrt(variance), context.cluster.machines.capacity[:, r]
        for m in np.flatnonzero(need > has * (1 + TOLERANCE)):
            name = context.cluster.machines.name[m]
            yield Violation(
                rule="confidence",
                number=number,
                subject=(name, resource.name),
                excess=float(need[m] - has[m]),
                sentence=f"confidence: machine '{name}' needs {real_amount(need[m], resource)} {resource.name} at {rule.alpha!r} "
                f"(mean {real_amount(mean[m], resource)}, deviation {real_amount(np.sqrt(variance[m]), resource)}), "
                f"it has {amount(has[m], resource)}",
            )


def allow(context: PlacementContext, rules: NumberedRules) -> Iterator[Violation]:
    """Workloads on machines outside of their set: one violation per rule, workload and machine."""
    tally = context.by_workload(0)
    names = list(dict.fromkeys(rule.machines for _, rule in rules))
    member = membership(context.cluster, names)
    row = {name: i for i, name in enumerate(names)}
    set_of = np.array([row[rule.machines] for _, rule in rules], dtype=np.int64)
    which, w = flattened([rule.workloads for _, rule in rules])
    position, pair = tally.pairs_of(w)
    outside = ~member[set_of[which[position]], tally.group[pair]]
    for i, p in zip(which[position[outside]], pair[outside], strict=True):
        number, rule = rules[i]
        workload = context.cluster.workloads.name[tally.owner[p]]
        machine = context.cluster.machines.name[tally.group[p]]
        yield Violation(
            rule="allow",
            number=number,
            subject=(workload, machine),
            excess=int(tally.count[p]),
            sentence=f"allow: {containers(int(tally.count[p]))} of '{workload}' on machine '{machine}', "
            f"which is not in set '{rule.machines}'",
        )


def membership(cluster: Cluster, names: list[str]) -> BoolArray:
    """(set, machine) is the machine in the set? One byte each: ten thousand sets of five thousand machines are 50 MB."""
    member = np.zeros((len(names), len(cluster.machines.name)), dtype=np.bool_)
    for i, name in enumerate(names):
        member[i, cluster.machine_sets[name]] = True
    return member
