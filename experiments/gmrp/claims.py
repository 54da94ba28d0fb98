"""What others reached on the Google Machine Reassignment Problem beside what `search` reaches. A cost is a limit: one-sided."""

from pathlib import Path
from statistics import median

from experiments.gmrp.figures import KNOWN
from experiments.gmrp.tables import LONG, SHORT, costs
from experiments.results import rows
from experiments.verdicts import Claim, at_most, judged


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """At most the best peer's cost in 60 s, and the winner's in 300 s, for each instance that was measured."""
    measured, found = rows(folder / "results.csv"), []
    for name, known in KNOWN.items():
        for budget, theirs, words in (
            (SHORT, known.peer, f"no more than {known.peer_name} in 60 s, one thread"),
            (LONG, known.winner, "no more than the winner S41 in 300 s, two threads"),
        ):
            ours = costs(measured, name, "search", budget)
            if ours:
                middle = median(ours)
                shown = f"{middle:,.0f}, the median of {len(ours)}"
                found.append(judged(name, words, at_most(0.0), middle / theirs - 1, paper=f"{theirs:,}", ours=shown))
    return found
