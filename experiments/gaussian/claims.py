"""What section 3 of [UCaC] says of usage beside data that are public; its own are not."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from experiments.gaussian.fleets import DATA
from experiments.gaussian.measures import COMMON
from experiments.results import Row, picked, rows
from experiments.verdicts import Claim, at_most, judged, near

DRAWN = ("normal", "lognormal")  # the controls
REPLICAS = ("google2019", "google2019-short", "planetlab")  # the others are services of one container
INDEPENDENT = 0.1  # of the correlation
DISTANCE = 0.1  # of Kolmogorov and Smirnov: "approximately Gaussian"
TAIL = 3.09  # deviations above the mean at which a normal distribution has its 99.9 %
PAGE = "verbs/pack-uncertainty.md"


def claims_in(folder: Path) -> list[Claim]:
    """Of single containers, in all data that were not drawn."""
    measured = rows(folder / "shape.csv")
    return [replace(claim, scale="other traces; the paper's are not public", page=PAGE) for claim in claims(measured)]


def claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """A case is a set of data: the median over its services."""
    for text, column, most in (
        (f"usage of a container is approximately Gaussian: KS distance at most {DISTANCE:g}", "ks", DISTANCE),
        ("high quantiles are below the Gaussian's: 99.9 % within 3.09 deviations", "z999", TAIL),
    ):
        found = {
            name: median(float(row[column]) for row in some)
            for name in DATA
            if name not in DRAWN and (some := picked(measured, data=name, n="1"))
        }
        shown = " ".join(f"{name} {value:.2f}" for name, value in found.items())
        yield judged("§3.1", text, at_most(most), found, paper=f"{most:g}" if column == "z999" else "approximately", ours=shown)
    yield from _observations(measured)


def _observations(measured: Sequence[Row]) -> Iterator[Claim]:
    """Are containers independent of each other at one moment, of the same service and of different ones?"""
    for where, text, alike in (
        ("Observation 1", "usages of containers of one service at one time are independent", True),
        ("Observation 2", "usages of containers of different services at one time are independent", False),
    ):
        names = [name for name in DATA if name not in DRAWN and (name in REPLICAS) == alike]
        rows_of = {name: picked(measured, data=name, n="1") for name in names}
        found = {name: median(float(row[COMMON]) for row in some) for name, some in rows_of.items() if some}
        shown = " ".join(f"{name} {value:.2f}" for name, value in found.items())
        yield judged(
            where, f"{text}: correlation within {INDEPENDENT:g} of 0", near(0.0, INDEPENDENT), found, paper="0", ours=shown
        )
