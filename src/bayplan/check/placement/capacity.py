"""Capacity, and capacity while containers move."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.placement.scene import Numbered, Scene
from bayplan.check.violation import Violation, amount
from bayplan.model import UNPLACED, IntArray, TransientMode


def capacity(scene: Scene, rules: Numbered) -> Iterator[Violation]:
    """Machines whose requests exceed them: one violation per machine and resource."""
    load, has = scene.load, scene.cluster.machines.capacity
    for number, rule in rules:
        for r in rule.resources:
            resource = scene.cluster.resources[r]
            for m in np.flatnonzero(load[:, r] > has[:, r]):
                name, over = scene.cluster.machines.name[m], int(load[m, r]) - int(has[m, r])
                yield Violation(
                    rule="capacity",
                    number=number,
                    subject=(name, resource.name),
                    excess=over,
                    sentence=f"machine '{name}': {amount(load[m, r], resource)} {resource.name} requested of "
                    f"{amount(has[m, r], resource)} ({amount(over, resource)} too much)",
                )


def transient(scene: Scene, rules: Numbered) -> Iterator[Violation]:
    """Machines that cannot hold what they are charged while containers move to them.

    Only machines that take a container are judged: moving one away from a full machine breaks nothing.
    """
    if scene.before is None:
        return
    takes = takes_one(scene.machine_of, scene.before, len(scene.cluster.machines.name))
    has = scene.cluster.machines.capacity
    for number, rule in rules:
        r, resource = rule.resource, scene.cluster.resources[rule.resource]
        charged = charge(scene, rule.mode)[:, r]
        for m in np.flatnonzero((takes > 0) & (charged > has[:, r])):
            name, over = scene.cluster.machines.name[m], int(charged[m]) - int(has[m, r])
            yield Violation(
                rule="transient",
                number=number,
                subject=(name, resource.name),
                excess=over,
                sentence=f"transient: machine '{name}' is charged {amount(charged[m], resource)} {resource.name} of "
                f"{amount(has[m, r], resource)} while containers move ({amount(over, resource)} too much)",
            )


def takes_one(machine_of: IntArray, before: IntArray, machines: int) -> IntArray:
    """(machine,) how many containers arrive that did not run there before."""
    arrives = (machine_of != UNPLACED) & (machine_of != before)
    return np.bincount(machine_of[arrives], minlength=machines)


def charge(scene: Scene, mode: TransientMode) -> IntArray:
    """(machine, resource) what must fit at once: joint counts what left, too."""
    load = scene.load
    if mode is TransientMode.SEQUENTIAL or scene.before is None:
        return load
    left = (scene.before != UNPLACED) & (scene.machine_of != scene.before)
    return load + scene.load_of(left, scene.before)
