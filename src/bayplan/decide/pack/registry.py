"""All packers by name."""

from collections.abc import Mapping

from bayplan.decide.pack.best_fit import bf_nsigma, bf_ucac
from bayplan.decide.pack.bi_level import bi_level
from bayplan.decide.pack.csp import csp_machines, csp_ucac
from bayplan.decide.pack.signature import Packer

PACKERS: Mapping[str, Packer] = {
    "csp-ucac": csp_ucac,
    "bf-ucac": bf_ucac,
    "bi-level": bi_level,
    "bf-nsigma": bf_nsigma,
    "csp-machines": csp_machines,
}
