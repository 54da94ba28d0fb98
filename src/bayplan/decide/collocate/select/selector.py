"""What a selector is, and the two labels of 004 section IV-D."""

from typing import Protocol

from bayplan.decide.collocate.select.features import machine_types
from bayplan.decide.collocate.subproblem import Subproblem

CG, MIP = "cg", "mip"
LABELS = (CG, MIP)


class Selector(Protocol):
    """A way to choose between column generation and the integer program."""

    def __call__(self, task: Subproblem) -> str:
        """CG or MIP."""
        ...


def always_cg(task: Subproblem) -> str:
    """CG, whatever the task."""
    return CG


def always_mip(task: Subproblem) -> str:
    """MIP, whatever the task."""
    return MIP


def heuristic(task: Subproblem) -> str:
    """CG if services have more containers on average than machine types have machines."""
    n_s, n_m = task.shape
    if n_s == 0 or n_m == 0:
        return MIP
    return choice(float(task.demand.mean()), n_m / machine_types(task))


def choice(containers: float, machines: float) -> str:
    """The rule itself: mean containers of a service, mean machines of a type."""
    return CG if containers > machines else MIP
