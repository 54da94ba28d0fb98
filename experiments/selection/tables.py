"""`python -m experiments.selection.tables`: the tables of docs/verbs/collocate-selection.md, from runs.csv and choices.csv."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import mean

from bayplan.decide.collocate.select.networks import GCN, GCN_SIZES, MLP
from bayplan.decide.collocate.select.selector import CG, LABELS, MIP, choice
from experiments.results import ROOT, Row, measured_on, put, rows
from experiments.selection.examples import HERE, RUNS, TIE, is_held_out, labelled, lost_by, name_of

CHOICES = HERE / "choices.csv"
DOCS = ROOT / "docs" / "verbs" / "collocate-selection.md"
MARKERS = ("selection-labels", "selection-choices", "selection-verdict")
CELLS = (0, 1_000, 3_000, 10_000, 30_000, 10**9)  # services times machines
METHODS = (CG, MIP, "heuristic", MLP, GCN, GCN_SIZES)
SAME = 5e-4  # less of a difference in regret is called none


def label_lines(measured: Sequence[Row], runs: Sequence[Row]) -> list[str]:
    """How often each algorithm is the better one, by size."""
    head = "| services x machines | subproblems | CG better | MIP better | equal | lost by CG | lost by MIP |"
    lines = [head, "|---" * 7 + "|"]
    for low, high in pairwise(CELLS):
        some = [row for row in measured if low <= int(row["services"]) * int(row["machines"]) < high]
        if some:
            said = f"{low:,} to {high - 1:,}" if high < CELLS[-1] else f"{low:,} and more"
            lines.append(_label_line(said, some))
    about = f"Both algorithms had {_budgets(measured)} s and one thread each, on a machine with other work: {_used(runs)}."
    return [*lines, *_some_lines(measured), "", f"{about} Measured on {measured_on(runs)}."] if measured else []


def _some_lines(measured: Sequence[Row]) -> list[str]:
    """All of them, those on which the integer program was at work at all, and those on which both kept their time."""
    groups = {
        "all": measured,
        "`mip` took half its time or more": [row for row in measured if float(row["mip_seconds"]) >= 0.5 * float(row["budget"])],
        "both kept their time": [row for row in measured if kept_time(row)],
    }
    return [_label_line(said, some) for said, some in groups.items() if some]


def kept_time(row: Row) -> bool:
    """Did neither algorithm take a quarter more than its time?"""
    return max(float(row[f"{name}_seconds"]) for name in LABELS) <= 1.25 * float(row["budget"])


def _label_line(said: str, some: Sequence[Row]) -> str:
    lost = [lost_by(row) for row in some]
    better = {name: sum(row["label"] == name and not _equal(one) for row, one in zip(some, lost, strict=True)) for name in LABELS}
    shares = [f"{better[name] / len(some):.0%}" for name in LABELS] + [f"{sum(map(_equal, lost)) / len(some):.0%}"]
    return f"| {said} | {len(some)} | {' | '.join(shares)} | {' | '.join(f'{mean(o[n] for o in lost):.2%}' for n in LABELS)} |"


def _equal(lost: Mapping[str, float]) -> bool:
    return max(lost.values()) <= TIE


def _budgets(measured: Sequence[Row]) -> str:
    return ", ".join(sorted({row["budget"] for row in measured}, key=float))


def _used(runs: Sequence[Row]) -> str:
    """What part of a core each algorithm had."""
    mine = {name: [run for run in runs if run["algorithm"] == name] for name in LABELS}
    part = {name: sum(float(r["cpu"]) for r in some) / sum(float(r["seconds"]) for r in some) for name, some in mine.items()}
    return " and ".join(f"`{name}` had {part[name]:.0%} of a core, and took {_longest(mine[name])} at most" for name in LABELS)


def _longest(runs: Sequence[Row]) -> str:
    return f"{max(float(run['seconds']) for run in runs):.1f} s"


def chosen(measured: Sequence[Row], told: Sequence[Row]) -> dict[str, list[str]]:
    """Method -> its choice for each subproblem."""
    by_name = {row["name"]: row for row in told}
    own: dict[str, Callable[[Row], str]] = {
        CG: lambda row: CG,
        MIP: lambda row: MIP,
        "heuristic": lambda row: choice(int(row["containers"]) / int(row["services"]), int(row["machines"]) / int(row["types"])),
    }
    return {m: [own[m](row) if m in own else by_name[name_of(row)][m] for row in measured] for m in METHODS}


def choice_lines(measured: Sequence[Row], told: Sequence[Row]) -> list[str]:
    """Accuracy and regret of each method, over the folds and on clusters that were held out."""
    groups = [[row for row in measured if is_held_out(int(row["seed"])) is held] for held in (False, True)]
    head = "| method | folds: right | folds: lost | held out: right | held out: lost | beside CG, held out |"
    lines = [head, "|---" * 6 + "|"]
    for method in METHODS:
        cells = [cell for some in groups for cell in _judged(some, chosen(some, told)[method])]
        lines.append(f"| `{method}` | {' | '.join([*cells, _beside(groups[1], chosen(groups[1], told)[method])])} |")
    counts = " and ".join(f"{len(some)} of {len({row['seed'] for row in some})} clusters" for some in groups)
    kept = [row for row in groups[1] if kept_time(row)]
    lost = ", ".join(f"`{method}` {regret(kept, said):.2%}" for method, said in chosen(kept, told).items()) if kept else "-"
    about = f"Subproblems: {counts}. *Beside CG*: in how many it chose better : worse than CG."
    return [*lines, "", f"{about} Lost on the {len(kept)} held out on which both kept their time: {lost}."]


def _judged(some: Sequence[Row], said: Sequence[str]) -> tuple[str, str]:
    right = mean(row["label"] == label for row, label in zip(some, said, strict=True))
    return f"{right:.1%}", f"{regret(some, said):.2%}"


def regret(some: Sequence[Row], said: Sequence[str]) -> float:
    """Mean share of the affinity that is lost against the better algorithm."""
    return mean(lost_by(row)[label] for row, label in zip(some, said, strict=True))


def _beside(some: Sequence[Row], said: Sequence[str]) -> str:
    change = [lost_by(row)[CG] - lost_by(row)[label] for row, label in zip(some, said, strict=True)]
    return f"{sum(one > TIE for one in change)} : {sum(one < -TIE for one in change)}"


def verdict_lines(measured: Sequence[Row], told: Sequence[Row]) -> list[str]:
    """Plain words on whether the classifier is worth it."""
    held = [row for row in measured if is_held_out(int(row["seed"]))]
    lost = {method: regret(held, said) for method, said in chosen(held, told).items()}
    beside = min((CG, MIP, "heuristic"), key=lambda method: lost[method])
    said = [f"On held-out clusters {_word('the GCN of the paper', lost[GCN] - lost[beside], beside)}"]
    said.append(_word("With sizes it", lost[GCN_SIZES] - lost[beside], beside))
    if lost[GCN] - lost[beside] > -SAME:
        said.append(f"So by these labels `--select {beside}` is the choice to make, and the network is not worth its weights.")
    return [" ".join(said)]


def _word(who: str, change: float, beside: str) -> str:
    if abs(change) < SAME:
        return f"{who} is no better and no worse than `{beside}`, the best choice without a network."
    return f"{who} loses {abs(change):.2%} {'more' if change > 0 else 'less'} than `{beside}`, the best choice without a network."


def written(text: str, runs: Sequence[Row], told: Sequence[Row]) -> str:
    """A page with all tables."""
    measured = labelled(runs)
    parts = (label_lines(measured, runs), choice_lines(measured, told), verdict_lines(measured, told))
    for marker, lines in zip(MARKERS, parts, strict=True):
        text = put(text, marker, lines)
    return text


def write_page() -> None:
    """Into docs/verbs/collocate-selection.md."""
    DOCS.write_text(written(DOCS.read_text(encoding="utf-8"), rows(HERE / RUNS), rows(CHOICES)), encoding="utf-8")


if __name__ == "__main__":
    write_page()
