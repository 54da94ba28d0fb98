"""Which containers could still get a machine? Every one of them is tried on every machine, and the referee says."""

from tests.naive.search import allowed_move

from bayplan.model import UNPLACED, Placement
from bayplan.model.allowed_machines import co_located_groups
from bayplan.model.problem import Problem


def placeable(problem: Problem, placement: Placement) -> list[tuple[str, str]]:
    """(container, machine) pairs that violate no rule further; what is co-located comes together."""
    cluster = problem.cluster
    return [
        (cluster.containers.name[c], name)
        for c in placement.unplaced.tolist()
        for m, name in enumerate(cluster.machines.name)
        if allowed_move(cluster, problem.before, placement, _together(problem, placement, c), m)
    ]


def _together(problem: Problem, placement: Placement, c: int) -> list[int]:
    """The unplaced containers that a co-locate rule keeps with a container, and itself."""
    groups = [group for group in co_located_groups(problem.cluster) if c in group]
    members = sorted({c}.union(*groups))
    return [one for one in members if placement.machine_of[one] == UNPLACED]
