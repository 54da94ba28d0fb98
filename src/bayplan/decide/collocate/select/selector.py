"""What a selector is, its two labels ([RASA] §IV-D), and selectors that need no training: HEURISTIC of §V-C, and constants."""

from typing import Protocol

from bayplan.decide.collocate.select.features import machine_types
from bayplan.decide.collocate.subproblem import Subproblem

CG, MIP = "cg", "mip"
LABELS = (CG, MIP)


class Selector(Protocol):
    """A way to choose between column generation and the integer program."""

    def __call__(self, subproblem: Subproblem) -> str:
        """CG or MIP."""
        ...


def always_cg(subproblem: Subproblem) -> str:
    """CG, whatever the subproblem."""
    return CG


def always_mip(subproblem: Subproblem) -> str:
    """MIP, whatever the subproblem."""
    return MIP


def heuristic(subproblem: Subproblem) -> str:
    """CG if workloads have more containers on average than machine types have machines."""
    n_w, n_m = subproblem.shape
    if n_w == 0 or n_m == 0:
        return MIP
    return choice(float(subproblem.demand.mean()), n_m / machine_types(subproblem))


def choice(containers: float, machines: float) -> str:
    """The rule itself: mean containers of a workload, mean machines of a type."""
    return CG if containers > machines else MIP
