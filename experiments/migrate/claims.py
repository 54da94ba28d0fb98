"""What section IV-E of [RASA] says of its migration paths beside those that `rasa`, its Algorithm 2, makes here."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bayplan.words import count
from experiments.results import Row, picked, rows
from experiments.verdicts import Claim, at_least, at_most, judged

ALIVE = 0.75
PAGE = "verbs/migrate.md"


def claims_in(folder: Path) -> list[Claim]:
    """Of all plans in plans.csv."""
    measured = picked(rows(folder / "plans.csv"), method="rasa")
    scale = f"{count(len(measured), 'plan')}; services of fewer than 4 replicas are created before they are deleted"
    return [replace(claim, scale=scale, page=PAGE) for claim in claims(measured)]


def claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """A case is a plan."""
    names = [f"{row['instance']} {row['seed']}" for row in measured]
    alive = {name: float(row["alive"]) for name, row in zip(names, measured, strict=True)}
    shown = f"at least {min(alive.values()):.0%}" if alive else None
    yield judged("§IV-E", "75 % of the containers of a service stay alive", at_least(ALIVE), alive, paper="75 %", ours=shown)
    sound = {name: float(row["safe"] == "yes") for name, row in zip(names, measured, strict=True)}
    shown = f"{sum(sound.values()):g} of {len(sound)} plans"
    yield judged("§IV-E", "the resource constraints hold at every step", at_least(1.0), sound, paper="all", ours=shown)
    stuck = {name: float(row["stuck"]) for name, row in zip(names, measured, strict=True)}
    shown = f"{sum(not value for value in stuck.values())} of {len(stuck)} plans; {sum(stuck.values()):g} moves are not made"
    yield judged("Algorithm 2", "the path ends in the new mapping", at_most(0.0), stuck, paper="always", ours=shown)
