"""What section VI of [FreeContainer] says beside what we measured.

A gain of x over y is 1 - x / y, of normalised costs, in each seed; then the mean over seeds. A claim without rows is not tested.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bayplan.words import count
from experiments.freecontainer.place_claims import placing
from experiments.freecontainer.rebalance_claims import rebalancing
from experiments.freecontainer.settings import PLACED
from experiments.freecontainer.statistics import Series
from experiments.results import Row, rows
from experiments.verdicts import Claim

PLACE_PAGE, REBALANCE_PAGE = "verbs/place.md", "verbs/rebalance.md"


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """Every claim of section VI."""
    measured = rows(folder / "costs.csv")
    placed, rebalanced = ([row for row in measured if (row["table"] in PLACED) == wanted] for wanted in (True, False))
    rebalanced = [row for row in rebalanced if row["table"] != "minute"]
    first = [replace(claim, scale=_scale(placed), page=PLACE_PAGE) for claim in placing(Series(placed))]
    return first + [replace(claim, scale=_scale(rebalanced), page=REBALANCE_PAGE) for claim in rebalancing(Series(rebalanced))]


def _scale(measured: Sequence[Row]) -> str:
    seeds = len({row["seed"] for row in measured})
    seconds = max((float(row["allowed"]) for row in measured), default=0.0)
    return f"generated data centres, {count(seeds, 'seed')}, {seconds:g} s of CPU"
