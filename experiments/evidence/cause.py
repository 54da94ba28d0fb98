"""Why a claim is not reproduced: which claims a cause explains, and its sentence with numbers from the raw results."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from statistics import mean

from experiments.evidence.papers import HERE
from experiments.results import Row, picked, rows
from experiments.verdicts import Claim


@dataclass(frozen=True, slots=True)
class Cause:
    """`pattern` is searched for in 'where: text' of a claim; the sentence may use what it finds."""

    pattern: str
    sentence: Callable[[re.Match[str]], str]

    def explains(self, claim: Claim) -> re.Match[str] | None:
        """The match, if it is a cause of this claim's verdict."""
        return re.search(self.pattern, f"{claim.where}: {claim.text}")


@cache
def raw(path: str) -> list[dict[str, str]]:
    """The rows of a CSV file in experiments/."""
    return rows(HERE / path)


def average(measured: Iterable[Row], column: str, **where: str) -> float:
    """The mean of a column over rows with these values."""
    return mean(float(row[column]) for row in picked(measured, **where))
