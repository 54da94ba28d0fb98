"""Which services should share machines?"""

from bayplan.decide.collocate.registry import COLLOCATORS
from bayplan.decide.collocate.signature import CollocateOptions, Collocator

__all__ = ["COLLOCATORS", "CollocateOptions", "Collocator"]
