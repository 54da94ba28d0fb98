"""HEURISTIC of 004 section V-C."""

from bayplan.decide.collocate.select.features import machine_types
from bayplan.decide.collocate.select.signature import CG, MIP
from bayplan.decide.collocate.task import Task


def heuristic(task: Task) -> str:
    """CG if services have more containers on average than machine types have machines."""
    n_s, n_m = task.shape
    if n_s == 0 or n_m == 0:
        return MIP
    return choice(float(task.demand.mean()), n_m / machine_types(task))


def choice(containers: float, machines: float) -> str:
    """The rule itself: mean containers of a service, mean machines of a type."""
    return CG if containers > machines else MIP
