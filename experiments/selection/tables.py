"""`python -m experiments.selection.tables`: the tables of docs/verbs/collocate-selection.md, from runs.csv and choices.csv."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean

from bayplan.decide.collocate.select.networks import GCN, GCN_SIZES
from bayplan.decide.collocate.select.selector import CG, LABELS, MIP
from experiments.results import ROOT, Row, measured_on, put, rows
from experiments.selection.claims import PAPER_SECONDS, PAPER_SUBPROBLEMS, SAME, budget_of, selection_claims
from experiments.selection.examples import EQUAL, HERE, RUNS, labelled, lost_by
from experiments.selection.judged import HEURISTIC, METHODS, Judged, judged
from experiments.verdicts import claim_table

CHOICES = HERE / "choices.csv"
DOCS = ROOT / "docs" / "verbs" / "collocate-selection.md"
MARKERS = ("selection-budget", "selection-labels", "selection-choices", "selection-verdict")
CELLS = (0, 300, 1_000, 3_000, 10_000, 30_000, 10**9)  # services times machines
ENOUGH = 300  # subproblems
NOTHING = ["No subproblem has been labelled yet: run the commands below."]
UNTRAINED = ["The networks have not been trained on these labels yet: run the commands below."]


# ---- labels --------------------------------------------------------------------------------------------------------------------


def budget_lines(measured: Sequence[Row]) -> list[str]:
    """How long the labels took, beside the paper's."""
    if not measured:
        return NOTHING
    seconds = budget_of(measured)
    paper = f"the paper: {PAPER_SUBPROBLEMS:,} subproblems, {PAPER_SECONDS} s"
    words = [f"**{len(measured)} subproblems, {seconds:g} s for each algorithm** ({paper})."]
    if len(measured) < ENOUGH:
        words.append(f"That is fewer than the {ENOUGH} that we want: the tables will change.")
    if seconds < PAPER_SECONDS:
        words.append(f"What the classifier is worth with the paper's {PAPER_SECONDS} s has not been tested.")
    return [" ".join(words)]


def label_lines(measured: Sequence[Row], runs: Sequence[Row]) -> list[str]:
    """How often each algorithm is the better one, by size."""
    if not measured:
        return NOTHING
    head = "| workloads x machines | subproblems | CG better | MIP better | equal | lost by CG | lost by MIP |"
    lines = [f"{head} MIP above its start | MIP optimal |", "|---" * 9 + "|"]
    for low, high in pairwise(CELLS):
        of_size = [row for row in measured if low <= int(row["services"]) * int(row["machines"]) < high]
        words = f"{low:,} to {high - 1:,}" if high < CELLS[-1] else f"{low:,} and more"
        lines += [_label_line(words, of_size)] if of_size else []
    return [*lines, _label_line("all", measured), "", _about(measured, runs), "", f"Measured on {measured_on(runs)}."]


def _label_line(words: str, of_size: Sequence[Row]) -> str:
    lost, label = [lost_by(row) for row in of_size], Counter(row["label"] for row in of_size)
    shares = [label[name] / len(of_size) for name in (*LABELS, EQUAL)]
    misses = [mean(each[name] for each in lost) for name in LABELS]
    search = [mean(row[key] == "yes" for row in of_size) for key in ("improved", "proven")]
    cells = [*(f"{share:.0%}" for share in shares), *(f"{miss:.2%}" for miss in misses), *(f"{share:.0%}" for share in search)]
    return f"| {words} | {len(of_size)} | {' | '.join(cells)} |"


def _about(measured: Sequence[Row], runs: Sequence[Row]) -> str:
    """Sizes, time, and whether both had the same of it."""
    spans = {key: [int(row[key]) for row in measured] for key in ("services", "machines", "entries")}
    low, high = ({key: f"{end(values):,}" for key, values in spans.items()} for end in (min, max))
    hours, idle = sum(float(run["cpu"]) for run in runs) / 3600, sum(run["ran"] != "yes" for run in runs)
    searched = f"In {idle} more it had no time to search: they are left out." if idle else "It searched in all of them."
    return (
        f"{low['services']} to {high['services']} workloads, {low['machines']} to {high['machines']} machines, "
        f"{low['entries']} to {high['entries']} coefficients in the integer program. {searched} "
        f"{hours:.1f} hours of one core in all: {' and '.join(_used(runs, name) for name in LABELS)}."
    )


def _used(runs: Sequence[Row], name: str) -> str:
    """What an algorithm had of the processor."""
    own = [run for run in runs if run["algorithm"] == name]
    seconds = [float(run["cpu"]) for run in own]
    return f"`{name}` took {mean(seconds):.1f} s on average and {max(seconds):.1f} s at most"


# ---- choices -------------------------------------------------------------------------------------------------------------------


def choice_lines(measured: Sequence[Row], choices: Sequence[Row]) -> list[str]:
    """Accuracy and regret of each method, over the folds and on clusters that were held out."""
    folds, held = (judged(measured, choices, held_out=which) for which in (False, True))
    if not held.measured or not folds.measured:
        return UNTRAINED
    lines = ["| method | folds: right | folds: lost | held out: right | held out: lost | beside CG | loses less than CG by |"]
    lines += ["|---" * 7 + "|", *(_choice_line(method, folds, held) for method in METHODS)]
    counts = " and ".join(f"{len(group.measured)} of {group.clusters} clusters" for group in (folds, held))
    missing = len(measured) - len(folds.measured) - len(held.measured)
    newer = f" {missing} newer ones are not judged yet." if missing else ""
    about = (
        f"Subproblems: {counts}.{newer} *Right*: of those that are no tie. *Beside CG*: in how many it chose better : worse than "
        "CG. The last column is for nine of ten draws of the held-out clusters (bootstrap)."
    )
    return [*lines, "", about]


def _choice_line(method: str, folds: Judged, held: Judged) -> str:
    cells = [cell for group in (folds, held) for cell in (f"{group.accuracy(method):.1%}", f"{group.regret(method):.2%}")]
    better, worse = held.beside(method, CG)
    low, high = held.interval(method, CG)
    return f"| `{method}` | {' | '.join(cells)} | {better} : {worse} | {low:+.2%} to {high:+.2%} |"


def verdict_lines(measured: Sequence[Row], choices: Sequence[Row]) -> list[str]:
    """The claims, and plain words on whether the classifier is worth it."""
    held = judged(measured, choices, held_out=True)
    if not held.measured:
        return UNTRAINED
    plain = min((CG, MIP, HEURISTIC), key=held.regret)
    words = [
        f"On held-out clusters {_word('the GCN of the paper', held, GCN, plain)}",
        _word("With sizes it", held, GCN_SIZES, plain),
    ]
    if held.regret(GCN) - held.regret(plain) > -SAME:
        words.append(f"So by these labels `--select {plain}` is the choice to make, and the network is not worth its weights.")
    return [*claim_table(selection_claims(measured, choices)), "", " ".join(words)]


def _word(who: str, held: Judged, method: str, plain: str) -> str:
    more = held.regret(method) - held.regret(plain)
    if abs(more) < SAME:
        return f"{who} is no better and no worse than `{plain}`, the best choice without a network."
    return f"{who} loses {abs(more):.2%} {'more' if more > 0 else 'less'} than `{plain}`, the best choice without a network."


# ---- page ----------------------------------------------------------------------------------------------------------------------


def written(text: str, runs: Sequence[Row], choices: Sequence[Row]) -> str:
    """A page with all tables."""
    measured = labelled(runs)
    parts = (
        budget_lines(measured),
        label_lines(measured, runs),
        choice_lines(measured, choices),
        verdict_lines(measured, choices),
    )
    for marker, lines in zip(MARKERS, parts, strict=True):
        text = put(text, marker, lines)
    return text


def write_page() -> None:
    """Into docs/verbs/collocate-selection.md."""
    DOCS.write_text(written(DOCS.read_text(encoding="utf-8"), rows(HERE / RUNS), rows(CHOICES)), encoding="utf-8")


if __name__ == "__main__":
    write_page()
