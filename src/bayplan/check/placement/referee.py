"""Every broken rule of a placement."""

from collections.abc import Iterator, Mapping

from bayplan.check.placement.allow import allow
from bayplan.check.placement.capacity import capacity, transient
from bayplan.check.placement.confidence import confidence
from bayplan.check.placement.scene import Judge, Scene, scene
from bayplan.check.placement.services import dependency, spread
from bayplan.check.placement.staying import pinned, running
from bayplan.check.placement.together import anti_affinity, co_locate, interference
from bayplan.check.violation import Violation
from bayplan.model import Cluster, Placement

JUDGES: Mapping[str, Judge] = {  # in the order in which violations come out
    "capacity": capacity,
    "anti-affinity": anti_affinity,
    "spread": spread,
    "co-locate": co_locate,
    "allow": allow,
    "dependency": dependency,
    "transient": transient,
    "interference": interference,
    "pinned": pinned,
    "confidence": confidence,
}


def violations(cluster: Cluster, placement: Placement, before: Placement | None = None) -> Iterator[Violation]:
    """Each broken rule of `placement`, by kind, then level, then rule, then place: always in the same order.

    `before` is where the containers ran until now. Without it the rules about moves (transient, pinned,
    nothing that runs is lost) are not judged. ModelError if a placement does not fit the cluster.
    """
    return _violations(scene(cluster, placement, before))


def _violations(judged: Scene) -> Iterator[Violation]:
    rules = list(enumerate(judged.cluster.rules))
    for kind, judge in JUDGES.items():
        some = [(number, rule) for number, rule in rules if rule.kind == kind]
        if some:
            yield from judge(judged, some)
    yield from running(judged)


def check(cluster: Cluster, placement: Placement, before: Placement | None = None) -> tuple[Violation, ...]:
    """All violations at once; empty if the placement keeps every rule."""
    return tuple(violations(cluster, placement, before))
