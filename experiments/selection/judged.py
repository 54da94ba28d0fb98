"""How good choices are: every method's choice for every subproblem, and what each loses on clusters that it was not shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.decide.collocate.select.networks import GCN, GCN_SIZES, MLP
from bayplan.decide.collocate.select.selector import CG, MIP, choice
from experiments.results import Row
from experiments.selection.examples import TIE, accuracy, is_held_out, lost_by, name_of, regret

HEURISTIC = "heuristic"
METHODS = (CG, MIP, HEURISTIC, MLP, GCN, GCN_SIZES)
TRAINED = (MLP, GCN, GCN_SIZES)
DRAWS, INTERVAL = 2_000, (5, 95)  # of clusters; percentiles


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """Labelled subproblems with the choices of all methods."""

    measured: Sequence[Row]
    chosen: Mapping[str, Sequence[str]]  # method -> its choice for each

    @property
    def clusters(self) -> int:
        """How many clusters they are of."""
        return len({row["seed"] for row in self.measured})

    def lost(self) -> list[dict[str, float]]:
        """What each algorithm loses, for each."""
        return [lost_by(row) for row in self.measured]

    def accuracy(self, method: str) -> float:
        """Share of right choices, of those that are no tie."""
        return accuracy([row["label"] for row in self.measured], self.chosen[method])

    def regret(self, method: str) -> float:
        """Mean share of the affinity that is lost against the better algorithm."""
        return regret(self.lost(), self.chosen[method])

    def beside(self, method: str, other: str) -> tuple[int, int]:
        """In how many subproblems a method chose better, and worse, than another."""
        change = self._ahead(method, other)
        return int((change > TIE).sum()), int((change < -TIE).sum())

    def interval(self, method: str, other: str) -> tuple[float, float]:
        """By how much less a method loses than another: from, to, for nine of ten draws of clusters (bootstrap)."""
        _, cluster = np.unique([row["seed"] for row in self.measured], return_inverse=True)
        total, number = np.bincount(cluster, weights=self._ahead(method, other)), np.bincount(cluster)
        drawn = np.random.default_rng(0).integers(0, len(number), (DRAWS, len(number)))
        low, high = np.percentile(total[drawn].sum(axis=1) / number[drawn].sum(axis=1), INTERVAL)
        return float(low), float(high)

    def _ahead(self, method: str, other: str) -> np.ndarray:
        pairs = zip(self.lost(), self.chosen[method], self.chosen[other], strict=True)
        return np.array([lost[theirs] - lost[ours] for lost, ours, theirs in pairs])


def judged(measured: Sequence[Row], choices: Sequence[Row], *, held_out: bool) -> Judged:
    """Those subproblems that networks have chosen for: on clusters held out, or by folds on the others."""
    by_name = {row["name"]: row for row in choices}
    known = [row for row in measured if name_of(row) in by_name and is_held_out(int(row["seed"])) is held_out]
    rule: Mapping[str, Callable[[Row], str]] = {CG: lambda _: CG, MIP: lambda _: MIP, HEURISTIC: _heuristic}
    chosen = {method: [rule[method](row) for row in known] for method in rule}
    chosen |= {method: [by_name[name_of(row)][method] for row in known] for method in TRAINED}
    return Judged(measured=known, chosen=chosen)


def _heuristic(row: Row) -> str:
    return choice(int(row["containers"]) / int(row["services"]), int(row["machines"]) / int(row["types"]))
