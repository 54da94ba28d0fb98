"""All collocators by name."""

from collections.abc import Mapping

from bayplan.decide.collocate.alone import column_generation, mip
from bayplan.decide.collocate.applsci19 import applsci19
from bayplan.decide.collocate.best import best
from bayplan.decide.collocate.k8s_plus import k8s_plus
from bayplan.decide.collocate.original import original
from bayplan.decide.collocate.pop import pop
from bayplan.decide.collocate.rasa import rasa
from bayplan.decide.collocate.signature import Collocator

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
