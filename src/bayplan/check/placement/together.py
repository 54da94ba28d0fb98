"""Who may run beside whom: anti-affinity, interference, co-location."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.placement.scene import Numbered, Scene, by_level, flat
from bayplan.check.violation import Violation, containers, counted, named, where
from bayplan.model import UNPLACED, IntArray


def anti_affinity(scene: Scene, rules: Numbered) -> Iterator[Violation]:
    """Groups with more containers of a set of workloads than its limit."""
    for index, some in by_level(rules):
        level, tally = scene.cluster.levels[index], scene.by_workload(index)
        which, w = flat([rule.workloads for _, rule in some])
        asked, pair = tally.pairs_of(w)
        key, place = np.unique(which[asked] * tally.groups + tally.group[pair], return_inverse=True)
        together = np.zeros(len(key), dtype=np.int64)
        np.add.at(together, place, tally.count[pair])
        limit = np.array([rule.limit for _, rule in some])
        for i in np.flatnonzero(together > limit[key // tally.groups]):
            (number, rule), group, count = some[key[i] // tally.groups], int(key[i] % tally.groups), int(together[i])
            names = [scene.cluster.workloads.name[w] for w in rule.workloads]
            yield Violation(
                rule="anti-affinity",
                number=number,
                subject=(*names, level.group[group]),
                excess=count - rule.limit,
                sentence=f"anti-affinity: {containers(count)} of {named(names)} {where(level, group)}, "
                f"at most {rule.limit} allowed",
            )


def interference(scene: Scene, rules: Numbered) -> Iterator[Violation]:
    """Groups where `a` runs with more containers of `b` than its limit."""
    for index, some in by_level(rules):
        level, tally = scene.cluster.levels[index], scene.by_workload(index)
        a, b, limit = (np.array([getattr(rule, part) for _, rule in some]) for part in ("a", "b", "limit"))
        asked, pair = tally.pairs_of(b)
        crowded = tally.count[pair] > limit[asked]
        asked, pair = asked[crowded], pair[crowded]
        meets = tally.at(a[asked], tally.group[pair]) > 0
        for i, p in zip(asked[meets], pair[meets], strict=True):
            (number, rule), group, count = some[i], int(tally.group[p]), int(tally.count[p])
            names = tuple(scene.cluster.workloads.name[w] for w in (rule.a, rule.b))
            yield Violation(
                rule="interference",
                number=number,
                subject=(*names, level.group[group]),
                excess=count - rule.limit,
                sentence=f"interference: {containers(count)} of '{names[1]}' {where(level, group)} where '{names[0]}' runs, "
                f"at most {rule.limit} allowed",
            )


def co_locate(scene: Scene, rules: Numbered) -> Iterator[Violation]:
    """Sets of containers that run on several machines, or only in part."""
    rules = [(number, rule) for number, rule in rules if rule.containers]
    which, c = flat([rule.containers for _, rule in rules])
    machine = scene.machine_of[c]
    for i in np.unique(which[machine != _first(which, machine)]):
        number, rule = rules[i]
        yield _apart(scene, number, rule.containers)


def _first(which: IntArray, machine: IntArray) -> IntArray:
    """For each entry, the machine of the first entry of its list."""
    _, start, back = np.unique(which, return_index=True, return_inverse=True)
    return machine[start[back]]


def _apart(scene: Scene, number: int, members: tuple[int, ...]) -> Violation:
    names = tuple(scene.cluster.containers.name[c] for c in members)
    machine = scene.machine_of[list(dict.fromkeys(members))]
    used = [scene.cluster.machines.name[m] for m in np.unique(machine[machine != UNPLACED])]
    without = int((machine == UNPLACED).sum())
    missing = f", {without} of them on none" if without else ""
    return Violation(
        rule="co-locate",
        number=number,
        subject=names,
        excess=len(used) - 1 + without,
        sentence=f"co-locate: {named(names)} run on {counted(len(used), 'machine')} ({named(used)}){missing}; they belong on one",
    )
