"""Skew rules while machines fail: groups without a machine that is left are not compared, since nothing can run there."""

import numpy as np

from bayplan.kernels.search import state as layout
from bayplan.model import BoolArray, Cluster, Skew
from bayplan.search.array_layout import view


class OpenGroups:
    """What the skew rules of a state compare, changed as machines close and open."""

    def __init__(self, cluster: Cluster, arrays: layout.State) -> None:
        self.arrays, self.rules = arrays, [rule for rule in cluster.rules if isinstance(rule, Skew)]
        table = view(arrays, "skew_rule", layout.SKEW_RULE_WIDTH * len(self.rules))
        self.table = table.reshape(-1, layout.SKEW_RULE_WIDTH)  # (rule, SKEW_ROW ... SKEW_HISTOGRAM) a view
        self.low = view(arrays, "skew_low", len(self.rules))  # (rule,) a view

    def compare(self, opened: BoolArray) -> None:
        """Compare groups that have an open machine, or something that counts."""
        skewed = sum(self._compare(number, opened) for number in range(len(self.rules)))
        view(self.arrays, "tally", layout.SKEWED + 1)[layout.SKEWED] = skewed

    def _compare(self, number: int, opened: BoolArray) -> int:
        """The excess of one rule."""
        row, own, limit, groups, _, start = self.table[number].tolist()
        n_m, level = len(opened), int(view(self.arrays, "row_level", row + 1)[row])
        group_of = view(self.arrays, "group_of", (level + 1) * n_m)[level * n_m :]
        size = int(view(self.arrays, "row_size", row + 1)[row])
        counts = [int(view(self.arrays, "row_start", each + 1)[each]) for each in (row, own)]
        count, judged = (view(self.arrays, "count", first + groups)[first:] for first in counts)
        compared = (np.bincount(group_of[opened], minlength=groups + 1)[:groups] > 0) | (count > 0)
        view(self.arrays, "skew_histogram", start + size + 1)[start:] = np.bincount(count[compared], minlength=size + 1)
        self.low[number] = count[compared].min(initial=size) if compared.any() else 0
        enough = int(compared.sum()) >= self.rules[number].min_groups
        self.table[number, layout.SKEW_FLOOR] = number if enough else layout.NOWHERE
        beyond = count[judged > 0] - (int(self.low[number]) if enough else 0) - limit
        return int(np.maximum(0, beyond).sum())
