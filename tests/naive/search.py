"""The moves of the search as obvious comparisons of whole placements: the slow twin of `kernels.search`."""

from collections.abc import Mapping

from bayplan.check import check
from bayplan.model import UNPLACED, Cluster, Placement, ints
from bayplan.score.terms import TermInputs, weighted

Breaches = Mapping[tuple[int, tuple[str, ...]], float]


def moved_to(placement: Placement, containers: list[int], m: int) -> Placement:
    machine_of = placement.machine_of.copy()
    machine_of[containers] = m
    return Placement(machine_of=ints(machine_of))


def breaches(cluster: Cluster, placement: Placement, before: Placement) -> Breaches:
    """How far each rule is exceeded in each place."""
    found: dict[tuple[int, tuple[str, ...]], float] = {}
    for violation in check(cluster, placement, before):
        key = (violation.number, violation.subject)
        found[key] = max(found.get(key, 0.0), violation.excess)
    return found


def grown(after: Breaches, now: Breaches) -> list[tuple[int, tuple[str, ...]]]:
    """Where a rule is exceeded more than before."""
    return [key for key, excess in after.items() if excess > now.get(key, 0.0) * (1 + 1e-9) + 1e-9]


def allowed_move(cluster: Cluster, before: Placement, placement: Placement, containers: list[int], m: int) -> bool:
    """May these containers go to the machine? The referee finds nothing that is not there already, or more of it."""
    after = breaches(cluster, moved_to(placement, containers, m), before)
    return not grown(after, breaches(cluster, placement, before))


def change(case: TermInputs, containers: list[int], here: int, there: int) -> float:
    """What the objective changes if these containers stand `there`, not `here`."""
    return _value(case, containers, there) - _value(case, containers, here)


def _value(case: TermInputs, containers: list[int], m: int) -> float:
    return weighted(case.cluster, moved_to(case.placement, containers, m), case.objective, case.before)


def same_broken_group(cluster: Cluster, now: Breaches, here: int, there: int) -> bool:
    """Do both machines share a group, above the machine, where some rule is broken already?"""
    groups = {level.group[level.group_of[here]] for level in cluster.levels[1:] if level.group_of[here] == level.group_of[there]}
    return here != UNPLACED and any(groups & set(subject) for _, subject in now)
