"""Rules about what runs together in a group: anti-affinity, interference, co-locate, spread, dependency."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.placement.context import NumberedRules, PlacementContext, by_level, flattened
from bayplan.check.violation import Violation, containers, counted, named, where
from bayplan.model import UNPLACED, IntArray
from bayplan.words import plural


def anti_affinity(context: PlacementContext, rules: NumberedRules) -> Iterator[Violation]:
    """Groups with more containers of a set of workloads than its limit."""
    for index, at_level in by_level(rules):
        level, tally = context.cluster.levels[index], context.by_workload(index)
        which, w = flattened([rule.workloads for _, rule in at_level])
        position, pair = tally.pairs_of(w)
        key, place = np.unique(which[position] * tally.groups + tally.group[pair], return_inverse=True)
        together = np.zeros(len(key), dtype=np.int64)
        np.add.at(together, place, tally.count[pair])
        limit = np.array([rule.limit for _, rule in at_level])
        for i in np.flatnonzero(together > limit[key // tally.groups]):
            (number, rule), group, count = at_level[key[i] // tally.groups], int(key[i] % tally.groups), int(together[i])
            names = [context.cluster.workloads.name[w] for w in rule.workloads]
            yield Violation(
                rule="anti-affinity",
                number=number,
                subject=(*names, level.group[group]),
                excess=count - rule.limit,
                sentence=f"anti-affinity: {containers(count)} of {named(names)} {where(level, group)}, "
                f"at most {rule.limit} allowed",
            )


def interference(context: PlacementContext, rules: NumberedRules) -> Iterator[Violation]:
    """Groups where `a` runs with more containers of `b` than its limit."""
    for index, at_level in by_level(rules):
        level, tally = context.cluster.levels[index], context.by_workload(index)
        a, b, limit = (np.array([getattr(rule, part) for _, rule in at_level]) for part in ("a", "b", "limit"))
        position, pair = tally.pairs_of(b)
        crowded = tally.count[pair] > limit[position]
        position, pair = position[crowded], pair[crowded]
        meets = tally.at(a[position], tally.group[pair]) > 0
        for i, p in zip(position[meets], pair[meets], strict=True):
            (number, rule), group, count = at_level[i], int(tally.group[p]), int(tally.count[p])
            names = tuple(context.cluster.workloads.name[w] for w in (rule.a, rule.b))
            yield Violation(
                rule="interference",
                number=number,
                subject=(*names, level.group[group]),
                excess=count - rule.limit,
                sentence=f"interference: {containers(count)} of '{names[1]}' {where(level, group)} where '{names[0]}' runs, "
                f"at most {rule.limit} allowed",
            )


def co_locate(context: PlacementContext, rules: NumberedRules) -> Iterator[Violation]:
    """Sets of containers that run on several machines, or only in part."""
    rules = [(number, rule) for number, rule in rules if rule.containers]
    which, c = flattened([rule.containers for _, rule in rules])
    machine = context.machine_of[c]
    for i in np.unique(which[machine != _first(which, machine)]):
        number, rule = rules[i]
        yield _apart(context, number, rule.containers)


def _first(which: IntArray, machine: IntArray) -> IntArray:
    """For each entry, the machine of the first entry of its list."""
    _, start, back = np.unique(which, return_index=True, return_inverse=True)
    return machine[start[back]]


def _apart(context: PlacementContext, number: int, members: tuple[int, ...]) -> Violation:
    names = tuple(context.cluster.containers.name[c] for c in members)
    machine = context.machine_of[list(dict.fromkeys(members))]
    used = [context.cluster.machines.name[m] for m in np.unique(machine[machine != UNPLACED])]
    without = int((machine == UNPLACED).sum())
    missing = f", {without} of them on none" if without else ""
    return Violation(
        rule="co-locate",
        number=number,
        subject=names,
        excess=len(used) - 1 + without,
        sentence=f"co-locate: {named(names)} run on {counted(len(used), 'machine')} ({named(used)}){missing}; they belong on one",
    )


def spread(context: PlacementContext, rules: NumberedRules) -> Iterator[Violation]:
    """Services in fewer groups than their minimum, or than they have containers placed while some of them are unplaced."""
    size = np.bincount(
        context.cluster.workloads.service[context.cluster.containers.workload], minlength=len(context.cluster.services.name)
    )
    for index, at_level in by_level(rules):
        level, tally = context.cluster.levels[index], context.by_service(index)
        used = np.diff(tally.start)
        placed = np.zeros(len(used), dtype=np.int64)
        np.add.at(placed, tally.owner, tally.count)
        for number, rule in at_level:
            have, running = int(used[rule.service]), int(placed[rule.service])
            need = rule.minimum if running and running == size[rule.service] else min(rule.minimum, running)
            if have < need:
                name = context.cluster.services.name[rule.service]
                yield Violation(
                    rule="spread",
                    number=number,
                    subject=(name,),
                    excess=need - have,
                    sentence=f"spread: service '{name}' runs {containers(running)} in "
                    f"{counted(have, level.name)}, at least {need} {plural(level.name)} needed",
                )


def dependency(context: PlacementContext, rules: NumberedRules) -> Iterator[Violation]:
    """Groups where a service runs without the one it depends on."""
    for index, at_level in by_level(rules):
        level, tally = context.cluster.levels[index], context.by_service(index)
        service, on = (np.array([getattr(rule, part) for _, rule in at_level]) for part in ("service", "on"))
        position, pair = tally.pairs_of(service)
        alone = tally.at(on[position], tally.group[pair]) == 0
        for i, p in zip(position[alone], pair[alone], strict=True):
            (number, rule), group, count = at_level[i], int(tally.group[p]), int(tally.count[p])
            names = tuple(context.cluster.services.name[s] for s in (rule.service, rule.on))
            yield Violation(
                rule="dependency",
                number=number,
                subject=(*names, level.group[group]),
                excess=count,
                sentence=f"dependency: {containers(count)} of service '{names[0]}' {where(level, group)}, "
                f"none of service '{names[1]}' there",
            )
