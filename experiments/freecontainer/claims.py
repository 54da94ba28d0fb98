"""What section VI of [FreeContainer] says beside what we measured.

A gain of x over y is 1 - x / y, of normalised costs, in each seed; then the mean over seeds. A claim without rows is not tested.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bayplan.words import count
from experiments.freecontainer.place_claims import placing
from experiments.freecontainer.rebalance_claims import largest_gain, rebalancing
from experiments.freecontainer.settings import PLACED, A, B
from experiments.freecontainer.statistics import Series
from experiments.results import Row, rows
from experiments.verdicts import Claim

PLACE_PAGE, REBALANCE_PAGE = "verbs/place.md", "verbs/rebalance.md"


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """Every claim of section VI."""
    measured = rows(folder / "costs.csv")
    placed, rebalanced = ([row for row in measured if (row["table"] in PLACED) == wanted] for wanted in (True, False))
    rebalanced = [row for row in rebalanced if row["table"] != "minute"]
    first = [replace(claim, scale=_scale(placed, claim, timed=False), page=PLACE_PAGE) for claim in placing(Series(placed))]
    best = largest_gain(Series(placed), Series(rebalanced))
    return [
        replace(best, scale=_scale(rebalanced, best), page=REBALANCE_PAGE),
        *first,
        *(replace(claim, scale=_scale(rebalanced, claim), page=REBALANCE_PAGE) for claim in rebalancing(Series(rebalanced))),
    ]


def _scale(measured: Sequence[Row], claim: Claim, *, timed: bool = True) -> str:
    """`timed`: do its methods search for as long as they may? Methods that place end by themselves."""
    centres = [centre for centre in (A, B) if centre in claim.where] or [A, B]
    seeds = [len({row["seed"] for row in measured if row["centre"] == centre}) for centre in centres]
    seconds = max((float(row["allowed"]) for row in measured), default=0.0)
    data = "a generated data centre" if len(centres) == 1 else "generated data centres"
    return f"{data}, {count(min(seeds), 'seed')}" + (f", {seconds:g} s of CPU" if timed else "")
