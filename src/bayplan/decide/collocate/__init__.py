"""Which workloads should share machines: the methods of `collocate` by name.

`best` and `rasa` are the methods, `baselines` and `applsci19` what [RASA] §V compares with. All of them cut the problem into
subproblems in counts (`subproblem`) or walk over counts (`annealing/`), and end in `finish`.
"""

from collections.abc import Mapping

from bayplan.decide.collocate.applsci19 import applsci19
from bayplan.decide.collocate.baselines import k8s_plus, original, pop
from bayplan.decide.collocate.best import best
from bayplan.decide.collocate.options import CollocateOptions, Collocator
from bayplan.decide.collocate.rasa import column_generation, mip, rasa

COLLOCATORS: Mapping[str, Collocator] = {
    "best": best,
    "rasa": rasa,
    "mip": mip,
    "column-generation": column_generation,
    "pop": pop,
    "k8s-plus": k8s_plus,
    "applsci19": applsci19,
    "original": original,
}


__all__ = ["COLLOCATORS", "CollocateOptions", "Collocator"]
