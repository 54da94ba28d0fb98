"""Pack services whose usage is random, so that machines overflow with at most a stated probability (003)."""

from bayplan.decide.pack.problem import Chance, PackProblem, pack_problem
from bayplan.decide.pack.registry import PACKERS
from bayplan.decide.pack.signature import Packer, PackOptions

__all__ = ["PACKERS", "Chance", "PackOptions", "PackProblem", "Packer", "pack_problem"]
