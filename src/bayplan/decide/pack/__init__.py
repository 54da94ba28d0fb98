"""Pack containers whose usage is random, so that machines overflow with at most a stated probability [UCaC]."""

from collections.abc import Mapping

from bayplan.decide.pack.csp_mac import csp_mac
from bayplan.decide.pack.cutting_stock import csp_machines, csp_ucac
from bayplan.decide.pack.heuristics import bf_nsigma, bf_ucac, bi_level
from bayplan.decide.pack.options import Packer, PackOptions
from bayplan.decide.pack.problem import PackProblem, pack_problem

PACKERS: Mapping[str, Packer] = {
    "csp-ucac": csp_ucac,
    "bf-ucac": bf_ucac,
    "bi-level": bi_level,
    "bf-nsigma": bf_nsigma,
    "csp-machines": csp_machines,
    "csp-mac": csp_mac,
}

__all__ = ["PACKERS", "PackOptions", "PackProblem", "Packer", "pack_problem"]
