"""Which machines a workload may use."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.placement.scene import Numbered, Scene, flat
from bayplan.check.violation import Violation, containers
from bayplan.model import BoolArray, Cluster


def allow(scene: Scene, rules: Numbered) -> Iterator[Violation]:
    """Workloads on machines outside of their set: one violation per rule, workload and machine."""
    tally = scene.by_workload(0)
    names = list(dict.fromkeys(rule.machines for _, rule in rules))
    member = membership(scene.cluster, names)
    row = {name: i for i, name in enumerate(names)}
    set_of = np.array([row[rule.machines] for _, rule in rules], dtype=np.int64)
    which, w = flat([rule.workloads for _, rule in rules])
    asked, pair = tally.pairs_of(w)
    outside = ~member[set_of[which[asked]], tally.group[pair]]
    for i, p in zip(which[asked[outside]], pair[outside], strict=True):
        number, rule = rules[i]
        workload = scene.cluster.workloads.name[tally.owner[p]]
        machine = scene.cluster.machines.name[tally.group[p]]
        yield Violation(
            rule="allow",
            number=number,
            subject=(workload, machine),
            excess=int(tally.count[p]),
            sentence=f"allow: {containers(int(tally.count[p]))} of '{workload}' on machine '{machine}', "
            f"which is not in set '{rule.machines}'",
        )


def membership(cluster: Cluster, names: list[str]) -> BoolArray:
    """(set, machine) is the machine in the set? One byte each: 10,000 sets of 5,000 machines are 50 MB."""
    member = np.zeros((len(names), len(cluster.machines.name)), dtype=np.bool_)
    for i, name in enumerate(names):
        member[i, cluster.machine_sets[name]] = True
    return member
