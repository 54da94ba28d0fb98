"""What [RASA] says of its classifier beside what ours is worth on clusters that it was not shown."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bayplan.decide.collocate.select.networks import GCN, MLP
from bayplan.decide.collocate.select.selector import CG, MIP
from experiments.results import Row, rows
from experiments.selection.examples import RUNS, labelled
from experiments.selection.judged import HEURISTIC, judged
from experiments.verdicts import Claim, Verdict, above
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
        less, low, shown = None, 0.0, None
        if held.measured:
            less, (low, high) = held.regret(other) - held.regret(GCN), held.interval(GCN, other)
            shown = f"{held.regret(GCN):.2%} lost, not {held.regret(other):.2%}; less by {low:+.2%} to {high:+.2%}"
        claim = judged_claim("§V-C", text, above(SAME), less, ours=shown)
        if claim.verdict is Verdict.REPRODUCED and low <= 0:  # other clusters could have shown no difference
            claim = replace(claim, verdict=Verdict.DIRECTION)
        yield replace(claim, scale=_scale(measured), page=PAGE)


def _scale(measured: Sequence[Row]) -> str:
    seconds = f"{budget_of(measured):g} s" if measured else "no labels yet"
    return f"{len(measured)} subproblems of generated clusters, {seconds} (the paper: {PAPER_SUBPROBLEMS:,}, {PAPER_SECONDS} s)"
