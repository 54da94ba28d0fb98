"""Every violated rule of a placement."""

from collections.abc import Iterator, Mapping

from bayplan.check.placement.changes import pinned, running, transient
from bayplan.check.placement.context import PlacementContext, RuleCheck, placement_context
from bayplan.check.placement.groups import anti_affinity, co_locate, dependency, interference, spread
from bayplan.check.placement.machines import allow, capacity, confidence
from bayplan.check.placement.skew import skew
from bayplan.check.violation import Violation
from bayplan.model import Cluster, Placement

RULE_CHECKS: Mapping[str, RuleCheck] = {  # in the order in which violations come out
    "capacity": capacity,
    "anti-affinity": anti_affinity,
    "spread": spread,
    "skew": skew,
    "co-locate": co_locate,
    "allow": allow,
    "dependency": dependency,
    "transient": transient,
    "interference": interference,
    "pinned": pinned,
    "confidence": confidence,
}


def violations(cluster: Cluster, placement: Placement, before: Placement | None = None) -> Iterator[Violation]:
    """Each violation of `placement`, by kind, then level, then rule, then place: always in the same order.

    `before` is where the containers ran until now. Without it the rules about moves (transient, pinned,
    nothing that runs is lost) are not checked. ModelError if a placement does not fit the cluster.
    """
    return _violations(placement_context(cluster, placement, before))


def _violations(context: PlacementContext) -> Iterator[Violation]:
    rules = list(enumerate(context.cluster.rules))
    for kind, check_rules in RULE_CHECKS.items():
        of_kind = [(number, rule) for number, rule in rules if rule.kind == kind]
        if of_kind:
            yield from check_rules(context, of_kind)
    yield from running(context)


def check(cluster: Cluster, placement: Placement, before: Placement | None = None) -> tuple[Violation, ...]:
    """All violations at once; empty if the placement keeps every rule."""
    return tuple(violations(cluster, placement, before))
