"""Very large clusters in parts: machines divided, each part a problem of its own, solved anywhere, merged and refereed.

It stands in `search` because `plan`, `rebalance` and `collocate` all divide their problems this way, each with its own method.
"""

from bayplan.search.parts.solve import MOST_PARTS, PARTS_FROM, PartSettings, SolvedInParts, number_of_parts, solve_in_parts

__all__ = ["MOST_PARTS", "PARTS_FROM", "PartSettings", "SolvedInParts", "number_of_parts", "solve_in_parts"]
