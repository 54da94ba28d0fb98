"""Which algorithm of the pool suits a sub-problem? (004 section IV-D)"""

from bayplan.decide.collocate.select.registry import SELECTORS
from bayplan.decide.collocate.select.signature import CG, MIP, Selector

__all__ = ["CG", "MIP", "SELECTORS", "Selector"]
