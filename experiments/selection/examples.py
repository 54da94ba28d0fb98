"""Labelled subproblems as the networks see them, split by cluster."""

from collections.abc import Sequence
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
TIE = 1e-6  # of a subproblem's affinity: less is a tie, and the faster is the label
HELD_OUT = 3  # every so manieth cluster judges, and is never trained on
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
    """One row per subproblem that both algorithms tried: what each gained, its seconds, and the label."""
    by_key: dict[tuple[str, ...], dict[str, Row]] = {}
    for run in runs:
        by_key.setdefault(tuple(run[key] for key in SUBPROBLEM), {})[run["algorithm"]] = run
    return [_labelled(both) for both in by_key.values() if set(both) == {CG, MIP}]


def _labelled(both: dict[str, Row]) -> dict[str, str]:
    gain, took = ({name: float(run[key]) for name, run in both.items()} for key in ("gained", "seconds"))
    equal = abs(gain[CG] - gain[MIP]) <= TIE * float(both[CG]["affinity"])
    label = min(took, key=lambda name: took[name]) if equal else max(gain, key=lambda name: gain[name])
    about = {key: both[CG][key] for key in (*SUBPROBLEM, "budget")}
    each = {f"{name}{end}": run[key] for name, run in both.items() for end, key in (("", "gained"), ("_seconds", "seconds"))}
    return {**about, **each, "label": label}


def lost_by(row: Row) -> dict[str, float]:
    """The share of the subproblem's affinity that each algorithm misses of what the better one gained."""
    gain = {CG: float(row["cg"]), MIP: float(row["mip"])}
    return {name: (max(gain.values()) - value) / float(row["affinity"]) for name, value in gain.items()}


def examples(folder: Path = HERE) -> list[Example]:
    """All labelled subproblems."""
    graph = kept(folder / GRAPHS)
    return [_example(row, graph[name_of(row)]) for row in labelled(rows(folder / RUNS))]


def _example(row: Row, graph: FeatureGraph) -> Example:
    return Example(name=name_of(row), seed=int(row["seed"]), graph=graph, label=row["label"], lost=lost_by(row))


def accuracy(some: Sequence[Example], chosen: Sequence[str]) -> float:
    """Share of choices that are the label."""
    return sum(one.label == choice for one, choice in zip(some, chosen, strict=True)) / len(some)


def regret(some: Sequence[Example], chosen: Sequence[str]) -> float:
    """Mean share of a subproblem's affinity lost against the better of both algorithms."""
    return sum(one.lost[choice] for one, choice in zip(some, chosen, strict=True)) / len(some)
