"""All selectors by name."""

from collections.abc import Mapping

from bayplan.decide.collocate.select.gcn import gcn
from bayplan.decide.collocate.select.heuristic import heuristic
from bayplan.decide.collocate.select.mlp import mlp
from bayplan.decide.collocate.select.signature import CG, MIP, Selector
from bayplan.decide.collocate.task import Task


def always_cg(task: Task) -> str:
    """CG, whatever the task."""
    return CG


def always_mip(task: Task) -> str:
    """MIP, whatever the task."""
    return MIP


SELECTORS: Mapping[str, Selector] = {
    "gcn": gcn,
    "mlp": mlp,
    "heuristic": heuristic,
    "cg": always_cg,
    "mip": always_mip,
}
