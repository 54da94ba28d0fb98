"""What [RASA] says of its classifier beside what ours is worth on clusters that it was not shown."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bayplan.decide.collocate.select.networks import GCN, MLP
from bayplan.decide.collocate.select.selector import CG, MIP
from experiments.results import Row, rows
from experiments.selection.examples import RUNS, labelled
from experiments.selection.judged import HEURISTIC, judged
from experiments.verdicts import Claim, above
from experiments.verdicts import judged as judged_claim

PAPER_SECONDS, PAPER_SUBPROBLEMS = 60, 1_000
SAME = 5e-4  # less of a difference in what is lost is called none
PAGE = "verbs/collocate-selection.md"


def budget_of(measured: Sequence[Row]) -> float:
    """The fewest seconds that an algorithm had."""
    return min(float(row["budget"]) for row in measured)


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """§V-C, by subproblem: the choices of the GCN are better than those of each of the others."""
    measured = labelled(rows(folder / RUNS))
    return list(selection_claims(measured, rows(folder / "choices.csv")))


def selection_claims(measured: Sequence[Row], choices: Sequence[Row]) -> Iterator[Claim]:
    """The GCN beside each of the others, on held-out clusters."""
    held = judged(measured, choices, held_out=True)
    for other in (CG, MIP, HEURISTIC, MLP):
        text = f"`gcn` chooses better than `{other}`: of each subproblem's affinity it loses less"
        if not held.measured:
            yield judged_claim("§V-C", text, above(SAME), None)
            continue
        ours, theirs = held.regret(GCN), held.regret(other)
        low, high = held.interval(GCN, other)
        shown = f"{ours:.2%} lost, not {theirs:.2%}; less by {low:+.2%} to {high:+.2%}"
        scale = f"{len(measured)} subproblems of generated clusters, {budget_of(measured):g} s (the paper: {PAPER_SECONDS} s)"
        yield replace(judged_claim("§V-C", text, above(SAME), theirs - ours, ours=shown), scale=scale, page=PAGE)
