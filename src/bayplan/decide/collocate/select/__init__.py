"""Which solver of the pool suits a subproblem ([RASA] §IV-D): the selectors by name."""

from collections.abc import Mapping

from bayplan.decide.collocate.select.networks import gcn, mlp
from bayplan.decide.collocate.select.selector import CG, MIP, Selector, always_cg, always_mip, heuristic

SELECTORS: Mapping[str, Selector] = {
    "gcn": gcn,
    "mlp": mlp,
    "heuristic": heuristic,
    "cg": always_cg,
    "mip": always_mip,
}


__all__ = ["CG", "MIP", "SELECTORS", "Selector"]
