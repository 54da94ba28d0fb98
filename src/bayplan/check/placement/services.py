"""Rules about whole services: spread and dependency."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.placement.scene import Numbered, Scene, by_level
from bayplan.check.violation import Violation, containers, counted, where
from bayplan.errors import plural


def spread(scene: Scene, rules: Numbered) -> Iterator[Violation]:
    """Services in fewer groups than their minimum; while some containers wait, as many groups as are placed do."""
    size = np.bincount(
        scene.cluster.workloads.service[scene.cluster.containers.workload], minlength=len(scene.cluster.services.name)
    )
    for index, some in by_level(rules):
        level, tally = scene.cluster.levels[index], scene.by_service(index)
        used = np.diff(tally.start)
        placed = np.zeros(len(used), dtype=np.int64)
        np.add.at(placed, tally.owner, tally.count)
        for number, rule in some:
            have, running = int(used[rule.service]), int(placed[rule.service])
            need = rule.minimum if running and running == size[rule.service] else min(rule.minimum, running)
            if have < need:
                name = scene.cluster.services.name[rule.service]
                yield Violation(
                    rule="spread",
                    number=number,
                    subject=(name,),
                    excess=need - have,
                    sentence=f"spread: service '{name}' runs {containers(running)} in "
                    f"{counted(have, level.name)}, at least {need} {plural(level.name)} needed",
                )


def dependency(scene: Scene, rules: Numbered) -> Iterator[Violation]:
    """Groups where a service runs without the one it depends on."""
    for index, some in by_level(rules):
        level, tally = scene.cluster.levels[index], scene.by_service(index)
        service, on = (np.array([getattr(rule, part) for _, rule in some]) for part in ("service", "on"))
        asked, pair = tally.pairs_of(service)
        alone = tally.at(on[asked], tally.group[pair]) == 0
        for i, p in zip(asked[alone], pair[alone], strict=True):
            (number, rule), group, count = some[i], int(tally.group[p]), int(tally.count[p])
            names = tuple(scene.cluster.services.name[s] for s in (rule.service, rule.on))
            yield Violation(
                rule="dependency",
                number=number,
                subject=(*names, level.group[group]),
                excess=count,
                sentence=f"dependency: {containers(count)} of service '{names[0]}' {where(level, group)}, "
                f"none of service '{names[1]}' there",
            )
