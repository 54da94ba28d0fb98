"""What may not change between two placements: pinned containers move not, running ones stop not."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.placement.scene import Numbered, Scene
from bayplan.check.violation import RUNNING, Violation
from bayplan.model import UNPLACED


def pinned(scene: Scene, rules: Numbered) -> Iterator[Violation]:
    """Pinned containers that ran and do not run there any more."""
    if scene.before is None:
        return
    gone = (scene.before != UNPLACED) & (scene.machine_of != scene.before)
    machines = scene.cluster.machines.name
    for number, rule in rules:
        members = np.unique(np.array(rule.containers, dtype=np.int64))
        for c in members[gone[members]]:
            name, old = scene.cluster.containers.name[c], machines[scene.before[c]]
            new = "" if scene.machine_of[c] == UNPLACED else machines[scene.machine_of[c]]
            change = f"moved from machine '{old}' to '{new}'" if new else f"was removed from machine '{old}'"
            yield Violation(
                rule="pinned",
                number=number,
                subject=(name, old, new) if new else (name, old),
                excess=1,
                sentence=f"pinned: '{name}' {change}",
            )


def running(scene: Scene) -> Iterator[Violation]:
    """Containers that ran and have no machine now."""
    if scene.before is None:
        return
    for c in np.flatnonzero((scene.before != UNPLACED) & (scene.machine_of == UNPLACED)):
        name, old = scene.cluster.containers.name[c], scene.cluster.machines.name[scene.before[c]]
        yield Violation(
            rule=RUNNING,
            subject=(name, old),
            excess=1,
            sentence=f"running: '{name}' ran on machine '{old}' and has no machine now",
        )
