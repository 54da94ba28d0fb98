"""Labelled subproblems as the networks see them, split by cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bayplan.decide.collocate.select.features import FeatureGraph
from bayplan.decide.collocate.select.selector import CG, MIP
from experiments.results import Row, rows
from experiments.selection.graphs import kept

HERE = Path(__file__).parent
RUNS, GRAPHS = "runs.csv", "graphs.zip"
SUBPROBLEM = (
    "generator", "seed", "masters", "trivial", "part", "services", "containers", "machines", "types", "edges", "affinity",
)  # fmt: skip
TIE = 1e-4  # of a subproblem's affinity: less is a tie, which no choice gets wrong
EQUAL = "equal"  # the label of a tie
HELD_OUT = 3  # every third cluster judges, and is never trained on
FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Example:
    """A subproblem, its graph, and what each algorithm gained."""

    name: str
    seed: int  # of the cluster: subproblems of one cluster overlap, so they are never parted
    graph: FeatureGraph
    label: str
    lost: dict[str, float]  # algorithm -> share of the subproblem's affinity that choosing it loses

    @property
    def is_held_out(self) -> bool:
        """Does it judge?"""
        return is_held_out(self.seed)

    @property
    def fold(self) -> int:
        """Which of the folds it is in, if it does not judge."""
        return self.seed // HELD_OUT % FOLDS


def is_held_out(seed: int) -> bool:
    """Does a cluster judge?"""
    return seed % HELD_OUT == 0


def name_of(row: Row) -> str:
    """What a subproblem is called in all files."""
    return f"{row['seed']}-{row['part']}"


def labelled(runs: Sequence[Row]) -> list[dict[str, str]]:
    """One row per subproblem that both algorithms tried: what each gained, its seconds, and the label.

    An integer program that did not run, so that its start was the answer, is no try.
    """
    by_key: dict[tuple[str, ...], dict[str, Row]] = {}
    for run in runs:
        if run["ran"] == "yes":
            by_key.setdefault(tuple(run[key] for key in SUBPROBLEM), {})[run["algorithm"]] = run
    return [_labelled(both) for both in by_key.values() if set(both) == {CG, MIP}]


def _labelled(both: dict[str, Row]) -> dict[str, str]:
    about = {key: both[CG][key] for key in (*SUBPROBLEM, "budget")}
    each = {f"{name}{end}": run[key] for name, run in both.items() for end, key in (("", "gained"), ("_seconds", "seconds"))}
    search = {key: both[MIP][key] for key in ("improved", "proven", "entries")}
    row = {**about, **each, **search}
    lost = lost_by(row)
    return {**row, "label": EQUAL if max(lost.values()) <= TIE else min(lost, key=lambda name: lost[name])}


def lost_by(row: Row) -> dict[str, float]:
    """The share of the subproblem's affinity that each algorithm misses of what the better one gained."""
    gain = {CG: float(row["cg"]), MIP: float(row["mip"])}
    return {name: (max(gain.values()) - value) / float(row["affinity"]) for name, value in gain.items()}


def examples(folder: Path = HERE) -> list[Example]:
    """All labelled subproblems."""
    measured = labelled(rows(folder / RUNS))
    graph = kept(folder / GRAPHS) if measured else {}
    return [_example(row, graph[name_of(row)]) for row in measured]


def _example(row: Row, graph: FeatureGraph) -> Example:
    return Example(name=name_of(row), seed=int(row["seed"]), graph=graph, label=row["label"], lost=lost_by(row))


def accuracy(labels: Sequence[str], chosen: Sequence[str]) -> float:
    """Share of choices that are the label, of those that are no tie; 1 if all are ties."""
    right = [label == choice for label, choice in zip(labels, chosen, strict=True) if label != EQUAL]
    return sum(right) / len(right) if right else 1.0


def regret(lost: Sequence[Mapping[str, float]], chosen: Sequence[str]) -> float:
    """Mean share of a subproblem's affinity that the choices lose against the better of both algorithms."""
    return sum(each[choice] for each, choice in zip(lost, chosen, strict=True)) / max(1, len(lost))
